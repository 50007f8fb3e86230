// Differences of two recordings: sums of both on one scale, and which differences are more than chance.
(function () {

// Puts both sides into the sums that a graph is laid out by. "share" compares parts of each whole, "weight" what was
// counted. Widths are of the first, the second, or the mean of both, which shows gone and new ones.
function join(result, tree, state, { before, after, countBefore, countAfter }, array) {
	const totalBefore = tally.tree.inclusive(tree, before, array("totalBefore", tree.size));
	const totalAfter = tally.tree.inclusive(tree, after, array("totalAfter", tree.size));
	const share = state.compare === "share";
	const a = share ? totalBefore[0] ? 1 / totalBefore[0] : 0 : 1, b = share ? totalAfter[0] ? 1 / totalAfter[0] : 0 : 1;
	const self = array("selfBoth", tree.size);
	for (let i = 0; i < tree.size; i++) {
		self[i] = state.width === "before" ? before[i] * a : state.width === "after" ? after[i] * b : (before[i] * a + after[i] * b) / 2;
	}
	Object.assign(result, {
		self, selfBefore: before, selfAfter: after, before: totalBefore, after: totalAfter, countBefore, countAfter,
		scaleBefore: a, scaleAfter: b,
	});
}

// From -1 (gone) over 0 (equal) to 1 (new).
function change(before, after) {
	const most = Math.max(before, after);
	return most > 0 ? (after - before) / most : 0;
}

function erfc(x) { // Abramowitz and Stegun, Handbook of Mathematical Functions, 7.1.26; error below 1.5e-7
	const t = 1 / (1 + 0.3275911 * x);
	return t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-x * x);
}

function logGamma(x) { // Stirling's series; exact enough from 10 on, and recurrence below
	let shift = 0;
	for (; x < 10; x++) shift -= Math.log(x);
	return shift + (x - 0.5) * Math.log(x) - x + 0.9189385332046727 + 1 / (12 * x) - 1 / (360 * x ** 3) + 1 / (1260 * x ** 5);
}

function atMost(most, count, success) {
	let sum = 0;
	for (let i = 0; i <= most && i <= count; i++) {
		sum += Math.exp(logGamma(count + 1) - logGamma(i + 1) - logGamma(count - i + 1) + i * Math.log(success) +
			(count - i) * Math.log1p(-success));
	}
	return Math.min(1, sum);
}

const FEW = 25; // as src/diff/significance.c, of which this is the same test

function few(small, sum, part, noise) {
	const less = small < sum * part, shift = Math.exp(2 * Math.SQRT2 * noise), odds = part / (1 - part) * (less ? 1 / shift : shift);
	part = odds / (1 + odds);
	if (small < sum * part !== less) return 1;
	return Math.min(1, 2 * (less ? atMost(small, sum, part) : small ? 1 - atMost(small - 1, sum, part) : 1));
}

// The probability that equal rates give numbers that differ as much: a of ofA, b of ofB samples.
function significance(a, b, ofA, ofB, noise) {
	if (!(ofA > 0) || !(ofB > 0) || a + b === 0) return 1;
	if (a < FEW || b < FEW) return a < b ? few(a, a + b, ofA / (ofA + ofB), noise) : few(b, a + b, ofB / (ofA + ofB), noise);
	const ratio = Math.log(b / ofB) - Math.log(a / ofA);
	return erfc(Math.abs(ratio) / Math.sqrt(1 / a + 1 / b + 2 * noise * noise) / Math.SQRT2);
}

// Which of several tests hold so that the probability of any wrong one is below 1 %: Holm's method.
function choose(p) {
	const order = Array.from(p.keys()).sort((a, b) => p[a] - p[b]), chosen = new Uint8Array(p.length);
	for (let i = 0; i < order.length && p[order[i]] <= 0.01 / (order.length - i); i++) chosen[order[i]] = 1;
	return chosen;
}

// Rows of all functions of either side: label, before and after (shares or weights), difference, significance.
function rows(analysis, state) {
	return analysis.keep("differences", `${JSON.stringify({ ...state, view: "", search: state.filter ? state.search : "", zoom: "", fn: "", sort: "", rows: "", theme: "" })}`, () => {
		const by = analysis.sums(state), of = analysis.functions(state);
		const { scaleBefore, scaleAfter } = by, list = [], noise = (analysis.recording.summary.noise ?? 3) / 100;
		const ofA = sum(by.countBefore), ofB = sum(by.countAfter);
		for (let label = 0; label < analysis.recording.labels; label++) {
			const a = of.before.self[label], b = of.after.self[label], totalA = of.before.total[label], totalB = of.after.total[label];
			if (!(totalA > 0) && !(totalB > 0)) continue;
			list.push({
				label, before: a * scaleBefore, after: b * scaleAfter, difference: b * scaleAfter - a * scaleBefore,
				totalBefore: totalA * scaleBefore, totalAfter: totalB * scaleAfter, totalDifference: totalB * scaleAfter - totalA * scaleBefore,
				p: significance(of.countBefore.self[label], of.countAfter.self[label], ofA, ofB, noise),
			});
		}
		// As in `tally diff`, rows are functions with samples of their own.
		const tested = list.filter((row) => row.before > 0 || row.after > 0), chosen = choose(tested.map((row) => row.p));
		tested.forEach((row, at) => row.significant = chosen[at] === 1);
		list.forEach((row) => {
			row.significant = row.significant === true;
			row.state = !(row.totalBefore > 0) ? "new" : !(row.totalAfter > 0) ? "gone" : "";
			row.name = "";
		});
		if (isWhole(state)) asWritten(analysis, state, list);
		return list;
	});
}

// Whether the rows are those of `tally diff`: of all samples and of the functions as they were called.
function isWhole(state) {
	return !(state.span || state.who || state.ops || state.recursion || state.filter && state.search);
}

const STATES = ["", "renamed", "new", "gone", "inlined in its callers"];

// What `tally diff` knows of whole recordings: names that changed, functions that were inlined, and tests that heed both.
// Functions without samples of their own are not in it.
function asWritten({ recording, events }, state, list) {
	const { difference } = recording, mask = events(state).mask, of = new Map();
	for (let i = 0; i < difference.count; i++) if (mask[difference.event[i]]) of.set(difference.function[i], i);
	for (const row of list) {
		const at = of.get(row.label);
		if (at === undefined) continue;
		row.p = difference.p[at] / 1e9;
		row.significant = difference.significant[at] === 1;
		// One that has no samples of its own any more may still have callees.
		const text = STATES[difference.status[at]];
		if (text === "renamed" || text === "inlined in its callers" || row.state) row.state = text;
		if (text === "renamed") row.name = recording.text(difference.name[at]);
	}
}

function sum(values) {
	let all = 0;
	for (let i = 0; i < values.length; i++) all += values[i];
	return all;
}

tally.difference = { join, change, significance, choose, rows };
})();
