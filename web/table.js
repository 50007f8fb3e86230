// A table of rows that can be sorted, filtered, and copied as TSV. Rows are numbers; columns say what they show.
(function () {

const { make, clear, button } = tally.dom;
const PAGE = 100; // rows at first, and with each "Show more"
const LEAST = 24; // pixels of a row
const FEW = 15; // rows that are made at a time where nobody sees them yet
const LATER = 150; // ms: while a span is dragged, rows that are not seen wait

// The places of the first `count` values in their order; null: sort them all.
function first(values, count, sign, compare) {
	if (values.length < count * 4) return null;
	const limit = Float64Array.from(values).sort()[sign > 0 ? count - 1 : values.length - count], before = [], equal = [];
	for (let at = 0; at < values.length; at++) {
		if (sign * (values[at] - limit) < 0) before.push(at);
		else if (values[at] === limit && equal.length < count) equal.push(at);
	}
	const all = before.sort(compare).concat(equal).slice(0, count);
	return all.length === count ? all : null; // some are no numbers
}

// The `most` rows with the largest values above 0, the largest first.
function largest(rows, values, most) {
	const best = [];
	for (const row of rows) {
		if (!(values[row] > 0) || best.length === most && values[row] <= values[best[most - 1]]) continue;
		let at = best.length;
		while (at > 0 && values[best[at - 1]] < values[row]) at--;
		best.splice(at, 0, row);
		best.length = Math.min(best.length, most);
	}
	return best;
}

// columns: [{key, title, number, value(row), text(row), share(row), press(row), grow, narrow, title(row), tail}]; tail: where there
// is no room, what is behind the last blank stays in view.
// options: name, caption, usual (sort), rows(): array of row numbers, filter: whether there is a field to filter by.
function create(page, { name, caption, columns, usual, rows, filter = true, most = 0, empty, className }) {
	const { store } = page, grows = columns.filter((column) => column.grow).length;
	const field = filter ? make("input", { type: "search", placeholder: "Filter…", "aria-label": `Filter ${caption}`, spellcheck: "false", autocomplete: "off" }) : null;
	const facts = make("span", { class: "table-facts", role: "status" });
	const copy = most ? null : button("Copy as TSV", () => page.copy(tsv(), "The table is copied"), { class: "small", title: "Copy all rows of this table, with tabs between columns" });
	const heads = columns.map((column) => {
		const press = most || column.fixed ? make("span", null, column.title) : button(column.title, () => sortBy(column), { class: "sort", title: column.about ? `${column.about}. Click to sort.` : "Click to sort" });
		return make("th", { scope: "col", class: classes(column) }, press);
	});
	const body = make("tbody");
	const none = make("p", { class: "empty", hidden: true });
	const more = button("", () => {
		complete();
		shown += PAGE * 5;
		draw();
	}, { class: "more" });
	const table = make("table", { class: className || null }, make("caption", { class: most ? null : "hidden" }, caption), make("thead", null, make("tr", null, heads)), body);
	const element = make("div", { class: "table" }, most ? null : make("div", { class: "controls", hidden: page.isEmpty && name !== "markers" }, field, facts, copy),
		make("div", { class: "table-scroll", tabindex: most ? null : "0", role: most ? null : "region", "aria-label": most ? null : caption }, table, none), more);
	const lines = []; // elements that are used again
	// Of `size` rows those that are shown are in `list`; complete() sorts the others into it, too.
	let list = [], size = 0, shown = PAGE, before = "", later = 0, complete = () => {};

	if (field) field.addEventListener("input", () => store.set({ rows: field.value }, true));

	function classes(column) {
		return [column.number ? "number" : "", column.grow ? grows > 1 ? "grow half" : "grow" : "", column.narrow ? "wide-only" : "", column.share ? "bars" : ""].filter(Boolean).join(" ") || null;
	}
	function sortBy(column) {
		const [key, down] = sorting();
		store.set({ sort: column.key + (key === column.key ? down ? "+" : "-" : column.number ? "-" : "+") });
	}
	function sorting() {
		const text = !most && store.now.sort && columns.some((column) => column.key === store.now.sort.slice(0, -1)) ? store.now.sort : usual;
		return [text.slice(0, -1), text.endsWith("-")];
	}

	function update() {
		const state = store.now, [key, down] = sorting(), by = columns.find((column) => column.key === key);
		list = Array.from(rows());
		const all = list.length;
		if (field) {
			if (document.activeElement !== field) field.value = state.rows;
			const found = tally.search.pattern(state.rows);
			if (found) list = list.filter((row) => columns.some((column) => !column.number && found.test.test(column.text(row).slice(0, 4096))));
		}
		size = list.length;
		const what = `${state.view}|${state.sort}|${state.rows}`;
		if (what !== before) shown = PAGE;
		before = what;
		sort(by, down);
		facts.textContent = size === all ? `${tally.format.count(all)} ${all === 1 ? "row" : "rows"}` : `${tally.format.count(size)} of ${tally.format.count(all)} rows`;
		none.hidden = size > 0;
		none.textContent = all ? "No row has this text." : empty ? empty() : page.nothing();
		table.hidden = size === 0;
		columns.forEach((column, at) => {
			if (!most) heads[at].setAttribute("aria-sort", column.key === key ? down ? "descending" : "ascending" : "none");
		});
		draw();
	}

	function sort(by, down) {
		const rows = list, sign = down ? -1 : 1, sorted = (compare) => Array.from(new Uint32Array(rows.length).map((_, at) => at).sort(compare), (at) => rows[at]);
		complete = () => {};
		if (by.number) {
			const values = new Float64Array(rows.length), compare = (a, b) => sign * (values[a] - values[b]) || a - b;
			rows.forEach((row, at) => values[at] = by.value(row));
			const head = first(values, most || shown, sign, compare);
			if (head) {
				list = head.map((at) => rows[at]);
				complete = () => list = sorted(compare);
				return;
			}
			list = sorted(compare);
		} else {
			const values = rows.map((row) => by.text(row).toLowerCase());
			list = sorted((a, b) => values[a] === values[b] ? a - b : values[a] < values[b] ? -sign : sign);
		}
	}

	function line(at) {
		if (lines[at]) return lines[at];
		const cells = columns.map((column) => {
			const text = make("span", { class: column.tail ? "cell-text tail" : "cell-text" }, column.tail ? [make("span"), make("span")] : null);
			const cell = make(column.head ? "th" : "td", { class: classes(column), scope: column.head ? "row" : null });
			const bar = column.share ? make("span", { class: "bar", "aria-hidden": "true" }, make("span")) : null;
			const press = column.press ? button("", () => column.press(list[at]), { class: "link" }) : null;
			if (press) press.append(text);
			cell.append(...[bar, press || text].filter(Boolean));
			return { cell, text, bar: bar && bar.firstChild, press };
		});
		return lines[at] = { row: make("tr", null, cells.map((one) => one.cell)), cells };
	}

	// Rows that are seen first; those further down a moment later.
	function draw() {
		const count = Math.min(list.length, most || shown);
		const seen = most || matchMedia("print").matches ? count : Math.min(count, Math.ceil(Math.max(1, innerHeight - body.getBoundingClientRect().top) / LEAST) + 1);
		while (body.childElementCount > count) body.lastChild.remove();
		put(0, seen);
		clearTimeout(later);
		const rest = (from) => {
			put(from, Math.min(count, from + FEW));
			if (from + FEW < count) later = setTimeout(rest, 0, from + FEW);
		};
		if (seen < count) later = setTimeout(rest, LATER, seen);
		more.hidden = Boolean(most) || count >= size;
		more.textContent = `Show ${tally.format.count(Math.min(PAGE * 5, size - count))} more of ${tally.format.count(size)}`;
	}
	function put(from, to) {
		for (let at = from; at < to; at++) {
			const { row, cells } = line(at), of = list[at];
			columns.forEach((column, c) => {
				const { text, bar, press, cell } = cells[c], value = column.text(of);
				if (text.textContent !== value) {
					const cut = value.lastIndexOf(" ");
					if (!column.tail) text.textContent = value;
					else [value.slice(0, cut), value.slice(cut)].forEach((part, i) => text.children[i].textContent = part);
				}
				if (bar) bar.style.width = `${Math.min(100, Math.max(0, column.share(of) * 100)).toFixed(2)}%`;
				if (column.paint) column.paint(cell, of);
				if (press) press.hidden = value === "";
				if (column.hint) (press || cell).title = column.hint(of);
			});
			if (row.parentNode !== body) body.append(row);
		}
	}

	function tsv() {
		page.finish();
		complete();
		// A name must not begin a formula where it is pasted.
		const safe = (text) => (/^[=+@-]/.test(text) ? `'${text}` : text).replace(/[\t\r\n]/g, " ").replace(/[\u2068\u2069]/g, "");
		return [columns.map((column) => column.title).join("\t"),
			...list.map((row) => columns.map((column) => column.number ? String(column.value(row)) : safe((column.full || column.text)(row))).join("\t"))].join("\n") + "\n";
	}

	return {
		element, update, tsv, name, count: () => size,
		clear() {
			clearTimeout(later); // else rows further down would come before the first ones
			clear(body);
		},
	};
}

tally.table = { create, largest };
})();
