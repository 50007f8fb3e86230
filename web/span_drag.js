// Choosing a span of time on a drawing: drag, drag an edge, or keys.
(function () {

const EDGE = 6;

// options: range(): [begin, end] that the drawing shows; left(): where it begins in the element; width(): how wide it is.
function attach(page, element, { range, left = () => 0, width }) {
	const { store } = page;
	let from = null;

	const span = () => tally.state.read.range(store.now.span);
	const set = (a, b) => {
		const end = page.analysis.recording.end;
		const low = Math.max(0, Math.floor(Math.min(a, b))), high = Math.min(end, Math.ceil(Math.max(a, b)));
		if (high > low) store.set({ span: low === 0 && high === end ? "" : `${low}-${high}`, zoom: store.now.zoom }, true);
	};
	const time = (event) => {
		const [begin, end] = range(), x = event.clientX - element.getBoundingClientRect().left - left();
		return begin + Math.max(0, Math.min(1, x / Math.max(1, width()))) * (end - begin);
	};
	const perPixel = () => (range()[1] - range()[0]) / Math.max(1, width());
	const edge = (at) => {
		const chosen = span();
		if (!chosen) return -1;
		return Math.abs(at - chosen[0]) < EDGE * perPixel() ? 0 : Math.abs(at - chosen[1]) < EDGE * perPixel() ? 1 : -1;
	};

	element.addEventListener("pointerdown", (event) => {
		if (event.button !== 0 || event.target.closest("button")) return;
		const at = time(event), near = edge(at);
		from = { anchor: near < 0 ? at : span()[1 - near], x: event.clientX, moved: near >= 0 };
		element.setPointerCapture(event.pointerId);
	});
	element.addEventListener("pointermove", (event) => {
		const at = time(event);
		element.style.cursor = edge(at) >= 0 ? "ew-resize" : "crosshair";
		if (!from) return;
		if (Math.abs(event.clientX - from.x) > 3) from.moved = true;
		if (from.moved) set(from.anchor, at);
	});
	const stop = (event) => {
		if (!from) return;
		if (!from.moved && event.type === "pointerup") store.set({ span: "" });
		else store.set({ span: store.now.span });
		from = null;
	};
	element.addEventListener("pointerup", stop);
	element.addEventListener("pointercancel", stop);
	element.addEventListener("keydown", (event) => {
		if (event.ctrlKey || event.altKey || event.metaKey) return;
		if (key(page, event.key, event.shiftKey, range())) {
			event.preventDefault();
			event.stopPropagation();
		}
	});
}

// Keys that move, widen or narrow the span; the first one makes one. Returns whether the key is one of them.
function key(page, pressed, shift, [begin, end]) {
	const { store } = page, limit = page.analysis.recording.end;
	const whole = end - begin, now = tally.state.read.range(store.now.span);
	let [a, b] = now || [begin + whole * 0.45, begin + whole * 0.55];
	const step = Math.max(1, (b - a) / 10), wide = b - a;
	switch (pressed) {
	case "ArrowLeft": if (shift) b -= step; else { a = Math.max(0, a - step); b = a + wide; } break;
	case "ArrowRight": if (shift) b += step; else { b = Math.min(limit, b + step); a = b - wide; } break;
	case "+": a += wide / 4; b -= wide / 4; break;
	case "-": a -= wide / 2; b += wide / 2; break;
	case "Escape": if (!now) return false; store.set({ span: "" }); return true;
	default: return false;
	}
	a = Math.max(0, Math.floor(a));
	b = Math.min(limit, Math.ceil(b));
	if (b > a) store.set({ span: a === 0 && b === limit ? "" : `${a}-${b}` }, true);
	tally.dom.say(`${page.when(a)} to ${page.when(b)}`);
	return true;
}

tally.spanDrag = { attach, key };
})();
