// Colours of drawings, light and dark. The hues are those of Okabe and Ito, which people with any kind of colour vision
// can tell apart; differences go from blue to red. Text on each has a contrast of 4.5 or more.
(function () {

const THEMES = {
	light: {
		hues: ["#f4c27a", "#a3d3ea", "#94d5b9", "#f1e08a", "#b0c1ea", "#f2b294", "#e6bcd8"],
		grey: "#d3d6dc", root: "#e3e6eb", text: "#1b1f27", textOn: "#ffffff", match: "#8f1d6f", ground: "#ffffff",
		line: "#c9ced6", faint: "#646c7a", bar: "#3a74a8", barMatch: "#a8327f", off: "#c46a2b", on: "#2f7f66", span: "#1d63b8",
		change: ["#1f5fa6", "#4b8bc8", "#93bfe2", "#c9ddee", "#e4e6ea", "#f6cfc2", "#ee9f89", "#de6e59", "#b0261d"],
		heat: ["#f3f5f8", "#d6e4ef", "#aecbe2", "#7caed0", "#4a8dba", "#2a6c9f", "#144b7c", "#08305a"],
	},
	dark: {
		hues: ["#865814", "#265f80", "#1f694f", "#6b6015", "#43549a", "#8b4627", "#7b4369"],
		grey: "#50555f", root: "#3a404a", text: "#f3f5f8", textOn: "#ffffff", match: "#c63c9b", ground: "#171a20",
		line: "#3a414c", faint: "#a3abb8", bar: "#5f9fd3", barMatch: "#e06ab7", off: "#e0924f", on: "#4fb393", span: "#6fb0f5",
		change: ["#7fb8f0", "#4f8fcc", "#31689f", "#2c4766", "#3d434d", "#6a3d36", "#97483a", "#cf5c49", "#f39483"],
		heat: ["#1e232b", "#1f3a52", "#22526f", "#286f92", "#3a8fb5", "#5cb1d0", "#93d0e3", "#d5effa"],
	},
};

const KINDS = [[1, "user"], [5, "kernel"], [2, "made at run time"], [-1, "unknown"], [3, "inlined"]];

function luminance(colour) {
	const part = (at) => {
		const value = parseInt(colour.slice(at, at + 2), 16) / 255;
		return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
	};
	return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

const inks = new Map();
// Dark or light text, whichever can be read better on a colour.
function ink(colour) {
	if (!inks.has(colour)) inks.set(colour, luminance(colour) > 0.19 ? "#14171d" : "#ffffff");
	return inks.get(colour);
}

const system = matchMedia("(prefers-color-scheme: dark)");

// The theme in use: what was chosen, else the system's; paper is light.
function theme(state) {
	const name = matchMedia("print").matches ? "light" : state.theme || (system.matches ? "dark" : "light");
	return { name, ...THEMES[name] };
}

// Hues of images: the kernel has its own, others by their weights, the largest first.
function* hues(recording) {
	const { image, sample, node } = recording, weight = new Float64Array(image.count + 1);
	const own = new Float64Array(node.count);
	yield* tally.kept.steps(sample.count, (from, to) => {
		for (let i = from; i < to; i++) own[sample.node[i]] += sample.weight[i];
	});
	for (let i = 1; i < node.count; i++) weight[Math.min(recording.imageOf(node.function[i]), image.count)] += own[i];
	const order = Array.from({ length: image.count }, (_, i) => i).sort((a, b) => weight[b] - weight[a] || a - b);
	const use = [1, 0, 2, 4, 6, 3], hue = new Int8Array(image.count + 1).fill(-1);
	let next = 0;
	for (const one of order) hue[one] = image.kind[one] === 1 ? 5 : image.kind[one] === 3 ? -1 : use[next++ % use.length];
	return { hue, order };
}

// Three tints of each colour, so that neighbours of one image can be distinguished.
const tints = new Map();
function tint(colour, label, ground) {
	const key = colour + ground;
	if (!tints.has(key)) {
		const mixed = (part) => "#" + [1, 3, 5].map((at) => Math.round(parseInt(colour.slice(at, at + 2), 16) * (1 - part) + parseInt(ground.slice(at, at + 2), 16) * part).toString(16).padStart(2, "0")).join("");
		tints.set(key, [colour, mixed(0.11), mixed(0.22)]);
	}
	return tints.get(key)[(Math.imul(label + 1, 0x9e3779b1) >>> 20) % 3];
}

// A colour as a point of an image, with so much of it (of 1).
function point(colour, part = 1) {
	return new Uint32Array(Uint8Array.of(...[1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16)), Math.round(part * 255)).buffer)[0];
}

function step(change) {
	return Math.round((Math.max(-1, Math.min(1, change)) + 1) * 4);
}

tally.palette = { theme, ink, hues, tint, point, step, KINDS, system, THEMES };
})();
