// Puts the page together: reads the data, makes the views, and shows what the state says.
(function () {

const { make, say } = tally.dom;
const MANY = 100000; // samples, or nodes
// By view: what its tab says, and what it is.
const TITLES = {
	summary: ["Summary", "What ran, what was measured, and what is hot"], flame: ["Flame graph", "All call stacks"], sandwich: ["Sandwich", "The callers and callees of one function"],
	functions: ["Functions", "Samples by function"], images: ["Images", "Samples by program, library, and kernel"], threads: ["Threads", "Samples by thread"],
	time: ["Time", "What processes, threads and CPUs do over time"], code: ["Source", "Source lines and instructions of one function"], difference: ["Difference", "What changed between the two recordings"],
};

function shared(analysis, fail) {
	const { recording } = analysis;
	const page = {
		analysis, fail, store: null,
		text: tally.graphText.create(recording), tip: tally.frame.tip(), menu: tally.frame.menu(),
		huesInParts: ["hues", "", () => tally.palette.hues(recording), 1],
		get hues() { // a pass over all samples, which the first view can do without
			return analysis.now(page.huesInParts);
		},
		unit: (state) => analysis.events(state).unit,
		// A weight, or a share where a difference compares shares.
		amount(value, unit, whole) {
			if (recording.diff && !whole && page.store.now.compare === "share") return tally.format.percent(value);
			return tally.format.weight(value, unit);
		},
		span: (state) => tally.state.read.range(state.span) || [0, recording.end],
		when: (time) => tally.format.at(time * recording.unit, recording.end * recording.unit / 2000, recording.end * recording.unit),
		recordingName: (index) => tally.format.plain((recording.summary.recordings[index] || {}).name || `recording ${index + 1}`),
		whoName(who) {
			const index = Number(who.slice(1));
			if (who[0] === "c") return `CPU ${index}`;
			if (who[0] === "t") return index < recording.thread.count ? `Thread ${recording.threadName(index)}` : "Unknown thread";
			return index < recording.processes.length ? `Process ${recording.processName(index)}` : "Unknown process";
		},
		isEmpty: recording.sample.count === 0, // there is nothing to choose from
		// Facts beside each other; none is broken between a number and its unit.
		facts: (list) => list.map((one, at) => [at ? "  ·  " : null, make("span", { class: "fact" }, one)]),
		nothing: () => recording.sample.count === 0 ? "The recording has no samples." : "Nothing was sampled in this selection.",
		legend: (element, state) => tally.legend(element, page, state),
		describe: (boxes, at, inTime) => describe(page, boxes, at, inTime),
	};
	page.frame = tally.frame.frame(page);
	return page;
}

function describe(page, boxes, at, inTime) {
	const { analysis, store } = page, { recording } = analysis, { share } = tally.format;
	const label = boxes.label[at], unit = page.unit(store.now), lines = [];
	const image = label === tally.NONE ? "" : recording.imageName(recording.imageOf(label)) + (boxes.inlined[at] ? ", inlined" : "");
	if (inTime) {
		lines.push(tally.format.time(boxes.value[at] * recording.unit));
	} else if (recording.diff) {
		const { scaleBefore, scaleAfter } = analysis.sums(store.now), a = boxes.before[at] * scaleBefore, b = boxes.after[at] * scaleAfter;
		lines.push(`before ${page.amount(a, unit)}`, `after ${page.amount(b, unit)}`, a > 0 && b > 0 ? `${b >= a ? "+" : "−"}${tally.format.percent(Math.abs(b / a - 1))} of before` : a > 0 ? "gone" : "new");
	} else {
		lines.push(`${share(boxes.value[at], analysis.sums(store.now).whole)}`, `total ${page.amount(boxes.value[at], unit)}`);
		if (store.now.colour === "span" && boxes.before[at] > 0) {
			const { scaleBefore } = analysis.against(store.now);
			lines.push(`${tally.format.percent(boxes.before[at] * scaleBefore)} of the whole time`);
		}
		if (store.now.inverted !== "1" || store.now.view !== "flame") lines.push(`self ${page.amount(boxes.own[at], unit)}`);
	}
	return { name: recording.name(label), image, lines };
}

// What can be done with a function: `action` of frame.js. `isImage`: the label is an image already.
function actions(page) {
	const { store, analysis } = page, { recording } = analysis;
	page.act = (action, label, isImage) => {
		if (action === "sandwich" || action === "code") {
			store.set({ view: action, fn: String(label), sort: "", rows: "" });
		} else if (action === "copy") {
			page.copy(recording.name(label), "The name is copied");
		} else {
			const image = action === action.toUpperCase(), index = image && !isImage ? recording.imageOf(label) : label;
			if (index === tally.NONE) return;
			// There is one focus at a time.
			const rest = (store.now.ops ? store.now.ops.split(".") : []).filter((one) => one !== action + index && !(/[fF]/.test(action) && /^[fF]/.test(one)));
			const view = store.now.view === "images" ? "flame" : store.now.view;
			store.set({ ops: [...rest, action + index].join("."), zoom: "", view });
		}
	};
	page.copy = async (text, done) => {
		try {
			await navigator.clipboard.writeText(text);
		} catch {
			const area = make("textarea", { class: "hidden", "aria-hidden": "true" });
			area.value = text;
			document.body.append(area);
			area.select();
			document.execCommand("copy");
			area.remove();
		}
		note(done);
	};
	page.copyLink = () => {
		store.write();
		page.copy(location.href, "The link is copied");
	};
	page.reset = () => store.set({ span: "", who: "", recordings: "", search: "", filter: "", ops: "", recursion: "", zoom: "", lens: "", rows: "" });
	page.zoomOut = () => {
		if (!store.now.zoom) return false;
		store.set({ zoom: store.now.zoom.split(".").slice(0, -1).join(".") });
		return true;
	};
	page.escape = () => {
		const { zoom, span, who } = store.now;
		if (zoom && store.now.view === "flame") store.set({ zoom: "" });
		else if (span) store.set({ span: "" });
		else if (who) store.set({ who: "" });
		else return false;
		return true;
	};
	page.nextTheme = () => {
		const list = tally.header.THEMES;
		store.set({ theme: list[(list.indexOf(store.now.theme) + 1) % list.length] }, true);
	};
}

let noteTimer = 0;
function note(text) {
	const element = document.getElementById("note");
	element.textContent = text;
	element.hidden = false;
	clearTimeout(noteTimer);
	noteTimer = setTimeout(() => element.hidden = true, 2500);
	say(text);
}

function tabs(page, names) {
	const all = names.map((name, at) => make("button", { type: "button", role: "tab", title: `${TITLES[name][1]} (${at + 1})`, id: `tab-${name}`, "aria-controls": "view", "data-view": name, "data-title": TITLES[name][0],
		onclick: () => page.store.set({ view: name, sort: "", rows: "" }) }, TITLES[name][0]));
	const element = make("div", { class: "tabs", role: "tablist", "aria-label": "Views" }, all);
	element.addEventListener("keydown", (event) => {
		const at = all.indexOf(document.activeElement), step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
		if (at < 0 || !step) return;
		event.preventDefault();
		const next = all[(at + step + all.length) % all.length];
		next.focus();
		next.click();
	});
	let before = "";
	return {
		element, all,
		update(state) {
			if (before === state.view) return;
			before = state.view;
			for (const tab of all) {
				const chosen = tab.dataset.view === state.view;
				tab.setAttribute("aria-selected", String(chosen));
				tab.tabIndex = chosen ? 0 : -1;
				if (chosen && element.scrollWidth > element.clientWidth) tab.scrollIntoView({ block: "nearest", inline: "nearest" });
			}
		},
	};
}

function show(recording, root) {
	const analysis = tally.analysis.create(recording), page = shared(analysis, fail);
	let views = {};
	page.store = tally.state.create(update);
	actions(page);
	const names = tally.state.VIEWS.filter((name) => name !== "difference" || recording.both);
	const helpDialog = tally.keys.help(), head = tally.header.create(page, helpDialog), overview = tally.overview.create(page);
	page.nextEvent = head.nextEvent;
	const bar = tabs(page, names), chips = make("div", { class: "chips", role: "group", "aria-label": "Selection", hidden: true });
	const panel = make("main", { class: "panel", id: "view", role: "tabpanel", tabindex: "-1" });
	const row = make("div", { class: "bar-row" }, make("nav", { "aria-label": "Views" }, bar.element), chips);
	root.replaceChildren(head.element, overview.element, row, panel, page.frame.element);
	tally.keys.attach(page, { search: head.search, tabs: () => bar.all, helpDialog, exporter: head.openExport });
	page.make = (name) => views[name] = views[name] || tally.views[name](page);
	const work = tally.work((busy) => {
		panel.setAttribute("aria-busy", String(page.busy = busy));
		if (busy) head.wait();
	});
	page.finish = work.finish;
	let before = "";

	function update(state) {
		if (!names.includes(state.view)) state = page.store.now = { ...state, view: "summary" };
		if (recording.both) state = chooseSides(state);
		document.documentElement.dataset.theme = state.theme || "system";
		document.documentElement.dataset.view = state.view;
		head.update(state);
		tally.chips(chips, page, state);
		const view = page.view = page.make(state.view);
		if (before !== state.view) {
			if (view.table) view.table.clear(); // as when it was opened first: rows that are not seen come later
			panel.replaceChildren(view.element);
			panel.setAttribute("aria-labelledby", `tab-${state.view}`);
			page.frame.forget();
			page.tip.hide();
			before = state.view;
		}
		bar.update(state); // measures, so the browser places all elements: behind the view, once
		page.frame.element.hidden = recording.sample.count === 0 || state.view !== "flame" && state.view !== "sandwich";
		const first = !page.prepared || !view.drawn;
		work.start(passes(state, view, first), () => {
			head.found(state);
			view.update(state);
			overview.update(state);
			view.drawn = true;
		}, first ? 0 : 12);
		if (!tally.page || matchMedia("print").matches) work.finish(); // the first drawing is a whole one, and paper does not wait
	}
	// The passes over samples that a state needs. What is kept of them is not made again.
	function* passes(state, view, first) {
		const { parts, inParts } = analysis;
		// A view that is opened first, and each while nothing is prepared, is drawn behind its frame.
		if (first && Math.max(recording.sample.count, recording.node.count) > MANY) yield;
		if (state.view === "flame" || state.view === "sandwich") yield* parts(page.huesInParts);
		if (state.ops || state.recursion) yield* parts(inParts.tree(state));
		yield* parts(inParts.picked(state));
		if (!state.span) yield* parts(inParts.whole(state));
		if (view.parts) yield* view.parts(state);
	}
	// Views are other ones when one recording of a difference is shown alone.
	function chooseSides(state) {
		if (state.recordings !== "" && (state.view === "difference" || !/^[01]$/.test(state.recordings))) state = page.store.now = { ...state, recordings: "" };
		if (recording.diff !== (state.recordings === "")) {
			recording.diff = !recording.diff;
			views = {};
			before = "";
		}
		return state;
	}
	tally.palette.system.addEventListener("change", () => update(page.store.now));
	for (const when of ["beforeprint", "afterprint"]) addEventListener(when, () => update(page.store.now));
	matchMedia("print").addEventListener("change", () => update(page.store.now));
	let timer = 0;
	addEventListener("resize", () => {
		clearTimeout(timer);
		timer = setTimeout(() => update(page.store.now), 100);
	});
	update(page.store.now);
	page.update = update;
	tally.page = page;
	tally.ahead.start(page);
}

function fail(error) {
	const text = `This page cannot be shown: ${error.message || error}${error.old ? "" : ". Write it again with tally report --html"}.`;
	document.getElementById("page").replaceChildren(make("p", { class: "failure", role: "alert" }, text));
	tally.failed = text;
}

async function start() {
	try {
		const summary = JSON.parse(document.getElementById("summary").textContent);
		if (summary.version !== 1) throw new Error(`its data has version ${summary.version}, the page reads 1`);
		summary.recordings = summary.recordings || [];
		document.title = tally.format.plain(summary.title || "Tally");
		if (typeof DecompressionStream === "undefined") {
			throw Object.assign(new Error("this browser lacks DecompressionStream; Chromium 93, Firefox 113, Safari 16.4 and newer ones have it"), { old: true });
		}
		const data = document.getElementById("data");
		const container = tally.container.open(data.textContent);
		data.remove(); // its text is not needed again
		const recording = await tally.recording.read(container, summary);
		show(recording, document.getElementById("page"));
		performance.mark("tally-drawn");
	} catch (error) {
		fail(error);
	}
}

tally.start = start;
start();
})();
