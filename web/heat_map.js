// The heat map: a column is a part of the time (a second, where that fits), a row a fiftieth of it. A drag chooses a span.
(function () {

const { make, fit } = tally.dom;
const ROWS = 50, CELL = 6;

function create(page) {
	const { analysis, store } = page, { recording } = analysis;
	const canvas = make("canvas", { "aria-hidden": "true" }), facts = make("p", { class: "facts" });
	const element = make("div", {
		class: "heat", tabindex: "0", role: "application", "aria-roledescription": "heat map",
		"aria-label": "Heat map. Arrow keys move the chosen span, plus and minus change its size, Escape clears it.",
	}, canvas);
	let shape = { columns: 1, column: 1, cell: 1 }, values = null, from = null, drawn = [], image = null; // image: the cells, in the screen's own pixels

	// The seconds of a column: so many that all fit.
	function measure(width) {
		const most = Math.max(1, Math.floor(width / 3)), whole = recording.end * recording.unit;
		const usual = whole < 2e9 ? whole / 60 : whole < 60e9 ? 0.1e9 : 1e9;
		const column = tally.timeAxis.round(Math.max(usual, whole / most)) / recording.unit;
		const columns = Math.max(1, Math.ceil(recording.end / column));
		shape = { columns, column, cell: Math.max(1, Math.min(12, Math.floor(width / columns))) };
	}

	// The sums of cells.
	function sums(state) {
		const { columns, column } = shape;
		return ["heat", `${analysis.selection(state)}|${column}`, function* () {
			const { time, node, weight } = recording.sample, { count, index } = analysis.picked(state), of = analysis.places(state);
			const cells = new Float64Array(columns * ROWS), step = column / ROWS;
			yield* tally.kept.steps(count, (low, high) => {
				for (let i = low; i < high; i++) {
					const at = index[i];
					if (of === null || of[node[at]] !== tally.NONE) cells[Math.min(cells.length - 1, Math.floor(time[at] / step))] += weight[at];
				}
			});
			return cells;
		}, 1];
	}

	function update(state) {
		const room = element.clientWidth;
		if (!room) return;
		measure(room);
		values = analysis.now(sums(state));
		const width = shape.columns * shape.cell, height = ROWS * CELL, theme = tally.palette.theme(state);
		canvas.style.width = `${width}px`;
		canvas.style.height = `${height + 16}px`;
		const context = fit(canvas, width, height + 16), span = tally.state.read.range(state.span), step = shape.column / ROWS;
		const of = [values, width, devicePixelRatio, theme.name];
		if (of.some((one, at) => one !== drawn[at])) paint(width, height, theme);
		drawn = of;
		context.putImageData(image, 0, 0);
		tally.timeAxis.draw(context, { begin: 0, end: shape.columns * shape.column * recording.unit, left: 0, width, top: height, height: 16, theme });
		if (span) {
			fade(context, span, step, theme);
			outline(context, span, step, theme);
		}
		const unit = page.unit(state);
		facts.textContent = `A column is ${tally.format.time(shape.column * recording.unit)}, a cell ${tally.format.time(step * recording.unit)} (the lowest is the first); ` +
			`the darkest has ${page.amount(most(), unit, true)}. Drag from cell to cell to choose a span.`.replace("darkest", theme.name === "dark" ? "brightest" : "darkest");
	}
	function most() {
		let result = 0;
		for (let i = 0; i < values.length; i++) if (values[i] > result) result = values[i];
		return result;
	}
	// Tens of thousands of cells are written as points of an image, which is far faster than to draw each.
	function paint(width, height, theme) {
		const step = shape.column / ROWS, top = most(), { cell } = shape, gap = cell > 4 ? 1 : 0, scale = devicePixelRatio || 1;
		const wide = Math.max(1, Math.round(width * scale)), high = Math.round(height * scale), inks = theme.heat.map((colour) => tally.palette.point(colour));
		if (!image || image.width !== wide || image.height !== high) image = new ImageData(wide, high);
		const points = new Uint32Array(image.data.buffer).fill(0);
		for (let row = 0; row < ROWS; row++) {
			const y = (ROWS - 1 - row) * CELL, line = Math.round(y * scale) * wide;
			for (let i = row, x = 0; i < values.length && i * step <= recording.end; i += ROWS, x += cell) {
				const ink = inks[values[i] > 0 ? Math.min(7, 1 + Math.floor(Math.sqrt(values[i] / top) * 6.999)) : 0];
				points.fill(ink, line + Math.round(x * scale), line + Math.round((x + cell - gap) * scale));
			}
			for (let to = line + wide; to < Math.round((y + CELL - 1) * scale) * wide; to += wide) points.copyWithin(to, line, line + wide);
		}
	}
	// The cells before the span and behind it: whole columns, and a part of one.
	function fade(context, [begin, end], step, theme) {
		const first = Math.floor(begin / step), last = Math.ceil(end / step), high = ROWS * CELL, { cell } = shape;
		const a = Math.floor(first / ROWS) * cell, b = Math.floor(last / ROWS) * cell, low = (ROWS - first % ROWS) * CELL;
		context.globalAlpha = 0.7;
		context.fillStyle = theme.ground;
		context.fillRect(0, 0, a, high);
		context.fillRect(a, low, cell, high - low);
		context.fillRect(b, 0, cell, (ROWS - last % ROWS) * CELL);
		context.fillRect(b + cell, 0, shape.columns * cell, high);
		context.globalAlpha = 1;
	}
	function outline(context, [begin, end], step, theme) {
		context.strokeStyle = theme.span;
		context.lineWidth = 2;
		const first = Math.floor(begin / shape.column), last = Math.floor(Math.max(begin, end - 1) / shape.column);
		for (let column = first; column <= last; column++) {
			const low = column === first ? Math.floor((begin - column * shape.column) / step) : 0;
			const high = column === last ? Math.min(ROWS, Math.ceil((end - column * shape.column) / step)) : ROWS;
			context.strokeRect(column * shape.cell, (ROWS - high) * CELL, Math.max(2, shape.cell - 1), Math.max(2, (high - low) * CELL - 1));
			if (last - first > 6 && column === first) column = last - 1;
		}
	}

	// The begin of the cell at the pointer.
	function cell(event) {
		const place = canvas.getBoundingClientRect();
		const column = Math.max(0, Math.min(shape.columns - 1, Math.floor((event.clientX - place.left) / shape.cell)));
		const row = Math.max(0, Math.min(ROWS - 1, ROWS - 1 - Math.floor((event.clientY - place.top) / CELL)));
		return column * ROWS + row;
	}
	function set(a, b, small) {
		const step = shape.column / ROWS, low = Math.floor(Math.min(a, b) * step), high = Math.min(recording.end, Math.ceil((Math.max(a, b) + 1) * step));
		if (high > low) store.set({ span: `${low}-${high}` }, small);
	}
	element.addEventListener("pointerdown", (event) => {
		if (event.button !== 0) return;
		from = { cell: cell(event), moved: false };
		element.setPointerCapture(event.pointerId);
	});
	element.addEventListener("pointermove", (event) => {
		const at = cell(event), step = shape.column / ROWS;
		if (from) {
			if (at !== from.cell) from.moved = true;
			if (from.moved) set(from.cell, at, true);
		}
		if (values && at < values.length) {
			page.tip.show({ name: page.when(Math.floor(at * step)), image: "", lines: [page.amount(values[at], page.unit(store.now), true)] }, event.clientX, event.clientY);
		}
	});
	element.addEventListener("pointerup", () => {
		if (from && !from.moved) store.set({ span: "" });
		else if (from) store.set({ span: store.now.span });
		from = null;
	});
	element.addEventListener("pointerleave", () => page.tip.hide());
	element.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.altKey || event.metaKey) return;
		if (tally.spanDrag.key(page, event.key, event.shiftKey, [0, recording.end])) {
			event.preventDefault();
			event.stopPropagation();
		}
	});
	return {
		element: make("div", null, facts, element), update, set,
		// The pass over samples that a drawing needs, in such a width where it is not seen yet.
		*parts(state, width) {
			measure(element.clientWidth || width);
			yield* analysis.parts(sums(state));
		},
	};
}

tally.heatMap = { create };
})();
