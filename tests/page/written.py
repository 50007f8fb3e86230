#!/usr/bin/env python3
"""Pages that the program itself writes: their numbers in the browser are those of its text."""

import json

from checks import Bench, case, run, same, tally, true

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
    true("gone" in text and "within chance" in text, text)


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


run()
