#!/usr/bin/env python3
"""What people do in the page: click, drag, type, press keys, follow links; and recordings that are hard to show."""

import glob
import json
import os
import zlib

import made
from checks import Bench, axe, case, run, same, serious, true
from page_file import TOP

STATE = "tally.page.store.now"
VIEWS = ["summary", "flame", "sandwich", "functions", "images", "threads", "time", "code"]
LABELS = "(() => { const { boxes } = tally.page.view.graph; return [...new Set(Array.from(boxes.label.slice(0, boxes.count), tally.page.analysis.recording.name))].join(); })()"


def place(tab, selector):
    """The middle and the size of an element: x, y, width, height."""
    return tab.run(f"(() => {{ const box = document.querySelector({json.dumps(selector)}).getBoundingClientRect(); return [box.left + box.width / 2, box.top + box.height / 2, box.width, box.height]; }})()")


def frame(tab, name, graph=".view-graph .graph-sheet"):
    """The middle of the first box of a function."""
    return tab.run(f"""(() => {{ const {{ boxes }} = tally.page.view.graph, {{ recording }} = tally.page.analysis, box = document.querySelector({json.dumps(graph)}).getBoundingClientRect();
        for (let i = 0; i < boxes.count; i++) if (recording.name(boxes.label[i]) === {json.dumps(name)})
            return [box.left + (boxes.left[i] + boxes.right[i]) / 2 * box.width, box.top + boxes.depth[i] * 20 + 10]; }})()""")


def state(tab, name):
    return tab.run(f"{STATE}[{json.dumps(name)}]")


@case
def parses(bench: Bench):
    """each script parses by itself"""
    tab = bench.browser.tab()
    scripts = sorted(glob.glob(os.path.join(TOP, "web", "*.js")))
    true(len(scripts) > 30, "scripts are there")
    for path in scripts:
        with open(path, encoding="utf-8") as file:
            result = tab.do("Runtime.compileScript", expression=file.read(), sourceURL=path, persistScript=False)
        true("exceptionDetails" not in result, f"{path}: {result}")
    tab.close()


@case
def listed(bench: Bench):
    """web/FILES names each script and style once"""
    with open(os.path.join(TOP, "web", "FILES"), encoding="utf-8") as file:
        names = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    same(sorted(names), sorted(name for name in os.listdir(os.path.join(TOP, "web")) if name.endswith((".js", ".css"))))


@case
def loads(bench: Bench):
    """the summary says what ran, and what is hot"""
    tab = bench.open("known")
    same(tab.run("document.title"), "perf.data: ./app --threads 2", "title")
    text = tab.run("document.querySelector('.panel').innerText")
    for part in ("Two threads do the work", "build-7", "libfoo.so has no symbols", "apt install", "work", "60.0 %", "app.c:73", "worker"):
        true(part in text, part)


@case
def zooms(bench: Bench):
    """a click zooms, Backspace and the browser's Back zoom out, and the address follows"""
    tab = bench.open("known", "#view=flame")
    tab.click(*frame(tab, "loop"))
    same(tab.run(LABELS), "all,main,loop,work,walk,small_inline", "zoomed")
    tab.wait("location.hash.includes('zoom=')")
    tab.click(*frame(tab, "small_inline"))
    tab.wait("location.hash.split('zoom=')[1].split('.').length === 3")
    tab.key("Backspace")
    same(state(tab, "zoom"), "0.1", "one step back")
    tab.wait("location.hash.includes('zoom=0.1')")
    tab.run("history.back()")
    tab.wait(f"{STATE}.zoom.split('.').length === 3")
    tab.run("tally.page.reset()")
    tab.next_frame()
    true("JS:render" in tab.run(LABELS), "everything")


@case
def frame_menu(bench: Bench):
    """the menu of a frame focuses, hides and collapses; chips take that off again"""
    tab = bench.open("known", "#view=flame")
    for item, wanted in (("Focus", "all,walk,work"), ("Hide", "all,main,loop,work,write,JS:render app.js:12,[unknown],small_inline,ksys_write,clear_page_erms"),
                         ("Collapse image", "all,[app],write,JS:render app.js:12,[unknown],ksys_write,clear_page_erms")):
        tab.click(*frame(tab, "walk"), button="right")
        tab.wait("!document.querySelector('.menu').hidden")
        tab.run(f"[...document.querySelectorAll('.menu button')].find((one) => one.firstChild.textContent === {json.dumps(item)}).click()")
        tab.next_frame()
        same(sorted(tab.run(LABELS).split(",")), sorted(wanted.split(",")), item)
        tab.run("document.querySelector('.chip').click()")
        tab.next_frame()
        same(state(tab, "ops"), "", "chip")


@case
def searches(bench: Bench):
    """a search is typed, shows its share, and filters"""
    tab = bench.open("known", "#view=functions")
    tab.key("/")
    tab.type("^wa")
    same(tab.run("document.querySelector('.found').textContent"), "20.0 %", "share")
    same(tab.run("[...document.querySelectorAll('.view-table tbody tr')].map((row) => row.querySelector('.grow').textContent).join()"), "walk", "rows")
    tab.run("document.querySelector('.search-box .toggle').click()")
    tab.next_frame()
    same(tab.run(f"tally.page.analysis.sums({STATE}).whole / 1e8"), 20, "filtered")
    tab.key("Escape")
    same([state(tab, "search"), tab.run("document.querySelector('.search-box .toggle').hidden")], ["", True], "Escape clears")


