// What views need when they are opened first is made while nobody does anything, in parts of a few milliseconds.
(function () {

const NAMES = 1000; // at a time
const SOME = 4; // events
const idle = window.requestIdleCallback || ((act) => setTimeout(act, 30));

function* parts(page) {
	const { analysis, store } = page, { recording, inParts } = analysis, state = store.now;
	yield* analysis.parts(page.huesInParts);
	yield analysis.tree(state).outer;
	for (let at = 0; at < recording.labels; at += NAMES) {
		for (let label = at; label < Math.min(recording.labels, at + NAMES); label++) recording.name(label);
		yield null;
	}
	const shown = analysis.events(state).list, others = Array.from(recording.sampled.keys()).filter((one) => recording.sampled[one] && !shown.includes(one));
	const width = document.documentElement.clientWidth - (innerWidth > 640 ? 32 : 20); // of a graph
	for (const event of [...shown.slice(0, 1), ...others].slice(0, SOME)) {
		const of = shown.includes(event) ? state : { ...state, event: String(event) };
		for (const name of ["picked", "whole"]) yield* analysis.parts(inParts[name](of));
		for (const strips of ["process", "thread", "cpu"]) yield* analysis.parts(tally.strips.of(analysis, { ...of, strips }, null, [0, recording.end], tally.strips.LIMIT));
	}
	for (const event of [...others.slice(0, 1).map(String), state.event]) yield* analysis.parts(inParts.columns({ ...state, event }, Math.max(1, width >> 1), page.span(state)));
	yield* analysis.parts(inParts.tree({ ...state, recursion: "1" }));
	page.prepared = true;
}

function start(page) {
	const rest = parts(page);
	const step = (left) => {
		do {
			if (rest.next().done) return;
		} while (left && left.timeRemaining() > 8);
		idle(step);
	};
	idle(step);
}

tally.ahead = start;
})();
