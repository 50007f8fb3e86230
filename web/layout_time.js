// Lays stacks out in the order of time: a column of two pixels shows the stack that had the most of it, and equal frames of
// neighbours are one box.
(function () {

const { NONE } = tally;
const STEP = 1 << 8; // columns of a part

// A sample stands for the time since the one before it of its thread, but for no more than twice the usual distance. By
// number of what is picked, in units of time; 0 where it is left out.
function* lengths({ sample, thread, end }, { index, count: all }, places) {
	const { time: times, thread: threads, node } = sample, result = new Float64Array(all);
	const begin = new Float64Array(thread.count).fill(-1), last = new Float64Array(thread.count).fill(-Infinity);
	let count = 0;
	const measure = (i) => {
		const row = index[i];
		if (places !== null && places[node[row]] === NONE) return;
		const of = threads[row], time = times[row];
		count++;
		if (begin[of] < 0) begin[of] = time;
		result[i] = time - last[of];
		last[of] = time;
	};
	yield* tally.kept.steps(all, (from, to) => {
		for (let i = from; i < to; i++) measure(i);
	});
	let sum = 0, used = 0;
	for (let of = 0; of < begin.length; of++) {
		if (begin[of] < 0) continue;
		sum += last[of] - begin[of];
		used++;
	}
	const limit = count > used ? 2 * sum / (count - used) : end / 200;
	yield* tally.kept.steps(all, (from, to) => {
		for (let i = from; i < to; i++) if (result[i] > limit) result[i] = limit;
	});
	return result;
}

// By column the recorded stack, in the tree that is shown, that has the most of it; -1: none. picked and places: of analysis.js,
// first..stop of what is picked; the span is [begin, end) in units of time. Made in parts.
function* stacks({ sample }, { index }, places, long, [first, stop], begin, end, columns) {
	const { time: times, node: nodes } = sample, scale = columns / Math.max(1, end - begin);
	const node = new Int32Array(columns).fill(-1), most = new Float64Array(columns);
	const put = (i) => {
		const row = index[i], at = places === null ? nodes[row] : places[nodes[row]];
		if (at === NONE) return;
		const time = times[row], from = Math.max(begin, time - long[i]), a = (from - begin) * scale | 0;
		let b = (time - begin) * scale | 0;
		if (b >= columns) b = columns - 1;
		for (let column = a; column <= b; column++) {
			const part = a === b ? time - from : Math.min(time, begin + (column + 1) / scale) - Math.max(from, begin + column / scale);
			if (node[column] < 0 || part >= most[column]) {
				node[column] = at;
				most[column] = part;
			}
		}
	};
	yield* tally.kept.steps(stop - first, (low, high) => {
		for (let i = first + low; i < first + high; i++) put(i);
	});
	return node;
}

// Boxes of these columns, over [begin, end). Made in parts.
function* parts(boxes, tree, node, begin, end) {
	const columns = node.length;
	boxes.reset();
	const perColumn = (end - begin) / columns;
	const root = boxes.add(0, 1, 0, NONE, 0, -1, 0, 0, 0);
	let open = [], way = [];
	for (let column = 0; column <= columns; column++) {
		way.length = 0;
		if (column < columns && node[column] >= 0) for (let at = tally.tree.drawn(tree, node[column]); at > 0; at = tree.parent[at]) way.push(at);
		way.reverse();
		let same = 0;
		while (same < way.length && same < open.length && boxes.node[open[same]] === way[same]) same++;
		open.length = same;
		for (let depth = same; depth < way.length; depth++) {
			open.push(boxes.add(column / columns, column / columns, depth + 1, tree.label[way[depth]], way[depth],
				depth ? open[depth - 1] : root, 0, 0, tree.inlined[way[depth]]));
		}
		if (way.length) boxes.value[root] += perColumn;
		for (let depth = 0; depth < way.length; depth++) {
			boxes.right[open[depth]] = (column + 1) / columns;
			boxes.value[open[depth]] += perColumn;
			if (depth === way.length - 1) boxes.own[open[depth]] += perColumn;
		}
		if (column % STEP === STEP - 1) yield;
	}
	boxes.total = end - begin;
}

const lay = (...given) => tally.kept.finish(parts(...given));

tally.layTime = { lay, parts, stacks, lengths };
})();
