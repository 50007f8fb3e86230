// What is known of the chosen frame, below a graph, with what can be done with it; the same as a menu; and the tooltip.
(function () {

const { make, clear, button } = tally.dom;

const ACTIONS = [
	["f", "Focus", "Show only what this function and its callees do", "f"],
	["h", "Hide", "Leave this function out; its time goes to its caller", "h"],
	["c", "Collapse", "Count its callees as this function itself", "c"],
	["s", "Callers and callees", "Show this function in the sandwich view", "sandwich"],
	["a", "Source", "Show source and assembly of this function", "code"],
	["", "Focus on image", "Show only what this image and its callees do", "F"],
	["", "Hide image", "Leave all functions of this image out", "H"],
	["", "Collapse image", "Show functions of this image that call each other as one", "C"],
	["y", "Copy name", "Copy the whole name", "copy"],
];

function frame(page) {
	const name = make("strong", { class: "frame-name" }), lines = make("span", { class: "frame-lines" });
	const buttons = make("div", { class: "frame-actions" }, ACTIONS.slice(0, 5).map(([, text, title, action]) =>
		button(text, () => act(action), { title, class: "small" })),
		button("More…", (event) => {
			const where = event.currentTarget.getBoundingClientRect();
			menu(where.left, where.top);
		}, { class: "small", "aria-haspopup": "menu" }));
	const hint = make("span", { class: "frame-hint" }, "Click a frame to zoom, right-click for more; press ? for keys.");
	const element = make("section", { class: "frame", "aria-label": "Chosen frame" }, hint, make("div", { class: "frame-text", hidden: true }, name, lines), buttons);
	let chosen = null;
	buttons.hidden = true;

	function show(what, of) {
		chosen = of;
		hint.hidden = true;
		name.parentElement.hidden = false;
		name.textContent = what.name;
		name.title = what.name.length < 3000 ? what.name : "";
		lines.textContent = [what.image, ...what.lines].filter(Boolean).join("  ·  ");
		buttons.hidden = of.at <= 0;
	}
	function forget() {
		chosen = null;
		hint.hidden = false;
		name.parentElement.hidden = true;
		buttons.hidden = true;
	}
	function act(action) {
		if (!chosen || chosen.at <= 0) return;
		const label = chosen.boxes.label[chosen.at];
		page.act(action, label);
	}
	function key(pressed) {
		const found = ACTIONS.find(([letter]) => letter && letter === pressed);
		if (found) act(found[3]);
		return Boolean(found);
	}
	function menu(x, y) {
		if (!chosen || chosen.at <= 0) return;
		const back = chosen.graph;
		page.menu.open(x, y, ACTIONS.map(([letter, text, title, action]) => ({ letter, text, title, press: () => act(action) })), back);
	}
	return { element, show, forget, key, menu };
}

// A menu that closes when something is chosen; arrow keys move in it.
function menu() {
	const element = make("div", { class: "menu", role: "menu", hidden: true });
	let back = null;
	document.body.append(element);
	function close() {
		if (element.hidden) return;
		element.hidden = true;
		if (back && back.isConnected) back.focus({ preventScroll: true });
	}
	function open(x, y, items, returnTo) {
		back = returnTo;
		clear(element, items.map(({ letter, text, title, press }) => make("button", {
			type: "button", role: "menuitem", tabindex: "-1", title: title || null,
			onclick: () => {
				close();
				press();
			},
		}, make("span", null, text), letter ? make("kbd", null, letter) : null)));
		element.hidden = false;
		const { width, height } = element.getBoundingClientRect();
		element.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`;
		element.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`;
		element.firstChild.focus();
	}
	element.addEventListener("keydown", (event) => {
		const items = [...element.children], at = items.indexOf(document.activeElement);
		if (event.key === "ArrowDown") items[(at + 1) % items.length].focus();
		else if (event.key === "ArrowUp") items[(at + items.length - 1) % items.length].focus();
		else if (event.key === "Home") items[0].focus();
		else if (event.key === "End") items[items.length - 1].focus();
		else if (event.key === "Escape" || event.key === "Tab") close();
		else return;
		event.preventDefault();
		event.stopPropagation();
	});
	addEventListener("pointerdown", (event) => {
		if (!element.hidden && !element.contains(event.target)) element.hidden = true;
	}, true);
	return { open, close };
}

function tip() {
	const name = make("strong"), image = make("span", { class: "tip-image" }), lines = make("span");
	const element = make("div", { class: "tip", "aria-hidden": "true", hidden: true }, name, image, lines);
	document.body.append(element);
	return {
		show(what, x, y) {
			name.textContent = tally.format.head(what.name, 500) + (what.name.length > 500 ? "…" : "");
			image.textContent = what.image || "";
			lines.textContent = what.lines.join("\n");
			element.hidden = false;
			const { width, height } = element.getBoundingClientRect();
			element.style.left = `${Math.max(4, Math.min(x + 14, innerWidth - width - 8))}px`;
			element.style.top = `${y + 18 + height > innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
		},
		hide() {
			element.hidden = true;
		},
	};
}

tally.frame = { frame, menu, tip };
})();
