// A tree of stacks in columns: who is whose child, which place of a function is the outermost, and sums.
(function () {

const NONE = 0xffffffff;

// Completes {size, parent, label, inlined}: parents come before children, node 0 is the root.
function complete(tree, labels, imageOf) {
	const { size, parent, label } = tree;
	const first = tree.first = new Int32Array(size).fill(-1), next = tree.next = new Int32Array(size).fill(-1);
	for (let i = size - 1; i > 0; i--) {
		next[i] = first[parent[i]];
		first[parent[i]] = i;
	}
	// Walks down once; a label (or image) that is on the way already was counted by its outermost place.
	const outer = tree.outer = new Uint8Array(size); // 1: of its label, 2: of its image
	const onWay = new Uint32Array(labels), imageOnWay = new Uint32Array(labels + 1);
	const place = (name) => Math.min(imageOf(name), labels);
	tree.depth = 0;
	for (let node = first[0], depth = 1; node > 0;) {
		const at = label[node];
		outer[node] = (onWay[at]++ === 0 ? 1 : 0) | (imageOnWay[place(at)]++ === 0 ? 2 : 0);
		if (depth > tree.depth) tree.depth = depth;
		if (first[node] >= 0) {
			node = first[node];
			depth++;
			continue;
		}
		while (node > 0) {
			const left = label[node];
			onWay[left]--;
			imageOnWay[place(left)]--;
			if (next[node] >= 0) {
				node = next[node];
				break;
			}
			node = parent[node];
			depth--;
		}
	}
	return tree;
}

// What was recorded, as a tree.
function recorded(recording) {
	const { node } = recording;
	return complete({ size: node.count, parent: node.parent, label: node.function, inlined: node.inlined, of: null },
		recording.labels, recording.imageOf);
}

// Sums with all callees, in one pass from the leaves.
function inclusive(tree, self, total) {
	const { parent, size } = tree;
	total.set(self);
	for (let i = size - 1; i > 0; i--) {
		if (total[i] !== 0) total[parent[i]] += total[i];
	}
	return total;
}

// The labels from the root to a node.
function path(tree, node) {
	const labels = [];
	for (; node > 0; node = tree.parent[node]) labels.push(tree.label[node]);
	return labels.reverse();
}

// The node at the end of a path of labels, or of as much of it as there is.
function find(tree, labels) {
	let node = 0;
	for (const label of labels) {
		let child = tree.first[node];
		while (child >= 0 && tree.label[child] !== label) child = tree.next[child];
		if (child < 0) break;
		node = child;
	}
	return node;
}

tally.tree = { NONE, complete, recorded, inclusive, path, find };
})();