@case
def spans(bench: Bench):
    """a drag on the time line chooses a span, an edge changes it, everything follows, a click clears it"""
    tab = bench.open("known", "#view=functions")
    x, y, width, _ = place(tab, ".overview")
    left = x - width / 2
    tab.drag(left + width * 0.2, y, left + width * 0.6, y)
    low, high = map(int, state(tab, "span").split("-"))
    true(abs(low - 2e6) < 2e4 and abs(high - 6e6) < 2e4, f"span {low}-{high}")
    whole = tab.run(f"tally.page.analysis.sums({STATE}).whole")
    true(3.9e9 < whole < 4.1e9, f"sums {whole}")
    same(tab.run("document.querySelector('.chip bdi').textContent.includes('4.00 s')"), True, "chip")
    tab.drag(left + width * 0.6, y, left + width * 0.8, y)
    true(abs(int(state(tab, "span").split("-")[1]) - 8e6) < 2e4, "edge")
    tab.click(left + width * 0.05, y)
    same(state(tab, "span"), "", "a click clears")


@case
def faded(bench: Bench):
    """while a span is dragged what is outside of it is faded, and the time line and strips are not drawn again"""
    tab = bench.open("known", "#view=time&strips=thread")
    tab.wait("tally.page.prepared === true")
    tab.run("Promise.all(['run', 'marker'].map((name) => tally.page.analysis.recording.later(name))).then(() => new Promise((done) => setTimeout(done, 200)))")
    tab.run("""(() => { window.drawn = 0; for (const name of ['fill', 'fillRect', 'drawImage', 'clearRect', 'putImageData']) { const own = CanvasRenderingContext2D.prototype[name];
        CanvasRenderingContext2D.prototype[name] = function (...all) { window.drawn++; return own.apply(this, all); }; } })()""")
    x, y, width, _ = place(tab, ".overview")
    tab.drag(x - width / 4, y, x + width / 4, y)
    same(tab.run("window.drawn"), 0, "drawn")
    for around, over in ((".overview", ".overview canvas"), (".strips", ".band canvas")):
        x, y, width, _ = place(tab, over)
        ends = tab.run(f"[...document.querySelectorAll('{around} .veil')].map((one) => one.getBoundingClientRect()).map(({{ left, right }}) => [left, right])")
        for found, wanted in zip(sum(ends, []), (x - width / 2, x - width / 4, x + width / 4, x + width / 2)):
            true(abs(found - wanted) < 2, f"{around}: {ends}, {x} {width}")
    tab.run("tally.page.store.set({ span: '' })")
    tab.next_frame()
    same(tab.run("document.querySelectorAll('.veils:not([hidden])').length"), 0, "faded without a span")


@case
def time_view(bench: Bench):
    """strips choose threads and spans; the heat map chooses spans; markers are listed"""
    tab = bench.open("known", "#view=time&strips=thread")
    same(tab.run("[...document.querySelectorAll('.strip-name bdi')].map((one) => one.textContent).join()"), "app 100,worker 101", "strips")
    tab.run("document.querySelectorAll('.strip-name')[1].click()")
    tab.next_frame()
    same([state(tab, "who"), tab.run(f"tally.page.analysis.sums({STATE}).whole / 1e8")], ["t1", 25], "thread")
    tab.run("document.querySelectorAll('.strip-name')[1].click()")
    x, y, width, _ = place(tab, ".band canvas")
    tab.drag(x - width * 0.2, y, x + width * 0.2, y)
    low, high = map(int, state(tab, "span").split("-"))
    true(abs(low - 3e6) < 3e4 and abs(high - 7e6) < 3e4, f"span {low}-{high}")
    tab.wait("document.querySelectorAll('.markers tbody tr').length === 2")
    tab.run("tally.page.store.set({ strips: 'heat', span: '' })")
    tab.next_frame()
    x, y, width, height = place(tab, ".heat canvas")
    tab.drag(x - width / 4, y, x, y - height / 4)
    low, high = map(int, state(tab, "span").split("-"))
    true(0 < low < high <= 10_000_000 and 2e6 < high - low < 3e6, f"heat span {low}-{high}")


@case
def tables(bench: Bench):
    """tables are sorted by their heads, filtered, and copied with tabs"""
    tab = bench.open("known", "#view=functions")
    names = "[...document.querySelectorAll('.view-table tbody tr')].map((row) => row.querySelector('.grow').textContent).join()"
    same(tab.run(names).split(",")[:3], ["work", "walk", "small_inline"], "by self")
    head = lambda text: tab.run(f"[...document.querySelectorAll('th .sort')].find((one) => one.textContent === '{text}').click()")
    head("Total")
    tab.next_frame()
    same(tab.run(names).split(",")[:3], ["main", "work", "loop"], "by total")
    same(tab.run("document.querySelector('th[aria-sort=descending]').textContent"), "Total", "aria-sort")
    head("Function")
    tab.next_frame()
    same(tab.run(names).split(",")[:2], ["[unknown]", "clear_page_erms"], "by name")
    tab.run("(() => { const field = document.querySelector('.view-table input'); field.value = 'wr'; field.dispatchEvent(new Event('input')); })()")
    tab.next_frame()
    same([tab.run(names), tab.run("document.querySelector('.table-facts').textContent")], ["ksys_write,write", "2 of 10 rows"], "filter")
    lines = tab.run("tally.page.view.table.tsv()").splitlines()
    same(lines[0].split("\t")[:4], ["Self", "Total", "Self amount", "Function"], "TSV")
    same(lines[2].split("\t")[1:4], ["1000000000", "0", "write"], "TSV's row")


