// The rows of strips. A name is an element; what some rows show is one canvas, as the browser needs time for each canvas of a
// view. What is further down is drawn when it comes into view, and what is almost there a moment later.
(function () {

const { make, button } = tally.dom;
const { PITCH, draw } = tally.strips, BAND = 15; // rows of a drawing

// press(who): the name of a process, thread or CPU was pressed.
function create(press) {
	const element = make("div", { class: "strip-rows", role: "list", "aria-label": "Strips" });
	const lines = [], bands = [];
	const unnamed = new Set(), near = new Set(); // bands without rows, and those to draw soon
	let later = 0, shown = null, chosen = "";
	const seen = new IntersectionObserver((entries) => {
		for (const { target, isIntersecting, boundingClientRect: { top, bottom } } of entries) {
			const at = isIntersecting && target.parentNode === element ? bands.findIndex((band) => band.element === target) : -1;
			if (at < 0) continue;
			if (bottom > 0 && top < innerHeight) drawBand(at);
			else near.add(at);
		}
		soon(60);
	}, { rootMargin: "400px" });

	function soon(wait) {
		clearTimeout(later);
		if (near.size + unnamed.size) later = setTimeout(some, wait);
	}
	function some() {
		const [one] = near, [other] = unnamed;
		if (one === undefined) nameBand(other);
		else drawBand(one);
		soon(0);
	}
	const rowsOf = (at) => [at * BAND, Math.min(shown.strips.rows.length, (at + 1) * BAND)];
	function drawBand(at) {
		if (unnamed.has(at)) nameBand(at);
		near.delete(at);
		seen.unobserve(bands[at].element);
		draw(bands[at].canvas, shown.strips, ...rowsOf(at), shown);
	}
	function nameBand(at) {
		const { canvas, element: own } = bands[at], parts = [canvas], [from, to] = rowsOf(at);
		unnamed.delete(at);
		for (let row = from; row < to; row++) {
			const { id, who, share } = shown.strips.rows[row], one = line(row), text = shown.name(id);
			one.who = who;
			// Where there is no room, the name is cut, not the number: many are called the same.
			const cut = text.lastIndexOf(" ");
			if (one.name.textContent !== text) one.name.replaceChildren(make("span", null, text.slice(0, cut)), make("span", null, text.slice(cut)));
			one.share.textContent = tally.format.percent(share);
			one.button.style.width = `${shown.left - 8}px`;
			choose(one);
			parts.push(one.row);
		}
		if (own.childElementCount !== parts.length) own.replaceChildren(...parts);
	}
	function choose(one) {
		one.button.setAttribute("aria-pressed", String(chosen === one.who));
		one.row.classList.toggle("faded", Boolean(chosen) && chosen[0] === one.who[0] && chosen !== one.who);
	}
	function line(at) {
		if (lines[at]) return lines[at];
		const name = make("bdi", { dir: "ltr" }), share = make("span", { class: "strip-share" });
		const one = lines[at] = { name, share, who: "", row: null, button: null };
		one.button = button("", () => press(one.who), { class: "strip-name", title: "Show only this, or all again" });
		one.button.append(name, share);
		one.row = make("div", { class: "strip", role: "listitem" }, one.button);
		one.row.style.height = `${PITCH}px`;
		return one;
	}
	function band(at) {
		if (bands[at]) return bands[at];
		const canvas = make("canvas", { "aria-hidden": "true" });
		return bands[at] = { canvas, element: make("div", { class: "band", role: "none" }, canvas) };
	}

	return {
		element,
		// strips: of strips.of(); name(id): of a row; left: what names have of the width, width: what drawings have.
		show(strips, how) {
			const { top } = element.getBoundingClientRect(); // before changes: the browser would place all rows twice
			const count = Math.ceil(strips.rows.length / BAND), isPrinted = matchMedia("print").matches;
			shown = { strips, ...how };
			near.clear();
			unnamed.clear();
			while (element.childElementCount > count) element.lastChild.remove();
			for (let at = 0; at < count; at++) {
				const { element: own, canvas } = band(at), [from, to] = rowsOf(at), y = top + from * PITCH;
				own.style.height = canvas.style.height = `${(to - from) * PITCH}px`;
				canvas.style.left = `${how.left}px`;
				canvas.style.width = `${how.width}px`;
				if (own.parentNode !== element) element.append(own);
				unnamed.add(at);
				if (isPrinted || y < innerHeight && y > -BAND * PITCH) {
					drawBand(at);
					continue;
				}
				if (canvas.width !== 1) canvas.width = 1; // empty: what it showed is no longer true
				seen.unobserve(own); // what is observed already would not be reported again
				seen.observe(own);
			}
			soon(60);
		},
		// The one that is chosen; "": all.
		choose(who) {
			chosen = who;
			lines.slice(0, shown.strips.rows.length).forEach(choose);
		},
	};
}

tally.stripRows = create;
})();
