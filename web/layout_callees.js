// Lays out what a function calls, all its places as one: children of one name are one box, whatever place they are below.
// Only what is wide enough to be drawn is looked at, as for callers.
(function () {

// `places`: the nodes of the function; sums: {self, total, before, after} by node; `root`: its label.
function lay(boxes, tree, { self, total, before, after }, places, { root, least }) {
	const { first, next, label, hidden, inlined } = tree, groups = [places], known = new Map();
	const add = (left, right, depth, name, nodes, parent, value) => {
		let own = 0;
		for (const node of nodes) own += self[node];
		const at = boxes.add(left, right, depth, name, nodes[0], parent, value, own, inlined[nodes[0]]);
		for (const node of before ? nodes : []) {
			boxes.before[at] += before[node];
			boxes.after[at] += after[node];
		}
		groups[at] = nodes;
	};
	boxes.reset();
	for (const node of places) boxes.total += total[node];
	if (!(boxes.total > 0)) return boxes;
	add(0, 1, 0, root, places, -1, boxes.total);
	const scale = 1 / boxes.total, smallest = boxes.total * least;
	for (let at = 0; at < boxes.count; at++) {
		known.clear();
		for (const node of groups[at]) {
			for (let child = first[node]; child >= 0; child = next[child]) {
				if (!(total[child] > 0)) continue;
				if (hidden[child]) {
					boxes.own[at] += total[child];
					continue;
				}
				const group = known.get(label[child]);
				if (group) {
					group.nodes.push(child);
					group.value += total[child];
				} else {
					known.set(label[child], { name: label[child], nodes: [child], value: total[child] });
				}
			}
		}
		groups[at] = null;
		let left = boxes.left[at];
		for (const { name, nodes, value } of [...known.values()].filter((one) => one.value >= smallest).sort((a, b) => b.value - a.value || a.name - b.name)) {
			const right = left + value * scale;
			add(left, right, boxes.depth[at] + 1, name, nodes, at, value);
			left = right;
		}
	}
	return boxes;
}

tally.layCallees = lay;
})();
