// Intervals of time in columns: how much of each column they cover, whole columns by where a run of them begins and ends.
(function () {

// Adds the interval [from, to] (columns, not whole ones) to a row: the columns at its ends to `values`, what is between them
// to `steps`, where it begins and ends alone.
function cover({ values, steps }, base, columns, from, to) {
	if (to <= 0 || from >= columns) return;
	const a = Math.max(0, from), b = Math.min(columns, to);
	const first = Math.floor(a), last = Math.floor(b);
	if (first === last) {
		values[base + first] += b - a;
		return;
	}
	values[base + first] += first + 1 - a;
	if (last > first + 1) steps[base + first + 1]++;
	if (last === columns) return;
	values[base + last] += b - last;
	if (last > first + 1) steps[base + last]--;
}

// The values with the steps added up in each row.
function level({ values, steps }, columns) {
	for (let at = 0, now = 0; at < values.length; at++) {
		now = at % columns ? now + steps[at] : steps[at];
		values[at] += now;
	}
	return values;
}

tally.intervals = { cover, level };
})();
