#!/usr/bin/env python3
"""The page's numbers: those of made recordings that are known, and random ones against a slow, plain way to count."""

import json
import random
import xml.dom.minidom
from collections import defaultdict

import made
from checks import Bench, case, run, same, true

STATE = "tally.page.store.now"


def functions(tab, **state):
    """{name: [self, total]} of a state."""
    return json.loads(tab.run(f"""(() => {{
        const {{ analysis, store }} = tally.page, now = {{ ...store.now, ...{json.dumps(state)} }}, of = analysis.functions(now), out = {{}};
        for (let i = 0; i < of.total.length; i++) if (of.total[i] > 0) out[analysis.recording.name(i)] = [of.self[i], of.total[i]];
        return JSON.stringify(out); }})()"""))


@case
def known_sums(bench: Bench):
    """functions have the known sums, each once in a stack"""
    tab = bench.open("known")
    found = {name: [own / 1e8, total / 1e8] for name, (own, total) in functions(tab).items()}
    same(found, {"main": [0, 100], "loop": [0, 48], "work": [60, 60], "walk": [10, 20], "small_inline": [8, 8], "write": [0, 10],
                 "ksys_write": [6, 10], "clear_page_erms": [4, 4], "JS:render app.js:12": [7, 7], "[unknown]": [5, 5]})
    images = tab.run("Array.from(tally.page.analysis.images(tally.page.store.now).self, (one) => one / 1e8).join()")
    same(images, "78,0,10,7,5,0", "images: app, libc, kernel, jit, libfoo, none")
    same(tab.run("Array.from(tally.page.analysis.byThread(tally.page.store.now), (one) => one / 1e8).join()"), "75,25,0")


@case
def known_waits(bench: Bench):
    """waits have the known sums, whatever event is shown, also of a span and a thread"""
    tab = bench.open("known")
    waits = lambda **state: json.loads(tab.run(f"""(() => {{ const {{ analysis, store }} = tally.page, of = tally.waits.compute(analysis, {{ ...store.now, ...{json.dumps(state)} }});
        return JSON.stringify([of.whole / 6e7, of.rows.map(({{ label, caller, self }}) => [...[label, caller].map(analysis.recording.name), self / 6e7])]); }})()"""))
    same(waits(), [60, [["futex_wait", "loop", 60]]], "all")
    same(waits(span="0-5000000", event="2"), [33, [["futex_wait", "loop", 33]]], "of the first half")
    same(waits(who="t0"), [0, []], "of a thread that never waits")
    # The overview has each in the 60 ms that it lasted, of columns of 10 ms.
    line = json.loads(tab.run("JSON.stringify(Array.from(tally.page.analysis.timeline({ ...tally.page.store.now, event: '1' }, 1000, 0, 10000000).all, Math.round))"))
    same([line[:17], sum(line)], [[0] * 6 + [10_000_000] * 6 + [0] * 5, 3_600_000_000], "over time")
    row = tab.run("[...document.querySelectorAll('.cards table')].at(-1).querySelector('tbody tr').innerText").split("\t")
    same([cell.strip() for cell in row], ["100.0 %", "3.60 s", "futex_wait", "loop"])


@case
def busy(bench: Bench):
    """a thread's part of the time is that of the chosen span"""
    tab = bench.open("known", "#view=threads")
    column = lambda: tab.run("[...document.querySelectorAll('.view-table tbody tr')].map((row) => row.cells[2].innerText).join()")
    same(column(), "75.0 %,25.0 %")
    tab.run("tally.page.store.set({ span: '0-5000000' })")
    tab.next_frame()
    same(column(), "75.0 %,25.0 %", "of the first half")
    tab.run("tally.page.store.set({ event: '2', span: '' })")
    tab.next_frame()
    same(column(), "–", "faults are no time")


