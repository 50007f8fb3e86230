// Where threads wait: the functions in which they were blocked, and the program's own function that called them there, of the
// events for time off the CPUs.
(function () {

const { NONE } = tally;

// By recorded node: the innermost of the program's own functions from it to the root; of those without names where none has one.
function callers({ base, recording }) {
	const { program } = recording.function, inner = (kind) => {
		const of = new Uint32Array(base.size).fill(NONE);
		for (let i = 1; i < base.size; i++) of[i] = program[base.label[i]] === kind ? base.label[i] : of[base.parent[i]];
		return of;
	}, nameless = inner(2);
	return inner(1).map((function_, i) => function_ === NONE ? nameless[i] : function_);
}

// Sums by function and caller of the chosen span and threads, whatever event is shown: {rows: [{label, caller, self}], whole};
// null: nothing is known of waits.
function compute(analysis, state) {
	const { recording } = analysis, { sample, event } = recording, mask = Uint8Array.from(event.kind, (kind) => kind === 1 ? 1 : 0);
	if (!mask.includes(1)) return null;
	return analysis.keep("waits", `${state.who}|${state.recordings}|${state.span}`, () => {
		const allowed = analysis.threads(state), { base } = analysis, span = tally.state.read.range(state.span);
		const cpu = state.who[0] === "c" ? Number(state.who.slice(1)) : -1, of = analysis.keep("callers", "", () => callers(analysis));
		const self = new Float64Array(base.size), from = span ? analysis.first(span[0]) : 0, to = span ? analysis.first(span[1]) : sample.count;
		let whole = 0;
		for (let i = from; i < to; i++) {
			if (mask[sample.event[i]] === 0 || allowed[sample.thread[i]] === 0 || cpu >= 0 && sample.cpu[i] !== cpu) continue;
			whole += sample.weight[i];
			self[sample.node[i]] += sample.weight[i];
		}
		const known = new Map();
		for (let i = 1; i < base.size; i++) {
			if (!(self[i] > 0)) continue;
			const label = base.label[i], key = label * (recording.labels + 1) + Math.min(of[i], recording.labels);
			if (!known.has(key)) known.set(key, { label, caller: of[i] === label ? NONE : of[i], self: 0 });
			known.get(key).self += self[i];
		}
		return { rows: [...known.values()].sort((a, b) => b.self - a.self), whole };
	});
}

function table(page, top) {
	const { analysis, store } = page, { recording } = analysis, { event } = recording, off = event.kind.indexOf(1);
	const of = () => compute(analysis, store.now), self = (row) => of().rows[row].self;
	if (recording.both || !of() || !(of().whole > 0)) return null;
	const named = (key, title, label) => ({
		key, title, grow: true, head: key === "function", text: (row) => label(row) === NONE ? "" : recording.name(label(row)),
		hint: (row) => label(row) === NONE ? "" : `${tally.format.head(recording.name(label(row)), 2500)}, ${recording.imageName(recording.imageOf(label(row)))}`,
		press: (row) => store.set({ view: "sandwich", fn: String(label(row)), event: String(off), sort: "", rows: "" }),
	});
	return top("waits", "Longest waits", [
		{ key: "self", title: "Self", number: true, narrow: true, value: self, text: (row) => tally.format.share(self(row), of().whole), share: (row) => self(row) / of().whole },
		{ key: "time", title: "Blocked", number: true, value: self, text: (row) => tally.format.weight(self(row), recording.text(event.unit[off])) },
		named("function", "Function", (row) => of().rows[row].label),
		named("caller", "Called by", (row) => of().rows[row].caller),
	], () => of().rows.slice(0, 10).keys());
}

tally.waits = { compute, table };
})();
