// What views need when they are opened first is made while nobody does anything, in parts of a few milliseconds.
(function () {

const NAMES = 1000; // at a time
const idle = window.requestIdleCallback || ((act) => setTimeout(act, 30));

function* parts(page) {
	const { analysis, store } = page, { recording } = analysis;
	yield page.hues;
	yield analysis.tree(store.now).outer;
	for (let at = 0; at < recording.labels; at += NAMES) {
		for (let label = at; label < Math.min(recording.labels, at + NAMES); label++) recording.name(label);
		yield null;
	}
	for (const by of ["process", "thread", "cpu"]) yield tally.strips.sums(analysis, store.now, by);
	yield analysis.lengths(store.now);
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
