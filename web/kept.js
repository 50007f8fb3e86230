// Answers that are kept until others take their places, made at once or, by whoever has time, in parts of a few milliseconds.
(function () {

const STEP = 1 << 14; // samples of a part
const EVENTS = 4; // answers by event are kept, and made ahead, for so many of them

// Calls pass(from, to) for all of `count`, in parts, and yields between them.
function* steps(count, pass) {
	for (let from = 0; from < count; from += STEP) {
		if (from > 0) yield;
		pass(from, Math.min(count, from + STEP));
	}
}

// What a generator of parts gives in the end, now.
function finish(parts) {
	for (;;) {
		const { done, value } = parts.next();
		if (done) return value;
	}
}

function create() {
	const kept = new Map(); // by name its answers, the one asked for last at the end: [{key, value}]

	function find(name, key) {
		if (!kept.has(name)) kept.set(name, []);
		const list = kept.get(name), at = list.findIndex((one) => one.key === key);
		if (at < 0) return null;
		list.push(...list.splice(at, 1));
		return list[list.length - 1];
	}
	function put(name, key, value, most) {
		const list = kept.get(name);
		list.push({ key, value });
		if (list.length > most) list.shift();
		return value;
	}
	// The answer of this name for a key; `most` of them are kept.
	function keep(name, key, make, most = 1) {
		const found = find(name, key);
		return found ? found.value : put(name, key, make(), most);
	}
	// The same of an answer that is made in parts: [name, key, make, most], where make() gives a generator.
	const now = ([name, key, make, most]) => keep(name, key, () => finish(make()), most);
	// And as parts itself.
	function* parts([name, key, make, most]) {
		if (find(name, key)) return;
		const value = yield* make();
		if (!find(name, key)) put(name, key, value, most); // else it was asked for meanwhile
	}
	return { keep, now, parts };
}

tally.kept = { create, finish, steps, EVENTS };
})();
