// What was recorded, as tables of columns, checked once so that nothing else needs to check indexes.
(function () {

const { NONE } = tally, { apart } = tally.format;
const FIRST = {
	image: ["name", "path", "build_id", "kind"],
	function: ["name", "image", "kind", "inlined", "program", "file", "line"],
	node: ["parent", "function", "inlined", "hidden"],
	thread: ["pid", "tid", "comm", "recording", "first", "last"],
	event: ["name", "unit", "kind"],
	difference: ["event", "function", "status", "significant", "p", "name"],
	sample: ["time", "thread", "cpu", "event", "node", "weight", "count"],
};
// Tables that only some views need.
const LATER = {
	run: ["thread", "cpu", "start", "end", "preempted"],
	marker: ["time", "thread", "name", "text", "kind"],
	line: ["recording", "function", "file", "number", "event", "self"],
	source: ["file", "number", "text"],
	code: ["recording", "function", "offset", "text", "file", "number"],
	code_sample: ["code", "event", "self"],
};
// Which table a column points into; a star allows "none".
const POINTS = {
	"image.name": "string", "image.path": "string", "image.build_id": "string",
	"function.name": "string", "function.image": "image*", "function.file": "string",
	"node.parent": "node*", "node.function": "function*",
	"thread.comm": "string", "event.name": "string", "event.unit": "string",
	"difference.event": "event", "difference.function": "function", "difference.name": "string",
	"sample.thread": "thread", "sample.event": "event", "sample.node": "node",
	"run.thread": "thread", "marker.thread": "thread*", "marker.name": "string", "marker.text": "string",
	"line.function": "function", "line.file": "string", "line.event": "event",
	"source.file": "string", "source.text": "string",
	"code.function": "function", "code.text": "string", "code.file": "string",
	"code_sample.code": "code", "code_sample.event": "event",
};

async function table(container, tables, name, columns) {
	const values = await Promise.all(columns.map((column) => container.column(`${name}.${column}`)));
	const result = { count: values[0].length };
	columns.forEach((column, at) => {
		if (values[at].length !== result.count) throw new Error(`${name}.${column} has the wrong length`);
		check(tables, `${name}.${column}`, values[at], name === "node" ? result.count : null);
		result[column === "count" ? "samples" : column] = values[at]; // count: the table's rows
	});
	return result;
}

function check(tables, name, values, own) {
	const points = POINTS[name];
	if (!points) return;
	const none = points.endsWith("*"), into = none ? points.slice(0, -1) : points;
	const limit = into === "node" && own !== null ? own : into === "string" ? tables.strings.length : tables[into].count;
	for (let i = 0; i < values.length; i++) {
		if (values[i] >= limit && !(none && values[i] === NONE)) throw new Error(`${name} points to no row`);
	}
}

// The root must be there, and parents come before children.
function checkTree(node) {
	if (node.count === 0) {
		node.count = 1;
		node.parent = Uint32Array.of(NONE);
		node.function = Uint32Array.of(NONE);
		node.inlined = new Uint8Array(1);
		node.hidden = new Uint8Array(1);
	}
	for (let i = 1; i < node.count; i++) {
		if (node.parent[i] >= i) throw new Error("node.parent is not in order");
		if (node.function[i] === NONE) throw new Error("node.function has none");
		if (node.hidden[node.parent[i]]) throw new Error("a hidden node has children");
	}
}

// Processes are the threads of one pid of one recording: [{recording, pid, name, threads}], and each thread's process.
function processes(thread, strings) {
	const list = [], known = new Map(), of = new Uint32Array(thread.count);
	for (let i = 0; i < thread.count; i++) {
		const key = thread.recording[i] * 2 ** 32 + thread.pid[i];
		if (!known.has(key)) {
			known.set(key, list.length);
			list.push({ recording: thread.recording[i], pid: thread.pid[i], name: "", since: -1, threads: [] });
		}
		const process = list[of[i] = known.get(key)];
		process.threads.push(i);
		// The name that its first thread had last: programs are renamed when they start another one.
		const main = thread.tid[i] === thread.pid[i];
		if (!process.name || main && thread.last[i] >= process.since) process.name = strings[thread.comm[i]];
		if (main && thread.last[i] >= process.since) process.since = thread.last[i];
	}
	return { list, of };
}

async function read(container, summary) {
	const strings = await container.column("string.text");
	const tables = { strings: strings.length ? strings : [""] };
	const names = Object.keys(FIRST);
	// What points into another table is checked when that one is there.
	for (const name of names.slice(0, -1)) tables[name] = await table(container, tables, name, FIRST[name]);
	checkTree(tables.node);
	tables.sample = await table(container, tables, "sample", FIRST.sample);
	const grouped = processes(tables.thread, tables.strings);
	// Made when they are asked for, and kept: a search asks for all.
	const plain = new Array(tables.strings.length).fill(null), shown = new Array(tables.function.count).fill(null);
	const text = (index) => plain[index] !== null ? plain[index] : plain[index] = tally.format.plain(tables.strings[index]);
	const functions = tables.function.count, image = tables.image;
	const later = new Map();
	const { cpu, event } = tables.sample, sampled = new Uint8Array(tables.event.count);
	let cpus = 0;
	for (let i = 0; i < cpu.length; i++) {
		if (cpu[i] >= cpus && cpu[i] < 65536) cpus = cpu[i] + 1;
		sampled[event[i]] = 1;
	}
	const unit = summary.time_unit || 1;
	const last = tables.sample.count ? tables.sample.time[tables.sample.count - 1] + 1 : 1;

	return {
		...tables, summary, text, unit, cpus, sampled, // sampled: by event, whether it has samples
		processes: grouped.list, processOf: grouped.of,
		labels: functions + image.count,
		end: Math.max(last, Math.ceil((summary.duration || 0) * 1e9 / unit)), // of the time line
		both: summary.mode === "diff" && summary.recordings.length > 1, // a difference
		diff: false, // both are shown, not one of them; page.js sets it
		has: (name) => container.has(`${name}.${LATER[name][0]}`),
		// A label is a function, or functions.count + an image.
		name(label) {
			if (label === NONE) return "all";
			if (label >= functions) return `[${text(image.name[label - functions]) || "unknown"}]`;
			if (shown[label] === null) shown[label] = (text(tables.function.name[label]) || "[unknown]") + (tables.function.inlined[label] ? " (inlined)" : "");
			return shown[label];
		},
		imageOf(label) {
			return label === NONE ? NONE : label >= functions ? label - functions : tables.function.image[label];
		},
		kindOf(label) {
			return label === NONE ? 3 : label >= functions ? image.kind[label - functions] : tables.function.kind[label];
		},
		imageName(index) {
			return index === NONE ? "[unknown]" : text(image.name[index]) || "[unknown]";
		},
		threadName(index) {
			const { comm, tid } = tables.thread;
			return `${apart(text(comm[index])) || "?"} ${tid[index]}`;
		},
		processName(index) {
			return `${apart(tally.format.plain(grouped.list[index].name)) || "?"} ${grouped.list[index].pid}`;
		},
		// A table that was not read at first; a promise.
		later(name) {
			if (!later.has(name)) {
				const first = name === "code_sample" ? this.later("code") : Promise.resolve();
				later.set(name, first.then(() => table(container, tables, name, LATER[name])).then((got) => tables[name] = got));
			}
			return later.get(name);
		},
	};
}

tally.recording = { read };
})();
