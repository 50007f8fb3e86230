// Answers for a state: which samples are meant, their sums by node, function, image and thread. Each answer is kept until
// what it depends on changes, so that a gesture costs one pass over samples and one over nodes.
(function () {

// Loops over samples or nodes are functions of their own: a browser compiles functions whole, which takes it tens of
// milliseconds where there is more in them, and again where they are made anew.

// The numbers of the samples in [from, to) that count, into `found`; returns how many.
function pickSome(found, from, to, { event, thread, cpu }, mask, allowed, only) {
	let count = 0;
	for (let i = from; i < to; i++) {
		found[count] = i; // without a branch for each, which is far slower
		count += mask[event[i]] & (allowed[thread[i]] !== 0) & (only < 0 || cpu[i] === only);
	}
	return count;
}
function addSome(self, index, from, to, { node, weight }, sign) {
	for (let i = from; i < to; i++) self[node[index[i]]] += sign * weight[index[i]];
}
function addPlaced(result, of, values) {
	for (let i = 0; i < of.length; i++) if (values[i] !== 0 && of[i] !== tally.NONE) result[of[i]] += values[i];
}
function addThreads(result, from, to, { event, thread, node, weight }, mask, of) {
	for (let i = from; i < to; i++) if (mask[event[i]] !== 0 && (of === null || of[node[i]] !== tally.NONE)) result[thread[i]] += weight[i];
}
function addLabels(result, { size, label, outer }, self, total) {
	for (let i = 1; i < size; i++) {
		if (total[i] === 0) continue;
		result.self[label[i]] += self[i];
		if (outer[i] & 1) result.total[label[i]] += total[i];
	}
}
function addImages(result, { size, label, outer }, { self, total }, imageOf, count) {
	for (let i = 1; i < size; i++) {
		if (total[i] === 0) continue;
		const image = Math.min(imageOf(label[i]), count);
		result.self[image] += self[i];
		if (outer[i] & 2) result.total[image] += total[i];
	}
}
function sumWhere(values, has) {
	let sum = 0;
	for (let i = 0; i < values.length; i++) if (has[i]) sum += values[i];
	return sum;
}
function sumWeights(index, from, to, { weight }) {
	let sum = 0;
	for (let i = from; i < to; i++) sum += weight[index[i]];
	return sum;
}
function sumCounted(index, from, to, { node, weight }, counts) {
	let sum = 0;
	for (let i = from; i < to; i++) sum += counts[node[index[i]]] * weight[index[i]]; // 0 or 1: faster than to ask
	return sum;
}

function create(recording) {
	const { sample, thread, event } = recording;
	const { keep, now, parts } = tally.kept.create(), { steps, EVENTS } = tally.kept;
	const base = tally.tree.recorded(recording);
	const room = {}; // arrays that are used again

	function array(name, size, type = Float64Array) {
		if (!room[name] || room[name].length !== size) return room[name] = new type(size);
		return room[name].fill(0);
	}

	// What an answer was for a state is the same as long as the state is.
	function remember(answer) {
		let state = null, value = null;
		return (now) => {
			if (now !== state) {
				value = answer(now);
				state = now;
			}
			return value;
		};
	}

	// The first sample at or after a time.
	function first(time) {
		let low = 0, high = sample.count;
		while (low < high) {
			const middle = (low + high) >> 1;
			if (sample.time[middle] < time) low = middle + 1;
			else high = middle;
		}
		return low;
	}

	// The events that are added up: one, or all whose unit is time ("all").
	function events(state) {
		return keep("events", state.event, () => {
			const list = [];
			if (state.event === "all") for (let i = 0; i < event.count; i++) if (isTime(i)) list.push(i);
			if (!list.length) list.push(state.event !== "" && Number(state.event) < event.count ? Number(state.event) : usual());
			const mask = new Uint8Array(event.count);
			for (const one of list) if (one < event.count) mask[one] = 1;
			const named = list.filter((one) => one < event.count);
			return {
				list: named, mask,
				unit: named.length ? recording.text(event.unit[named[0]]) : "samples",
				name: named.map((one) => recording.text(event.name[one])).join(" + ") || "samples",
			};
		}, EVENTS);
	}
	function isTime(index) {
		return event.kind[index] < 2 && recording.text(event.unit[index]) === "ns";
	}
	// The event with the most samples on a CPU.
	function usual() {
		const stats = recording.summary.events || [];
		let best = 0;
		const rank = (i) => (event.kind[i] === 0 ? 1e18 : event.kind[i] === 2 ? 1e17 : 0) + ((stats[i] || {}).samples || 0);
		for (let i = 1; i < event.count; i++) if (rank(i) > rank(best)) best = i;
		return best;
	}

	// By thread: 0 left out, 1 counted, 2 counted as the base of a difference.
	function threads(state) {
		return keep("threads", `${state.who}|${state.recordings}`, () => {
			const mask = new Uint8Array(thread.count), out = new Set(tally.state.read.labels(state.recordings));
			const kind = state.who[0], index = Number(state.who.slice(1));
			for (let i = 0; i < thread.count; i++) {
				if (out.has(thread.recording[i])) continue;
				if (kind === "t" && i !== index || kind === "p" && recording.processOf[i] !== index) continue;
				mask[i] = recording.diff && thread.recording[i] === 0 ? 2 : 1;
			}
			return mask;
		});
	}

	const treeOf = (state) => ["tree", `${state.ops}|${state.recursion}`,
		() => tally.transform.transformed(recording, base, tally.state.read.operations(state.ops), state.recursion === "1"), 2];
	const tree = (state) => state.ops || state.recursion ? now(treeOf(state)) : base;

	function matches(state) {
		return keep("matches", state.search, () => tally.search.labels(recording, state.search));
	}
	function matching(state) { // by node of the shown tree
		return keep("matching", `${state.search}|${state.ops}|${state.recursion}`, () => tally.search.nodes(tree(state), matches(state)));
	}

	// Which samples are meant, and what is shown of them.
	const samples = (state) => `${events(state).list}|${state.who}|${state.recordings}`;
	const filtered = (state) => state.filter && state.search ? state.search : "";
	const selection = (state) => `${samples(state)}|${state.ops}|${state.recursion}|${filtered(state)}`;
	const sides = (state) => recording.diff ? `|${state.compare}|${state.width}` : "";

	// By recorded node its node of the shown tree, or none; null: each is itself.
	function places(state) {
		const { of } = tree(state);
		return !filtered(state) ? of : keep("places", `${state.ops}|${state.recursion}|${state.search}`, () => {
			const only = matching(state), result = new Uint32Array(base.size);
			for (let i = 0; i < base.size; i++) {
				const node = of === null ? i : of[i];
				result[i] = node !== tally.NONE && only[node] !== 0 ? node : tally.NONE;
			}
			return result;
		});
	}

	// The numbers of all samples.
	function every() {
		return keep("every", "", () => {
			const index = new Uint32Array(sample.count);
			for (let i = 0; i < index.length; i++) index[i] = i;
			return index;
		});
	}

	// The samples that count, whatever span is chosen and whatever is done with functions: their numbers, in order of time.
	const pickedOf = (state) => ["picked", samples(state), () => pick(events(state).mask, threads(state), state.who), EVENTS];
	const picked = remember((state) => now(pickedOf(state)));

	function* pick(mask, allowed, who) {
		const cpu = who[0] === "c" ? Number(who.slice(1)) : -1;
		// Many a recording has an event for side-band records alone.
		if (cpu < 0 && mask.every((one, i) => one || !recording.sampled[i]) && !allowed.includes(0)) return { count: sample.count, index: every() };
		const some = [];
		yield* steps(sample.count, (from, to) => {
			const found = new Uint32Array(to - from);
			some.push(found.subarray(0, pickSome(found, from, to, sample, mask, allowed, cpu)));
		});
		const index = new Uint32Array(some.reduce((count, one) => count + one.length, 0));
		let count = 0;
		for (const one of some) {
			index.set(one, count);
			count += one.length;
		}
		return { count, index };
	}

	// Where a span begins and ends in what is picked.
	function within(state, chosen) {
		const span = tally.state.read.range(state.span);
		if (!span) return [0, chosen.count];
		return span.map((time) => {
			const wanted = first(time);
			let low = 0, high = chosen.count;
			while (low < high) {
				const middle = (low + high) >> 1;
				if (chosen.index[middle] < wanted) low = middle + 1;
				else high = middle;
			}
			return low;
		});
	}

	// Sums by recorded node, of the whole time.
	const wholeOf = (state) => ["whole", `${samples(state)}|${recording.diff}`, () => addAll(state), EVENTS];
	function* addAll(state) {
		yield* parts(pickedOf(state));
		const chosen = now(pickedOf(state)), into = nothing(() => new Float64Array(base.size)), change = recording.diff ? addSides : add;
		yield* steps(chosen.count, (from, to) => change(into, chosen, from, to, 1));
		return into;
	}
	const wholeTime = (state) => now(wholeOf(state));
	const nothing = (make) => ({ self: make("self"), ...(recording.diff ? { before: make("before"), countBefore: make("countBefore"), countAfter: make("countAfter") } : null) });

	// The same of the span. While only that changes, what comes and goes is added and taken away: weights are whole numbers, so
	// that is exact. A long one is what is left of the whole time.
	function recorded(state) {
		const chosen = picked(state), [from, to] = within(state, chosen), last = room.last, key = `${samples(state)}|${recording.diff}`;
		const moved = last && last.key === key ? Math.abs(from - last.from) + Math.abs(to - last.to) : Infinity, outside = chosen.count - (to - from);
		const change = recording.diff ? addSides : add;
		let into = last;
		if (moved > Math.min(outside, to - from)) {
			into = room.last = { key, ...nothing((name) => array(`${name}Recorded`, base.size)), from, to: from };
			if (outside < to - from) {
				for (const [name, values] of Object.entries(wholeTime(state))) into[name].set(values);
				into.from = 0;
				into.to = chosen.count;
			}
		}
		if (into.from < from) change(into, chosen, into.from, from, -1);
		else change(into, chosen, from, into.from, 1);
		if (into.to > to) change(into, chosen, to, into.to, -1);
		else change(into, chosen, into.to, to, 1);
		into.from = from;
		into.to = to;
		return into;
	}
	const add = ({ self }, { index }, from, to, sign) => addSome(self, index, from, to, sample, sign);
	function addSides(into, { index }, from, to, sign) {
		const side = thread.recording, { node, weight } = sample;
		for (let i = from; i < to; i++) {
			const at = index[i], base_ = side[sample.thread[at]] === 0;
			(base_ ? into.before : into.self)[node[at]] += sign * weight[at];
			(base_ ? into.countBefore : into.countAfter)[node[at]] += sign * sample.samples[at];
		}
	}
	// Sums by recorded node as those by node of the shown tree.
	function placed(values, state, name) {
		const of = places(state);
		if (of === null) return values;
		const result = array(name, tree(state).size);
		addPlaced(result, of, values);
		return result;
	}

	// Sums of the selection by node.
	const sums = remember((state) => keep("sums", `${selection(state)}|${state.span}${sides(state)}`, () => {
		const shown = tree(state), by = recorded(state), of = (name) => placed(by[name], state, name), result = { self: of("self"), before: null, after: null };
		if (recording.diff) {
			tally.difference.join(result, shown, state, { before: of("before"), after: result.self, countBefore: of("countBefore"), countAfter: of("countAfter") }, array);
		}
		result.total = tally.tree.inclusive(shown, result.self, array("total", shown.size));
		result.whole = result.total[0];
		return result;
	}));

	// How many samples these are.
	function count(state) {
		const of = places(state), chosen = picked(state), [from, to] = within(state, chosen);
		let all = 0;
		for (let i = from; i < to; i++) if (of === null || of[sample.node[chosen.index[i]]] !== tally.NONE) all += sample.samples[chosen.index[i]];
		return all;
	}

	// The same with those of the whole time as what was before, both to be scaled to shares.
	const against = remember((state) => {
		const now = sums(state), shown = tree(state);
		const usual = keep("against", selection(state), () => {
			const self = placed(wholeTime(state).self, state, "wholeSelf");
			return { self, total: tally.tree.inclusive(shown, self, array("wholeTotal", shown.size)) };
		});
		const part = (whole) => whole > 0 ? 1 / whole : 0;
		return { ...now, before: usual.total, after: now.total, selfBefore: usual.self, selfAfter: now.self, scaleBefore: part(usual.total[0]), scaleAfter: part(now.whole) };
	});

	// The sums of a flame graph: with those of the whole time where its colours compare them.
	const graph = (state) => state.colour === "span" && !recording.diff ? against(state) : sums(state);

	// Sums of the span by thread, also of threads that were not chosen.
	const byThread = remember((state) => keep(state.span ? "byThread" : "byThread of all", `${selection({ ...state, who: "" })}|${state.span}`, () => {
		const span = tally.state.read.range(state.span), from = span ? first(span[0]) : 0, to = span ? first(span[1]) : sample.count;
		const result = new Float64Array(thread.count);
		addThreads(result, from, to, sample, events(state).mask, places(state));
		const out = new Set(tally.state.read.labels(state.recordings));
		for (let i = 0; i < thread.count; i++) if (out.has(thread.recording[i])) result[i] = 0;
		return result;
	}, state.span ? 1 : EVENTS));

	// Sums by label, each function once in a stack: {self, total}, and both sides of a difference.
	const functions = remember((state) => keep("functions", `${selection(state)}|${state.span}${sides(state)}`, () => {
			const shown = tree(state), by = sums(state);
			const of = (self, total, name) => {
				const result = { self: array(`${name}Self`, recording.labels), total: array(`${name}Total`, recording.labels) };
				addLabels(result, shown, self, total);
				return result;
			};
			if (!by.before) return of(by.self, by.total, "label");
			const counts = (self, name) => of(self, tally.tree.inclusive(shown, self, array(`${name}Sum`, shown.size)), name);
			return {
				...of(by.self, by.total, "label"), before: of(by.selfBefore, by.before, "labelBefore"), after: of(by.selfAfter, by.after, "labelAfter"),
				countBefore: counts(by.countBefore, "countsBefore"), countAfter: counts(by.countAfter, "countsAfter"),
			};
		}));

	// Sums by image, the last row for code of no known image.
	const images = remember((state) => keep("images", `${selection(state)}|${state.span}${sides(state)}`, () => {
			const { count } = recording.image, result = { self: array("imageSelf", count + 1), total: array("imageTotal", count + 1) };
			addImages(result, tree(state), sums(state), recording.imageOf, count);
			return result;
		}));

	// The share of the selection that is in stacks with a match.
	function found(state) {
		if (!state.search) return null;
		return keep("found", `${selection(state)}|${state.span}|${state.search}${sides(state)}`, () => {
			const { self, whole } = sums(state), match = matches(state);
			let names = 0;
			for (let i = 0; i < recording.function.count; i++) names += match[i];
			return { sum: sumWhere(self, matching(state)), whole, names };
		});
	}

	// Weights by column of the time line, of all samples that count but for the span: {all, match}.
	function timeline(state, columns, begin, end) {
		const chosen = picked(state), of = places(state), scale = columns / Math.max(1, end - begin), { time } = sample;
		const waits = events(state).list.some((one) => event.kind[one] === 1 && isTime(one));
		const { count, index } = chosen, { node, weight } = sample;
		// Samples are in order of time, so those of a column are in a row: its end is looked for, and not each sample's column.
		const behind = (column, low) => {
			let high = column === columns - 1 ? low = count : count;
			while (low < high) {
				const middle = (low + high) >> 1;
				if (Math.floor((time[index[middle]] - begin) * scale) <= column) low = middle + 1;
				else high = middle;
			}
			return low;
		};
		// Waits last: each is spread over its time, which its sample ends.
		const spread = (counts) => {
			const cells = { values: new Float64Array(columns), steps: new Int32Array(columns) }, long = recording.unit / scale;
			for (let i = 0; i < count; i++) {
				const at = index[i];
				if (counts !== null && counts[node[at]] === 0) continue;
				const x = (time[at] - begin) * scale;
				tally.intervals.cover(cells, 0, columns, x - weight[at] / long, x);
			}
			return tally.intervals.level(cells, columns).map((part) => part * long);
		};
		const line = (counts) => {
			if (waits) return spread(counts);
			const result = new Float64Array(columns);
			for (let column = 0, i = 0; column < columns; column++) {
				const to = behind(column, i);
				result[column] = counts === null ? sumWeights(index, i, to, sample) : sumCounted(index, i, to, sample, counts);
				i = to;
			}
			return result;
		};
		// Hiding and collapsing move samples to other nodes, but leave none out.
		const all = /[fF]/.test(state.ops) || filtered(state) ? keep("timeline", `${selection(state)}|${columns}`, () => line(of.map((at) => at === tally.NONE ? 0 : 1))) :
			keep("timeline of all", `${samples(state)}|${columns}`, () => line(null), EVENTS);
		// With a filter there is nothing else.
		const match = state.search && !filtered(state) ? keep("matchline", `${selection(state)}|${columns}|${state.search}`, () => {
			const has = matching(state);
			return line(of === null ? has : of.map((at) => at === tally.NONE ? 0 : has[at]));
		}) : all;
		return { all, match };
	}

	// How long each sample that is picked stands for, in the order of time.
	const lengthsOf = (state) => ["lengths", selection(state), () => tally.layTime.lengths(recording, picked(state), places(state)), 2];
	const lengths = (state) => now(lengthsOf(state));

	// The columns of the order of time.
	const columnsOf = (state, columns, [begin, end]) => ["columns", `${selection(state)}|${begin}|${end}|${columns}`, function* () {
		for (const of of [pickedOf, lengthsOf]) yield* parts(of(state));
		const chosen = picked(state);
		return yield* tally.layTime.stacks(recording, chosen, places(state), lengths(state), within(state, chosen), begin, end, columns);
	}, 2 * EVENTS];

	return {
		recording, base, first, events, isTime, threads, tree, matches, matching, selection, places, picked, sums, count, against, graph, byThread, functions, images, found, timeline, lengths,
		keep, now, parts, array, within, inParts: { picked: pickedOf, whole: wholeOf, tree: treeOf, columns: columnsOf },
	};
}

tally.analysis = { create };
})();
