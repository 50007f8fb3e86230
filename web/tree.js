// A tree of stacks in columns: who is whose child, which place of a function is the outermost, and sums.
(function () {

const { NONE } = tally;

// Completes {size, parent, label, inlined, hidden}: parents come before children, node 0 is the root.
function complete(tree, labels, imageOf) {
	const { size, parent } = tree;
	const first = tree.first = new Int32Array(size).fill(-1), next = tree.next = new Int32Array(size).fill(-1);
	for (let i = size - 1; i > 0; i--) {
		next[i] = first[parent[i]];
		first[parent[i]] = i;
	}
	let outer = null; // made when it is asked for: graphs do without
	Object.defineProperty(tree, "outer", { get: () => outer || (outer = outermost(tree, labels, imageOf)) });
	return tree;
}

// By node: 1 where its label is not on the way to it already, 2 where its image is not. One walk down.
function outermost({ size, parent, label, first, next }, labels, imageOf) {
	const outer = new Uint8Array(size), onWay = new Uint32Array(labels), imageOnWay = new Uint32Array(labels + 1);
	const place = new Uint32Array(labels);
	for (let i = 0; i < labels; i++) place[i] = Math.min(imageOf(i), labels);
	for (let node = first[0]; node > 0;) {
		const at = label[node];
		outer[node] = (onWay[at]++ === 0 ? 1 : 0) | (imageOnWay[place[at]]++ === 0 ? 2 : 0);
		if (first[node] >= 0) {
			node = first[node];
			continue;
		}
		while (node > 0) {
			onWay[label[node]]--;
			imageOnWay[place[label[node]]]--;
			if (next[node] >= 0) {
				node = next[node];
				break;
			}
			node = parent[node];
		}
	}
	return outer;
}

// What was recorded, as a tree.
function recorded(recording) {
	const { node } = recording;
	return complete({ size: node.count, parent: node.parent, label: node.function, inlined: node.inlined, hidden: node.hidden, of: null },
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
		while (child >= 0 && (tree.label[child] !== label || tree.hidden[child])) child = tree.next[child];
		if (child < 0) break;
		node = child;
	}
	return node;
}

// The node that is drawn: a hidden one has samples of its caller's frame that count for another function.
function drawn(tree, node) {
	return tree.hidden[node] ? tree.parent[node] : node;
}

tally.tree = { complete, recorded, inclusive, path, find, drawn };
})();
