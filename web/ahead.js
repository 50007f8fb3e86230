// What views need when they are opened first is made while nobody does anything, in parts of a few milliseconds.
(function () {

const NAMES = 1000; // at a time
const PART = 4; // ms
const idle = window.requestIdleCallback || ((act) => setTimeout(act, 30));

function* parts(page) {
	const { analysis, store } = page, { recording, inParts } = analysis, state = store.now;
	yield* analysis.parts(page.huesInParts);
	yield analysis.tree(state).outer;
	for (let at = 0; at < recording.labels; at += NAMES) {
		for (let label = at; label < Math.min(recording.labels, at + NAMES); label++) recording.name(label);
		yield null;
	}
	for (const one of byEvent(page)) for (const name of ["picked", "whole"]) yield* analysis.parts(inParts[name](one));
	yield* strips(page, null);
	const width = Math.max(2, document.documentElement.clientWidth - (innerWidth > 640 ? 32 : 20)); // of a graph
	for (const one of byEvent(page).slice(0, 2)) yield* analysis.parts(inParts.columns(one, width >> 1, page.span(state)));
	yield* page.make("time").heat.parts(state, width);
	const merged = { ...state, recursion: "1" };
	yield* analysis.parts(inParts.tree(merged));
	yield* warm(page, state, width);
	yield analysis.sums(merged);
	yield* tally.layTree.parts(tally.boxes.create(), analysis.tree(merged), analysis.sums(merged), { least: 1 / width });
	for (const one of [{ ...state, span: `0-${Math.floor(recording.end / 2)}` }, state]) { // these last, as only the last ones are kept
		for (const of of [analysis.sums, analysis.functions, analysis.byThread, (shown) => tally.waits.compute(analysis, shown)]) yield of(one);
	}
	// What names and draws rows of strips is compiled by a few of them.
	const rows = analysis.now(tally.strips.of(analysis, { ...state, strips: "thread" }, null, [0, recording.end], tally.strips.LIMIT));
	tally.stripRows().show({ ...rows, rows: rows.rows.slice(0, 5) }, { name: recording.threadName, left: 200, width, theme: tally.palette.theme(state) });
	yield null;
	const search = { ...state, search: "main" };
	yield analysis.matches(search);
	yield analysis.matching(search);
	yield analysis.found(search);
	for (const view of ["flame", "sandwich", "functions", "images", "threads"]) yield page.make(view);
	page.prepared = true;
}

// The state with each event, the shown one first.
function byEvent({ analysis, store }) {
	const { sampled } = analysis.recording, state = store.now, shown = analysis.events(state).list;
	const others = Array.from(sampled.keys()).filter((one) => sampled[one] && !shown.includes(one));
	return [state, ...others.map((event) => ({ ...state, event: String(event) }))].slice(0, tally.kept.EVENTS);
}

// run: the table of runs, or null while it is not read.
function* strips(page, run) {
	const { analysis } = page, whole = [0, analysis.recording.end];
	for (const one of byEvent(page)) for (const strips of ["process", "thread", "cpu"]) yield* analysis.parts(tally.strips.of(analysis, { ...one, strips }, run, whole, tally.strips.LIMIT));
}

// Draws graphs where nobody sees them, on the canvas of the flame graph: its memory and texts and colours are kept, and the browser
// compiles what draws them.
function* warm(page, state, width) {
	const { element, canvas } = page.make("flame").graph;
	if (element.isConnected) return;
	const { analysis } = page, boxes = tally.boxes.create(), height = innerHeight, theme = tally.palette.theme(state), context = tally.dom.fit(canvas, width, height, height);
	const { ROW, colours, paint } = tally.graphPaint, colour = colours(analysis, state, theme, page.hues), tree = analysis.tree(state), sums = analysis.sums(state), least = 1 / width, [begin, end] = page.span(state);
	yield null;
	for (const lay of [tally.layTree.parts(boxes, tree, sums, { least }), tally.layCallers.parts(boxes, tree, sums.self, { labels: analysis.recording.labels, least }),
		tally.layTime.parts(boxes, tree, analysis.now(analysis.inParts.columns(state, width >> 1, [begin, end])), begin, end)]) {
		yield* lay;
		for (let top = 0; top < Math.min(height, boxes.rows * ROW); top += 5 * ROW) {
			if (element.isConnected) return;
			paint(context, boxes, { width, height, top, bottom: top + 2 * ROW, up: false, theme, current: -1, hover: -1, text: page.text, colour, faded: () => false });
			yield null;
		}
	}
}

// While the browser has nothing to do, in parts between which it looks for what is asked for.
function go(rest) {
	const step = (until) => {
		const start = performance.now();
		do {
			if (rest.next().done) return;
		} while (performance.now() - start < PART);
		if (performance.now() + PART < until) setTimeout(step, 0, until);
		else idle(begin);
	};
	const begin = (left) => step(left ? performance.now() + left.timeRemaining() : 0);
	idle(begin);
}

tally.ahead = { start: (page) => go(parts(page)), strips: (page, run) => go(strips(page, run)) };
})();
