// The head of the page: title, event, thread, recordings, search, and the buttons for theme, export and help.
(function () {

const { make, button, toggle } = tally.dom;
const THEMES = ["", "light", "dark"], THEME_NAMES = { "": "system", light: "light", dark: "dark" };

function eventChoice(page) {
	const { analysis, store } = page, { recording } = analysis, { event } = recording;
	const stats = recording.summary.events || [], sampled = (i) => !stats[i] || stats[i].samples > 0 || recording.sample.count === 0;
	const names = Array.from({ length: event.count }, (_, i) => [String(i), recording.text(event.name[i])]).filter(([i]) => sampled(i));
	const times = names.filter(([i]) => analysis.isTime(i));
	if (times.length > 1 && times.some(([i]) => event.kind[i] === 1)) names.push(["all", times.map(([, name]) => name).join(" + ")]);
	const select = make("select", { "aria-label": "Event", onchange: () => store.set({ event: select.value }) }, names.map(([value, text]) => make("option", { value }, tally.format.head(text, 60))));
	return {
		element: select,
		next() {
			const at = names.findIndex(([value]) => value === select.value);
			if (names.length > 1) store.set({ event: names[(at + 1) % names.length][0] });
		},
		update(state) {
			select.value = state.event === "all" && names.some(([value]) => value === "all") ? "all" : String(analysis.events(state).list[0] ?? "");
			select.hidden = names.length === 0;
		},
	};
}

function whoChoice(page) {
	const { store, analysis } = page, { recording } = analysis, MOST = 300;
	const byThread = analysis.byThread(store.now), byProcess = new Float64Array(recording.processes.length);
	byThread.forEach((weight, i) => byProcess[recording.processOf[i]] += weight);
	const some = (weights, kind, name) => Array.from(weights.keys()).filter((i) => weights[i] > 0).sort((a, b) => weights[b] - weights[a]).slice(0, MOST)
		.map((i) => make("option", { value: kind + i }, tally.format.head(name(i), 50)));
	const group = (label, options) => options.length ? make("optgroup", { label }, options) : null;
	const select = make("select", { "aria-label": "Process, thread or CPU", onchange: () => store.set({ who: select.value }) }, make("option", { value: "" }, "All threads"),
		group("Processes", some(byProcess, "p", recording.processName)), group("Threads", some(Float64Array.from(byThread), "t", recording.threadName)),
		group("CPUs", Array.from({ length: Math.min(recording.cpus, 1024) }, (_, i) => make("option", { value: `c${i}` }, `CPU ${i}`))));
	return {
		element: select,
		update(state) {
			select.value = state.who;
			if (select.value !== state.who) { // one that is not among the heaviest
				select.append(make("option", { value: state.who }, page.whoName(state.who)));
				select.value = state.who;
			}
		},
	};
}

// Recordings of a merge, switched on and off.
function recordingChoice(page) {
	const { store, analysis } = page, list = analysis.recording.summary.recordings;
	if (list.length < 2 || analysis.recording.both) return null;
	const out = () => new Set(tally.state.read.labels(store.now.recordings));
	const boxes = list.map((one, at) => make("input", { type: "checkbox", onchange: () => {
		const set = out();
		if (!set.delete(at)) set.add(at);
		store.set({ recordings: [...set].sort((a, b) => a - b).join("."), zoom: "" });
	} }));
	return {
		element: make("details", { class: "recordings" }, make("summary", null, `${list.length} recordings`),
			make("div", { class: "recordings-list" }, list.map((one, at) => make("label", null, boxes[at], make("bdi", null, page.recordingName(at)), one.host ? make("span", { class: "hint" }, tally.format.plain(one.host)) : null)))),
		update() {
			const set = out();
			boxes.forEach((box, at) => box.checked = !set.has(at));
		},
	};
}

// A difference, or one of its recordings alone: the other one is left out.
function sideChoice(page) {
	const { store, analysis } = page;
	if (!analysis.recording.both) return null;
	return tally.dom.choice("Recordings that are shown", [["", "Difference", "Both recordings, and what changed (d)"], ["1", "Before", page.recordingName(0)], ["0", "After", page.recordingName(1)]],
		() => store.now.recordings, (recordings) => store.set({ recordings, colour: "" }));
}

function searchField(page) {
	const { store, analysis } = page;
	const field = make("input", { type: "search", class: "search", placeholder: "Search (regular expression)", "aria-label": "Search functions by regular expression", "aria-describedby": "found", spellcheck: "false", autocomplete: "off", maxlength: "1000" });
	const result = make("output", { id: "found", class: "found" });
	const filter = toggle("Filter", "Show only stacks with a match", () => store.now.filter === "1", (on) => store.set({ filter: on ? "1" : "" }));
	field.addEventListener("input", () => store.set({ search: field.value }, true));
	return {
		element: make("div", { class: "search-box", role: "search" }, field, result, filter.element), field,
		update(state) {
			if (field.value !== state.search) field.value = state.search;
			filter.update();
			filter.element.hidden = !state.search;
		},
		wait() { // until it is known again
			if (result.textContent) result.textContent = "…";
		},
		found(state) {
			const found = analysis.found(state);
			result.textContent = !found ? "" : found.names === 0 ? "not found" : state.filter ? `${tally.format.count(found.names)} functions` : tally.format.share(found.sum, found.whole);
			result.title = found ? `${tally.format.count(found.names)} functions match` : "";
		},
	};
}

function create(page, helpDialog) {
	const { store, analysis } = page;
	const event = eventChoice(page), who = whoChoice(page), recordings = recordingChoice(page) || sideChoice(page), search = searchField(page);
	const themeName = make("span", { class: "wide-only" }), theme = button("Theme", () => page.nextTheme(), { title: "Light, dark, or as the system (l)", class: "quiet" });
	theme.append(themeName);
	const exporter = button("Export", () => openExport(), { title: "Save what is selected (x)", "aria-haspopup": "menu", class: "quiet" });
	function openExport() {
		const where = exporter.getBoundingClientRect();
		page.menu.open(where.left, where.bottom + 4, [
			{ text: "Folded stacks", press: () => tally.export.saveFolded(page) },
			{ text: "JSON", press: () => tally.export.saveJson(page) },
			{ text: "SVG of the flame graph", press: () => tally.export.saveSvg(page) },
			{ text: "Copy the link to this view", press: () => page.copyLink() },
			{ text: "Print", press: () => print() },
		], exporter);
	}
	const title = analysis.recording.summary.title || "Recording";
	const element = make("header", { class: "head" },
		make("div", { class: "title-row" }, make("span", { class: "brand", "aria-hidden": "true" }, "tally"), make("h1", { title }, make("bdi", null, tally.format.plain(title))),
			make("div", { class: "head-buttons" }, exporter, theme, button("?", () => helpDialog.open(), { title: "Keys (?)", "aria-label": "Help", class: "quiet" }))),
		make("div", { class: "choice-row" }, event.element, who.element, recordings && recordings.element, search.element));
	return {
		element, search: search.field, openExport, nextEvent: event.next, wait: search.wait, found: search.found,
		update(state) {
			for (const one of [event, who, recordings, search]) if (one) one.update(state);
			themeName.textContent = `: ${THEME_NAMES[state.theme]}`;
		},
	};
}

tally.header = { create, THEMES };
})();
