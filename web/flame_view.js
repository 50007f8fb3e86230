// The flame graph: stacks from the root, or inverted from where samples were taken; by size, name or time.
(function () {

const { make, choice, toggle, list } = tally.dom;

function create(page) {
	const { analysis, store } = page, { recording } = analysis;
	const now = () => store.now, set = (name) => (value) => store.set({ [name]: value, ...(name === "inverted" ? { zoom: "" } : null) });
	const flip = (name) => (value) => set(name)(value ? "1" : "");
	const controls = [
		choice("Order", [["large", "Left heavy", "Equal stacks together, the largest first"], ["name", "By name", "Equal stacks together, by name"],
			["time", "In time", "Stacks in the order of time"]], () => now().order, set("order")),
		choice("Direction", [["", "Icicle", "The root is at the top"], ["1", "Flame", "The root is at the bottom"]], () => now().up, set("up")),
		toggle("Inverted", "From the functions where samples were taken to their callers (i)", () => now().inverted === "1", flip("inverted")),
		toggle("Merge recursion", "A function that calls itself again is one frame (r)", () => now().recursion === "1", flip("recursion")),
		list("Colours", [...(recording.diff ? [["", "Colours: change"]] : []), [recording.diff ? "image" : "", "Colours: image"], ["kind", "Colours: kind"], ["plain", "Colours: plain"], ...(recording.diff ? [] : [["span", "Colours: span against whole"]])],
			() => now().colour, set("colour")),
		...(recording.diff ? [
			list("Widths", [["both", "Widths: mean of both"], ["before", "Widths: before"], ["after", "Widths: after"]], () => now().width, set("width")),
			choice("Compare", [["share", "Shares", "Compare parts of each recording"], ["weight", "Weights", "Compare what was counted"]], () => now().compare, set("compare")),
		] : []),
	];
	let layoutTime = false, above = 0, laid = ""; // above: rows above what is zoomed to; laid: of what the boxes are
	const inTime = (state) => state.order === "time" && state.inverted !== "1";
	const stacks = (state, width) => analysis.inParts.columns(state, Math.max(1, width >> 1), page.span(state));
	const graph = tally.graph.create(page, {
		label: "Flame graph",
		up: () => now().up === "1",
		layout(boxes, least, width) {
			const state = now(), tree = analysis.tree(state);
			above = tally.state.read.labels(state.zoom).length;
			layoutTime = inTime(state);
			// A search changes colours alone.
			const of = [analysis.selection(state), state.span, state.order, state.inverted, state.zoom, state.compare, state.width, state.colour === "span", width].join("|");
			if (of === laid) return;
			laid = of;
			if (layoutTime) return void tally.layTime.lay(boxes, tree, analysis.now(stacks(state, width)), ...page.span(state));
			const sums = analysis.graph(state), path = tally.state.read.labels(state.zoom);
			if (state.inverted === "1") {
				const both = sums.before ? { before: sums.selfBefore, after: sums.selfAfter } : {};
				tally.layCallers(boxes, tree, sums.self, { labels: recording.labels, path, least, ...both });
				return;
			}
			tally.layTree(boxes, tree, sums, { zoom: tally.tree.find(tree, path), byName: state.order === "name" ? recording.name : null, least });
		},
		zoom(boxes, at) {
			if (layoutTime) {
				if (at <= 0) return;
				const [begin, end] = page.span(now()), wide = end - begin;
				store.set({ span: `${Math.floor(begin + boxes.left[at] * wide)}-${Math.ceil(begin + boxes.right[at] * wide)}` });
				return;
			}
			store.set({ zoom: boxes.path(at).join(".") });
		},
		describe: (boxes, at) => page.describe(boxes, at, layoutTime),
		faded: (boxes, at) => !layoutTime && boxes.depth[at] < above,
		empty: () => page.nothing(),
		narrow: () => now().inverted === "1" && above === 0,
	});
	const legend = make("div", { class: "legend", role: "list", "aria-label": "Colours" });
	const element = make("section", { class: "view view-graph", "aria-label": "Flame graph" },
		make("div", { class: "controls", hidden: page.isEmpty }, controls.map((one) => one.element)), graph.element, legend);

	return {
		element, graph,
		// The passes over samples that a drawing needs.
		*parts(state) {
			if (inTime(state)) yield* analysis.parts(stacks(state, graph.width()));
		},
		update(state) {
			for (const one of controls) one.update();
			page.legend(legend, state);
			graph.update(state);
		},
	};
}

tally.views = { flame: create };
})();
