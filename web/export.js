// What is selected, as files for other programs: folded stacks, JSON, and the graph as SVG.
(function () {

function save(page, text, type, ending) {
	const link = tally.dom.make("a", { download: `${fileName(page)}.${ending}` });
	link.href = URL.createObjectURL(new Blob([text], { type }));
	link.click();
	setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

function fileName(page) {
	return (page.analysis.recording.summary.title || "tally").replace(/[^\w.-]+/g, "-").slice(0, 60) || "tally";
}

// A line a stack: names from the root with ";" between, and the weight.
function folded(page) {
	const { analysis, store } = page, { recording } = analysis, tree = analysis.tree(store.now), out = [];
	const self = Float64Array.from(analysis.sums(store.now).self);
	for (let i = 1; i < tree.size; i++) {
		if (!tree.hidden[i]) continue;
		self[tree.parent[i]] += self[i];
		self[i] = 0;
	}
	for (let i = 0; i < tree.size; i++) {
		if (!(self[i] > 0)) continue;
		const names = tally.tree.path(tree, i).map((label) => recording.name(label).replace(/;/g, ":"));
		out.push(`${names.join(";") || "[no stack]"} ${number(self[i], page)}`);
	}
	return out.join("\n") + "\n";
}
function number(value, page) { // shares of a difference are no whole numbers
	return page.analysis.recording.diff && page.store.now.compare === "share" ? Math.round(value * 1e9) : Math.round(value);
}

function json(page) {
	const { analysis, store } = page, { recording } = analysis, state = store.now, sums = analysis.sums(state);
	const { self, total } = analysis.functions(state), images = analysis.images(state), events = analysis.events(state);
	const span = tally.state.read.range(state.span), { thread } = recording;
	const rows = (values, make) => Array.from(values.keys()).filter((row) => values[row] > 0).sort((a, b) => values[b] - values[a]).map(make);
	return JSON.stringify({
		title: recording.summary.title, event: events.name, unit: events.unit,
		selection: tally.state.format(state), from: span ? span[0] * recording.unit : 0, to: (span ? span[1] : recording.end) * recording.unit,
		samples: analysis.count(state), total: sums.whole,
		functions: rows(total, (row) => ({ name: recording.name(row), image: recording.imageName(recording.imageOf(row)), self: self[row], total: total[row] })),
		images: rows(images.total, (row) => ({ name: recording.imageName(row < recording.image.count ? row : tally.NONE), self: images.self[row], total: images.total[row] })),
		threads: rows(analysis.byThread(state), (row) => ({ name: recording.text(thread.comm[row]), pid: thread.pid[row], tid: thread.tid[row], weight: analysis.byThread(state)[row] })),
	}, null, 1);
}

// The boxes of a graph as an SVG that stands alone.
function svg(page, boxes, { width, up, state }) {
	const { ROW, walk, colours } = tally.graphPaint, theme = tally.palette.theme(state), height = Math.max(1, boxes.rows) * ROW;
	const escape = (text) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
	const context = tally.dom.make("canvas").getContext("2d"), out = [];
	context.font = page.text.font;
	walk(context, boxes, {
		width, height, top: 0, bottom: height, up, text: page.text, colour: colours(page.analysis, state, theme, page.hues), faded: () => false,
	}, (at, x, y, wide, colour, text) => {
		const what = page.describe(boxes, at, false), ink = tally.palette.ink(colour);
		out.push(`<g><title>${escape(`${what.name} (${what.lines.join(", ")})`)}</title><rect x="${x.toFixed(1)}" y="${y + 24}" width="${Math.max(0.5, wide - 0.5).toFixed(1)}" height="${ROW - 1}" fill="${colour}"/>` +
			(text ? `<text x="${(x + 4).toFixed(1)}" y="${y + 24 + 14}" fill="${ink}">${escape(text)}</text>` : "") + "</g>");
	});
	return `<?xml version="1.0" encoding="UTF-8"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height + 28}" viewBox="0 0 ${width} ${height + 28}" font-family="system-ui, sans-serif" font-size="12">` +
		`<rect width="100%" height="100%" fill="${theme.ground}"/><text x="4" y="16" fill="${theme.text}" font-size="14">${escape(tally.format.plain(page.analysis.recording.summary.title || "tally"))}</text>\n${out.join("\n")}\n</svg>\n`;
}

function graphSvg(page) {
	const boxes = tally.boxes.create(), { analysis, store } = page, state = store.now, width = 1600;
	const sums = analysis.graph(state);
	tally.layTree(boxes, analysis.tree(state), sums, {
		zoom: tally.tree.find(analysis.tree(state), tally.state.read.labels(state.inverted ? "" : state.zoom)),
		byName: state.order === "name" ? analysis.recording.name : null, least: 0.5 / width,
	});
	if (state.inverted === "1") tally.layCallers(boxes, analysis.tree(state), sums.self, {
		labels: analysis.recording.labels, path: tally.state.read.labels(state.zoom), least: 0.5 / width, ...(sums.before ? { before: sums.selfBefore, after: sums.selfAfter } : {}),
	});
	return svg(page, boxes, { width, up: state.up === "1", state });
}

tally.export = {
	folded, json, svg: graphSvg,
	saveFolded: (page) => save(page, folded(page), "text/plain", "folded"),
	saveJson: (page) => save(page, json(page), "application/json", "json"),
	saveSvg: (page) => save(page, graphSvg(page), "image/svg+xml", "svg"),
};
})();
