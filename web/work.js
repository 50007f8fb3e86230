// Work that may take long, in parts of some milliseconds between which the page answers and is drawn. The work that is asked
// for next takes its place.
(function () {

const FIRST = 12, MORE = 8; // ms at once, and of each part behind

// `tell` is called with whether work goes on behind what is drawn already.
function create(tell) {
	let later = 0;
	return (parts, done, now) => { // now: all of it at once
		clearTimeout(later);
		const step = (most) => {
			const start = performance.now();
			while (!parts.next().done) {
				if (now || performance.now() - start < most) continue;
				tell(true);
				later = setTimeout(step, 0, MORE);
				return;
			}
			tell(false);
			done();
		};
		step(FIRST);
	};
}

tally.work = create;
})();
