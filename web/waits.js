// Where threads wait: the functions in which they were blocked, of the events for time off the CPUs.
(function () {

// Sums by function of the chosen span and threads, whatever event is shown: {self, whole}; null: nothing is known of waits.
function compute(analysis, state) {
	const { recording } = analysis, { sample, event } = recording, mask = Uint8Array.from(event.kind, (kind) => kind === 1 ? 1 : 0);
	if (!mask.includes(1)) return null;
	return analysis.keep("waits", `${state.who}|${state.recordings}|${state.span}`, () => {
		const allowed = analysis.threads(state), { base } = analysis, span = tally.state.read.range(state.span);
		const cpu = state.who[0] === "c" ? Number(state.who.slice(1)) : -1;
		const self = new Float64Array(recording.labels), from = span ? analysis.first(span[0]) : 0, to = span ? analysis.first(span[1]) : sample.count;
		let whole = 0;
		for (let i = from; i < to; i++) {
			if (mask[sample.event[i]] === 0 || allowed[sample.thread[i]] === 0 || cpu >= 0 && sample.cpu[i] !== cpu) continue;
			whole += sample.weight[i];
			if (sample.node[i] > 0) self[base.label[sample.node[i]]] += sample.weight[i];
		}
		return { self, whole };
	});
}

function table(page, top) {
	const { analysis, store } = page, { recording } = analysis, { event } = recording, off = event.kind.indexOf(1);
	const of = () => compute(analysis, store.now);
	if (recording.both || !of() || !(of().whole > 0)) return null;
	return top("waits", "Longest waits", [
		{ key: "self", title: "Self", number: true, value: (row) => of().self[row], text: (row) => tally.format.share(of().self[row], of().whole), share: (row) => of().self[row] / of().whole },
		{ key: "time", title: "Blocked", number: true, value: (row) => of().self[row], text: (row) => tally.format.weight(of().self[row], recording.text(event.unit[off])) },
		{ key: "function", title: "Function", grow: true, head: true, text: (row) => recording.name(row), hint: (row) => tally.format.head(recording.name(row), 2500),
			press: (row) => store.set({ view: "sandwich", fn: String(row), event: String(off), sort: "", rows: "" }) },
		{ key: "image", title: "Image", narrow: true, text: (row) => tally.format.baseName(recording.imageName(recording.imageOf(row))) },
	], () => {
		const { self } = of(), rows = [];
		for (let i = 0; i < self.length; i++) if (self[i] > 0) rows.push(i);
		return rows.sort((a, b) => self[b] - self[a]).slice(0, 10);
	});
}

tally.waits = { compute, table };
})();