@case
def code(bench: Bench):
    """source and assembly show samples by line and instruction"""
    tab = bench.open("known", "#view=code")
    tab.wait("document.querySelectorAll('.code').length === 2")
    text = tab.run("document.querySelector('.code-parts').innerText")
    for part in ("return sum + offset(item, count);", "58.3 %", "add    (%rdi),%eax"):
        true(part in text, part)
    tab.run("tally.page.store.set({ fn: '0' })")
    tab.next_frame()
    true("No lines are known" in tab.run("document.querySelector('.code-parts').innerText"), "a function without lines")


@case
def links(bench: Bench):
    """a link shows the same again: view, span, thread, search, operations, order, theme"""
    link = "#view=flame&event=0&span=1000000-6000000&who=t0&search=wa&filter=1&order=name&up=1&recursion=1&colour=kind&ops=h1.c9&zoom=0&theme=dark"
    tab = bench.open("known", link)
    same(tab.run(f"tally.state.format({STATE})").split("&")[0:3], ["#view=flame", "event=0", "span=1000000-6000000"], "state")
    first = [tab.run(LABELS), tab.run(f"tally.page.analysis.sums({STATE}).whole"), tab.run("document.documentElement.dataset.theme")]
    again = bench.open("known", tab.run(f"tally.state.format({STATE})"))
    same([again.run(LABELS), again.run(f"tally.page.analysis.sums({STATE}).whole"), again.run("document.documentElement.dataset.theme")], first, "restored")
    same(first[2], "dark", "theme")


@case
def view_links(bench: Bench):
    """each view is the same again by its link"""
    states = ["summary&span=0-5000000", "flame&inverted=1&order=name&up=1&colour=span&span=0-5000000", "flame&order=time&who=p0", "sandwich&fn=3&search=lo", "functions&sort=total-&rows=w&event=1",
              "images&sort=name%2B&ops=h1", "threads&sort=tid%2B", "time&strips=cpu&lens=0-5000000", "time&strips=heat&event=2", "code&fn=2"]
    shown = "document.querySelector('.panel').innerText + document.querySelector('.chips').innerText + [...document.querySelectorAll('.panel input, .panel select, .head select')].map((one) => one.value)"
    for text in states:
        tab = bench.open("known", f"#view={text}")
        tab.wait("document.querySelectorAll('.panel *').length > 5")
        tab.run("new Promise((done) => setTimeout(done, 100))")
        again = bench.open("known", tab.run(f"tally.state.format({STATE})"))
        again.wait("document.querySelectorAll('.panel *').length > 5")
        again.run("new Promise((done) => setTimeout(done, 100))")
        true(len(tab.run(shown)) > 60, f"{text}: {tab.run(shown)}")
        same(again.run(shown), tab.run(shown), text)
        same(again.run(LABELS) if "flame" in text else "", tab.run(LABELS) if "flame" in text else "", text)


@case
def tab_order(bench: Bench):
    """in each view Tab alone reaches every control, and leaves the page again"""
    seen = "[...document.querySelectorAll('button, select, input, summary, [tabindex=\"0\"]')].filter((one) => one.tabIndex >= 0 && one.offsetParent !== null)"
    for view in VIEWS:
        tab = bench.open("known", f"#view={view}")
        tab.wait("document.querySelectorAll('.panel *').length > 5")
        tab.run("(() => { window.met = new Set(); document.addEventListener('focusin', (event) => met.add(event.target)); })()")
        for _ in range(tab.run(f"{seen}.length") + 2):
            tab.do("Input.dispatchKeyEvent", type="keyDown", key="Tab", windowsVirtualKeyCode=9)
            tab.do("Input.dispatchKeyEvent", type="keyUp", key="Tab", windowsVirtualKeyCode=9)
        same(tab.run(f"{seen}.filter((one) => !met.has(one)).map((one) => one.outerHTML.slice(0, 80)).join()"), "", view)


@case
def hostile_links(bench: Bench):
    """no address breaks the page"""
    for link in ("#view=%3Cscript%3E&zoom=99999999.5", "#view=flame&ops=f99999999.H88888&who=t999999&fn=999999999", "#span=9-1&lens=5-5&event=77&recordings=9.8.7",
                 "#view=sandwich&fn=999999999", "#view=flame&zoom=4294967295.1&order=time", "#view=time&lens=9000000-9999999999&strips=cpu", "#view=code&fn=999999",
                 "#search=(a%2B)%2Bb&filter=1&view=functions", "#__proto__=1&constructor=2&view=difference", "#%E0%A4%A"):
        tab = bench.open("known", link)
        true(tab.run("tally.failed === undefined && document.querySelector('.panel').childElementCount === 1"), link)


