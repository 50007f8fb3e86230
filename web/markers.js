// Markers on the time line (tracepoints, starts and ends of processes, losses, throttling) and their table.
(function () {

const KINDS = ["tracepoint", "process start", "process end", "loss", "throttling"];

// None of those that strips have.
function colour(kind, theme) {
	return [theme.span, theme.text, theme.faint, theme.change[8], theme.barMatch][kind];
}

// Ticks, one a pixel and kind.
function draw(context, marker, recording, { begin, end, left, width, top, height, theme }) {
	const scale = width / (end - begin), last = new Int32Array(KINDS.length).fill(-2);
	for (let i = 0; i < marker.count; i++) {
		const x = Math.floor((marker.time[i] - begin) * scale), kind = Math.min(marker.kind[i], KINDS.length - 1);
		if (x < 0 || x > width || x === last[kind]) continue;
		last[kind] = x;
		context.fillStyle = colour(kind, theme);
		context.fillRect(left + x, top, 1.5, height);
	}
}

function table(page) {
	const { analysis, store } = page, { recording } = analysis;
	let marker = { count: 0, time: [], thread: [], name: [], text: [], kind: [] };
	const made = tally.table.create(page, {
		name: "markers", caption: "Markers", usual: "time+",
		columns: [
			{ key: "time", title: "Time", number: true, value: (row) => marker.time[row] * recording.unit / 1e9, text: (row) => page.when(marker.time[row]),
				press: (row) => {
					const wide = recording.end / 100, at = marker.time[row];
					store.set({ span: `${Math.max(0, Math.floor(at - wide))}-${Math.min(recording.end, Math.ceil(at + wide))}` });
				} },
			{ key: "kind", title: "Kind", narrow: true, text: (row) => KINDS[marker.kind[row]] || "other" },
			{ key: "name", title: "Name", head: true, text: (row) => recording.text(marker.name[row]) },
			{ key: "thread", title: "Thread", narrow: true, text: (row) => marker.thread[row] === tally.NONE ? "" : recording.threadName(marker.thread[row]) },
			{ key: "text", title: "Text", grow: true, text: (row) => recording.text(marker.text[row]) },
		],
		rows: () => {
			const span = tally.state.read.range(store.now.span), rows = [];
			for (let i = 0; i < marker.count; i++) if (!span || marker.time[i] >= span[0] && marker.time[i] < span[1]) rows.push(i);
			return rows;
		},
		empty: () => "No markers in this span.",
	});
	return { ...made, set(table_) { marker = table_; } };
}

// Of the kinds that there are, their colours and names.
function legend(marker, theme) {
	const seen = new Set();
	for (let i = 0; i < marker.count; i++) seen.add(Math.min(marker.kind[i], KINDS.length - 1));
	return [...seen].sort().map((kind) => [colour(kind, theme), KINDS[kind]]);
}

tally.markers = { draw, table, legend };
})();
