#!/usr/bin/env python3
"""Pages that the program itself writes: their numbers in the browser are those of its text."""

import json
import xml.etree.ElementTree

from checks import Bench, axe, case, run, same, serious, tally, true

STATE = "tally.page.store.now"


def side(samples, extra=""):
    """A recording: {stack from the innermost frame: how often it was sampled}."""
    lines = ["comm 10 app", "map 10 1000 1000 0 /nowhere/app", "map 10 5000 1000 0 /nowhere/libx.so", extra]
    for stack, times in samples.items():
        lines += [f"sample 10 {stack.split()[0]} user {stack}", f"times {times - 1}"]
    return "\n".join(lines) + "\n"


def two(bench):
    before = bench.recorded("before.data", side({"1010 1030": 400, "1020 1030": 300, "5010 1020 1030": 200, "5020 1030": 6}))
    after = bench.recorded("after.data", side({"1010 1030": 410, "1020 1030": 120, "5030 1020 1030": 250, "5020 1030": 3}))
    return before, after


@case
def difference(bench: Bench):
    """a difference has the shares, changes and tests of tally diff"""
    before, after = two(bench)
    bench.written("difference", "diff", "--html=PAGE", before, after)
    tab = bench.open("difference", "#view=difference")
    found = json.loads(tab.run("""JSON.stringify(tally.difference.rows(tally.page.analysis, tally.page.store.now).filter((row) => row.before > 0 || row.after > 0).map((row) =>
        [tally.page.analysis.recording.name(row.label), +(row.before * 100).toFixed(6), +(row.after * 100).toFixed(6), row.significant, row.state, +row.p.toFixed(6)]))"""))
    wanted = []
    for row in json.loads(tally("diff", "--json", before, after))["events"][0]["rows"]:
        new = row["recordings"][0]
        status = new["status"] if new["status"] in ("new", "gone") else ""
        wanted.append([row["symbol"].split()[-1], round(row["overhead"], 6), round(new["overhead"], 6), new["significant"], status, round(new["p"], 6)])
    same(sorted(found), sorted(wanted))
    same([row[4] for row in sorted(found)], ["", "", "gone", "", "new"], "what is gone and new")
    text = tab.run("document.querySelector('.panel').innerText")
    true("gone" in text and "within the noise" in text, text)


@case
def sides(bench: Bench):
    """before and after of a difference are what a report of each has, by a press and by a key"""
    before, after = two(bench)
    bench.written("sides", "diff", "--html=PAGE", before, after)
    tab = bench.open("sides", "#view=flame")
    same(tab.run("document.querySelector('.legend').innerText.split('\\n').join()"), "gone,less,equal,more,new", "colours of a difference")
    for press, path in (("1", before), ("0", after)):
        tab.run(f"document.querySelector('[data-value=\"{press}\"]').click()")
        tab.next_frame()
        found = json.loads(tab.run("""(() => { const { analysis, store } = tally.page, of = analysis.functions(store.now), out = {};
            for (let i = 0; i < of.total.length; i++) if (of.total[i] > 0) out[analysis.recording.name(i)] = [of.self[i], of.total[i]];
            return JSON.stringify(out); })()"""))
        event = json.loads(tally("report", "--json", "-s", "dso,sym", "-i", path))["events"][0]
        wanted = {}
        for row in event["rows"]:
            wanted[row["symbol"].split()[-1]] = [row["period"], round(row["overhead_children"] * event["period"] / 100, -3)]
        same(found, wanted, path)
        true("equal" not in tab.run("document.querySelector('.legend').innerText"), "colours of one recording")
    tab.key("d")
    same(tab.run(f"{STATE}.recordings"), "", "the next one is the difference")
    true("gone" in tab.run("document.querySelector('.legend').innerText"), "colours of both")


@case
def merged(bench: Bench):
    """recordings of a merged file are switched off and on, and have the sums of reports of each"""
    before, after = two(bench)
    tally("merge", "-o", f"{bench.folder}/both.data", before, after)
    bench.written("merged", "report", "--html=PAGE", "-i", f"{bench.folder}/both.data")
    tab = bench.open("merged", "#view=functions")
    weight = lambda: tab.run(f"tally.page.analysis.sums({STATE}).whole")
    same(weight(), 906_000 + 783_000, "both")
    same(tab.run("document.querySelector('.recordings').innerText.split('\\n')[0]"), "2 recordings")
    boxes = "document.querySelectorAll('.recordings-list input')"
    same(tab.run("[...document.querySelectorAll('.recordings-list bdi')].map((one) => one.textContent).join()"), f"{before},{after}", "names")
    tab.run(f"{boxes}[0].click()")
    tab.next_frame()
    same(weight(), 783_000, "without the first")
    tab.run(f"{boxes}[0].click(); {boxes}[1].click()")
    tab.next_frame()
    same(weight(), 906_000, "without the second")


