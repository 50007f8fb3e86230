// What processes, threads or CPUs do over time, by column: the part of it on a CPU, off it, and runs by switch records.
(function () {

const { cover, level } = tally.intervals;

// What rows there are of a kind, and of each thread its row.
function rowsOf(by, { cpus, thread, processes, processOf }) {
	if (by === "process") return { ids: processes.length, idOf: processOf };
	return { ids: by === "cpu" ? cpus : thread.count, idOf: Uint32Array.from({ length: thread.count }, (_, i) => i) };
}

// How much each process, thread or CPU has of each event in the whole recording, by event and id; kept.
function sumsOf(analysis, state, by) {
	return [`sums of ${by}`, state.recordings, function* () {
		const { recording } = analysis, { sample, event: events } = recording, out = analysis.threads({ ...state, who: "" });
		const { event, thread, weight, cpu } = sample, { ids, idOf } = rowsOf(by, recording), result = new Float64Array(events.count * ids);
		yield* tally.kept.steps(sample.count, (from, to) => {
			for (let i = from; i < to; i++) {
				const of = thread[i];
				if (out[of] === 0) continue;
				const id = by === "cpu" ? cpu[i] : idOf[of];
				if (id < ids) result[event[i] * ids + id] += weight[i];
			}
		});
		return result;
	}, 1];
}
// The same of what is shown; it orders the rows. `part`: by event, what counts of it.
function weights(all, out, run, by, ids, idOf, part) {
	const result = new Float64Array(ids);
	for (let e = 0; e < part.length; e++) if (part[e] > 0) for (let id = 0; id < ids; id++) result[id] += all[e * ids + id] * part[e];
	if (run && by !== "cpu") for (let i = 0; i < run.count; i++) if (out[run.thread[i]]) result[idOf[run.thread[i]]] += 1e-9 * (run.end[i] - run.start[i]);
	return result;
}

// So many columns that each has about two points.
const columns = () => Math.max(20, Math.floor((innerWidth - (innerWidth < 640 ? 116 : 232)) / 2));

// What state.strips says ("process", "thread", "cpu") in [begin, end), the first `limit` rows; `run`: the table of runs, or null.
// Gives {rows: [{id, who, share}], all, on, off, run, taken, columns}: values by row and column. Kept by event, made in parts.
function of(analysis, state, run, [begin, end], limit) {
	const wide = columns();
	return [`strips of ${state.strips}${run ? " with runs" : ""}`, [analysis.events(state).list, state.recordings, wide, begin, end, limit].join("|"), () => compute(analysis, state, run, wide, begin, end, limit), tally.kept.EVENTS + 1]; // and what is shown
}

const SKIP = 0, TIME = 1, COUNT = 2, WAIT = 3; // what a sample of an event is for a row

// Adds the samples [from, to) to the cells. A loop over millions: nothing but plain arrays and numbers.
function add({ sample, use, rowOfThread, rowOfCpu, columns, begin, scale, perWeight, on, off }, from, to) {
	const { event, thread, cpu, time, weight } = sample, onCells = on.values, offCells = off.values;
	for (let i = from; i < to; i++) {
		const what = use[event[i]];
		if (what === SKIP) continue;
		let row = rowOfThread[thread[i]];
		if (row >= 0 && rowOfCpu !== null) row = rowOfCpu[cpu[i]];
		if (row < 0) continue;
		const x = (time[i] - begin) * scale, base = row * columns;
		if (what === COUNT) {
			onCells[base + Math.min(columns - 1, Math.floor(x))] += weight[i];
			continue;
		}
		const before = x - weight[i] * perWeight, first = before | 0;
		if (!(before >= 0 && x < columns && first === (x | 0))) cover(what === WAIT ? off : on, base, columns, before, x);
		else if (what === WAIT) offCells[base + first] += x - before; // most are this short
		else onCells[base + first] += x - before;
	}
}

function* compute(analysis, state, run, columns, begin, end, limit) {
	const { recording } = analysis, { sample, event, thread } = recording, by = state.strips;
	const chosen = analysis.events(state), out = analysis.threads({ ...state, who: "" });
	const waits = event.kind.map((kind) => kind === 1 ? 1 : 0), any = chosen.list.some((one) => !waits[one]);
	const shows = event.kind.map((kind, i) => (any ? chosen.mask[i] && !waits[i] : kind === 0) ? 1 : 0);
	const { ids, idOf } = rowsOf(by, recording);
	yield* analysis.parts(sumsOf(analysis, state, by));
	const weight = weights(analysis.now(sumsOf(analysis, state, by)), out, run, by, ids, idOf, Float64Array.from(shows, (one, i) => one ? 1 : waits[i] ? 1e-9 : 0));
	const order = Array.from(weight.keys()).filter((id) => weight[id] > 0).sort(by === "cpu" ? (a, b) => a - b : (a, b) => weight[b] - weight[a] || a - b);
	const rowOf = new Int32Array(ids).fill(-1), shown = order.slice(0, limit);
	shown.forEach((id, row) => rowOf[id] = row);
	// The row of a sample: that of its CPU, or of its thread; -1: none.
	const rowOfCpu = by === "cpu" ? new Int32Array(65536).fill(-1) : null;
	if (rowOfCpu) rowOfCpu.set(rowOf);
	const rowOfThread = Int32Array.from(out, (one, i) => one === 0 ? -1 : rowOfCpu ? 0 : rowOf[idOf[i]]);

	const cells = () => ({ values: new Float64Array(shown.length * columns), steps: new Int32Array(shown.length * columns) });
	const on = cells(), off = cells(), runs = run ? cells() : null;
	const taken = new Uint8Array(run ? shown.length * columns : 0); // 1 where a run ended because another thread took the CPU
	const scale = columns / Math.max(1, end - begin), perWeight = scale / recording.unit;
	const use = Uint8Array.from(event.kind, (_, i) => waits[i] ? by === "cpu" ? SKIP : WAIT : !shows[i] ? SKIP : recording.text(event.unit[i]) === "ns" ? TIME : COUNT);
	const into = { sample, use, rowOfThread, rowOfCpu, columns, begin, scale, perWeight, on, off };
	const from = analysis.first(begin), to = analysis.first(end);
	yield* tally.kept.steps(to - from, (low, high) => add(into, from + low, from + high));
	// Waits that end behind what is shown began in it, perhaps.
	if (use.includes(WAIT)) {
		into.use = use.map((one) => one === WAIT ? WAIT : SKIP);
		yield* tally.kept.steps(sample.count - to, (low, high) => add(into, to + low, to + high));
	}
	let most = 0;
	if (use.includes(COUNT)) for (let i = 0; i < on.values.length; i++) if (on.values[i] > most) most = on.values[i];
	if (most > 0) for (let i = 0; i < on.values.length; i++) on.values[i] /= most;
	if (run) {
		for (let i = 0; i < run.count; i++) {
			const id = by === "cpu" ? run.cpu[i] : idOf[run.thread[i]], row = id < ids && out[run.thread[i]] ? rowOf[id] : -1;
			if (row < 0) continue;
			const x = (run.end[i] - begin) * scale;
			cover(runs, row * columns, columns, (run.start[i] - begin) * scale, x);
			if (run.preempted[i] && x >= 0 && x < columns) taken[row * columns + Math.floor(x)] = 1;
		}
	}
	// The busiest is the whole height; a process of several threads may do more than one thing at once.
	const levels = [on, off, runs].map((one) => one && level(one, columns));
	for (const values of levels) {
		if (!values) continue;
		let top = 0;
		for (let i = 0; i < values.length; i++) if (values[i] > top) top = values[i];
		if (by !== "process" && top > 1) top = 1;
		for (let i = 0; i < values.length; i++) values[i] = Math.min(1, values[i] / top);
	}
	let sum = 0;
	for (const one of weight) sum += one;
	return { rows: shown.map((id) => ({ id, who: by[0] + id, share: weight[id] / sum })), all: order.length, on: levels[0], off: levels[1], run: levels[2], taken, columns };
}

const HEIGHT = 26, PITCH = HEIGHT + 1, LINE = 16, LIMIT = 60; // points, from row to row; rows at first

const known = new Map(); // by colour: points of no to all of it
function shades(colour) {
	if (!known.has(colour)) known.set(colour, Array.from({ length: 17 }, (_, part) => tally.palette.point(colour, part / 16)));
	return known.get(colour);
}

let image = null; // used again for each drawing
// The rows [from, to): on-CPU above the line, off-CPU below it, runs as a band between. A point of the drawing is as wide as a column:
// the browser makes it wider. Points are written to an image, which is far faster than to draw as many bars.
function draw(canvas, strips, from, to, { theme }) {
	const { columns } = strips, scale = window.devicePixelRatio || 1;
	const high = Math.round((to - from) * PITCH * scale);
	if (canvas.width !== columns) canvas.width = columns;
	if (canvas.height !== high) canvas.height = high;
	if (!image || image.width !== columns || image.height < high) image = new ImageData(columns, high);
	const points = new Uint32Array(image.data.buffer).fill(0);
	for (let row = from; row < to; row++) drawRow(points, Math.round((row - from) * PITCH * scale), strips, row, scale, theme);
	canvas.getContext("2d").putImageData(image, 0, 0);
}
// A row into the points from the line `top`.
function drawRow(points, top, { on, off, run, taken, columns }, row, scale, theme) {
	const line = top + Math.round(LINE * scale), base = row * columns;
	const bars = (values, colour, from, most, step) => drawBars(points, values, base, columns, from, most * scale, 0.75 * scale, step, shades(colour));
	bars(on, theme.on, line - 1, LINE - 2, -1);
	if (run) bars(run, theme.bar, top + Math.round((LINE + 3) * scale) - 1, 3, -1);
	bars(off, theme.off, top + Math.round((LINE + 4) * scale), HEIGHT - LINE - 4, 1);
	const ink = tally.palette.point(theme.match), high = Math.round(3 * scale);
	for (let i = 0; i < columns && i < taken.length; i++) if (taken[base + i]) for (let y = line; y < line + high; y++) points[y * columns + i] = ink;
}
// Bars of `least` to `most` points from the line `from` up (step -1) or down, line by line; the end of each is a part of a point.
function drawBars(points, values, base, columns, from, most, least, step, inks) {
	for (let y = 0; y < most; y++) {
		for (let i = 0, at = (from + step * y) * columns; i < columns; i++, at++) {
			const value = values[base + i];
			if (!(value > 0)) continue;
			const more = Math.max(least, value * most) - y;
			if (more > 0) points[at] = inks[more < 1 ? Math.round(more * 16) : 16];
		}
	}
}

tally.strips = { of, draw, PITCH, LIMIT };
})();
