// Numbers, times, shares and names as people read them.
(function () {

const SI = [[1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]];

function count(value) {
	return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ","); // the browser's own way takes 15 ms the first time
}

function short(value) {
	for (const [scale, unit] of SI) {
		if (Math.abs(value) >= scale * 0.9995) return (value / scale).toPrecision(3) + " " + unit;
	}
	return Number.isInteger(value) ? String(value) : value.toPrecision(3);
}

// Nanoseconds with three digits.
function time(ns) {
	const sign = ns < 0 ? "−" : "";
	ns = Math.abs(ns);
	if (ns === 0) return "0 s";
	if (ns < 999.5) return `${sign}${Math.round(ns)} ns`;
	if (ns < 999.5e3) return `${sign}${(ns / 1e3).toPrecision(3)} µs`;
	if (ns < 999.5e6) return `${sign}${(ns / 1e6).toPrecision(3)} ms`;
	if (ns < 120e9) return `${sign}${(ns / 1e9).toPrecision(3)} s`;
	const seconds = Math.round(ns / 1e9), minutes = Math.floor(seconds / 60);
	if (minutes < 120) return `${sign}${minutes} min ${seconds % 60} s`;
	return `${sign}${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

// A point on a time line that ends at `whole`. `step` says how many digits are needed to tell neighbours apart. All in ns.
function at(ns, step, whole) {
	const unit = whole < 1e6 ? [1e3, "µs"] : whole < 1e9 ? [1e6, "ms"] : [1e9, "s"];
	const digits = Math.max(0, Math.min(9, Math.ceil(-Math.log10(Math.max(step, 1) / unit[0]) - 1e-9)));
	if (whole < 120e9) return `${(ns / unit[0]).toFixed(digits)} ${unit[1]}`;
	const seconds = Math.round(ns / 1e9 * 10 ** digits) / 10 ** digits;
	const minutes = Math.floor(seconds / 60) % 60, hours = Math.floor(seconds / 3600);
	const end = (seconds % 60).toFixed(digits).padStart(digits ? digits + 3 : 2, "0");
	return hours ? `${hours}:${String(minutes).padStart(2, "0")}:${end}` : `${minutes}:${end}`;
}

// A weight of an event: time where its unit is ns, else a number.
function weight(value, unit) {
	return unit === "ns" ? time(value) : short(value);
}

function share(part, whole) {
	if (!(whole > 0)) return "–";
	return percent(part / whole);
}

function percent(part) {
	const value = part * 100;
	if (value === 0) return "0 %";
	if (Math.abs(value) < 0.01) return `${value < 0 ? "> −" : "< "}0.01 %`;
	return `${value.toFixed(Math.abs(value) < 9.995 ? 2 : 1).replace("-", "−")} %`;
}

function points(difference) {
	const value = difference * 100;
	return `${value > 0 ? "+" : value < 0 ? "−" : "±"}${Math.abs(value).toFixed(2)}`;
}

// Control characters, and those that change the direction of what follows, shown by their numbers.
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

function plain(text) {
	if (!/[^ -~]/.test(text)) return text; // most names are ASCII
	return text.replace(CONTROLS, (one) => `\\u{${one.codePointAt(0).toString(16)}}`);
}

// A name that is read from the right, isolated: a number behind it stays there.
function apart(name) {
	return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name;
}

// Without what is in brackets of the given kind, but not within "operator<" or "operator()".
function without(name, open, close, mark) {
	let out = "", depth = 0;
	for (let i = 0; i < name.length; i++) {
		const one = name[i];
		if (one === open && i > 0 && !/operator[<(>-]*$/.test(name.slice(Math.max(0, i - 12), i))) {
			if (depth++ === 0) out += mark;
		} else if (one === close && depth > 0) {
			depth--;
		} else if (depth === 0) {
			out += one;
		}
	}
	return depth === 0 ? out : name;
}

// Shorter forms of a name, the longest first: without parameters, without template arguments, its last part.
function shorter(name) {
	if (name.length > 4000) name = head(name, 4000);
	if (!/[(<:]/.test(name)) return [];
	const forms = [without(name, "(", ")", "").replace(/ (const|volatile|&+)$/, "").trim()];
	forms.push(without(forms[0], "<", ">", "<…>").trim());
	const last = forms[1].split("::").filter(Boolean);
	if (last.length > 2) forms.push(last.slice(-2).join("::"));
	if (last.length > 1) forms.push(last[last.length - 1]);
	return forms.filter((form, at) => form && form !== name && forms.indexOf(form) === at);
}

// The first characters; a pair of surrogates is not cut.
function head(text, length) {
	if (text.length <= length) return text;
	const code = text.charCodeAt(length - 1);
	return text.slice(0, code >= 0xd800 && code < 0xdc00 ? length - 1 : length);
}

function baseName(path) {
	const slash = path.lastIndexOf("/");
	return slash >= 0 && slash < path.length - 1 ? path.slice(slash + 1) : path;
}

tally.format = { count, time, at, weight, share, percent, points, plain, apart, shorter, head, baseName };
})();
