// What is shown, as one flat object; all of it is in the address behind "#", so that a link shows the same.
(function () {

const VIEWS = ["summary", "flame", "sandwich", "functions", "images", "threads", "time", "code", "difference"];

// name: [default, the values that are allowed, or a test of the text]
const FIELDS = {
	view: ["summary", VIEWS],
	event: ["", /^(\d{1,6}|all)?$/],
	span: ["", /^(\d{1,15}-\d{1,15})?$/], // in units of time
	who: ["", /^([ptc]\d{1,9})?$/], // a process, thread or CPU
	recordings: ["", /^(\d{1,4}(\.\d{1,4})*)?$/], // left out
	search: ["", (text) => text.length <= 1000],
	filter: ["", ["", "1"]],
	order: ["large", ["large", "name", "time"]],
	up: ["", ["", "1"]],
	inverted: ["", ["", "1"]],
	recursion: ["", ["", "1"]],
	colour: ["", ["", "image", "kind", "plain", "span"]], // "": by image, of a difference by change; span: against the whole time
	ops: ["", /^([fhcFHC]\d{1,9}(\.[fhcFHC]\d{1,9})*)?$/],
	zoom: ["", /^(\d{1,9}(\.\d{1,9})*)?$/], // a path of labels
	fn: ["", /^(\d{1,9})?$/],
	strips: ["process", ["process", "thread", "cpu", "heat"]],
	lens: ["", /^(\d{1,15}-\d{1,15})?$/], // the part of the time line that the strips show
	sort: ["", /^([a-z]+[+-])?$/],
	rows: ["", (text) => text.length <= 1000],
	compare: ["share", ["share", "weight"]],
	width: ["both", ["both", "before", "after"]],
	theme: ["", ["", "light", "dark"]],
};

function allowed(test, text) {
	return Array.isArray(test) ? test.includes(text) : test instanceof RegExp ? test.test(text) : test(text);
}

function parse(hash) {
	const state = {}, given = new URLSearchParams(hash.replace(/^#/, ""));
	for (const [name, [usual, test]] of Object.entries(FIELDS)) {
		const text = given.get(name);
		state[name] = text !== null && allowed(test, text) ? text : usual;
	}
	return state;
}

function format(state) {
	const out = new URLSearchParams();
	for (const [name, [usual]] of Object.entries(FIELDS)) if (state[name] !== usual) out.set(name, state[name]);
	return `#${out}`;
}

// `changed` is called at once after what makes changes, and no more than once a frame.
function create(changed) {
	let waiting = false, drawn = true, steps = false;
	const store = {
		now: parse(location.hash),
		// A small change (of a gesture that goes on) is no step of the browser's history.
		set(changes, small) {
			const next = { ...store.now, ...changes };
			for (const [name, [, test]] of Object.entries(FIELDS)) {
				if (!allowed(test, next[name])) return;
			}
			store.now = next;
			steps = steps || !small;
			ask();
		},
		// What was set is in the address now, not in a moment.
		write() {
			const text = format(store.now);
			if (text !== (location.hash || "#")) {
				try {
					history[steps ? "pushState" : "replaceState"](null, "", text);
				} catch { /* too many in a short time: the next one has it all */ }
			}
			steps = false;
		},
	};
	let timer = 0;
	function ask() {
		if (waiting) return;
		waiting = true;
		if (drawn) queueMicrotask(change);
		else requestAnimationFrame(change);
	}
	function change() {
		waiting = drawn = false;
		requestAnimationFrame(() => drawn = true);
		changed(store.now);
		clearTimeout(timer);
		timer = setTimeout(store.write, steps ? 0 : 250);
	}
	addEventListener("popstate", () => {
		const theme = store.now.theme;
		store.now = parse(location.hash);
		if (!location.hash.includes("theme")) store.now.theme = theme;
		ask();
	});
	return store;
}

// Parts of the state as values.
const read = {
	range: (text) => {
		if (!text) return null;
		const [a, b] = text.split("-").map(Number);
		return a < b ? [a, b] : null;
	},
	labels: (text) => text ? text.split(".").map(Number) : [],
	operations: (text) => text ? text.split(".").map((one) => [one[0], Number(one.slice(1))]) : [],
};

tally.state = { VIEWS, create, parse, format, read };
})();
