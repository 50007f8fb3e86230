// Boxes of a graph of stacks, in columns that are used again for each drawing: from `left` to `right` (of 1), in row
// `depth`, of a label and where it is in a tree.
(function () {

function create() {
	const boxes = {
		count: 0, rows: 0, total: 0, size: 0,
		grow() {
			const size = Math.max(1024, this.size * 2);
			for (const [name, type] of COLUMNS) {
				const wider = new type(size);
				if (this[name]) wider.set(this[name]);
				this[name] = wider;
			}
			this.size = size;
		},
		reset() {
			this.count = this.rows = this.total = 0;
		},
		add(left, right, depth, label, node, parent, value, own, inlined) {
			if (this.count === this.size) this.grow();
			const at = this.count++;
			this.left[at] = left;
			this.right[at] = right;
			this.depth[at] = depth;
			this.label[at] = label;
			this.node[at] = node;
			this.parent[at] = parent;
			this.value[at] = value;
			this.own[at] = own;
			this.inlined[at] = inlined;
			this.before[at] = this.after[at] = 0;
			if (depth >= this.rows) this.rows = depth + 1;
			return at;
		},
		// The labels from the first box below the root to this one.
		path(at) {
			const labels = [];
			for (; at > 0; at = this.parent[at]) labels.push(this.label[at]);
			return labels.reverse();
		},
		// The box at a place, or -1.
		at(x, depth) {
			for (let i = 0; i < this.count; i++) {
				if (this.depth[i] === depth && this.left[i] <= x && x < this.right[i]) return i;
			}
			return -1;
		},
	};
	boxes.grow();
	return boxes;
}

const COLUMNS = [
	["left", Float64Array], ["right", Float64Array], ["depth", Int32Array], ["label", Uint32Array], ["node", Uint32Array],
	["parent", Int32Array], ["value", Float64Array], ["own", Float64Array], ["inlined", Uint8Array],
	["before", Float64Array], ["after", Float64Array], // sums of both recordings of a difference
];

tally.boxes = { create };
})();
