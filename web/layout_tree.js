// Lays a tree of stacks out as boxes: children beside each other below their caller, what is below a pixel left out.
(function () {

const STEP = 1 << 10; // boxes of a part

// sums: {self, total, before, after} by node. `zoom`: the node that takes the whole width; its callers are above it.
// `byName`: the name of a label, to have children by their names, else the largest first. `least`: the smallest width of a box, of 1.
// Made in parts.
function* parts(boxes, tree, sums, { zoom = 0, byName = null, least }) {
	const { total, self, before, after } = sums;
	boxes.reset();
	boxes.total = total[0];
	if (!(total[0] > 0)) return;
	const way = [];
	for (let node = zoom; node > 0; node = tree.parent[node]) way.push(node);
	way.push(0);
	let above = -1;
	for (let i = way.length - 1; i >= 0; i--) above = put(0, 1, way.length - 1 - i, way[i], above);
	if (!(total[zoom] > 0)) return;

	const scale = 1 / total[zoom], smallest = total[zoom] * least;
	const order = byName ? (a, b) => compare(byName(tree.label[a]), byName(tree.label[b])) || a - b : (a, b) => total[b] - total[a] || a - b;
	// Boxes are their own queue: each one's children are put behind all that are there.
	const found = [];
	for (let at = above; at < boxes.count; at++) {
		found.length = 0;
		for (let child = tree.first[boxes.node[at]]; child >= 0; child = tree.next[child]) {
			if (tree.hidden[child]) boxes.own[at] += total[child];
			else if (total[child] >= smallest && total[child] > 0) found.push(child);
		}
		if (found.length > 1) found.sort(order);
		let left = boxes.left[at];
		for (const child of found) {
			const right = left + total[child] * scale;
			put(left, right, boxes.depth[at] + 1, child, at);
			left = right;
		}
		if (at % STEP === STEP - 1) yield;
	}

	function put(left, right, depth, node, parent) {
		const at = boxes.add(left, right, depth, tree.label[node], node, parent, total[node], self[node], tree.inlined[node]);
		if (before) {
			boxes.before[at] = before[node];
			boxes.after[at] = after[node];
		}
		return at;
	}
}

const compare = (a, b) => a < b ? -1 : a > b ? 1 : 0;

tally.layTree = (...given) => tally.kept.finish(parts(...given));
tally.layTree.parts = parts;
})();
