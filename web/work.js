// Work that may take long, in parts of some milliseconds between which the page answers and is drawn. The work that is asked
// for next takes its place.
(function () {

const MORE = 8; // ms of each part behind the first

// `setBusy` is called with whether parts are left.
function create(setBusy) {
	let later = 0, step = () => {};
	const soon = () => later = setTimeout(step, 0, MORE);
	return {
		// Calls done() behind all parts; `first`: ms of what is done at once; 0: the browser draws before the second part.
		start(parts, done, first) {
			clearTimeout(later);
			const mine = step = (most) => {
				const start = performance.now();
				while (!parts.next().done) {
					if (performance.now() - start < most) continue;
					setBusy(true);
					if (most > 0 || document.hidden) soon();
					else requestAnimationFrame(() => mine === step && soon());
					return;
				}
				step = () => {};
				setBusy(false);
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
