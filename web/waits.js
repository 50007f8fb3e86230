// Where threads wait: the functions in which they were blocked, and the program's own function that called them there, of the
// events for time off the CPUs.
(function () {

const { NONE } = tally;
const TOP = 10;

// By recorded node: the innermost of the program's own functions from it to the root; of those without names where none has one.
function callers({ base, recording }) {
	const { program } = recording.function, inner = (kind) => {
		const of = new Uint32Array(base.size).fill(NONE);
		for (let i = 1; i < base.size; i++) of[i] = program[base.label[i]] === kind ? base.label[i] : of[base.parent[i]];
		return of;
	}, nameless = inner(2);
	return inner(1).map((function_, i) => function_ === NONE ? nameless[i] : function_);
}

// Each function with such a caller as a pair: by recorded node its number, by number its function and its caller.
function paired(analysis) {
	const { base, recording } = analysis, caller = callers(analysis), known = new Map(), pairs = [], of = new Uint32Array(base.size);
	for (let i = 0; i < base.size; i++) {
		const label = i === 0 ? NONE : base.label[i], key = label * (recording.labels + 1) + Math.min(caller[i], recording.labels);
		if (!known.has(key)) known.set(key, pairs.push({ label, caller: caller[i] === label ? NONE : caller[i] }) - 1);
		of[i] = known.get(key);
	}
	return { of, pairs };
}

function addPairs(sums, of, index, from, to, { node, weight }) {
	for (let i = from; i < to; i++) sums[of[node[index[i]]]] += weight[index[i]];
}

// The largest sums by pair of the chosen span and threads, whatever event is shown: {rows: [{label, caller, self}], whole}; null:
// nothing is known of waits, as in a difference.
function compute(analysis, state) {
	const { recording } = analysis, { sample, event } = recording, waits = Array.from(event.kind.keys()).filter((one) => event.kind[one] === 1);
	if (recording.both || !waits.length) return null;
	return analysis.keep("waits", `${state.who}|${state.recordings}|${state.span}`, () => {
		const { of, pairs } = analysis.keep("pairs", "", () => paired(analysis)), sums = new Float64Array(pairs.length);
		for (const one of waits) {
			const picked = analysis.now(analysis.inParts.picked({ ...state, event: String(one) })), [from, to] = analysis.within(state, picked);
			addPairs(sums, of, picked.index, from, to, sample);
		}
		let whole = 0;
		for (const sum of sums) whole += sum;
		sums[of[0]] = 0; // no function
		return { rows: tally.table.largest(sums.keys(), sums, TOP).map((pair) => ({ ...pairs[pair], self: sums[pair] })), whole };
	});
}

function table(page, top) {
	const { analysis, store } = page, { recording } = analysis, { event } = recording, off = event.kind.indexOf(1);
	const of = () => compute(analysis, store.now), self = (row) => of().rows[row].self;
	if (!of() || !(of().whole > 0)) return null;
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
	], () => of().rows.keys());
}

tally.waits = { compute, table };
})();
