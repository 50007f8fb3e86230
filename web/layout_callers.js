// Lays out the callers of places in a tree: the inverted graph, and the callers of one function. Only what is wide enough
// to be drawn is ever looked at, so that it answers at once however large the tree is.
(function () {

const MANY = 1 << 13; // places that are passed over in a part of their own

let free = { size: 0 }; // what no layout works in

function take(count, labels) {
	let room = free;
	free = { size: 0 };
	if (room.size < count) {
		room = { size: count, sumOf: null };
		for (const name of ["place", "placeB"]) room[name] = new Uint32Array(count);
		for (const name of ["weight", "weightB", "before", "beforeB", "after", "afterB"]) room[name] = new Float64Array(count);
	}
	if (!room.sumOf || room.sumOf.length <= labels) {
		room.sumOf = new Float64Array(labels + 1);
		room.countOf = new Uint32Array(labels + 1);
		room.beginOf = new Uint32Array(labels + 1);
	}
	return room;
}

// Starts at the nodes with `weights`; `from` 0: the first row below the root has these nodes' own labels, 1: their callers.
// `path`: labels that take the whole width. Rows begin at `row`; the root's label is `root`.
function* lay(room, boxes, tree, weights, { before = null, after = null, from = 0, path = [], least, root = tally.NONE, row = 0, inlined = 0 }) {
	const { parent, label } = tree, count = tree.size;
	const { place, placeB, weight, weightB, before: wb, beforeB, after: wa, afterB, sumOf, countOf, beginOf } = room;
	let entries = 0, sum = 0, sumBefore = 0, sumAfter = 0;
	for (let i = 0; i < count; i++) {
		if (!(weights[i] > 0)) continue;
		place[entries] = from ? parent[i] : tally.tree.drawn(tree, i);
		weight[entries] = weights[i];
		sum += weights[i];
		if (before) {
			sumBefore += wb[entries] = before[i];
			sumAfter += wa[entries] = after[i];
		}
		entries++;
	}
	yield;
	boxes.reset();
	boxes.total = sum;
	if (!(sum > 0)) return;
	const begins = [0], ends = [entries];
	boxes.add(0, 1, row, root, 0, -1, sum, 0, inlined);
	boxes.before[0] = sumBefore;
	boxes.after[0] = sumAfter;
	let scale = path.length ? 0 : 1 / sum, smallest = sum * least, done = 0;

	for (let at = 0; at < boxes.count; at++) {
		const begin = begins[at], end = ends[at], depth = boxes.depth[at], level = depth - row;
		if (begin === end) continue;
		const all = [];
		for (let i = begin; i < end; i++) {
			if (place[i] === 0) { // the stack begins here
				boxes.own[at] += weight[i];
				continue;
			}
			const name = label[place[i]];
			if (countOf[name]++ === 0) all.push(name);
			sumOf[name] += weight[i];
		}
		if (end - begin > MANY) yield;
		const zoomed = level < path.length, found = [];
		for (const name of all) {
			if (zoomed ? name === path[level] : sumOf[name] >= smallest && sumOf[name] > 0) found.push(name);
			else countOf[name] = sumOf[name] = 0;
		}
		found.sort((a, b) => sumOf[b] - sumOf[a] || a - b);
		let last = begin;
		for (const name of found) {
			beginOf[name] = last;
			last += countOf[name];
		}
		for (let i = begin; i < end && found.length > 0; i++) {
			const name = label[place[i]];
			if (place[i] === 0 || countOf[name] === 0) continue;
			const to = beginOf[name]++;
			placeB[to] = place[i];
			weightB[to] = weight[i];
			if (before) {
				beforeB[to] = wb[i];
				afterB[to] = wa[i];
			}
		}
		if (end - begin > MANY) yield;
		place.set(placeB.subarray(begin, last), begin);
		weight.set(weightB.subarray(begin, last), begin);
		if (before) {
			wb.set(beforeB.subarray(begin, last), begin);
			wa.set(afterB.subarray(begin, last), begin);
		}
		let left = boxes.left[at], start = begin;
		for (const name of found) {
			const stop = start + countOf[name], value = sumOf[name];
			countOf[name] = sumOf[name] = 0;
			if (zoomed && level === path.length - 1) {
				scale = 1 / value;
				smallest = value * least;
			}
			const width = zoomed ? 1 : value * scale, into = boxes.add(left, left + width, depth + 1, name, place[start], at, value, 0, tree.inlined[place[start]]);
			for (let i = start; i < stop; i++) {
				if (before) {
					boxes.before[into] += wb[i];
					boxes.after[into] += wa[i];
				}
				place[i] = parent[place[i]];
			}
			begins[into] = start;
			ends[into] = stop;
			left += width;
			start = stop;
		}
		if ((done += end - begin) < MANY) continue;
		done = 0;
		yield;
	}
}

// Made in parts, between which others may be laid out.
function* parts(boxes, tree, weights, options) {
	const room = take(tree.size, options.labels);
	yield;
	yield* lay(room, boxes, tree, weights, options);
	free = room;
}

tally.layCallers = (...given) => tally.kept.finish(parts(...given));
tally.layCallers.parts = parts;
})();
