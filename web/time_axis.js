// Marks of a time axis at round numbers.
(function () {

// A round distance of at least `least` ns: 1, 2 or 5 times a power of ten; above a minute as clocks divide.
function round(least) {
	const clock = [60e9, 120e9, 300e9, 600e9, 1800e9, 3600e9, 7200e9, 21600e9, 43200e9, 86400e9];
	if (least > 50e9) return clock.find((one) => one >= least) || Math.ceil(least / 86400e9) * 86400e9;
	const power = 10 ** Math.floor(Math.log10(Math.max(1, least)));
	return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= least);
}

// Draws marks from begin to end (ns) over `width` pixels at `left`.
function draw(context, { begin, end, whole, left, width, top, height, theme, lines }) {
	const step = round((end - begin) / Math.max(1, width / 90)), scale = width / (end - begin);
	context.font = "11px system-ui, sans-serif";
	context.textBaseline = "top";
	for (let at = Math.ceil(begin / step) * step; at <= end; at += step) {
		const x = Math.round(left + (at - begin) * scale) + 0.5;
		context.fillStyle = theme.line;
		context.fillRect(x - 0.5, top, 1, lines || 4);
		const text = tally.format.at(at, step, whole || end), wide = context.measureText(text).width;
		context.fillStyle = theme.faint;
		if (x + wide + 4 <= left + width) context.fillText(text, x + 3, top + height - 13);
	}
}

tally.timeAxis = { round, draw };
})();
