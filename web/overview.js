// The overview above all views: how much there is over the whole time, what the search finds, markers, and the chosen span.
(function () {

const { make, fit } = tally.dom;
const HEIGHT = 64, PLOT = HEIGHT - 15;

function create(page) {
	const { analysis, store } = page, { recording } = analysis;
	const canvas = make("canvas", { "aria-hidden": "true" });
	const element = make("div", {
		class: "overview", tabindex: "0", role: "application", "aria-roledescription": "time line",
		"aria-label": "Time line of the whole recording. Arrow keys move a span, with Shift its end, plus and minus make it smaller and wider, Escape clears it.",
	}, canvas);
	const veil = tally.spanVeil();
	element.append(veil.element);
	let markers = null, drawn = [], later = 0;
	const range = () => [0, recording.end];
	tally.spanDrag.attach(page, element, { range, width: () => element.clientWidth });

	// The span moves at once. What is below it is a pass over all samples, and is drawn after the view.
	function update(state) {
		const width = element.clientWidth;
		if (!width) return;
		const [begin, end] = range();
		clearTimeout(later);
		if (drawn.length && !matchMedia("print").matches) later = setTimeout(draw);
		else draw();
		veil.update({ begin, end, left: 0, width, top: 0, height: PLOT, chosen: tally.state.read.range(state.span) });
	}
	function draw() {
		const state = store.now, width = element.clientWidth, theme = tally.palette.theme(state);
		const columns = Math.max(40, Math.min(Math.floor(width / 2), Math.floor(recording.sample.count / 8)));
		const { all, match } = analysis.timeline(state, columns, ...range());
		const of = [all, match, state.search !== "", width, devicePixelRatio, theme.name, markers];
		if (of.some((one, at) => one !== drawn[at])) paint(all, state.search ? match : null, width, theme);
		drawn = of;
	}
	function paint(all, match, width, theme) {
		canvas.style.width = `${width}px`;
		canvas.style.height = `${HEIGHT}px`;
		const context = fit(canvas, width, HEIGHT), [begin, end] = range(), wide = width / all.length;
		let most = 0;
		for (let i = 0; i < all.length; i++) if (all[i] > most) most = all[i];
		const bars = (values, colour) => {
			context.fillStyle = colour;
			context.beginPath();
			for (let i = 0; i < values.length; i++) {
				if (!values[i]) continue;
				const tall = Math.max(1, values[i] / most * (PLOT - 5));
				context.rect(i * wide, PLOT - tall, wide, tall);
			}
			context.fill();
		};
		if (most > 0) {
			bars(all, theme.bar);
			if (match) bars(match, theme.barMatch);
		}
		const where = { begin: begin * recording.unit, end: end * recording.unit, left: 0, width, theme };
		context.fillStyle = theme.line;
		context.fillRect(0, PLOT, width, 1);
		if (recording.sample.count > 0 || recording.summary.duration > 0) tally.timeAxis.draw(context, { ...where, top: PLOT, height: HEIGHT - PLOT });
		if (markers) tally.markers.draw(context, markers, recording, { begin, end, left: 0, width, top: 0, height: 4, theme });
	}
	if (recording.has("marker")) recording.later("marker").then((table) => {
		markers = table;
		update(store.now);
	}, page.fail);
	new ResizeObserver(() => update(store.now)).observe(element);
	return { element, update };
}

tally.overview = { create };
})();
