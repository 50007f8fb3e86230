// The summary: what ran, where, how long, what was measured and lost, and what is hot.
(function () {

const { make, clear } = tally.dom;
const TOP = 10, NEVER = 3; // the kind of events that only carry records beside samples

const HEADS = [["Event", null], ["Samples", null], ["Amount", "The sum of the samples' periods"], ["Unknown", "The part in code without a function name"],
	["Lost", "Samples that the kernel could not write: the buffer was full"], ["Throttled", "How often the kernel stopped the event because it came too often"]];

// Numbers stay on one line with their units.
// Options of a command are not broken at their hyphens.
const whole = (text) => text.split(/((?<=^|\s)-\S{1,45}(?=\s|$))/).map((part, at) => at % 2 ? make("span", { class: "option" }, part) : part);
const together = (text) => text.replace(/([0-9]) (%|[nµm]?s\b)/g, "$1\u00a0$2");

function create(page) {
	const { analysis, store } = page, { recording } = analysis, { summary } = recording;
	const facts = make("dl", { class: "fact-list" });
	const add = (name, text) => {
		if (text !== null && text !== undefined && text !== "") facts.append(make("div", null, make("dt", null, name), make("dd", null, make("bdi", null, tally.format.plain(String(text))))));
	};
	const several = summary.recordings.length > 1;
	for (const [at, one] of summary.recordings.entries()) {
		if (several) {
			add(recording.both ? at ? "After" : "Before" : `Recording ${at + 1}`, [one.name, one.command, one.host, one.kernel && `Linux ${one.kernel}`].filter(Boolean).join(", "));
			continue;
		}
		add("Recorded", one.command);
		add("Host", [one.host, one.kernel && `Linux ${one.kernel}`].filter(Boolean).join(", "));
		add("CPU", [one.cpu, one.cpus && `${one.cpus}\u00a0CPUs`].filter(Boolean).join(", "));
	}
	add("Duration", tally.format.time((summary.duration || 0) * 1e9));
	if (summary.start) add("Started", new Date(summary.start * 1000).toISOString().replace("T", " ").replace(/\.\d+Z/, " UTC"));
	if (recording.thread.count) add("Threads", `${tally.format.count(recording.thread.count)} in ${recording.processes.length === 1 ? "one process" : `${tally.format.count(recording.processes.length)} processes`}`);

	// Narrow screens leave out what did not happen.
	const has = (name) => (summary.events || []).some((one) => one[name]), kinds = { Lost: has("lost"), Throttled: has("throttled") };
	const number = (name, warn = "") => `number${warn}${kinds[name] === false ? " wide-only" : ""}`;
	const events = make("table", { class: "events" }, make("caption", null, "Events"),
		make("thead", null, make("tr", null, HEADS.map(([text, title], at) => make("th", { scope: "col", class: at ? number(text) : null, title }, text)))),
		make("tbody", null, Array.from(recording.event.kind, (kind, i) => {
			if (kind === NEVER && !((summary.events || [])[i] || {}).samples) return null;
			const of = (summary.events || [])[i] || {}, unit = recording.text(recording.event.unit[i]);
			const warn = (part, whole) => part > 0 && part / whole > 0.01 ? "number warn" : "number";
			return make("tr", null, make("th", { scope: "row", title: tally.format.head(recording.text(recording.event.name[i]), 2500) }, make("bdi", null, recording.text(recording.event.name[i]))),
				make("td", { class: "number" }, tally.format.count(of.samples || 0)),
				make("td", { class: "number" }, tally.format.weight(of.weight || 0, unit)),
				make("td", { class: warn(of.unknown, of.weight) }, tally.format.share(of.unknown || 0, of.weight || 0)),
				make("td", { class: number("Lost", of.lost ? " warn" : "") }, tally.format.count(of.lost || 0)),
				make("td", { class: number("Throttled", of.throttled ? " warn" : "") }, tally.format.count(of.throttled || 0)));
		})));
	const notes = (summary.notes || []).map((note) => make("li", null, make("bdi", null, tally.format.plain(note.text || "")),
		note.remedy ? make("span", { class: "remedy" }, "Remedy: ", make("bdi", null, whole(tally.format.plain(note.remedy)))) : null));

	const top = (name, caption, columns, rows, empty) => tally.table.create(page, { name, caption, columns, rows, usual: "self-", most: TOP, filter: false, className: "top", empty });
	// Where threads are the first of their processes, these have the same names and numbers.
	const { tid, pid } = recording.thread, byProcess = recording.processes.length > 1 && tid.some((one, i) => one !== pid[i]);
	const threads = tally.lists.threadColumns(page);
	const few = (columns, keys) => keys.map((key) => columns.find((column) => column.key === key)).filter(Boolean);
	const tables = [
		recording.diff ? largestChanges(page, top) : top("hot-functions", "Hottest functions", few(tally.lists.functionColumns(page), ["self", "total", "function", "image"]),
			() => tally.table.largest(tally.lists.functionRows(page), analysis.functions(store.now).self, TOP)),
		top("hot-threads", "Hottest threads", few(threads.columns, ["self", "thread", "tid", byProcess ? "process" : ""]),
			() => tally.table.largest(threads.rows(), analysis.byThread(store.now), TOP)),
	];
	const waits = tally.waits.table(page, top), hotLines = lines(page, top, () => share());
	const card = (table) => table ? make("div", null, table.element) : null, lineCard = card(hotLines), waitCard = card(waits);
	const sentence = summary.sentence ? make("p", { class: "sentence" }, make("bdi", null, together(tally.format.plain(summary.sentence)))) : null;
	const element = make("section", { class: "view view-summary", "aria-label": "Summary" },
		sentence,
		make("div", { class: "cards" },
			make("div", { class: "card" }, make("h2", null, "Recording"), facts),
			make("div", { class: "card card-wide" }, recording.event.count ? make("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": "Events" }, events) : make("p", { class: "empty" }, "The recording has no events."),
				notes.length ? make("div", { class: "notes" }, make("h3", null, "Notes"), make("ul", null, notes)) : null),
			recording.sample.count ? [make("div", { class: "card card-wide" }, tables[0].element), make("div", { class: "card" }, tables[1].element)] : null,
			lineCard, waitCard));
	// Where no lines are known, the card of lines would say only that.
	function share() {
		if (lineCard) lineCard.hidden = hotLines.count() === 0;
		const both = lineCard && !lineCard.hidden && waitCard;
		for (const card of [lineCard, waitCard]) if (card) card.className = both ? "card card-half" : "card card-all";
	}

	return {
		element,
		update() {
			for (const one of tables) one.update();
			if (hotLines) hotLines.update();
			if (waits) waits.update();
			share();
		},
	};
}

function largestChanges(page, top) {
	const { columns, rows } = tally.changes(page), of = (name) => columns.find(({ key }) => key === name);
	const shown = [{ ...of("difference"), key: "self", value: of("size").value }, of("before"), of("after"), of("function"), of("verdict")];
	return top("changes", "Largest changes", shown, () => rows().sort((a, b) => of("size").value(b) - of("size").value(a)).slice(0, TOP));
}

// The hottest source lines; they are known for the whole recording only.
function lines(page, top, changed) {
	const { analysis, store } = page, { recording } = analysis;
	if (!recording.has("line") || recording.both) return null;
	let line = null, whole = 0;
	const text = (row) => `${tally.format.baseName(recording.text(line.file[row]))}:${line.number[row]}`;
	const table = top("hot-lines", "Hottest lines (whole recording)", [
		{ key: "self", title: "Self", number: true, value: (row) => line.self[row], text: (row) => tally.format.share(line.self[row], whole), share: (row) => line.self[row] / whole },
		{ key: "line", title: "Line", head: true, text, hint: (row) => `${recording.text(line.file[row])}:${line.number[row]}`,
			press: (row) => store.set({ view: "code", fn: String(line.function[row]), sort: "", rows: "" }) },
		{ key: "function", title: "Function", grow: true, text: (row) => recording.name(line.function[row]), hint: (row) => tally.format.head(recording.name(line.function[row]), 2500) },
	], () => {
		if (!line) return [];
		const mask = analysis.events(store.now).mask, rows = [];
		whole = 0;
		for (const [i, one] of (recording.summary.events || []).entries()) if (mask[i]) whole += one.weight || 0;
		let known = 0;
		for (let i = 0; i < line.count; i++) {
			if (!mask[line.event[i]]) continue;
			known += line.self[i];
			if (line.self[i] >= whole / 1000) rows.push(i);
		}
		// Lines of a small part would only say where debug information happens to be.
		if (known < whole / 10) return [];
		return rows.sort((a, b) => line.self[b] - line.self[a]).slice(0, TOP);
	});
	recording.later("line").then((got) => {
		line = got;
		if (!table.element.isConnected) return;
		table.update();
		changed();
	}, page.fail);
	return table;
}

tally.views.summary = create;
})();