@case
def against(bench: Bench):
    """a span's flame graph is compared with that of the whole time, also inverted, by its shares"""
    one = made.Made(made.summary("phases", 1))
    thread, main = one.thread(1, 1, "t"), one.function("main")
    early, late, always = (one.stack([main, one.function(name)]) for name in ("early", "late", "always"))
    for i in range(100):
        one.sample(i * 10_000, thread, always if i % 2 else early if i < 50 else late, 1_000_000)
    bench.file("phases", one)
    tab = bench.open("phases", "#view=flame&colour=span&span=0-500000")
    for inverted in ("", "1"):
        tab.run(f"tally.page.store.set({{ inverted: '{inverted}' }})")
        tab.next_frame()
        found = json.loads(tab.run("""(() => { const { analysis, store, view } = tally.page, { boxes } = view.graph, theme = tally.palette.theme(store.now);
            const colour = tally.graphPaint.colours(analysis, store.now, theme, tally.page.hues), of = analysis.against(store.now), out = {};
            for (let i = 1; i < boxes.count; i++) if (boxes.depth[i] === (store.now.inverted ? 1 : 2))
                out[analysis.recording.name(boxes.label[i])] = [boxes.before[i] * of.scaleBefore * 100, boxes.after[i] * of.scaleAfter * 100, theme.change.indexOf(colour(boxes, i))];
            return JSON.stringify(out); })()"""))
        same({name: [round(a), round(b), at] for name, (a, b, at) in found.items()}, {"early": [25, 50, 6], "always": [50, 50, 4]}, f"inverted {inverted}")
    same(tab.run("document.querySelector('.legend').innerText.split('\\n').length"), 4, "colours")
    tab.run("tally.page.store.set({ span: '', inverted: '' })")
    tab.next_frame()
    true("choose a span" in tab.run("document.querySelector('.legend').innerText"), "what to do without a span")


@case
def codings(bench: Bench):
    """columns of every coding read the same, also numbers above 2^32"""
    def recording():
        one = made.Made(made.summary("wide", 10000))
        node, thread = one.stack([one.function("f")]), one.thread(1, 1, "t")
        for i in range(50):
            one.sample(i * 200_000_000, thread, node, 2**40 + i * 2**33 + 1)
        return one

    sums = [sum(2**40 + i * 2**33 + 1 for i in range(50))]
    for coding in ("best", "raw"):
        bench.file(f"wide-{coding}", recording(), coding=coding)
        tab = bench.open(f"wide-{coding}")
        same(functions(tab), {"f": sums * 2}, coding)
        same(tab.run("tally.page.analysis.recording.sample.time[49]"), 49 * 200_000_000, "time")


