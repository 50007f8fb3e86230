// A graph of stacks that one can point at, move in by keys, and zoom: canvas, tooltip, and the line that describes the
// current box. What is laid out, and what zooming means, is the view's.
(function () {

const { make, fit, say } = tally.dom;
const { ROW } = tally.graphPaint;

// options: label; layout(boxes, least, width): fills the boxes; zoom(boxes, at); act(action, boxes, at);
// describe(boxes, at) -> {name, image, lines}; up(); page: the shared parts; narrow(): what is missing in the first row was too narrow; most(): it is as high as its boxes, but no more than
// these pixels. Whatever its height, only what is seen is drawn.
function create(page, options) {
	const boxes = tally.boxes.create();
	const canvas = make("canvas", { "aria-hidden": "true" });
	const sheet = make("div", { class: "graph-sheet" }, canvas); // what is seen of the canvas
	const space = make("div", { class: "graph-space", hidden: true }, sheet); // until it is drawn
	const empty = make("p", { class: "empty", hidden: true });
	const element = make("div", {
		class: `graph ${options.class || ""}`, tabindex: "0", role: "application", "aria-roledescription": "graph of stacks",
		"aria-label": `${options.label}. Arrow keys move from frame to frame, Enter zooms, M opens the menu of a frame.`,
	}, space, empty);
	let hover = -1, current = -1, state = null, height = 0, asked = false, upBefore = null, currentPath = null, drawnWidth = 0, drawnHeight = 0;

	// Makes room for all rows. Returns what can be seen of them.
	function size() {
		height = boxes.rows * ROW;
		const seen = options.most ? Math.min(height, options.most()) : element.clientHeight, shown = Math.min(seen, Math.max(height, 1));
		// A small graph that grows upwards stands on the floor.
		const offset = options.up() && height < seen ? seen - height : 0;
		if (options.most) element.style.height = boxes.count > 1 ? `${seen}px` : "";
		sheet.style.height = `${shown}px`;
		sheet.style.marginTop = `${offset}px`;
		space.style.height = `${height + offset}px`;
		drawnHeight = seen;
		return shown;
	}
	const above = (shown) => Math.min(element.scrollTop, Math.max(0, height - shown)); // pixels of rows that are not seen
	function draw() {
		asked = false;
		if (!element.isConnected || !state) return;
		const width = room(), shown = size(), top = above(shown);
		drawnWidth = width;
		if (shown < height) element.dataset.cut = `${Math.floor(shown / ROW)} of ${boxes.rows} rows`; // for paper
		else delete element.dataset.cut;
		const most = options.most ? options.most() : drawnHeight;
		const context = fit(canvas, width, shown, most < Infinity ? most : shown), theme = tally.palette.theme(state);
		canvas.style.width = `${width}px`;
		canvas.style.height = `${width * canvas.height / canvas.width}px`;
		tally.graphPaint.paint(context, boxes, {
			width, height, top, bottom: top + shown, up: options.up(), theme, current, hover, text: page.text,
			colour: tally.graphPaint.colours(page.analysis, state, theme, page.hues), faded: options.faded ? (at) => options.faded(boxes, at) : () => false,
		});
		delete element.dataset.narrow;
		if (options.narrow && options.narrow()) drawNarrow(context, width, top, theme);
	}
	// Says what would be right of the first row's boxes.
	function drawNarrow(context, width, top, theme) {
		let edge = 0;
		for (let i = 1; i < boxes.count && boxes.depth[i] === 1; i++) edge = boxes.right[i];
		const share = tally.format.percent(1 - edge), room = (1 - edge) * width - 12;
		const text = edge > 0 && [`${share} in functions that are too narrow to draw`, `${share} too narrow to draw`, share].find((one) => context.measureText(one).width < room);
		if (!text) return;
		context.fillStyle = theme.faint;
		context.fillText(element.dataset.narrow = text, edge * width + 6, (options.up() ? height - 2 * ROW : ROW) - top + ROW / 2);
	}
	function ask() {
		if (!asked) requestAnimationFrame(draw);
		asked = true;
	}

	const room = () => space.clientWidth || element.clientWidth || 1;
	function update(now, home) { // home: to where the boxes begin
		state = now;
		const width = room();
		options.layout(boxes, 1 / width, width);
		const nothing = !(boxes.count > 1), up = options.up();
		empty.hidden = !nothing;
		space.hidden = nothing;
		if (nothing) empty.textContent = options.empty ? options.empty() : "No samples here.";
		hover = -1;
		page.tip.hide();
		current = currentPath ? place(currentPath) : -1;
		if (home || up !== upBefore) {
			size();
			element.scrollTop = up ? element.scrollHeight : 0;
			upBefore = up;
		}
		draw();
	}

	// The box of a path of labels, or -1.
	function place(labels) {
		let at = boxes.count ? 0 : -1;
		for (const label of labels) {
			let next = -1;
			for (let i = at + 1; i < boxes.count && next < 0; i++) if (boxes.parent[i] === at && boxes.label[i] === label) next = i;
			if (next < 0) return -1;
			at = next;
		}
		return at;
	}

	function under(event) {
		if (page.busy) return -1; // these are boxes of the state before
		const place_ = sheet.getBoundingClientRect();
		if (!place_.width) return -1;
		const y = event.clientY - place_.top + above(place_.height);
		const row = Math.floor((options.up() ? height - y : y) / ROW);
		return boxes.at((event.clientX - place_.left) / place_.width, row);
	}

	function choose(at, speak) {
		current = at;
		currentPath = at >= 0 ? boxes.path(at) : null;
		if (at >= 0) {
			page.frame.show(options.describe(boxes, at), { boxes, at, act: options.act, graph: element });
			if (speak) {
				const what = options.describe(boxes, at);
				say(`${what.name}, ${what.lines.join(", ")}`);
				reveal(at);
			}
		}
		ask();
	}
	function reveal(at) {
		const y = options.up() ? height - (boxes.depth[at] + 1) * ROW : boxes.depth[at] * ROW;
		if (y < element.scrollTop) element.scrollTop = y;
		else if (y + ROW > element.scrollTop + element.clientHeight) element.scrollTop = y + ROW - element.clientHeight;
	}

	element.addEventListener("scroll", ask, { passive: true });
	element.addEventListener("pointermove", (event) => {
		const at = under(event);
		if (at !== hover) {
			hover = at;
			ask();
		}
		if (at >= 0 && event.pointerType === "mouse") page.tip.show(options.describe(boxes, at), event.clientX, event.clientY);
		else page.tip.hide();
	});
	element.addEventListener("pointerleave", () => {
		hover = -1;
		page.tip.hide();
		ask();
	});
	element.addEventListener("click", (event) => {
		const at = under(event);
		if (at < 0) return;
		choose(at);
		options.zoom(boxes, at);
	});
	element.addEventListener("contextmenu", (event) => {
		const at = under(event);
		if (at < 0) return;
		event.preventDefault();
		choose(at);
		page.frame.menu(event.clientX, event.clientY);
	});
	element.addEventListener("focus", () => {
		if (current < 0 && boxes.count > 1) choose(options.start ? options.start(boxes) : 0, true);
	});

	const neighbour = (at, step) => {
		for (let i = at + step; i >= 0 && i < boxes.count; i += step) {
			if (boxes.depth[i] === boxes.depth[at]) return i;
		}
		return -1;
	};
	const child = (at) => {
		for (let i = at + 1; i < boxes.count; i++) if (boxes.parent[i] === at) return i;
		return -1;
	};
	element.addEventListener("keydown", (event) => {
		page.finish();
		if (event.ctrlKey || event.altKey || event.metaKey || !boxes.count) return;
		const at = current < 0 ? 0 : current;
		const deeper = options.up() ? "ArrowUp" : "ArrowDown", back = options.up() ? "ArrowDown" : "ArrowUp";
		let to = -1;
		switch (event.key) {
		case deeper: to = child(at); break;
		case back: to = boxes.parent[at]; break;
		case "ArrowLeft": to = neighbour(at, -1); break;
		case "ArrowRight": to = neighbour(at, 1); break;
		case "Home": to = 0; break;
		case "Enter": case " ": if (current >= 0) options.zoom(boxes, current); event.preventDefault(); return;
		case "m": case "ContextMenu": {
			if (current < 0) return;
			const where = sheet.getBoundingClientRect();
			page.frame.menu(where.left + boxes.left[current] * where.width + 10, where.top + 30);
			event.preventDefault();
			return;
		}
		default:
			if (current > 0 && page.frame.key(event.key)) event.preventDefault();
			return;
		}
		event.preventDefault();
		if (to >= 0) choose(to, true);
	});

	// A change that brings a row of chips gives the graph another height, too, and has drawn it so already.
	new ResizeObserver(() => {
		if (!state || !element.isConnected || !element.clientWidth) return;
		if (room() !== drawnWidth) update(state);
		else if (!options.most && element.clientHeight !== drawnHeight) draw();
	}).observe(element);

	return { element, canvas, boxes, update, width: room, place, choose: (at) => choose(at, true) };
}

tally.graph = { create };
})();
