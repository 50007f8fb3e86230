// Names in boxes: the longest form that fits, else cut with an ellipsis. Widths are measured once.
(function () {

const FONT = '12px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif';
const ELLIPSIS = "…";

function create(recording) {
	const kept = new Map();

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
			if (widths[i] < 0) widths[i] = context.measureText(texts[i]).width;
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
