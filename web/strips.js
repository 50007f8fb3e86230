// What processes, threads or CPUs do over time, by column: the part of it on a CPU, off it, and runs by switch records.
(function () {

const { cover, level } = tally.intervals;

// What rows there are of a kind, and of each thread its row.
function rowsOf(by, { cpus, thread, processes, processOf }) {
	if (by === "process") return { ids: processes.length, idOf: processOf };
	return { ids: by === "cpu" ? cpus : thread.count, idOf: Uint32Array.from({ length: thread.count }, (_, i) => i) };
}

// How much each process, thread or CPU has of each event in the whole recording, by event and id; kept.
function sums(analysis, state, by) {
	return analysis.keep(`sums of ${by}`, state.recordings, () => {
		const { recording } = analysis, { sample, event: events } = recording, out = analysis.threads({ ...state, who: "" });
		const { event, thread, weight, cpu } = sample, { ids, idOf } = rowsOf(by, recording), result = new Float64Array(events.count * ids);
		for (let i = 0; i < sample.count; i++) {
			const of = thread[i];
			if (out[of] === 0) continue;
			const id = by === "cpu" ? cpu[i] : idOf[of];
			if (id < ids) result[event[i] * ids + id] += weight[i];
		}
		return result;
	});
}
// The same of what is shown; it orders the rows. `part`: by event, what counts of it.
function weights(all, out, run, by, ids, idOf, part) {
	const result = new Float64Array(ids);
	for (let e = 0; e < part.length; e++) if (part[e] > 0) for (let id = 0; id < ids; id++) result[id] += all[e * ids + id] * part[e];
	if (run && by !== "cpu") for (let i = 0; i < run.count; i++) if (out[run.thread[i]]) result[idOf[run.thread[i]]] += 1e-9 * (run.end[i] - run.start[i]);
	return result;
}

// by: "process", "thread", "cpu". Gives {rows: [{id, who, weight}], on, off, run, most}: values by row and column.
function compute(analysis, state, run, columns, begin, end, by, limit) {
	const { recording } = analysis, { sample, event, thread } = recording;
	const chosen = analysis.events(state), out = analysis.threads({ ...state, who: "" });
	const isOff = new Uint8Array(event.count), isOn = new Uint8Array(event.count);
	let any = false;
	for (let i = 0; i < event.count; i++) {
		if (event.kind[i] === 1) isOff[i] = 1;
		else if (chosen.mask[i]) any = isOn[i] = 1;
	}
	if (!any) for (let i = 0; i < event.count; i++) isOn[i] = event.kind[i] === 0 ? 1 : 0;
	const { ids, idOf } = rowsOf(by, recording), all = sums(analysis, state, by);
	const weight = weights(all, out, run, by, ids, idOf, Float64Array.from(isOn, (one, i) => one ? 1 : isOff[i] ? 1e-9 : 0));
	const from = analysis.first(begin), to = analysis.first(end);
	const order = Array.from(weight.keys()).filter((id) => weight[id] > 0).sort(by === "cpu" ? (a, b) => a - b : (a, b) => weight[b] - weight[a] || a - b);
	const rowOf = new Int32Array(ids).fill(-1), shown = order.slice(0, limit);
	shown.forEach((id, row) => rowOf[id] = row);
	const cells = () => ({ values: new Float64Array(shown.length * columns), steps: new Int32Array(shown.length * columns) });
	const on = cells(), off = cells(), runs = run ? cells() : null;
	const taken = new Uint8Array(run ? shown.length * columns : 0); // 1 where a run ended because another thread took the CPU
	const scale = columns / Math.max(1, end - begin), inTime = new Uint8Array(event.count);
	for (let i = 0; i < event.count; i++) inTime[i] = recording.text(event.unit[i]) === "ns" ? 1 : 0;
	const { event: events, thread: threads, cpu: cpus, time: times, weight: values } = sample, { unit } = recording;
	let most = 0;
	// Waits that end behind what is shown began in it, perhaps.
	for (let i = from, last = isOff.includes(1) ? sample.count : to; i < last; i++) {
		const e = events[i], isWait = isOff[e] !== 0;
		if (i >= to && !isWait || !isWait && isOn[e] === 0 || out[threads[i]] === 0) continue;
		const id = by === "cpu" ? cpus[i] : idOf[threads[i]], row = id < ids ? rowOf[id] : -1;
		if (row < 0 || by === "cpu" && isWait) continue;
		const x = (times[i] - begin) * scale;
		if (inTime[e]) {
			const before = x - values[i] / unit * scale, into = isWait ? off : on, first = before | 0;
			if (before >= 0 && x < columns && first === (x | 0)) into.values[row * columns + first] += x - before; // most are this short
			else cover(into, row * columns, columns, before, x);
		} else {
			const at = row * columns + Math.min(columns - 1, Math.floor(x));
			on.values[at] += values[i];
			if (on.values[at] > most) most = on.values[at];
		}
	}
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

const HEIGHT = 26;

// One row: on-CPU above the line, off-CPU below it, runs as a band between.
function draw(context, strips, row, { width, theme }) {
	const { on, off, run, columns } = strips, base = row * columns, wide = width / columns;
	const up = 16, low = HEIGHT - up - 4;
	const fill = (values, colour, y, height, down) => {
		context.fillStyle = colour;
		context.beginPath();
		for (let i = 0; i < columns; i++) {
			const value = values[base + i];
			if (!(value > 0)) continue;
			const tall = Math.max(0.75, value * height);
			context.rect(i * wide, down ? y : y - tall, wide, tall);
		}
		context.fill();
	};
	fill(on, theme.on, up, up - 2, false);
	if (run) fill(run, theme.bar, up + 3, 3, false);
	fill(off, theme.off, up + 4, low, true);
	context.fillStyle = theme.match;
	for (let i = 0; run && i < columns; i++) if (strips.taken[base + i]) context.fillRect(i * wide, up, 1, 3);
}

tally.strips = { compute, draw, sums, HEIGHT };
})();
