// Draws boxes on a canvas, or hands them out for an SVG: the same places, colours and texts.
(function () {

const ROW = 20;

// The colour of each box. colour: "image", "kind", "plain", "change" or "span".
function colours(analysis, state, theme, hues) {
	const { recording } = analysis, by = recording.diff && !state.colour ? "change" : state.colour || "image";
	const kinds = tally.palette.KINDS, ofHue = (hue) => hue < 0 ? theme.grey : theme.hues[hue];
	const tints = new Map(); // by label and hue
	const tint = (label, hue) => {
		const key = label * 16 + hue;
		let found = tints.get(key);
		if (found === undefined) tints.set(key, found = tally.palette.tint(ofHue(hue), label, theme.ground));
		return found;
	};
	const match = state.search ? analysis.matches(state) : null;
	const sums = by === "change" ? analysis.sums(state) : by === "span" && !recording.diff ? analysis.against(state) : null;
	return (boxes, at) => {
		const label = boxes.label[at];
		if (label === tally.NONE) return theme.root;
		if (match !== null && match[label]) return theme.match;
		if (sums !== null && (by === "change" || boxes.before[at] > 0)) { // not every graph compares
			return theme.change[tally.palette.step(tally.difference.change(boxes.before[at] * sums.scaleBefore, boxes.after[at] * sums.scaleAfter))];
		}
		if (by === "kind") return tint(label, boxes.inlined[at] ? kinds[4][0] : (kinds[recording.kindOf(label)] || kinds[3])[0]);
		if (by === "plain") return tint(label, 1);
		return tint(label, hues.hue[Math.min(recording.imageOf(label), hues.hue.length - 1)]);
	};
}

// Calls each(at, x, y, width, colour, text, faded) for the boxes whose rows are seen.
function walk(context, boxes, { width, top, bottom, height, up, colour, text, faded }, each) {
	for (let at = 0; at < boxes.count; at++) {
		const depth = boxes.depth[at], y = up ? height - (depth + 1) * ROW : depth * ROW;
		if (y + ROW < top || y > bottom) continue;
		const x = boxes.left[at] * width, wide = boxes.right[at] * width - x;
		if (wide < 0.9) continue;
		each(at, x, y - top, wide, colour(boxes, at), wide > 22 ? text.fit(context, boxes.label[at], wide - 9) : null, faded(at));
	}
}

function paint(context, boxes, options) {
	const { theme, current, hover } = options;
	context.font = options.text.font;
	context.textBaseline = "middle";
	// By colour: to change it takes as long as to draw a box.
	const plain = new Map(), pale = new Map(), texts = [];
	walk(context, boxes, options, (at, x, y, wide, colour, text, faded) => {
		const of = faded ? pale : plain, gap = wide > 4 ? 1 : wide > 2 ? 0.5 : 0;
		const rects = of.get(colour);
		if (rects) rects.push(x, y, wide - gap);
		else of.set(colour, [x, y, wide - gap]);
		if (text !== null) texts.push(text, x, y, faded ? theme.text : tally.palette.ink(colour));
	});
	for (const [of, alpha] of [[plain, 1], [pale, 0.45]]) {
		context.globalAlpha = alpha;
		for (const [colour, rects] of of) {
			context.fillStyle = colour;
			for (let i = 0; i < rects.length; i += 3) context.fillRect(rects[i], rects[i + 1], rects[i + 2], ROW - 1);
		}
	}
	context.globalAlpha = 1;
	let last = "";
	for (let i = 0; i < texts.length; i += 4) {
		if (texts[i + 3] !== last) context.fillStyle = last = texts[i + 3];
		context.fillText(texts[i], texts[i + 1] + 4, texts[i + 2] + ROW / 2);
	}
	for (const [at, size] of [[hover, 1], [current, 2]]) {
		if (at < 0 || at >= boxes.count) continue;
		const x = boxes.left[at] * options.width, wide = boxes.right[at] * options.width - x;
		const y = (options.up ? options.height - (boxes.depth[at] + 1) * ROW : boxes.depth[at] * ROW) - options.top;
		context.strokeStyle = theme.text;
		context.lineWidth = size;
		context.strokeRect(x + size / 2, y + size / 2, Math.max(1, wide - 1 - size), ROW - 1 - size);
	}
}

tally.graphPaint = { ROW, colours, walk, paint };
})();
