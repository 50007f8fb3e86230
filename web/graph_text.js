// Names in boxes: the longest form that fits, else cut with an ellipsis. Widths are measured once.
(function () {

const FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
const ELLIPSIS = "…";

function create(recording) {
	const kept = new Map(), wide = new Float64Array(ELLIPSIS.charCodeAt(0) + 1); // of Latin characters; a sum is far faster than to measure a text
	function measure(context, text) {
		let sum = 0;
		for (let i = 0; i < text.length; i++) {
			const code = text.charCodeAt(i);
			if (code > 0x24f && code < wide.length - 1 || code >= wide.length) return context.measureText(text).width;
			sum += wide[code] || (wide[code] = context.measureText(text[i]).width);
		}
		return sum;
	}

	function forms(context, label) {
		let found = kept.get(label);
		if (!found) {
			const name = recording.name(label);
			const texts = [name, ...tally.format.shorter(name)].map((text) => tally.format.head(text, 400));
			kept.set(label, found = { texts, widths: texts.map(() => -1) });
		}
		return found;
	}

	// The text for a box with this much room, or null.
	function fit(context, label, room) {
		if (room < 14) return null;
		const { texts, widths } = forms(context, label);
		for (let i = 0; i < texts.length; i++) {
			if (widths[i] < 0) widths[i] = measure(context, texts[i]);
			if (widths[i] <= room) return texts[i];
		}
		const last = texts.length - 1;
		const length = Math.floor((texts[last].length * (room - 11)) / widths[last]);
		return length >= 2 ? tally.format.head(texts[last], length) + ELLIPSIS : null;
	}

	return { fit, font: FONT };
}

tally.graphText = { create };
})();
