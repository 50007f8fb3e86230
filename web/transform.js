// The tree of stacks with functions or images focused on, hidden or collapsed, and recursion merged.
//
// One pass over the recorded tree, parents first and in parts, gives each node its node in the new tree, or none.
(function () {

const { NONE } = tally;

// Children by (parent, label, hidden): open addressing.
function children(capacity) {
	let bits = 4;
	while ((1 << bits) < capacity * 2) bits++;
	const mask = (1 << bits) - 1, slots = new Int32Array(1 << bits).fill(-1);
	return (parent, label, hide, size, parents, labels, hidden) => {
		let at = (Math.imul(parent, 0x9e3779b1) ^ Math.imul(label + 1 + hide, 0x85ebca6b)) >>> 0;
		for (at = (at ^ (at >>> 15)) & mask; slots[at] >= 0; at = (at + 1) & mask) {
			if (parents[slots[at]] === parent && labels[slots[at]] === label && hidden[slots[at]] === hide) return slots[at];
		}
		slots[at] = size;
		return -1;
	};
}

const HIDE = 1, CLOSE = 2, FOCUS = 4, JOIN = 8;

// What happens to each label. operations: [[kind, index]]; capital letters are images'.
function actions(recording, operations) {
	const { labels } = recording, functions = recording.function.count;
	const of = new Uint8Array(labels);
	let focused = false;
	const each = (image, action) => {
		for (let label = 0; label < labels; label++) if (recording.imageOf(label) === image) of[label] |= action;
	};
	for (const [kind, index] of operations) {
		const isImage = kind === kind.toUpperCase();
		if (index >= (isImage ? recording.image.count : labels)) continue;
		switch (kind) {
		case "f": of[index] |= FOCUS; focused = true; break;
		case "h": of[index] |= HIDE; break;
		case "c": of[index] |= CLOSE; break;
		case "F": each(index, FOCUS); focused = true; break;
		case "H": each(index, HIDE); break;
		case "C": each(index, JOIN); break;
		}
	}
	return { of, focused, functions };
}

// `recursion`: a function that is called again below itself is where it was first.
function* transformed(recording, base, operations, recursion) {
	const { of, focused, functions } = actions(recording, operations);
	const count = base.size;
	const parent = new Uint32Array(count), label = new Uint32Array(count), inlined = new Uint8Array(count), hidden = new Uint8Array(count);
	const closed = new Uint8Array(count), to = new Uint32Array(count);
	const child = children(count), outer = recursion ? base.outer : null;
	let size = 1;
	parent[0] = label[0] = NONE;
	to[0] = focused ? NONE : 0;
	const put = (i) => {
		let at = to[base.parent[i]], name = base.label[i];
		const action = of[name];
		if (at === NONE) {
			if (!(action & FOCUS)) {
				to[i] = NONE;
				return;
			}
			at = 0;
		}
		if (closed[at] || action & HIDE) {
			to[i] = at;
			return;
		}
		if (action & JOIN) {
			const image = recording.imageOf(name);
			if (image !== NONE) name = functions + image;
			if (at !== 0 && label[at] === name) {
				to[i] = at;
				return;
			}
		}
		// What is above a node was above it before, so the outermost place of a function stays that.
		if (recursion && !(outer[i] & 1 && name === base.label[i])) {
			let above = at;
			while (above !== 0 && label[above] !== name) above = parent[above];
			if (above !== 0) {
				to[i] = above;
				return;
			}
		}
		// Below the root there is no frame that a node could be hidden in.
		const hide = at === 0 ? 0 : base.hidden[i];
		const known = child(at, name, hide, size, parent, label, hidden);
		if (known >= 0) {
			to[i] = known;
			return;
		}
		parent[size] = at;
		label[size] = name;
		inlined[size] = base.inlined[i];
		hidden[size] = hide;
		closed[size] = action & CLOSE ? 1 : 0;
		to[i] = size++;
	};
	yield* tally.kept.steps(count, (from, end) => {
		for (let i = Math.max(1, from); i < end; i++) put(i);
	});
	return tally.tree.complete({
		size, parent: parent.subarray(0, size), label: label.subarray(0, size), inlined: inlined.subarray(0, size),
		hidden: hidden.subarray(0, size), of: to,
	}, recording.labels, recording.imageOf);
}

tally.transform = { transformed };
})();