HOSTILE = "</text><script>alert(1)</script>"


def svg(bench, name, *arguments):
    path = f"{bench.folder}/{name}.svg"
    tally("report", f"--svg={path}", *arguments)
    return path


def open_svg(bench, path):
    tab = bench.browser.tab(width=1000, height=400)
    bench.tabs.append(tab)
    tab.do("Page.navigate", url=f"file://{path}")
    tab.wait("document.readyState === 'complete' && document.querySelector('svg').getAttribute('width') === '1000'")
    return tab


def frames(path):
    """[(depth, name, total, self)] of a flame graph, callers first."""
    names = {"s": "http://www.w3.org/2000/svg"}
    found = []
    for group in xml.etree.ElementTree.parse(path).getroot().iterfind(".//s:g[@class='f']", names):
        found.append((int(group.get("data-d")), group.find("s:title", names).text.split("\n")[0], int(group.get("data-w")), int(group.get("data-s", 0))))
    return found


@case
def svg_sums(bench: Bench):
    """a flame graph as SVG has each stack once, and the sums of a report"""
    before, _ = two(bench)
    found = frames(svg(bench, "sums", "-i", before))
    same(found, [(0, "all", 906_000, 0), (1, "app+0x30", 906_000, 0), (2, "app+0x20", 500_000, 300_000), (3, "libx.so+0x10", 200_000, 200_000),
                 (2, "app+0x10", 400_000, 400_000), (2, "libx.so+0x20", 6_000, 6_000)])
    flame = tally("report", "--flame", "-i", before).splitlines()
    same(flame[0], "# Event 'cpu-clock:HG': 906 samples; the width is 906 us")
    # 120 columns: 500 of 906 are 66.2 of them, 400 are 53.
    same([line.count("[") + line.count("|") for line in flame[1:]], [1, 3, 1], "blocks of each line")
    same(["app+0x30" in flame[1] and " 100.00%]" in flame[1], flame[2].index("app+0x10"), flame[2].index("55.19%]") + 7], [True, 67, 66], flame)
    same([line for line in tally("report", "--flame", "-q", "--percent-limit", "0", "-i", before).splitlines()], flame[1:], "-q: no header")


@case
def svg_gestures(bench: Bench):
    """in the SVG a click zooms, Escape shows all, and what is typed behind / is searched for; names are harmless"""
    lines = "\n".join(["comm 10 app", f"map 10 1000 1000 0 /nowhere/{HOSTILE.replace('/', '')}", "map 10 5000 1000 0 /nowhere/שלום世界.so",
                       "sample 10 1010 user 1010 5030", "times 3", "sample 10 5010 user 5010 5030", "times 5"])
    path = svg(bench, "gestures", "-i", bench.recorded("svg.data", lines + "\n"))
    tab = open_svg(bench, path)
    same(tab.run("document.querySelectorAll('script').length"), 1, "scripts")
    shown = "[...document.querySelectorAll('.f')].filter((one) => one.style.display !== 'none').map((one) => one.querySelector('title').textContent.split('\\n')[0]).join('|')"
    same(tab.run(shown), "all|שלום世界.so+0x30|שלום世界.so+0x10|<text><script>alert(1)<script>+0x10")
    x, y = tab.run("(() => { const box = document.querySelectorAll('.f')[2].querySelector('rect').getBoundingClientRect(); return [box.left + box.width / 2, box.top + 8]; })()")
    tab.click(x, y)
    same(tab.run(shown), "all|שלום世界.so+0x30|שלום世界.so+0x10", "zoomed")
    same(tab.run("document.querySelectorAll('.f')[2].querySelector('rect').getAttribute('width')"), "979.4", "it has the whole width")
    true("60.00%, 6 us" in tab.run("document.getElementById('facts').textContent"), "what a frame is")
    tab.key("Escape")
    for letter in "/script":
        tab.key(letter)
    same(tab.run("document.getElementById('found').textContent"), "found: 40.00 %")
    same(tab.run("document.querySelectorAll('.m').length"), 1)
    tab.key("Escape")
    same(tab.run("document.querySelectorAll('.m').length"), 0)


@case
def accessible(bench: Bench):
    """axe-core finds nothing serious in a difference and in a flame graph as SVG"""
    script = axe()
    before, after = two(bench)
    bench.written("sides", "diff", "--html=PAGE", before, after)
    for dark in (False, True):
        tab = bench.open("sides", "#view=difference", dark=dark)
        tab.run(script)
        for view in ("summary", "difference", "flame"):
            tab.run(f"tally.page.store.set({{ view: '{view}', search: 'lib' }})")
            tab.next_frame()
            serious(tab, f"{view} of a difference, {'dark' if dark else 'light'}")
    tab = open_svg(bench, svg(bench, "axe", "-i", before))
    tab.run(script)
    serious(tab, "a flame graph as SVG")


run()
