// What the colours of a graph mean.
(function () {

const { make, clear } = tally.dom;

const shown = new WeakMap(); // by element, its rows

function legend(element, page, state) {
	const { recording } = page.analysis, theme = tally.palette.theme(state), of = (hue) => hue < 0 ? theme.grey : theme.hues[hue];
	const by = recording.diff && !state.colour ? "change" : state.colour || "image";
	let rows = [];
	if (by === "change") {
		rows = [[0, "gone"], [2, "less"], [4, "equal"], [6, "more"], [8, "new"]].map(([at, text]) => [theme.change[at], text]);
	} else if (by === "span" && !recording.diff) {
		rows = [[2, "less than in the whole time"], [4, "as much"], [6, "more"], [8, "far more"]].map(([at, text]) => [theme.change[at], text]);
		if (!state.span) rows.push([null, "drag on the time line to choose a span"]);
	} else if (by === "kind") {
		const seen = new Set(recording.image.kind);
		rows = tally.palette.KINDS.filter((_, kind) => kind === 0 || kind > 2 || seen.has(kind)).map(([hue, text]) => [of(hue), text]);
	} else if (by === "image") {
		const { order, hue } = page.hues;
		rows = order.slice(0, 7).map((image) => [of(hue[image]), tally.format.baseName(recording.imageName(image))]);
		if (order.length > 7) rows.push([null, `and ${order.length - 7} more`]);
	}
	if (state.search) rows.unshift([theme.match, "found"]);
	const said = JSON.stringify(rows);
	if (said === shown.get(element)) return; // a legend that is made again costs a layout of the page
	shown.set(element, said);
	clear(element, rows.map(([colour, text]) => {
		const mark = colour ? make("span", { class: "swatch", "aria-hidden": "true" }) : null;
		if (mark) mark.style.backgroundColor = colour;
		return make("span", { role: "listitem", class: "legend-row" }, mark, make("bdi", null, text));
	}));
	element.hidden = rows.length === 0;
}

tally.legend = legend;
})();
