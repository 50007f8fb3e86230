// Source and assembly of a function with its samples; of the whole recording, whatever span is chosen.
(function () {

const { make, clear, button } = tally.dom;
const AROUND = 4; // lines and instructions before the first and after the last one with samples
const FEW = 12; // so many instructions without samples are not worth a gap
const SOME = 300; // and so many are shown at a time

function create(page) {
	const { analysis, store } = page, { recording } = analysis;
	const title = make("h2", { class: "sandwich-name" }), facts = make("p", { class: "facts" });
	const body = make("div", { class: "code-parts" });
	const pick = make("select", { "aria-label": "Function with source or assembly", onchange: () => store.set({ fn: pick.value }) });
	const controls = make("div", { class: "controls" }, pick, button("Callers and callees", () => store.set({ view: "sandwich" })));
	const element = make("section", { class: "view view-code", "aria-label": "Source and assembly" },
		controls, title, facts, body);
	let tables = null, failed = false, drawn = "", offered = false;
	const names = ["line", "source", "code", "code_sample"].filter((name) => recording.has(name));

	function update(state) {
		if (!names.length) {
			title.textContent = "No source or assembly";
			facts.textContent = "The page was written with --no-source, or on a machine that has neither the source nor the binaries.";
			controls.hidden = true;
			return;
		}
		if (!tables) {
			if (!failed) Promise.all(names.map((name) => recording.later(name))).then((got) => {
				tables = Object.fromEntries(names.map((name, at) => [name, got[at]]));
				update(store.now);
			}, (error) => {
				failed = true;
				page.fail(error);
			});
			return;
		}
		if (!offered) offer(state);
		const of = state.fn !== "" && Number(state.fn) < recording.function.count ? Number(state.fn) : Number(pick.value || -1);
		pick.value = String(of);
		const key = `${of}|${state.event}`;
		if (key === drawn) return;
		drawn = key;
		show(of, analysis.events(state));
	}

	// Functions that have lines or code, by the weight of their lines, at most 200.
	function offer(state) {
		offered = true;
		const weight = new Map(), mask = analysis.events(state).mask;
		for (const table of [tables.line, tables.code]) {
			for (let i = 0; table && i < table.count; i++) {
				const of = table.function[i];
				weight.set(of, (weight.get(of) || 0) + (table === tables.line && mask[table.event[i]] ? table.self[i] : 0));
			}
		}
		const list = [...weight.keys()].sort((a, b) => weight.get(b) - weight.get(a)).slice(0, 200);
		if (state.fn !== "" && !list.includes(Number(state.fn)) && Number(state.fn) < recording.function.count) list.unshift(Number(state.fn));
		clear(pick, list.map((of) => make("option", { value: String(of) }, tally.format.head(recording.name(of), 120))));
	}

	function show(of, events) {
		if (of < 0) {
			title.textContent = "No function";
			clear(body);
			return;
		}
		title.textContent = recording.name(of);
		// Of a difference, the recordings have their own code.
		const sides = recording.diff ? [[0, ", before"], [1, ", after"]] : [[recording.both && store.now.recordings === "0" ? 1 : 0, ""]];
		const parts = sides.map(([side, suffix]) => sourceOf(of, events.mask, side, `Source${suffix}`) || empty(`Source${suffix}`, "No lines are known for this function."));
		for (const [side, suffix] of sides) parts.push(codeOf(of, events.mask, side, `Assembly${suffix}`) || empty(`Assembly${suffix}`, "The page has no assembly of this function: only that of the hottest is kept."));
		const file = recording.text(recording.function.file[of]), line = recording.function.line[of];
		facts.textContent = [recording.imageName(recording.imageOf(of)), file && (line ? `${file}:${line}` : file), `samples of ${events.name}, whole recording`].filter(Boolean).join("  ·  ");
		clear(body, parts);
	}
	const empty = (name, text) => make("section", { class: "code-part" }, make("h3", null, name), make("p", { class: "empty" }, text));

	function part(name, heads, rows, unit) {
		return make("section", { class: "code-part" }, make("h3", null, name),
			make("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": name },
				make("table", { class: "code" }, make("caption", { class: "hidden" }, name), make("thead", null, make("tr", null, heads.map((text, at) => make("th", { scope: "col", class: at === heads.length - 1 ? null : /Self|Total/.test(text) ? "number bars" : "number" }, text)))), make("tbody", null, rows))), unit);
	}
	function cell(value, whole) {
		const bar = make("span");
		bar.style.width = `${(Math.min(1, value / whole) * 100).toFixed(2)}%`;
		return make("td", { class: "number bars" }, value > 0 ? make("span", { class: "bar", "aria-hidden": "true" }, bar) : null, make("span", { class: "cell-text" }, value > 0 ? tally.format.share(value, whole) : ""));
	}

	function sourceOf(of, mask, side, name) {
		const { line, source } = tables;
		if (!line) return null;
		const files = new Map();
		let whole = 0;
		for (let i = 0; i < line.count; i++) {
			if (line.function[i] !== of || line.recording[i] !== side || !mask[line.event[i]]) continue;
			if (!files.has(line.file[i])) files.set(line.file[i], new Map());
			const numbers = files.get(line.file[i]), had = numbers.get(line.number[i]) || 0;
			numbers.set(line.number[i], had + line.self[i]);
			whole += line.self[i];
		}
		if (!files.size) return null;
		const rows = [];
		let without = false;
		for (const [file, numbers] of files) {
			let first = Infinity, last = 0;
			for (const number of numbers.keys()) {
				first = Math.min(first, number);
				last = Math.max(last, number);
			}
			const text = new Map();
			for (let i = 0; source && i < source.count; i++) {
				if (source.file[i] === file && source.number[i] >= first - AROUND && source.number[i] <= last + AROUND) text.set(source.number[i], recording.text(source.text[i]));
			}
			if (files.size > 1) rows.push(make("tr", { class: "file" }, make("th", { colspan: "3", scope: "rowgroup" }, recording.text(file))));
			without = without || !text.size;
			const all = [...new Set([...text.keys(), ...numbers.keys()])].sort((a, b) => a - b);
			let before = null;
			for (const number of all) {
				if (text.size && before !== null && number > before + 1) rows.push(make("tr", { class: "gap" }, make("td", { colspan: "3" }, "⋯")));
				before = number;
				const self = numbers.get(number) || 0;
				rows.push(make("tr", { class: self > whole * 0.1 ? "hot" : null }, cell(self, whole || 1), make("td", { class: "number place" }, String(number)),
					make("td", { class: "text" }, make("code", null, shown(text.get(number), recording.text(file), number)))));
			}
		}
		return part(name, ["Self", "Line", "Source"], rows, without ? make("p", { class: "hint" }, "The text of lines is missing where the source file was not found when the page was written.") : null);
	}
	const shown = (text, file, number) => text === undefined ? `${tally.format.baseName(file)}:${number}` : text.replace(/\\u\{9\}/g, "    ");

	function codeOf(of, mask, side, name) {
		const { code, code_sample: samples } = tables;
		if (!code) return null;
		const self = new Map(), list = [];
		let whole = 0;
		for (let i = 0; samples && i < samples.count; i++) {
			if (code.function[samples.code[i]] !== of || code.recording[samples.code[i]] !== side || !mask[samples.event[i]]) continue;
			self.set(samples.code[i], (self.get(samples.code[i]) || 0) + samples.self[i]);
			whole += samples.self[i];
		}
		for (let i = 0; i < code.count; i++) if (code.function[i] === of && code.recording[i] === side) list.push(i);
		const row = (i) => {
			const value = self.get(i) || 0;
			return make("tr", { class: value > whole * 0.1 ? "hot" : null }, cell(value, whole || 1), make("td", { class: "number place" }, code.number[i] ? String(code.number[i]) : ""),
				make("td", { class: "number place" }, code.offset[i].toString(16)), make("td", { class: "text" }, make("code", null, recording.text(code.text[i]).replace(/\\u\{9\}/g, "  "))));
		};
		return list.length ? part(name, ["Self", "Line", "Offset", "Instruction"], folded(list, (i) => self.has(i), row)) : null;
	}

	// Rows of a long function: those far from any sample are made when they are asked for, some at a time.
	function folded(list, sampled, row) {
		const near = new Uint8Array(list.length), rows = [];
		list.forEach((one, at) => {
			if (sampled(one)) near.fill(1, Math.max(0, at - AROUND), at + AROUND + 1);
		});
		if (!near.includes(1)) near.fill(1, 0, SOME);
		const fold = (from, to) => {
			const press = button(`${tally.format.count(to - from)} instructions without samples`, () => {
				const end = Math.min(to, from + SOME);
				gap.replaceWith(...list.slice(from, end).map(row), ...(end < to ? [fold(end, to)] : []));
			}, { class: "link", title: "Show them" });
			const gap = make("tr", { class: "gap" }, make("td", { colspan: "3" }, ""), make("td", { class: "text" }, press));
			return gap;
		};
		for (let at = 0; at < list.length;) {
			let end = at;
			while (end < list.length && near[end] === near[at]) end++;
			if (near[at] || end - at <= FEW) rows.push(...list.slice(at, end).map(row));
			else rows.push(fold(at, end));
			at = end;
		}
		return rows;
	}

	return { element, update };
}

tally.views.code = create;
})();
