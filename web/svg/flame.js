"use strict";
// The flame graph that stands alone as an SVG (src/page/page_svg.c): zoom, search, and the line about a frame. Without a
// script, it is the same picture. Names only ever become text.
(function () {

const svg = document.currentScript.ownerSVGElement, PAD = 10, LETTER = 7.3;
const facts = svg.getElementById("facts"), found = svg.getElementById("found");
// Frames of a graph, callers first: where each begins, and how wide it is, of `whole`.
const graphs = Array.from(svg.querySelectorAll(".g"), (group) => Array.from(group.querySelectorAll(".f"), (element) => {
	const number = (name) => Number(element.dataset[name]), [title, rect, text = null] = element.children;
	return { element, rect, text, name: title.textContent.split("\n")[0], title: title.textContent, from: number("f"), wide: number("w"), depth: number("d") };
}));
let width = 1200, typed = null, pattern = "";

function wide(letter) { // of two columns
	const code = letter.codePointAt(0);
	return code >= 0x1100 && (code <= 0x115f || code >= 0x2e80 && code <= 0xa4cf || code >= 0xac00 && code <= 0xd7a3 || code >= 0xf900 && code <= 0xfaff || code >= 0xfe30 && code <= 0xfe6f || code >= 0xff00 && code <= 0xff60 || code >= 0x1f300);
}

// As much of a name as fits.
function label(name, room) {
	let columns = Math.floor((room - 6) / LETTER), end = 0;
	if (columns < 3) return "";
	for (const letter of name) {
		columns -= wide(letter) ? 2 : 1;
		if (columns < 0) return name.slice(0, end - 1) + "…";
		end += letter.length;
	}
	return name;
}

function lay(frames, zoom) {
	const scale = (width - 2 * PAD) / (zoom.wide || 1);
	for (const frame of frames) {
		const above = frame.depth < zoom.depth && frame.from <= zoom.from && frame.from + frame.wide >= zoom.from + zoom.wide;
		const left = above ? 0 : Math.max(0, (frame.from - zoom.from) * scale), size = above ? width - 2 * PAD : frame.wide * scale;
		const shown = above || frame.depth >= zoom.depth && frame.from >= zoom.from && frame.from + frame.wide <= zoom.from + zoom.wide && size >= 0.3;
		frame.element.style.display = shown ? "" : "none";
		frame.element.classList.toggle("a", above);
		if (!shown) continue;
		frame.rect.setAttribute("x", (PAD + left).toFixed(1));
		frame.rect.setAttribute("width", Math.max(0.3, size - (size > 3 ? 0.6 : 0)).toFixed(1));
		const letters = label(frame.name, size);
		if (frame.text === null && letters) {
			frame.element.append(frame.text = document.createElementNS(svg.namespaceURI, "text"));
			frame.text.setAttribute("y", Number(frame.rect.getAttribute("y")) + 12);
		}
		if (frame.text === null) continue;
		frame.text.setAttribute("x", (PAD + left + 3).toFixed(1));
		frame.text.textContent = letters;
	}
}

function reset() {
	for (const frames of graphs) if (frames.length) lay(frames, frames[0]);
}

// Marks what matches, and says which part of all it is: each sample once.
function search(text) {
	let test = null;
	pattern = text;
	try {
		test = text ? new RegExp(text, text === text.toLowerCase() ? "iu" : "u") : null;
	} catch {
		test = new RegExp(text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), "iu");
	}
	const shares = graphs.map((frames) => {
		let sum = 0;
		const until = []; // by depth: where the last match ends
		for (const frame of frames) {
			const match = test !== null && frame.depth > 0 && test.test(frame.name.slice(0, 4096));
			frame.element.classList.toggle("m", match);
			until.length = frame.depth;
			const covered = until.length > 0 && until[until.length - 1];
			if (match && !covered) sum += frame.wide;
			until.push(match || covered);
		}
		return frames.length && frames[0].wide ? `${(sum / frames[0].wide * 100).toFixed(2)} %` : "";
	});
	found.textContent = test ? `found: ${shares.join(", ")}` : "";
}

function ask() {
	const text = prompt("Search functions by regular expression", pattern);
	if (text !== null) search(text);
}

function resize() {
	width = svg.parentNode === document ? Math.max(300, innerWidth) : 1200;
	svg.setAttribute("width", width);
	svg.setAttribute("viewBox", `0 0 ${width} ${svg.getAttribute("height")}`);
	for (const button of svg.querySelectorAll(".b")) button.setAttribute("x", width - PAD - Number(button.dataset.right));
	reset();
}

graphs.forEach((frames) => frames.forEach((frame) => {
	const zoom = () => lay(frames, frame), say = () => facts.textContent = frame.title.replace(/\n/g, "  ·  ");
	frame.element.addEventListener("click", zoom);
	frame.element.addEventListener("mouseenter", say);
	frame.element.addEventListener("focus", say);
	frame.element.addEventListener("keydown", (event) => {
		if (event.key === "Enter") zoom();
	});
}));
for (const [id, act] of [["search", ask], ["all", reset]]) {
	const button = svg.getElementById(id);
	button.addEventListener("click", act);
	button.addEventListener("keydown", (event) => {
		if (event.key === "Enter" || event.key === " ") act();
	});
}
// After "/" letters are searched for as they are typed.
addEventListener("keydown", (event) => {
	if (event.ctrlKey || event.altKey || event.metaKey) return;
	if (event.key === "Escape") {
		typed = null;
		search("");
		reset();
		facts.textContent = "";
	} else if (typed === null) {
		if (event.key !== "/") return;
		typed = "";
	} else if (event.key === "Enter") {
		typed = null;
		return;
	} else if (event.key === "Backspace") {
		typed = typed.slice(0, -1);
	} else if (event.key.length === 1) {
		typed += event.key;
	} else {
		return;
	}
	if (typed !== null) {
		search(typed);
		facts.textContent = `Search: ${typed}|`;
	}
	event.preventDefault();
});
addEventListener("resize", resize);
resize();
// Roots are at the bottom, and of deep graphs there they are seen first; the head stays in sight.
if (svg.parentNode === document) {
	addEventListener("scroll", () => svg.getElementById("head").setAttribute("transform", `translate(0 ${scrollY})`));
	if (graphs.length && graphs[0].length) graphs[0][0].element.scrollIntoView({ block: "end" });
}
})();