def random_recording(seed, nodes=300, samples=3000):
    random.seed(seed)
    one = made.Made(made.summary(f"random {seed}", 3))
    names = [one.function(f"f{i}", f"lib{i % 5}.so", i % 3) for i in range(25)]
    threads = [one.thread(1 + i // 2, 10 + i, f"t{i}") for i in range(5)]
    stacks = [[names[min(24, int(random.expovariate(0.15)))] for _ in range(random.randrange(0, 14))] for _ in range(nodes)]
    for i in range(samples):
        one.sample(i * 1000 + random.randrange(900), random.choice(threads), one.stack(random.choice(stacks)), random.randrange(1, 10**6), cpu=i % 3)
    return one


def stacks_of(one):
    """[(time, thread, cpu, weight, stack of function numbers)], the plain way."""
    node, out = one.tables["node"], []
    sample = one.tables["sample"]
    for time, thread, cpu, at, weight in zip(*(sample[name] for name in ("time", "thread", "cpu", "node", "weight"))):
        stack = []
        while at:
            stack.append(node["function"][at])
            at = node["parent"][at]
        out.append((time, thread, cpu, weight, tuple(reversed(stack))))
    return out


def count(rows):
    own, total = defaultdict(int), defaultdict(int)
    for weight, stack in rows:
        if stack:
            own[stack[-1]] += weight
        for function in set(stack):
            total[function] += weight
    return {function: [own[function], total[function]] for function in total}


def changed(stack, operations, image_of, recursion):
    """A stack after operations, or None; the rules of web/transform.js, a frame at a time."""
    out, begun, closed = [], not any(kind in "fF" for kind, _ in operations), False
    for function in stack:
        kinds = {kind for kind, index in operations if (image_of[function] if kind.isupper() else function) == index}
        if not begun:
            if not kinds & set("fF"):
                continue
            begun = True
        if closed or kinds & set("hH"):
            continue
        label = ("image", image_of[function]) if "C" in kinds else function
        if "C" in kinds and out and out[-1] == label:
            continue
        if recursion and label in out:
            del out[out.index(label) + 1:]
            closed = ("c", label) in operations
            continue
        out.append(label)
        closed = "c" in kinds
    return tuple(out) if begun else None


@case
def against_plain(bench: Bench):
    """random recordings: spans, threads, CPUs and operations on stacks give what a plain count gives"""
    for seed in (1, 2):
        one = random_recording(seed)
        rows, image_of = stacks_of(one), one.tables["function"]["image"]
        bench.file(f"random{seed}", one)
        tab = bench.open(f"random{seed}")
        labels = len(image_of)
        name = lambda label: f"[lib{label[1]}.so]" if isinstance(label, tuple) else f"f{label}"
        random.seed(seed + 100)
        for turn in range(40):
            low = random.randrange(0, 2_900_000)
            high = random.randrange(low + 1, 3_000_000)
            who = random.choice(["", "", f"t{random.randrange(5)}", f"c{random.randrange(3)}", f"p{random.randrange(3)}"])
            operations = [(random.choice("fhcFHC"), random.randrange(5)) for _ in range(random.choice([0, 0, 1, 2, 3]))]
            recursion = random.random() < 0.4
            chosen = []
            for time, thread, cpu, weight, stack in rows:
                if not low <= time < high or who[:1] == "t" and thread != int(who[1]) or who[:1] == "c" and cpu != int(who[1]) or who[:1] == "p" and thread // 2 != int(who[1]):
                    continue
                stack = changed(stack, operations, image_of, recursion)
                if stack is not None:
                    chosen.append((weight, stack))
            wanted = {name(label): sums for label, sums in count(chosen).items()}
            state = {"span": f"{low}-{high}", "who": who, "ops": ".".join(f"{kind}{index}" for kind, index in operations), "recursion": "1" if recursion else ""}
            same(functions(tab, **state), wanted, f"seed {seed}, turn {turn}, {state}")
        true(labels == 25, "labels")


@case
def spans_add_up(bench: Bench):
    """a span that is dragged step by step has exactly the sums of the span that is set at once"""
    bench.file("random1", random_recording(1))
    tab = bench.open("random1", "#view=flame")
    result = tab.run("""(() => {
        const { analysis, store } = tally.page;
        let low = 400000, high = 900000, wrong = 0;
        for (let i = 0; i < 60; i++) {
            low += (i * 7919) % 40000 - 15000;
            high += (i * 104729) % 50000 - 15000;
            const now = { ...store.now, span: `${low}-${high}` }, by = Array.from(analysis.sums(now).self);
            const { sample } = analysis.recording, plain = new Float64Array(by.length);
            for (let at = 0; at < sample.count; at++) if (sample.time[at] >= low && sample.time[at] < high) plain[sample.node[at]] += sample.weight[at];
            for (let at = 0; at < by.length; at++) if (by[at] !== plain[at]) wrong++;
        }
        return wrong; })()""")
    same(result, 0, "nodes with other sums")


@case
def inverted(bench: Bench):
    """the inverted graph begins with what functions do themselves, and callers have their parts"""
    tab = bench.open("known", "#view=flame&inverted=1")
    boxes = json.loads(tab.run("""(() => { const { boxes } = tally.page.view.graph, { recording } = tally.page.analysis, out = [];
        for (let i = 0; i < boxes.count; i++) out.push([boxes.path(i).map(recording.name).join(' < '), Math.round(boxes.value[i] / 1e8)]);
        return JSON.stringify(out); })()"""))
    found = dict(boxes)
    for path, value in {"work": 60, "work < loop": 30, "work < main": 20, "work < walk": 10, "work < walk < walk < walk < loop < main": 10, "walk < walk < main": 10,
                        "ksys_write < write < main": 6, "clear_page_erms < ksys_write < write": 4}.items():
        same(found.get(path), value, path)


@case
def narrow(bench: Bench):
    """the inverted graph says how much is in functions that are too narrow to draw"""
    one = made.Made(made.summary("narrow", 1))
    main, thread = one.function("main"), one.thread(10, 10, "app")
    one.sample(0, thread, one.stack([main, one.function("hot")]), 4000)
    for i in range(6000):
        one.sample(1, thread, one.stack([main, one.function(f"f{i}")]), 1)
    bench.file("narrow", one)
    tab = bench.open("narrow", "#view=flame&inverted=1")
    shown = "document.querySelector('.view-graph .graph').dataset.narrow || ''"
    same(tab.run(shown), "60.0 % in functions that are too narrow to draw")
    for state in ("zoom: String(tally.page.view.graph.boxes.label[1])", "zoom: '', inverted: ''"):
        tab.run(f"tally.page.store.set({{ {state} }}), tally.page.finish()")
        same(tab.run(shown), "", state)


@case
def sandwich(bench: Bench):
    """callers and callees of a function sum all its places, recursion once"""
    tab = bench.open("known", "#view=sandwich&fn=3")
    same(tab.run("document.querySelector('.sandwich-name').textContent"), "walk")
    true("total 2.00 s (20.0 %)" in tab.run("document.querySelector('.view-sandwich .facts').textContent"), "facts")
    found = json.loads(tab.run("""(() => { const { boxes } = tally.page.view.graph, { recording } = tally.page.analysis, out = {};
        for (let i = 0; i < boxes.count; i++) out[boxes.path(i).map(recording.name).join(';')] = boxes.value[i] / 1e8;
        return JSON.stringify(out); })()"""))
    same(found, {"": 20, "walk": 20, "walk;walk": 10, "walk;walk;work": 10}, "callees")


@case
def hidden(bench: Bench):
    """samples of hidden nodes count for their function, and are their caller's own in graphs and stacks"""
    one = made.Made(made.summary("hidden", 1))
    main, work, inner = one.function("main"), one.function("work"), one.function("inner")
    one.tables["function"]["inlined"][inner] = 1
    thread, node = one.thread(1, 1, "t"), one.stack([main, work, inner], [inner])
    for at, (leaf, weight) in enumerate([(node, 5), (one.hidden(node, work), 30), (one.stack([main, work]), 7)]):
        one.sample(at * 1000, thread, leaf, weight)
    bench.file("hidden", one)
    tab = bench.open("hidden", "#view=flame")
    same(functions(tab), {"main": [0, 42], "work": [37, 42], "inner (inlined)": [5, 35]}, "functions")
    graph = """(() => { const { boxes } = tally.page.view.graph, { recording } = tally.page.analysis, out = {};
        for (let i = 0; i < boxes.count; i++) out[boxes.path(i).map(recording.name).join(';')] = [boxes.own[i], boxes.value[i]];
        return JSON.stringify(out); })()"""
    same(json.loads(tab.run(graph)), {"": [0, 42], "main": [0, 42], "main;work": [7, 42], "main;work;inner (inlined)": [35, 35]}, "graph")
    same(tab.run("tally.export.folded(tally.page)"), "main;work 7\nmain;work;inner (inlined) 35\n", "folded")
    tab.run("tally.page.store.set({ inverted: '1' })")
    tab.next_frame()
    same({path: value for path, (_, value) in json.loads(tab.run(graph)).items() if ";" not in path}, {"": 42, "inner (inlined)": 35, "work": 7}, "inverted")
    same(functions(tab, ops="h2", inverted=""), {"main": [0, 42], "work": [42, 42]}, "inner is hidden")
    same(functions(tab, ops="f1", inverted=""), {"work": [37, 42], "inner (inlined)": [5, 35]}, "focus on work")


@case
def search(bench: Bench):
    """a search has the share of stacks with a match; a filter leaves the others out; what is no pattern is text"""
    tab = bench.open("known", "#view=functions")
    share = lambda text: tab.run(f"(() => {{ const found = tally.page.analysis.found({{ ...{STATE}, search: {json.dumps(text)} }}); return [found.names, Math.round(found.sum / found.whole * 1e6) / 1e4].join(); }})()")
    same(share("^work$"), "1,60", "work")
    same(share("^(walk|ksys)"), "2,30", "walk or ksys")
    same(share("WORK"), "0,0", "capitals count when there are some")
    same(share("work("), "0,0", "no pattern, and no such text")
    same(share("render app.js:12"), "1,7", "text with dots")
    found = functions(tab, search="^ksys", filter="1")
    same({name: total / 1e8 for name, (_, total) in found.items()}, {"main": 10, "write": 10, "ksys_write": 10, "clear_page_erms": 4}, "filter")


@case
def events(bench: Bench):
    """events are switched, and on-CPU and off-CPU time are added up"""
    tab = bench.open("known")
    same(sum(own for own, _ in functions(tab, event="1").values()), 60 * 60_000_000, "off-cpu")
    same(sum(own for own, _ in functions(tab, event="2").values()), 60, "faults")
    same(sum(own for own, _ in functions(tab, event="all").values()), 10_000_000_000 + 3_600_000_000, "both")


@case
def merged(bench: Bench):
    """recordings of a merge are left out by a switch"""
    tab = bench.open("merge")
    same(tab.run("[...document.querySelectorAll('.recordings input')].length"), 3, "switches")
    tab.run("document.querySelectorAll('.recordings input')[0].click()")
    tab.next_frame()
    same(tab.run("tally.page.analysis.sums(tally.page.store.now).whole / 1e8"), 25, "without the first")
    true("recordings=0" in tab.run("tally.state.format(tally.page.store.now)"), "address")


@case
def difference(bench: Bench):
    """a difference has changes, gone and new functions, and what is more than chance"""
    tab = bench.open("diff", "#view=difference")
    rows = json.loads(tab.run("""JSON.stringify(tally.difference.rows(tally.page.analysis, tally.page.store.now).map((row) =>
        [tally.page.analysis.recording.name(row.label), +(row.before * 1003).toFixed(6), +(row.after * 1005).toFixed(6), row.significant, row.state]))"""))
    found = {name: rest for name, *rest in rows}
    same(found, {"main": [0, 0, False, ""], "same": [400, 400, False, ""], "grown": [100, 300, True, ""], "shrunk": [300, 200, True, ""],
                 "gone_function": [200, 0, True, "gone"], "new_function": [0, 100, True, "new"], "few": [3, 5, False, ""]})
    tab.run("tally.page.store.set({ view: 'flame' })")
    tab.next_frame()
    same(tab.run("""(() => { const { boxes } = tally.page.view.graph, { recording } = tally.page.analysis, out = [];
        for (let i = 0; i < boxes.count; i++) out.push(recording.name(boxes.label[i])); return out.sort().join(); })()"""),
         "all,few,gone_function,grown,main,new_function,same,shrunk", "frames of both")


@case
def significance(bench: Bench):
    """the test of differences gives the probabilities of the binomial and the normal distribution"""
    tab = bench.open("one")
    p = lambda *args: tab.run(f"tally.difference.significance({','.join(map(str, args))})")
    true(abs(p(0, 10, 1, 1, 0) - 2 * 0.5**10) < 1e-9, "none of ten")
    true(abs(p(2, 8, 1, 1, 0) - 2 * (1 + 10 + 45) / 1024) < 1e-9, "two of ten")
    true(abs(p(100, 100, 1, 1, 0) - 1) < 1e-6, "equal")
    true(abs(p(1000, 1100, 1, 1, 0) - 0.0292) < 0.0005, "one in ten more of a thousand")
    true(abs(p(1000, 1100, 1, 1, 0.03) - 0.1175) < 0.001, "noise of 3 %")
    same(tab.run("tally.difference.choose([0.001, 0.2, 0.0049, 0.004]).join()"), "1,0,0,0", "Holm: 0.004 is above a third of 1 %")


@case
def time_line(bench: Bench):
    """the time line, strips and the heat map add up to the sums of the recording"""
    tab = bench.open("known", "#view=time&strips=heat")
    same(tab.run("Math.round(tally.page.analysis.timeline(tally.page.store.now, 77, 0, tally.page.analysis.recording.end).all.reduce((a, b) => a + b) / 1e8)"), 100, "time line")
    # Each column, of all samples and of those that a search finds, against one sample after the other.
    same(json.loads(tab.run("""(() => { const { analysis, store } = tally.page, { recording } = analysis, { sample } = recording, out = [];
        for (const columns of [7, 77]) for (const more of [{}, { search: 'loop' }, { search: 'loop', ops: 'h1' }]) {
            const state = { ...store.now, ...more }, got = analysis.timeline(state, columns, 0, recording.end), chosen = analysis.picked(state);
            const { of } = analysis.tree(state), has = more.search ? tally.search.nodes(analysis.tree(state), analysis.matches(state)) : null;
            const all = new Array(columns).fill(0), match = new Array(columns).fill(0);
            for (let i = 0; i < chosen.count; i++) {
                const at = Math.min(columns - 1, Math.floor(sample.time[chosen.index[i]] / Math.max(1, recording.end) * columns)), row = chosen.index[i], node = of ? of[sample.node[row]] : sample.node[row];
                all[at] += sample.weight[row];
                if (!has || node !== tally.NONE && has[node]) match[at] += sample.weight[row];
            }
            out.push(String(all) === String([...got.all]) && String(match) === String([...got.match]) && all.filter(Boolean).length > 5);
        } return JSON.stringify(out); })()""")), [True] * 6, "columns")
    strips = json.loads(tab.run("""(async () => { const { analysis, store } = tally.page, { recording } = analysis, run = await recording.later('run'), out = {};
        for (const by of ['process', 'thread', 'cpu']) { const all = analysis.now(tally.strips.of(analysis, { ...store.now, strips: by }, run, [0, recording.end], 99));
            out[by] = all.rows.map((row) => row.who); } return JSON.stringify(out); })()"""))
    same(strips, {"process": ["p0"], "thread": ["t0", "t1"], "cpu": ["c0", "c1", "c2", "c3"]}, "rows")


@case
def exports(bench: Bench):
    """exports have the selection: folded stacks and JSON add up, the SVG is well-formed with hostile names"""
    tab = bench.open("known", "#view=flame&ops=h1")
    folded = tab.run("tally.export.folded(tally.page)")
    lines = dict(line.rsplit(" ", 1) for line in folded.splitlines())
    same(int(lines["main;work"]), 5_000_000_000, "main;work without loop")
    same(sum(map(int, lines.values())), 10_000_000_000, "folded")
    found = json.loads(tab.run("tally.export.json(tally.page)"))
    same([found["total"], found["samples"], found["unit"]], [10_000_000_000, 1000, "ns"], "JSON")
    same({one["name"]: one["total"] for one in found["functions"]}["work"], 6_000_000_000, "JSON's work")
    for page in ("known", "names"):
        tab = bench.open(page, "#view=flame")
        for inverted_ in ("", "1"):
            tree = xml.dom.minidom.parseString(tab.run(f"(tally.page.store.now.inverted = '{inverted_}', tally.export.svg(tally.page))"))
            true(len(tree.getElementsByTagName("rect")) > 5, "boxes")
            same([tree.getElementsByTagName(name).length for name in ("script", "img", "foreignObject")], [0, 0, 0], "elements")


run()
