#!/usr/bin/env python3
"""What a page of a recording costs: time to write it beside a text report, its size, and in headless Chromium the time to
its first drawing, gestures, and the heap of scripts.

Usage: bench/page.py [--tally TALLY] [--time SPAN] RECORDING ...

A gesture is measured from the change to the end of the second frame after it, so that nothing takes less than two frames, 33 ms;
the row "no change" says what that is on this machine. Times are medians, then the longest.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(TOP, "tests", "page"))
import browser  # pylint: disable=wrong-import-position

READY = "typeof tally !== 'undefined' && (tally.page !== undefined || tally.failed !== undefined)"
GESTURES = """(async () => {
    const { store, analysis } = tally.page, out = {}, end = analysis.recording.end;
    const frame = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))));
    const measure = async (name, steps) => {
        const times = [];
        for (const change of steps) {
            const start = performance.now();
            store.set(change, true);
            await frame();
            times.push(performance.now() - start);
        }
        times.sort((a, b) => a - b);
        out[name] = [times[times.length >> 1], times[times.length - 1]];
    };
    store.set({ view: 'flame' });
    await frame();
    const { boxes } = tally.page.view.graph, paths = [];
    for (let i = 1; i < Math.min(boxes.count, 20); i++) paths.push(boxes.path(i).join('.'));
    await measure('no change', Array.from({ length: 10 }, () => ({})));
    await measure('zoom', paths.map((zoom) => ({ zoom })));
    store.set({ zoom: '' });
    await frame();
    await measure('drag a span', Array.from({ length: 30 }, (_, i) => ({ span: `${Math.floor(end * 0.2)}-${Math.floor(end * (0.3 + i * 0.01))}` })));
    await measure('search', ['a', 'al', 'all', 'allo', 'alloc'].map((search) => ({ search })));
    out.nodes = analysis.recording.node.count;
    out.samples = analysis.recording.sample.count;
    return JSON.stringify(out);
})()"""


def seconds(command, output):
    start = time.monotonic()
    subprocess.run(command, stdout=output, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - start


def measure(chromium, tally, path, more, folder):
    page = os.path.join(folder, "page.html")
    with open(os.devnull, "wb") as nowhere:
        text = seconds([tally, "report", "-i", path, *more], nowhere)
        made = seconds([tally, "report", f"--html={page}", "-i", path, *more], nowhere)
    size = os.path.getsize(page)
    print(f"{path} ({os.path.getsize(path) / 1e6:.0f} MB){' ' + ' '.join(more) if more else ''}")
    print(f"  text report {text:.2f} s, page {made:.2f} s ({made / text:.2f} times), {size / 1e6:.1f} MB")
    tab = chromium.tab(width=1600, height=1000)
    tab.do("Performance.enable")
    tab.do("Page.navigate", url=f"file://{page}")
    tab.wait(READY, 300)
    drawn = tab.run("performance.getEntriesByName('tally-drawn')[0].startTime")
    found = json.loads(tab.run(GESTURES))
    used = tab.do("Runtime.getHeapUsage")
    heap = used["usedSize"] + used.get("backingStorageSize", 0)  # typed arrays are in the latter
    print(f"  {found.pop('nodes')} nodes, {found.pop('samples')} samples; drawn after {drawn:.0f} ms; heap {heap / 1e6:.0f} MB")
    print("  " + "; ".join(f"{name} {middle:.0f} ms ({longest:.0f})" for name, (middle, longest) in found.items()), flush=True)
    tab.close()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--tally", default=os.path.join(TOP, "build", "tally"))
    options.add_argument("--time", help="only this span of each recording, as `tally report --time` takes it")
    options.add_argument("recordings", nargs="+")
    given = options.parse_args()
    if not browser.program():
        sys.exit("page.py: Chromium is not installed")
    with tempfile.TemporaryDirectory(prefix="tally-bench-page-") as folder:
        chromium = browser.Browser()
        try:
            for path in given.recordings:
                measure(chromium, given.tally, path, ["--time", given.time] if given.time else [], folder)
        finally:
            chromium.close()


if __name__ == "__main__":
    main()
