// Work that may take long, in parts of some milliseconds between which the page answers and is drawn. The work that is asked
// for next takes its place.
(function () {

const MORE = 8; // ms of each part behind the first

// `tell` is called with whether work goes on behind what is drawn already.
function create(tell) {
	let later = 0, step = () => {};
	return {
		// Calls done() behind all parts; `first`: ms of what is done at once.
		start(parts, done, first) {
			clearTimeout(later);
			step = (most) => {
				const start = performance.now();
				while (!parts.next().done) {
					if (performance.now() - start < most) continue;
					tell(true);
					later = setTimeout(step, 0, MORE);
					return;
				}
				step = () => {};
				tell(false);
				done();
			};
			step(first);
		},
		// Does all the rest at once.
		finish() {
			clearTimeout(later);
			step(Infinity);
		},
	};
}

tally.work = create;
})();