@case
def keyboard(bench: Bench):
    """everything is reached with keys alone"""
    tab = bench.open("known")
    for number, view in enumerate(VIEWS, 1):
        tab.key(str(number))
        same(state(tab, "view"), view, "digit")
    tab.key("2")
    tab.run("document.activeElement.blur()")
    for _ in range(40):
        tab.key("Tab")
        if tab.run("document.activeElement.classList.contains('graph')"):
            break
    else:
        raise AssertionError("Tab never reaches the graph")
    same(tab.run("document.querySelector('.frame-name').textContent"), "all", "a frame is chosen")
    for key, name in (("ArrowDown", "main"), ("ArrowDown", "loop"), ("ArrowRight", "work"), ("ArrowLeft", "loop"), ("ArrowDown", "work"), ("ArrowRight", "walk")):
        tab.key(key)
        same(tab.run("document.querySelector('.frame-name').textContent"), name, key)
    true("walk" in tab.run("document.getElementById('live').textContent"), "said aloud")
    tab.key("m")
    true(tab.run("document.activeElement.getAttribute('role') === 'menuitem'"), "menu has the focus")
    tab.key("Escape")
    true(tab.run("document.activeElement.classList.contains('graph')"), "focus comes back")
    tab.key("Enter")
    same(state(tab, "zoom"), "0.1.3", "Enter zooms")
    tab.key("Escape")
    same(state(tab, "zoom"), "", "Escape")
    for key, name, value in (("i", "inverted", "1"), ("i", "inverted", ""), ("r", "recursion", "1"), ("r", "recursion", ""), ("u", "up", "1"), ("o", "order", "name"), ("k", "colour", "kind"), ("l", "theme", "light")):
        tab.key(key)
        same(state(tab, name), value, key)
    tab.key("]")
    true(state(tab, "span"), "a span by key")
    before = state(tab, "span")
    tab.key("]")
    true(state(tab, "span") != before, "moves")
    tab.key("0")
    same(state(tab, "span"), "", "everything")
    tab.key("?", shift=True)
    true(tab.run("document.querySelector('dialog').open"), "help")
    tab.key("Escape")
    true(not tab.run("document.querySelector('dialog').open"), "help closes")
    tab.key("e")
    same(state(tab, "event"), "1", "next event")
    tab.key("x")
    same(tab.run("document.activeElement.textContent"), "Folded stacks", "export")


@case
def hostile_names(bench: Bench):
    """names never become markup, script or a request, in any view"""
    for view in VIEWS:
        tab = bench.open("names", f"#view={view}")
        tab.wait("document.querySelectorAll('.panel *').length > 5")
        true("broken" not in tab.run("document.title.replace(\"document.title='broken'\", '')"), "title")
        same(tab.run("document.querySelectorAll('img, iframe, object, embed, link[rel=stylesheet]').length"), 0, view)
        same(tab.run("[...document.scripts].filter((one) => one.type === '' || one.type === 'text/javascript').length"), 1, "scripts")
        true("\u202e" not in tab.run("document.body.innerText"), "direction marks are shown by number")
    same(tab.run("Object.prototype.toString.call(({}).constructor)"), "[object Function]", "prototypes")


@case
def policy(bench: Bench):
    """the policy stops scripts and requests that are not the page's own"""
    tab = bench.open("one")
    tab.run("(() => { const script = document.createElement('script'); script.textContent = 'window.ran = 1'; document.body.append(script); })()")
    tab.run("fetch('http://127.0.0.1:9/').catch(() => 0)")
    same(tab.run("typeof window.ran"), "undefined", "an added script")
    true(any("Content Security Policy" in text for text in tab.complaints()), "stopped by the policy")
    bench.browser.events = []


@case
def hard_recordings(bench: Bench):
    """one sample, none, no event, 100 threads and hard names are shown in every view, also as wide as a phone"""
    for name in ("one", "none", "empty", "threads", "names", "diff"):
        for width, height in ((390, 844), (1280, 720)):
            tab = bench.open(name, width=width, height=height, phone=width < 500)
            wide = tab.run(f"""(() => {{ const {{ store, update }} = tally.page, wide = [];
                for (const view of {json.dumps(VIEWS + (["difference"] if name == "diff" else []))}) for (const more of [{{ strips: "heat", order: "time" }}, {{ strips: "thread" }}, {{ strips: "cpu", inverted: "1" }}]) {{
                    update(store.now = {{ ...tally.state.parse(""), view, ...more }});
                    if (document.documentElement.scrollWidth > innerWidth) wide.push(view);
                }} return wide.join(); }})()""")
            same([wide, tab.run("tally.failed || ''")], ["", ""], f"{name}: views wider than {width}, and failures")
            if name in ("none", "empty"):
                true("The recording has no samples" in tab.run("(tally.page.store.set({ view: 'flame' }), new Promise((done) => setTimeout(() => done(document.querySelector('.panel').innerText), 60)))"), name)


@case
def floor(bench: Bench):
    """a small graph with the root at the bottom stands on the floor, and long names are cut between their parts"""
    tab = bench.open("known", "#view=flame&up=1")
    bottoms = "['.view-graph .graph', '.view-graph .graph-sheet'].map((one) => Math.round(document.querySelector(one).getBoundingClientRect().bottom))"
    same(len(set(tab.run(bottoms))), 1, f"bottoms {tab.run(bottoms)}")
    name = "std::map<" + ", ".join(f"std::pair<int, Item{i}>" for i in range(60)) + ">::operator[](int const&)"
    same(tab.run(f"tally.format.shorter({json.dumps(name)}).slice(1)"), ["std::map<…>::operator[]", "map<…>::operator[]", "operator[]"], "shorter")


@case
def damaged(bench: Bench):
    """data that is damaged, or of another version, is an error that one can read"""
    for number, (harm, words) in enumerate([
            (lambda one: one.tables["node"]["parent"].__setitem__(1, 5), "node.parent is not in order"), (lambda one: one.tables["sample"]["node"].__setitem__(3, 99999), "sample.node points to no row"),
            (lambda one: one.tables["thread"]["pid"].pop(), "thread.tid has the wrong length"), (lambda one: one.summary.update(version=2), "its data has version 2")]):
        one = made.known()
        harm(one)
        bench.file(f"damaged{number}", one)
        tab = bench.open(f"damaged{number}")
        true(words in tab.run("document.body.innerText"), f"{words}: {tab.run('document.body.innerText')[:200]}")
    for harm, words in (([14, 3, 3], "ends too early"), ([14, 0, 3, 9], "an invalid number of rows"), ([14, 200, 200, 200, 1], "an invalid number of rows")):
        packed = list(zlib.compress(bytes(harm)))
        index = list(json.dumps({"columns": {"a.b": {"type": "u32", "count": 6, "coding": "runs", "offset": 0, "size": len(packed)}}}).encode())
        same(tab.run(f"""tally.container.open(btoa(String.fromCharCode(...{[len(index), 0, 0, 0] + index + packed}))).column("a.b").then(() => "read", (error) => error.message)""").replace("a column ", "").replace("has ", ""), words)


