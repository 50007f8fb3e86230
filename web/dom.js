// Makes elements. Text from a recording gets into the page here only, as text nodes and values of attributes.
(function () {

// Children are elements, texts, or lists of them; null is left out. A property that begins with "on" is a listener.
function make(tag, properties, ...children) {
	const element = document.createElement(tag);
	for (const [name, value] of Object.entries(properties || {})) {
		if (value === null || value === undefined || value === false) continue;
		if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
		else if (name === "class") element.className = value;
		else element.setAttribute(name, value === true ? "" : value);
	}
	add(element, children);
	return element;
}

function add(element, children) {
	for (const child of children) {
		if (Array.isArray(child)) add(element, child);
		else if (child !== null && child !== undefined) element.append(child);
	}
}

function clear(element, ...children) {
	element.replaceChildren();
	add(element, children);
	return element;
}

function button(text, press, properties) {
	return make("button", { type: "button", onclick: press, ...properties }, text);
}

// A choice of few: buttons of which one is pressed. choices: [[value, text, title]].
function choice(label, choices, get, set) {
	const buttons = choices.map(([value, text, title]) =>
		button(text, () => set(value), { title: title || null, "data-value": value }));
	const element = make("div", { class: "choice", role: "group", "aria-label": label }, buttons);
	return {
		element,
		update() {
			for (const one of buttons) one.setAttribute("aria-pressed", String(one.dataset.value === get()));
		},
	};
}

// A switch that is on or off.
function toggle(text, title, get, set) {
	const element = button(text, () => set(!get()), { class: "toggle", title });
	return { element, update() { element.setAttribute("aria-pressed", String(get())); } };
}

// A list to choose one of. choices: [[value, text]].
function list(label, choices, get, set) {
	const select = make("select", { "aria-label": label, onchange: () => set(select.value) },
		choices.map(([value, text]) => make("option", { value }, text)));
	return { element: select, update() { select.value = get(); } };
}

// The size of a canvas follows its element, in the screen's own pixels. Returns the context, scaled to CSS pixels. `most`: how high
// it may become; it is made so high at once, as for another height the browser takes new memory, which is slow.
function fit(canvas, width, height, most = 0) {
	const scale = window.devicePixelRatio || 1;
	const w = Math.max(1, Math.round(width * scale)), h = Math.max(1, Math.round(height * scale)), high = Math.max(h, Math.round(most * scale));
	const stays = most > 0 && canvas.width === w && canvas.height >= h && canvas.height < 1.5 * high;
	if (canvas.width !== w) canvas.width = w;
	if (canvas.height !== high && !stays) canvas.height = high;
	const context = canvas.getContext("2d");
	context.setTransform(scale, 0, 0, scale, 0, 0);
	context.clearRect(0, 0, width, height);
	return context;
}

// What a screen reader says next.
function say(text) {
	const live = document.getElementById("live");
	if (live && live.textContent !== text) live.textContent = text;
}

tally.dom = { make, clear, button, choice, toggle, list, fit, say };
})();
