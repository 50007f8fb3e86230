// The sandwich: one function with all its places summed, its callers above and its callees below.
(function () {

const { make, clear } = tally.dom;

// The outermost places of a function.
function outermost({ size, label, outer }, of) {
	const found = [];
	for (let i = 1; i < size; i++) if (label[i] === of && outer[i] & 1) found.push(i);
	return found;
}

function create(page) {
	const { analysis, store } = page, { recording } = analysis;
	const title = make("h2", { class: "sandwich-name" }), facts = make("p", { class: "facts" });
	const label = () => {
		const state = store.now;
		if (state.fn !== "" && Number(state.fn) < recording.labels) return Number(state.fn);
		const { self } = analysis.functions(state);
		let best = -1;
		for (let i = 0; i < self.length; i++) if (self[i] > 0 && (best < 0 || self[i] > self[best])) best = i;
		return best;
	};
	let of = -1;

	function places(state) {
		return analysis.keep("places of", `${state.ops}|${state.recursion}|${of}`, () => outermost(analysis.tree(state), of));
	}
	function callers(boxes, least) {
		const state = store.now, tree = analysis.tree(state), sums = analysis.sums(state), begin = places(state);
		const at = (total, name) => {
			const weights = analysis.array(name, tree.size);
			for (const node of begin) weights[node] = total[node];
			return weights;
		};
		const both = sums.before ? { before: at(sums.before, "placesBefore"), after: at(sums.after, "placesAfter") } : {};
		tally.layCallers(boxes, tree, at(sums.total, "places"), { labels: recording.labels, from: 1, least, root: of, ...both });
	}
	function callees(boxes, least) {
		const state = store.now;
		tally.layCallees(boxes, analysis.tree(state), analysis.sums(state), places(state), { root: of, least });
	}
	const go = (boxes, at) => {
		if (boxes.label[at] !== tally.NONE) store.set({ fn: String(boxes.label[at]) });
	};
	const describe = (boxes, at) => page.describe(boxes, at, false);
	const most = (part) => () => matchMedia("print").matches ? Infinity : Math.round(innerHeight * part);
	const above = tally.graph.create(page, {
		label: "Callers", class: "graph-callers", up: () => true, layout: callers, zoom: go, describe, most: most(0.42), empty: () => "No callers in this selection.",
	});
	const beneath = tally.graph.create(page, {
		label: "Callees", class: "graph-callees", up: () => false, layout: callees, zoom: go, describe, most: most(0.6), empty: () => of < 0 ? page.nothing() : "It calls nothing in this selection.",
	});
	const find = make("input", { type: "search", class: "search", list: "sandwich-names", placeholder: "Function…", "aria-label": "Function of the sandwich", spellcheck: "false", autocomplete: "off" });
	const names = make("datalist", { id: "sandwich-names" });
	let asked = 0;
	find.addEventListener("input", () => {
		clearTimeout(asked);
		asked = setTimeout(offer, 60);
	});
	find.addEventListener("change", () => {
		const { total } = analysis.functions(store.now);
		for (let i = 0; i < recording.labels; i++) {
			if (total[i] > 0 && recording.name(i) === find.value) {
				store.set({ fn: String(i) });
				return;
			}
		}
		const best = offer();
		if (best.length) store.set({ fn: String(best[0]) });
	});
	function offer() {
		const match = tally.search.labels(recording, find.value), { total } = analysis.functions(store.now), found = [];
		for (let i = 0; i < recording.labels; i++) if (total[i] > 0 && match[i]) found.push(i);
		found.sort((a, b) => total[b] - total[a]);
		clear(names, found.slice(0, 20).map((one) => make("option", { value: recording.name(one) })));
		return found;
	}
	function difference(state) {
		const { before, after } = analysis.functions(state), { scaleBefore, scaleAfter } = analysis.sums(state), unit = page.unit(state);
		const both = (name, key) => `${name} before ${page.amount(before[key][of] * scaleBefore, unit)}, after ${page.amount(after[key][of] * scaleAfter, unit)}`;
		return [recording.imageName(recording.imageOf(of)), both("total", "total"), both("self", "self")];
	}
	const parts = make("div", { class: "parts" }, make("h3", { class: "part" }, "Callers"), above.element, make("h3", { class: "part" }, "Callees"), beneath.element);
	const controls = make("div", { class: "controls" }, find, names, make("span", { class: "hint wide-only" }, "Click a caller or callee to go there."));
	const element = make("section", { class: "view view-sandwich", "aria-label": "Callers and callees" },
		controls, title, facts, parts);

	return {
		element,
		graph: { get boxes() { return beneath.boxes; } },
		update(state) {
			const before = of;
			of = label();
			title.textContent = of < 0 ? "No function" : recording.name(of);
			const sums = analysis.sums(state), { self, total } = analysis.functions(state), unit = page.unit(state);
			parts.hidden = of < 0;
			controls.hidden = page.isEmpty;
			clear(facts, page.facts(of < 0 ? [page.nothing()] : recording.diff ? difference(state) : [recording.imageName(recording.imageOf(of)),
				`total ${page.amount(total[of], unit)} (${tally.format.share(total[of], sums.whole)})`,
				`self ${page.amount(self[of], unit)} (${tally.format.share(self[of], sums.whole)})`]));
			if (document.activeElement !== find) find.value = of < 0 ? "" : tally.format.head(recording.name(of), 300);
			above.update(state, true);
			beneath.update(state, of !== before);
		},
	};
}

tally.views.sandwich = create;
})();