@case
def old_browser(bench: Bench):
    """a browser that cannot expand the data says so in one sentence"""
    tab = bench.browser.tab()
    bench.tabs.append(tab)
    tab.do("Page.addScriptToEvaluateOnNewDocument", source="delete window.DecompressionStream")
    tab.open(bench.file("one"))
    same(tab.run("document.body.innerText.trim()"), "This page cannot be shown: this browser lacks DecompressionStream; Chromium 93, Firefox 113, Safari 16.4 and newer ones have it.")


@case
def beside_right_to_left(bench: Bench):
    """a number stays behind a name that is read from the right, and is copied without marks"""
    tab = bench.open("names", "#view=time&strips=thread")
    true(tab.run("[...document.querySelectorAll('.strip-name bdi')].some((one) => one.dir === 'ltr' && /^\\u2068.*\\u2069 [0-9]+$/.test(one.textContent))"), "isolated")
    tab.run("tally.page.store.set({ view: 'threads' })")
    tab.next_frame()
    true(not tab.run("/[\\u2068\\u2069]/.test(tally.page.view.table.tsv())"), "copied")


@case
def prints(bench: Bench):
    """on paper the page is light and has no controls"""
    tab = bench.open("known", "#view=functions&theme=dark")
    tab.do("Emulation.setEmulatedMedia", media="print")
    tab.next_frame()
    same(tab.run("getComputedStyle(document.body).backgroundColor"), "rgb(255, 255, 255)", "ground")
    same(tab.run("getComputedStyle(document.querySelector('.tabs')).display"), "none", "tabs")
    true(len(tab.do("Page.printToPDF")["data"]) > 5000, "PDF")


@case
def contrast(bench: Bench):
    """text in boxes of every colour has a contrast of 4.5 or more"""
    tab = bench.open("one")
    same(tab.run("""(() => { const { THEMES, ink, tint } = tally.palette, bad = [];
        const part = (colour, at) => { const value = parseInt(colour.slice(at, at + 2), 16) / 255; return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
        const light = (colour) => 0.2126 * part(colour, 1) + 0.7152 * part(colour, 3) + 0.0722 * part(colour, 5);
        for (const theme of Object.values(THEMES)) for (const colour of [...theme.hues, theme.grey, theme.root, theme.match, ...theme.change]) for (let label = 0; label < 9; label++) {
            const ground = theme.change.includes(colour) ? colour : tint(colour, label, theme.ground), a = light(ground), b = light(ink(ground));
            if ((Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) < 4.5) bad.push(ground); }
        return [...new Set(bad)].join(); })()"""), "")


@case
def accessible(bench: Bench):
    """axe-core finds nothing serious in any view, light and dark"""
    script = axe()
    for dark in (False, True):
        tab = bench.open("known", dark=dark)
        tab.run(script)
        theme = "dark" if dark else "light"
        for view in VIEWS:
            tab.run(f"tally.page.store.set({{ view: '{view}', search: 'wa', span: '1000000-9000000' }})")
            tab.next_frame()
            serious(tab, f"{view}, {theme}")
        tab.run("tally.page.store.set({ view: 'time', strips: 'heat', who: 't0' })")
        tab.next_frame()
        serious(tab, f"heat map, {theme}")
        tab.key("x")
        serious(tab, f"the menu of exports, {theme}")
        tab.key("Escape")
        tab.key("?", shift=True)
        serious(tab, f"help, {theme}")
    tab = bench.open("none", "#view=flame")
    tab.run(script)
    serious(tab, "a recording without samples")


@case
def strip_numbers(bench: Bench):
    """where strips have little room their names are cut, and the numbers are in view"""
    tab = bench.open("names", "#view=time", width=390, height=844, phone=True)
    same(tab.run("""(() => [...document.querySelectorAll('.strip-name')].filter((one) => { const number = one.querySelector('bdi').lastChild, place = number.getBoundingClientRect();
        return !/^ [0-9]+$/.test(number.textContent) || place.width < 5 || place.right > one.getBoundingClientRect().right; }).length)()"""), 0)


@case
def process_numbers(bench: Bench):
    """where the name of a process has no room in a table it is cut, and its number is in view"""
    for view in ("summary", "threads"):
        tab = bench.open("names", f"#view={view}", width=800, height=700)
        same(tab.run("""(() => { const all = [...document.querySelectorAll('.tail')]; return [all.length > 5, all.filter((one) => { const place = one.lastChild.getBoundingClientRect();
            return !/^ [0-9]+$/.test(one.lastChild.textContent) || place.width < 5 || place.right > one.closest('td').getBoundingClientRect().right; }).length]; })()"""), [True, 0], view)


@case
def nothing_to_click(bench: Bench):
    """without samples no frame is said to be clicked, and a recording without a time has no axis"""
    tab = bench.open("none", "#view=flame")
    same(tab.run("document.querySelector('.frame').hidden"), True, "the line of the current frame")
    tab = bench.open("empty")
    same(tab.run("""(() => { const canvas = document.querySelector('.overview canvas'), { data } = canvas.getContext('2d').getImageData(0, 51, canvas.width, 12);
        return data.some((one) => one !== 0); })()"""), False, "axis")


