// What narrows the selection, as a row of words that can be taken off.
(function () {

const { make, clear } = tally.dom;
const SAY = { f: "Focus", h: "Hidden", c: "Collapsed", F: "Focus on image", H: "Hidden image", C: "Collapsed image" };

function chips(element, page, state) {
	const { analysis, store } = page, { recording } = analysis, list = [];
	const add = (text, change) => list.push(make("button", { type: "button", class: "chip", onclick: () => store.set(change), "aria-label": `Remove: ${text}` },
		make("bdi", null, tally.format.head(text, 80) + (text.length > 80 ? "…" : "")), make("span", { "aria-hidden": "true" }, "×")));
	const span = tally.state.read.range(state.span);
	if (span) add(`${page.when(span[0])} – ${page.when(span[1])} (${tally.format.time((span[1] - span[0]) * recording.unit)})`, { span: "" });
	if (state.who) add(page.whoName(state.who), { who: "" });
	for (const out of recording.both ? [] : tally.state.read.labels(state.recordings)) { // a difference has a switch
		add(`without ${page.recordingName(out)}`, { recordings: state.recordings.split(".").filter((one) => Number(one) !== out).join(".") });
	}
	const operations = state.ops ? state.ops.split(".") : [];
	operations.forEach((one, at) => {
		const kind = one[0], index = Number(one.slice(1)), image = kind === kind.toUpperCase();
		if (index >= (image ? recording.image.count : recording.labels)) return;
		const name = image ? tally.format.baseName(recording.imageName(index)) : recording.name(index);
		add(`${SAY[kind]}: ${name}`, { ops: operations.filter((_, i) => i !== at).join("."), zoom: "" });
	});
	if (state.recursion) add("Recursion merged", { recursion: "", zoom: "" });
	if (state.filter && state.search) add(`Only stacks with ${state.search}`, { filter: "" });
	if (state.zoom && state.view === "flame" && !(state.order === "time" && !state.inverted)) {
		const path = tally.state.read.labels(state.zoom), last = path[path.length - 1];
		if (last < recording.labels) add(`Zoom: ${recording.name(last)}`, { zoom: "" });
	}
	if (list.length > 1) list.push(make("button", { type: "button", class: "chip chip-all", onclick: page.reset }, "Show everything"));
	clear(element, list);
	element.hidden = list.length === 0;
}

tally.chips = chips;
})();
