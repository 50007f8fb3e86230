// The table of differences: functions before and after, and whether it is more than chance.
(function () {

const { make, choice } = tally.dom;

// Columns of changes by function, and the rows that they are of.
function changes(page) {
	const { analysis, store } = page, { recording } = analysis;
	let rows = [];
	const show = (value) => store.now.compare === "share" ? tally.format.percent(value) : page.amount(value, page.unit(store.now), true);
	const change = (value) => store.now.compare === "share" ? `${tally.format.points(value)} pp` : (value > 0 ? "+" : "") + page.amount(value, page.unit(store.now), true);
	const say = (row) => rows[row].name ? `renamed to ${rows[row].name}` : rows[row].state || (rows[row].significant ? rows[row].difference > 0 ? "more" : "less" : "within the noise");
	const columns = [
		{ key: "before", title: "Before", number: true, narrow: true, value: (row) => rows[row].before, text: (row) => show(rows[row].before) },
		{ key: "after", title: "After", number: true, narrow: true, value: (row) => rows[row].after, text: (row) => show(rows[row].after) },
		{ key: "difference", title: "Change of self", number: true, value: (row) => rows[row].difference, text: (row) => change(rows[row].difference),
			paint: (cell, row) => {
				cell.classList.toggle("more-text", rows[row].difference > 0 && rows[row].significant);
				cell.classList.toggle("less-text", rows[row].difference < 0 && rows[row].significant);
			} },
		{ key: "size", title: "Size", number: true, narrow: true, value: (row) => Math.abs(rows[row].difference) + (rows[row].significant ? 1e-12 : 0), text: (row) => show(Math.abs(rows[row].difference)) },
		{ key: "total", title: "Change of total", number: true, narrow: true, value: (row) => rows[row].totalDifference, text: (row) => change(rows[row].totalDifference) },
		{ key: "verdict", title: "Result", text: say, hint: (row) => `probability by chance: ${rows[row].p < 1e-4 ? "below 0.0001" : rows[row].p.toFixed(4)}` },
		{ key: "function", title: "Function", grow: true, head: true, text: (row) => recording.name(rows[row].label), hint: (row) => tally.format.head(recording.name(rows[row].label), 2500),
			press: (row) => store.set({ view: "sandwich", fn: String(rows[row].label), sort: "", rows: "" }) },
	];
	return {
		columns,
		rows: () => {
			rows = tally.difference.rows(analysis, store.now);
			const match = store.now.search ? analysis.matches(store.now) : null;
			return Array.from(rows.keys()).filter((row) => !match || match[rows[row].label]);
		},
	};
}

function create(page) {
	const { store, analysis } = page, { recording } = analysis;
	const compare = choice("Compare", [["share", "Shares", "Compare parts of each recording"], ["weight", "Weights", "Compare what was counted"]], () => store.now.compare, (value) => store.set({ compare: value }));
	const table = tally.table.create(page, { name: "difference", caption: "Differences", usual: "size-", ...changes(page) });
	const element = make("section", { class: "view view-table", "aria-label": "Difference" },
		make("p", { class: "facts" }, `Before: ${page.recordingName(0)}. After: ${recording.summary.recordings.slice(1).map((_, at) => page.recordingName(at + 1)).join(", ")}. Changes that are more than chance and the usual noise have a colour.`),
		make("div", { class: "controls" }, compare.element), table.element);
	return {
		element, table,
		update() {
			compare.update();
			table.update();
		},
	};
}

tally.changes = changes;
tally.views.difference = create;
})();