@case
def few_lines(bench: Bench):
    """lines of less than a tenth of the time are not called the hottest ones"""
    tab = bench.open("known", "#view=summary")
    tab.wait("[...document.querySelectorAll('.card')].some((one) => /Hottest lines[^]*[.]c:[0-9]/.test(one.innerText))")
    tab.run("tally.page.analysis.recording.later('line').then((line) => { line.self.fill(0); line.self[0] = 1e8; tally.page.store.set({ who: 't0' }); })")
    tab.next_frame()
    text = tab.run("document.querySelector('.view-summary').innerText")
    true("Hottest lines" not in text and "Hottest functions" in text, text)
    tab.run("tally.page.store.set({ who: '' }), tally.page.analysis.recording.later('line').then((line) => { line.self.fill(5e9); tally.page.store.set({ who: 't1' }); })")
    tab.next_frame()
    true("Hottest lines" in tab.run("document.querySelector('.view-summary').innerText"), "lines that are enough")


@case
def long_event(bench: Bench):
    """the numbers of an event with a long name are in view on a phone"""
    tab = bench.open("names", "#view=summary", width=390, height=844, phone=True)
    same(tab.run("""(() => { const table = document.querySelector('.events'), around = table.parentElement;
        return around.scrollWidth <= around.clientWidth && table.querySelector('tbody td').getBoundingClientRect().right < 390; })()"""), True)


@case
def no_controls(bench: Bench):
    """without samples there is nothing to sort, filter or turn, and the sandwich has no parts"""
    for view in ("flame", "sandwich", "functions", "images", "threads", "time"):
        tab = bench.open("none", f"#view={view}")
        same(tab.run("[...document.querySelectorAll('.panel .controls, .panel h3')].filter((one) => one.offsetParent !== null).length"), 0, view)
        same(tab.run("document.querySelector('.panel').innerText.match(/The recording has no samples/g).length"), 1, view)


@case
def unbroken(bench: Bench):
    """on a phone the facts of a function are not broken between a number and its unit"""
    tab = bench.open("known", "#view=sandwich&fn=3", width=390, height=844, phone=True)
    same(tab.run("[...document.querySelectorAll('.fact')].map((one) => one.getClientRects().length + (one.getBoundingClientRect().height > 30 ? 9 : 0)).join()"), "1,1,1")


@case
def ahead(bench: Bench):
    """while nobody does anything, the page makes what the first search and the first view of time need"""
    tab = bench.open("known")
    tab.wait("tally.page.prepared === true")
    same(tab.run("""(() => { const { analysis, store } = tally.page; let asked = 0; const { keep } = analysis;
        const sample = analysis.recording.sample, { thread } = sample; Object.defineProperty(sample, 'thread', { get: () => { asked++; return thread; } });
        for (const strips of ['process', 'thread', 'cpu']) analysis.now(tally.strips.of(analysis, { ...store.now, strips }, null, [0, analysis.recording.end], 60)); analysis.lengths(store.now); Object.defineProperty(sample, 'thread', { value: thread }); return asked; })()"""), 0, "passes over the samples")


@case
def events_are_kept(bench: Bench):
    """what is made of the samples of an event is kept: another event and back again reads none of them"""
    tab = bench.open("known")
    tab.wait("tally.page.prepared === true")
    same(tab.run("""(() => { const { analysis, store } = tally.page, { sample } = analysis.recording, columns = { event: sample.event, node: sample.node, weight: sample.weight }; let asked = 0;
        for (const name of Object.keys(columns)) Object.defineProperty(sample, name, { value: new Proxy(columns[name], { get: (of, key) => { asked++; return of[key]; } }), configurable: true });
        for (const event of ['1', '0', '', '2', '1']) for (const strips of ['process', 'thread', 'cpu']) {
            const state = { ...store.now, event, strips };
            analysis.sums(state);
            analysis.now(tally.strips.of(analysis, state, null, [0, analysis.recording.end], 60));
        }
        for (const name of Object.keys(columns)) Object.defineProperty(sample, name, { value: columns[name] });
        return asked; })()"""), 0, "reads")


def many(bench):
    """So many samples that a pass over them has several parts."""
    bench.file("many", None if "many" in bench.pages else made.large(2000, 200_000))


