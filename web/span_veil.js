// What is outside the chosen span is faded by two elements above a drawing: while a span is dragged only they move, and
// nothing is drawn again.
(function () {

const { make } = tally.dom;

function create() {
	const before = make("div", { class: "veil" }), behind = make("div", { class: "veil veil-behind" });
	const element = make("div", { class: "veils", "aria-hidden": "true", hidden: true }, before, behind);
	return {
		element,
		// The drawing shows [begin, end) at `left`, `top` of the parent element.
		update({ begin, end, left, width, top, height, chosen }) {
			element.hidden = !chosen;
			if (!chosen) return;
			const place = (time) => Math.max(0, Math.min(width, (time - begin) * width / (end - begin)));
			const { style } = element;
			style.left = `${left}px`;
			style.top = `${top}px`;
			style.width = `${width}px`;
			style.height = `${height}px`;
			before.style.width = `${Math.floor(place(chosen[0]))}px`;
			behind.style.width = `${width - Math.ceil(place(chosen[1]))}px`;
		},
	};
}

tally.spanVeil = create;
})();
