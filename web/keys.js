// Keys, and the help that lists them.
(function () {

const { make, button } = tally.dom;

const HELP = [
	["Everywhere", [["1 … 9", "the views, from left to right"], ["/", "search"], ["e", "the next event"], ["d", "of a difference: both, before, after"], ["[  ]", "move the span of time"], ["+  −", "make it smaller, wider"],
		["z", "strips show only the span, or the whole time"], ["0", "show everything again"], ["l", "light, dark, or as the system"], ["x", "export"], ["Esc", "close, zoom out, clear"], ["?", "this help"]]],
	["In a graph", [["arrows", "move from frame to frame"], ["Enter", "zoom"], ["Backspace", "zoom out one step"], ["m", "the menu of a frame"], ["f", "focus on the function"], ["h", "hide it"],
		["c", "collapse it"], ["s", "its callers and callees"], ["a", "its source and assembly"], ["y", "copy its name"]]],
	["The flame graph", [["i", "inverted, or not"], ["o", "left heavy, by name, in time"], ["u", "root at the bottom, or at the top"], ["r", "merge recursion"], ["k", "the next colours"]]],
];

function help() {
	const dialog = make("dialog", { class: "help", "aria-labelledby": "help-title" },
		make("div", { class: "help-head" }, make("h2", { id: "help-title" }, "Keys"), button("Close", () => dialog.close())),
		make("div", { class: "help-parts" }, HELP.map(([title, rows]) => make("section", null, make("h3", null, title),
			make("dl", null, rows.map(([keys, text]) => make("div", null, make("dt", null, make("kbd", null, keys)), make("dd", null, text))))))),
		make("p", null, "Drag on the time line, the strips or the heat map to choose a span; everything else follows. The address always holds what you see: copy it to share the view."));
	document.body.append(dialog);
	return { open: () => dialog.showModal() };
}

function attach(page, { search, tabs, helpDialog, exporter }) {
	const { store } = page;
	const next = (list, now) => list[(list.indexOf(now) + 1) % list.length];
	const flip = (name) => store.set({ [name]: store.now[name] ? "" : "1", ...(name === "inverted" ? { zoom: "" } : null) });
	const graphOnly = (act) => () => {
		if (store.now.view !== "flame") return false;
		act();
		return true;
	};
	const KEYS = {
		"/": () => search.select(),
		"?": () => helpDialog.open(),
		e: () => page.nextEvent(),
		d: () => page.analysis.recording.both ? store.set({ recordings: next(["", "1", "0"], store.now.recordings), colour: "" }) : false,
		"[": () => tally.spanDrag.key(page, "ArrowLeft", false, [0, page.analysis.recording.end]),
		"]": () => tally.spanDrag.key(page, "ArrowRight", false, [0, page.analysis.recording.end]),
		"+": () => tally.spanDrag.key(page, "+", false, [0, page.analysis.recording.end]),
		"-": () => tally.spanDrag.key(page, "-", false, [0, page.analysis.recording.end]),
		z: () => store.set({ lens: store.now.lens ? "" : store.now.span }),
		0: () => page.reset(),
		l: () => page.nextTheme(),
		x: () => exporter(),
		i: graphOnly(() => flip("inverted")),
		r: graphOnly(() => flip("recursion")),
		u: graphOnly(() => flip("up")),
		o: graphOnly(() => store.set({ order: next(["large", "name", "time"], store.now.order) })),
		k: graphOnly(() => store.set({ colour: next(page.analysis.recording.diff ? ["", "image", "kind", "plain"] : ["", "kind", "plain", "span"], store.now.colour) })),
		Backspace: () => page.zoomOut(),
		Escape: () => page.escape(),
	};
	document.addEventListener("keydown", (event) => {
		if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || document.querySelector("dialog[open]")) return;
		const field = event.target.closest("input, select, textarea");
		if (field) {
			if (event.key === "Escape") {
				if (field.value && field.type === "search") {
					field.value = "";
					field.dispatchEvent(new Event("input"));
				} else {
					field.blur();
				}
				event.preventDefault();
			}
			return;
		}
		if (/^[1-9]$/.test(event.key)) {
			const tab = tabs()[Number(event.key) - 1];
			if (tab) tab.click();
			return;
		}
		const act = Object.hasOwn(KEYS, event.key) ? KEYS[event.key] : null;
		if (act && act() !== false) event.preventDefault();
	});
}

tally.keys = { help, attach };
})();