@case
def in_parts(bench: Bench):
    """a pass over many samples is made in parts: the page says so, the next change stops it, and what is shown then is of the last one"""
    many(bench)
    tab = bench.open("many", "#view=time&strips=thread")
    tab.wait("tally.page.prepared === true")
    # Each part takes too long.
    tab.run("(() => { let at = 0; const own = performance.now; window.slow = (on) => performance.now = on ? () => at += 20 : own; slow(true); })()")
    first = "document.querySelector('.strip-share').textContent"
    busy = "[tally.page.busy, document.querySelector('.panel').getAttribute('aria-busy')]"
    tab.run("tally.page.store.set({ lens: '1000-90000000' })")
    same(tab.run(busy), [True, "true"], "a pass goes on")
    tab.run("(() => { window.drawn = []; const { view } = tally.page, own = view.update; view.update = (state) => { drawn.push(state.lens); own(state); }; })()")
    tab.run("(tally.page.store.set({ lens: '2000-80000000' }), tally.page.store.set({ lens: '3000-70000000' }))")
    tab.wait("tally.page.busy === false")
    same(tab.run("drawn.join()"), "3000-70000000", "what was stopped is never shown")
    same(tab.run(busy), [False, "false"], "done")
    tab.wait("document.querySelectorAll('.strip').length === 60")
    parts = tab.run(f"[{first}, document.querySelectorAll('.strip').length, [...document.querySelector('.band canvas').getContext('2d').getImageData(0, 0, 300, 26).data].join()]")
    tab.next_frame()
    tab.run("tally.page.store.set({ view: 'flame', order: 'time', who: 't3', event: '1' })")
    same(tab.run(busy), [True, "true"], "another view")
    tab.wait("tally.page.busy === false")
    same(tab.run(f"""(() => {{ const {{ analysis, store }} = tally.page, {{ sample }} = analysis.recording; let sum = 0;
        for (let i = 0; i < sample.count; i++) if (sample.event[i] === 1 && sample.thread[i] === 3) sum += sample.weight[i];
        return [sum > 0, analysis.sums(store.now).whole - sum, tally.page.view.graph.boxes.count > 10]; }})()"""), [True, 0, True], "sums")
    tab.run("tally.page.store.set({ search: 'method_1' })")
    tab.wait("/%/.test(document.querySelector('.found').textContent) && !tally.page.busy")
    tab.next_frame()
    tab.run("tally.page.store.set({ who: 't4' })")
    same(tab.run("document.querySelector('.found').textContent"), "…", "a share that is not yet known")
    same(tab.run("(tally.page.finish(), /%/.test(document.querySelector('.found').textContent) && !tally.page.busy)"), True, "what is waited for is finished at once")
    tab.do("Emulation.setEmulatedMedia", media="print")
    tab.next_frame()
    tab.run("tally.page.store.set({ view: 'time', who: 't5', lens: '4000-60000000' })")
    same(tab.run(busy), [False, "false"], "paper does not wait")
    again = bench.open("many", "#view=time&strips=thread&lens=3000-70000000")
    again.wait("document.querySelectorAll('.strip').length === 60 && !tally.page.busy")
    same(again.run(f"[{first}, document.querySelectorAll('.strip').length, [...document.querySelector('.band canvas').getContext('2d').getImageData(0, 0, 300, 26).data].join()]") == parts, True, "the same as at once")


@case
def strips_in_view(bench: Bench):
    """strips are drawn when they come into view, are empty while they are of another state, and are all on paper"""
    many(bench)
    tab = bench.open("many", "#view=time&strips=thread", width=1280, height=720)
    tab.wait("document.querySelectorAll('.strip').length === 60")
    # Of each row whether its part of a drawing has anything.
    drawn = """(() => { const copy = document.createElement('canvas').getContext('2d', { willReadFrequently: true }); return [...document.querySelectorAll('.strip')].map((row) => {
        const one = row.parentNode.querySelector('canvas'), top = row.offsetTop; copy.clearRect(0, 0, 300, 26); copy.drawImage(one, 0, top, 300, 26, 0, 0, 300, 26); return one.width > 1 && copy.getImageData(0, 0, 300, 26).data.some(Boolean); }); })()"""
    tab.wait(f"(rows => rows.slice(0, 12).every(Boolean) && !rows.slice(45).some(Boolean))({drawn})")
    tab.run("scrollTo(0, document.documentElement.scrollHeight)")
    tab.wait(f"{drawn}.slice(-8).every(Boolean)")
    tab.run("tally.page.store.set({ event: '1' })")
    tab.wait(f"(rows => rows.slice(-8).every(Boolean) && !rows.slice(0, 12).some(Boolean))({drawn})")
    tab.run("scrollTo(0, 0)")
    tab.wait(f"{drawn}.slice(0, 12).every(Boolean)")
    tab.run("tally.page.store.set({ event: '0' })")
    tab.wait(f"!{drawn}.every(Boolean)")
    tab.do("Emulation.setEmulatedMedia", media="print")
    tab.wait(f"{drawn}.every(Boolean)")
    tab.do("Emulation.setEmulatedMedia", media="screen")
    tab.wait(f"!{drawn}.every(Boolean)")


@case
def at_once(bench: Bench):
    """a change is heeded at once, and further ones of the same frame together with the next"""
    tab = bench.open("known", "#view=flame")
    same(tab.run("""(async () => { const { store } = tally.page, chips = () => document.querySelectorAll('.chip:not(.chip-all)').length, seen = [], frame = () => new Promise(requestAnimationFrame);
        await frame(); await frame();
        store.set({ search: 'a' }); store.set({ who: 't0' }); seen.push(chips());
        await null; seen.push(chips());
        store.set({ who: '' }); store.set({ recursion: '1' }); store.set({ span: '0-500000' }); await null; seen.push(chips());
        await frame(); await frame(); seen.push(chips());
        return seen.join(); })()"""), "0,1,1,2")


@case
def nothing_moves(bench: Bench):
    """what is chosen stands beside the tabs, so that the view stays where it is; without room above them"""
    tab = bench.open("known", "#view=flame")
    place = "[...document.querySelectorAll('.tabs, .chips, .panel')].map((one) => Math.round(one.getBoundingClientRect().top))"
    tabs, _, panel = tab.run(place)
    tab.run("tally.page.store.set({ span: '0-500000' })")
    tab.next_frame()
    same(tab.run(place), [tabs, tabs, panel], "with a span")
    tab.do("Emulation.setDeviceMetricsOverride", width=390, height=844, deviceScaleFactor=1, mobile=True)
    tab.next_frame()
    tabs, chips, panel = tab.run(place)
    true(chips < tabs < panel, f"of a phone: chips {chips}, tabs {tabs}, view {panel}")


