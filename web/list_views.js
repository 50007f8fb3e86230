// The tables of functions, images and threads.
(function () {

const { make } = tally.dom;
const { share } = tally.format;

function amounts(page, self, total, whole, name = "Self") {
	const unit = () => page.unit(page.store.now);
	return [
		{ key: "self", title: name, about: total ? "In the function or image itself" : "Part of all threads", number: true, value: self, text: (row) => share(self(row), whole()), share: (row) => self(row) / whole(),
			hint: (row) => page.amount(self(row), unit()) },
		...(total ? [{ key: "total", title: "Total", about: "With everything that it calls", number: true, value: total, text: (row) => share(total(row), whole()), share: (row) => total(row) / whole(),
			hint: (row) => page.amount(total(row), unit()) }] : []),
		{ key: "weight", title: total ? "Self amount" : "Amount", number: true, value: self, text: (row) => page.amount(self(row), unit()), narrow: true },
	];
}

function view(label, table) {
	const element = make("section", { class: "view view-table", "aria-label": label }, table.element);
	return { element, table, update: table.update };
}

function functionColumns(page) {
	const { analysis, store } = page, { recording } = analysis;
	const of = () => analysis.functions(store.now);
	return [
		...amounts(page, (row) => of().self[row], (row) => of().total[row], () => analysis.sums(store.now).whole),
		{ key: "function", title: "Function", grow: true, head: true, text: (row) => recording.name(row), hint: (row) => tally.format.head(recording.name(row), 2500),
			press: (row) => store.set({ view: "sandwich", fn: String(row), sort: "", rows: "" }) },
		{ key: "image", title: "Image", narrow: true, text: (row) => tally.format.baseName(recording.imageName(recording.imageOf(row))),
			full: (row) => recording.imageName(recording.imageOf(row)), hint: (row) => recording.imageName(recording.imageOf(row)) },
	];
}

function functionRows(page) {
	const { total } = page.analysis.functions(page.store.now), match = page.store.now.search ? page.analysis.matches(page.store.now) : null, rows = [];
	for (let i = 0; i < total.length; i++) if (total[i] > 0 && (match === null || match[i])) rows.push(i);
	return rows;
}

function functions(page) {
	return view("Functions", tally.table.create(page, { name: "functions", caption: "Functions", usual: "self-", columns: functionColumns(page), rows: () => functionRows(page) }));
}

function images(page) {
	const { analysis, store } = page, { recording } = analysis;
	const of = () => analysis.images(store.now), index = (row) => row < recording.image.count ? row : tally.NONE;
	const kinds = ["user", "kernel", "made at run time", "unknown"];
	return view("Images", tally.table.create(page, {
		name: "images", caption: "Images", usual: "self-",
		columns: [
			...amounts(page, (row) => of().self[row], (row) => of().total[row], () => analysis.sums(store.now).whole),
			{ key: "image", title: "Image", grow: true, head: true, text: (row) => recording.imageName(index(row)),
				press: (row) => index(row) === tally.NONE ? null : page.act("F", row, true), hint: () => "Focus on this image" },
			{ key: "kind", title: "Kind", narrow: true, text: (row) => kinds[index(row) === tally.NONE ? 3 : recording.image.kind[row]] || "unknown" },
			{ key: "path", title: "Path", narrow: true, className: "path", text: (row) => index(row) === tally.NONE ? "" : recording.text(recording.image.path[row]),
				hint: (row) => index(row) === tally.NONE ? "" : `build-id ${recording.text(recording.image.build_id[row]) || "unknown"}` },
		],
		rows: () => Array.from(of().total.keys()).filter((row) => of().total[row] > 0),
	}));
}

function threadColumns(page) {
	const { analysis, store } = page, { recording } = analysis, { thread } = recording;
	const of = () => analysis.byThread(store.now);
	const whole = () => {
		let sum = 0;
		for (const one of of()) sum += one;
		return sum;
	};
	const busy = (row) => {
		const [begin, end] = page.span(store.now);
		return of()[row] / ((end - begin) * recording.unit);
	};
	let kept = 0;
	return {
		columns: [
			...amounts(page, (row) => of()[row], null, () => kept, "Share"),
			{ key: "busy", title: "Of the time", number: true, narrow: true, value: busy, text: (row) => page.unit(store.now) === "ns" ? tally.format.percent(busy(row)) : "–",
				hint: () => "How much of the chosen span of time this thread has of the event" },
			{ key: "thread", title: "Thread", grow: true, head: true, text: (row) => recording.text(thread.comm[row]) || "?",
				press: (row) => store.set({ who: store.now.who === `t${row}` ? "" : `t${row}` }), hint: () => "Show only this thread, or all again",
				paint: (cell, row) => cell.parentNode.classList.toggle("chosen", store.now.who === `t${row}`) },
			{ key: "tid", title: "TID", number: true, value: (row) => thread.tid[row], text: (row) => String(thread.tid[row]) },
			{ key: "process", title: "Process", narrow: true, grow: true, tail: true, text: (row) => recording.processName(recording.processOf[row]) },
			...(recording.summary.recordings.length > 1 ? [{ key: "recording", title: "Recording", narrow: true, text: (row) => page.recordingName(thread.recording[row]) }] : []),
		],
		rows: () => {
			kept = whole();
			return Array.from(of().keys()).filter((row) => of()[row] > 0);
		},
	};
}

function threads(page) {
	return view("Threads", tally.table.create(page, { name: "threads", caption: "Threads", usual: "self-", ...threadColumns(page) }));
}

Object.assign(tally.views, { functions, images, threads });
tally.lists = { functionColumns, functionRows, threadColumns };
})();