@case
def seen_rows(bench: Bench):
    """of callers and callees only the rows that are seen are drawn, and pointed at where they are"""
    tab = bench.open("known", "#view=sandwich", width=1000, height=200)
    number = lambda name: tab.run(f"(() => {{ const {{ recording }} = tally.page.analysis; for (let i = 0; i < recording.labels; i++) if (recording.name(i) === '{name}') return String(i); }})()")
    point = """(y) => { const graph = document.querySelector('.graph-callers'), where = graph.querySelector('.graph-sheet').getBoundingClientRect();
        graph.dispatchEvent(new MouseEvent('click', { clientX: where.left + 5, clientY: where.top + y, bubbles: true })); return tally.page.store.now.fn; }"""
    tab.run(f"tally.page.store.set({{ fn: '{number('work')}' }})")
    tab.next_frame()
    size = "(() => { const graph = document.querySelector('.graph-callers'); return [graph.querySelector('canvas').height, graph.clientHeight, graph.scrollHeight, graph.scrollTop]; })()"
    same(tab.run(size), [84, 84, 120, 36], "canvas, graph, rows, and the function at the end")
    same(tab.run(f"({point})(75)"), number("work"), "the lowest row")
    tab.run("document.querySelector('.graph-callers').scrollTop = 0")
    tab.next_frame()
    drawn = "Boolean(document.querySelector('.graph-callers canvas').getContext('2d').getImageData(2, 75, 1, 1).data[3])"
    true(tab.run(drawn), "rows further up are drawn")
    same(tab.run(f"({point})(75)"), number("main"), "of the third row, which calls the second")


@case
def in_time(bench: Bench):
    """in the order of time a sample stands for the time since the one before it of its thread, also where a span begins between them"""
    tab = bench.open("known", "#view=flame&order=time&who=t1&event=0&span=30005-80000")
    same(tab.run(f"""(() => {{ const {{ analysis, store }} = tally.page, {{ sample }} = analysis.recording, picked = analysis.picked(store.now), long = analysis.lengths(store.now), wrong = [];
        for (let i = 1; i < picked.count; i++) if (long[i] !== sample.time[picked.index[i]] - sample.time[picked.index[i - 1]]) wrong.push(i);
        return [picked.count, wrong.length]; }})()"""), [250, 0], "lengths")
    # The thread has samples at 9.999, 49.999 and 89.999 ms.
    edges = tab.run("(() => { const { boxes } = tally.page.view.graph; return [...new Set([...boxes.right.slice(0, boxes.count)])].map((one) => Math.round(30005 + one * 49995)).sort((a, b) => a - b); })()")
    true(all(one in (80000,) or abs(one - 49999) < 60 for one in edges), f"edges {edges}")


@case
def by_name(bench: Bench):
    """equal stacks by name: neighbours are in the order of their names"""
    tab = bench.open("known", "#view=flame&order=name")
    same(tab.run("""(() => { const { boxes } = tally.page.view.graph, { recording } = tally.page.analysis, names = [];
        for (let i = 0; i < boxes.count; i++) if (boxes.depth[i] === 2) names.push(recording.name(boxes.label[i])); return names.join(); })()"""),
         "JS:render app.js:12,[unknown],loop,walk,work,write")


@case
def heat_cells(bench: Bench):
    """each cell of the heat map has the colour of its sum, and columns are apart"""
    tab = bench.open("known", "#view=time&strips=heat")
    same(tab.run("""(() => { const canvas = document.querySelector('.heat canvas'), context = canvas.getContext('2d'), { analysis, store } = tally.page, { sample, end } = analysis.recording, { heat } = tally.palette.theme(store.now);
        const column = 100000, cell = 12, sums = new Float64Array(Math.ceil(end / column) * 50); let wrong = 0;
        for (let i = 0; i < sample.count; i++) if (sample.event[i] === 0) sums[Math.min(sums.length - 1, Math.floor(sample.time[i] / (column / 50)))] += sample.weight[i];
        const top = Math.max(...sums), size = canvas.width / Math.ceil(end / column), data = context.getImageData(0, 0, canvas.width, 300).data;
        const at = (x, y) => '#' + [0, 1, 2].map((one) => data[(y * canvas.width + x) * 4 + one].toString(16).padStart(2, '0')).join('');
        for (let i = 0; i < sums.length; i++) if (at(Math.floor(i / 50) * size + 1, (49 - i % 50) * 6 + 1) !== heat[sums[i] > 0 ? Math.min(7, 1 + Math.floor(Math.sqrt(sums[i] / top) * 6.999)) : 0]) wrong++;
        return [size > 4, wrong, data[(3 * canvas.width + size - 1) * 4 + 3]]; })()"""), [True, 0, 0])


@case
def long_code(bench: Bench):
    """instructions far from any sample are one row, which shows them when it is pressed"""
    one = made.known()
    work = one.functions["work", "app"]
    for i in range(500):
        row = one.add("code", recording=0, function=work, offset=100 + i, text=f"nop    # {i}", file="app.c", number=0)
        if i == 450:
            one.add("code_sample", code=row, event=0, self=5_000_000_000)
    bench.file("long-code", one)
    tab = bench.open("long-code", f"#view=code&fn={work}")
    tab.wait("document.querySelectorAll('.code').length === 2")
    rows = "document.querySelectorAll('.code')[1].querySelectorAll('tbody tr').length"
    texts = "[...document.querySelectorAll('.code .gap button')].map((one) => one.textContent).join()"
    same(tab.run(texts), "445 instructions without samples,45 instructions without samples", "gaps")
    before = tab.run(rows)
    tab.run("document.querySelector('.code .gap button').click()")
    same([tab.run(texts), tab.run(rows) - before], ["145 instructions without samples,45 instructions without samples", 300], "some at a time")
    tab.run("document.querySelector('.code .gap button').click()")
    same(tab.run(texts), "45 instructions without samples", "all of the first")
    true("nop    # 40" in tab.run("document.querySelector('.code-parts').innerText"), "instructions")


run()
