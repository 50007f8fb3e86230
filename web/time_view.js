// The time view: strips of processes, threads or CPUs, or the heat map; below them the markers.
(function () {

const { make, clear, choice, button, fit } = tally.dom;
const { LIMIT } = tally.strips, AXIS = 26;

function create(page) {
	const { analysis, store } = page, { recording } = analysis;
	const kind = choice("Rows", [["process", "Processes"], ["thread", "Threads"], ["cpu", "CPUs"], ["heat", "Heat map"]], () => store.now.strips, (strips) => store.set({ strips }));
	const zoomIn = button("Zoom to span", () => store.set({ lens: store.now.span }), { title: "Strips show only the chosen span (z)" });
	const zoomOut = button("Whole time", () => store.set({ lens: "" }));
	const key = make("div", { class: "legend", role: "list", "aria-label": "Colours" });
	const axis = make("canvas", { class: "strip-axis", "aria-hidden": "true" });
	const body = make("div", { class: "strip-rows", role: "list", "aria-label": "Strips" });
	const more = button("", () => {
		limit += LIMIT * 2;
		page.update(store.now);
	}, { class: "more" });
	const none = make("p", { class: "empty", hidden: true });
	const veil = tally.spanVeil(), plots = make("div", { class: "strips" }, axis, body, veil.element);
	const heat = tally.heatMap.create(page);
	const markers = tally.markers.table(page);
	const list = make("section", { class: "markers", "aria-label": "Markers", hidden: !recording.has("marker") }, make("h2", null, "Markers"), markers.element);
	const element = make("section", { class: "view view-time", "aria-label": "Time" },
		make("div", { class: "controls", hidden: page.isEmpty }, kind.element, zoomIn, zoomOut), key, none, plots, more, heat.element, list);
	let limit = LIMIT, run = null, marker = null, later = 0, drawn = [], draw = () => {}; // draw: draws a row
	const lines = [];
	// Rows further down are drawn when they come into view; what is almost there a moment later, some at a time.
	const waiting = new Set();
	const seen = new IntersectionObserver((entries) => {
		for (const { target, isIntersecting, boundingClientRect: { top, bottom } } of entries) {
			const at = isIntersecting && target.parentNode === body ? lines.findIndex((line) => line.row === target) : -1;
			if (at < 0) continue;
			if (bottom > 0 && top < innerHeight) draw(at);
			else waiting.add(at);
		}
		clearTimeout(later);
		later = setTimeout(drawSome, 60);
	}, { rootMargin: "400px" });
	function drawSome() {
		for (const at of [...waiting].slice(0, 3)) draw(at);
		if (waiting.size) later = setTimeout(drawSome);
	}
	for (const name of ["run", "marker"]) {
		if (!recording.has(name)) continue;
		recording.later(name).then((table) => {
			if (name === "run") tally.ahead.strips(page, run = table);
			else markers.set(marker = table);
			if (element.isConnected) page.update(store.now);
		}, page.fail);
	}
	const lens = () => tally.state.read.range(store.now.lens) || [0, recording.end];
	const labelWide = () => innerWidth < 640 ? 96 : 200;
	tally.spanDrag.attach(page, plots, { range: lens, left: labelWide, width: () => plots.clientWidth - labelWide() });

	function line(at) {
		if (lines[at]) return lines[at];
		const name = make("bdi", { dir: "ltr" }), share = make("span", { class: "strip-share" }), canvas = make("canvas", { "aria-hidden": "true" });
		const press = button("", () => {
			const who = lines[at].who;
			store.set({ who: store.now.who === who ? "" : who });
		}, { class: "strip-name", title: "Show only this, or all again" });
		press.append(name, share);
		return lines[at] = { row: make("div", { class: "strip", role: "listitem" }, press, canvas), name, share, canvas, press, who: "" };
	}

	function update(state) {
		kind.update();
		const isHeat = state.strips === "heat", [begin, end] = lens(), theme = tally.palette.theme(state);
		heat.element.hidden = !isHeat;
		plots.hidden = key.hidden = isHeat || recording.sample.count === 0;
		zoomIn.hidden = isHeat || !state.span || state.span === state.lens;
		zoomOut.hidden = isHeat || !state.lens;
		none.hidden = recording.sample.count > 0;
		none.textContent = page.nothing();
		if (isHeat) {
			more.hidden = true;
			heat.update(state);
		} else {
			strips(state, begin, end, theme);
		}
		if (marker) markers.update();
	}

	function strips(state, begin, end, theme) {
		const width = Math.max(40, plots.clientWidth - labelWide());
		const all = analysis.now(tally.strips.of(analysis, state, run, [begin, end], limit));
		const of = [all, width, devicePixelRatio, theme.name, marker, matchMedia("print").matches];
		if (of.some((one, at) => one !== drawn[at])) paint(all, state, width, [begin, end], theme);
		drawn = of;
		all.rows.forEach((row, at) => {
			const one = line(at);
			one.press.setAttribute("aria-pressed", String(state.who === row.who));
			one.row.classList.toggle("faded", Boolean(state.who) && state.who[0] === row.who[0] && state.who !== row.who);
		});
		veil.update({ begin, end, left: labelWide(), width, top: AXIS, height: body.clientHeight, chosen: tally.state.read.range(state.span) });
		more.hidden = all.all <= all.rows.length;
		more.textContent = `Show ${Math.min(LIMIT * 2, all.all - all.rows.length)} more of ${tally.format.count(all.all)}`;
	}

	function paint(all, state, width, [begin, end], theme) {
		const units = recording.unit;
		axis.style.width = `${width}px`;
		axis.style.height = `${AXIS}px`;
		axis.style.marginLeft = `${labelWide()}px`;
		const context = fit(axis, width, AXIS), where = { begin: begin * units, end: end * units, whole: recording.end * units, left: 0, width, theme };
		tally.timeAxis.draw(context, { ...where, top: 0, height: 15 });
		if (marker) tally.markers.draw(context, marker, recording, { begin, end, left: 0, width, top: 18, height: 7, theme });
		while (body.childElementCount > all.rows.length) body.lastChild.remove();
		all.rows.forEach((row, at) => {
			const one = line(at);
			one.who = row.who;
			const text = state.strips === "cpu" ? `CPU ${row.id}` : state.strips === "thread" ? recording.threadName(row.id) : recording.processName(row.id);
			// Where there is no room, the name is cut, not the number: many are called the same.
			const cut = text.lastIndexOf(" ");
			if (one.name.textContent !== text) one.name.replaceChildren(make("span", null, text.slice(0, cut)), make("span", null, text.slice(cut)));
			one.share.textContent = tally.format.percent(row.share);
			one.press.style.width = `${labelWide() - 8}px`;
			one.canvas.style.width = `${width}px`;
			one.canvas.style.height = `${tally.strips.HEIGHT}px`;
			if (one.row.parentNode !== body) body.append(one.row);
		});
		waiting.clear();
		draw = (at) => {
			waiting.delete(at);
			seen.unobserve(lines[at].row);
			tally.strips.draw(lines[at].canvas, all, at, { width, theme });
		};
		const { top } = body.getBoundingClientRect(), isPrinted = matchMedia("print").matches;
		all.rows.forEach((_, at) => {
			const y = top + at * (tally.strips.HEIGHT + 1);
			if (isPrinted || y < innerHeight && y > -2 * tally.strips.HEIGHT) return draw(at);
			if (lines[at].canvas.width !== 1) lines[at].canvas.width = 1; // empty: what it showed is no longer true
			seen.unobserve(lines[at].row); // what is observed already would not be reported again
			seen.observe(lines[at].row);
		});
		const rows = [[theme.on, "on a CPU"]];
		if (all.run) rows.push([theme.bar, "runs by switches"]);
		if (all.taken.some(Boolean)) rows.push([theme.match, "CPU taken by another thread"]);
		if (all.off.some((value) => value > 0)) rows.push([theme.off, "off the CPUs"]);
		if (marker) rows.push(...tally.markers.legend(marker, theme));
		clear(key, rows.map(([colour, text]) => {
			const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
			swatch.style.backgroundColor = colour;
			return make("span", { role: "listitem", class: "legend-row" }, swatch, text);
		}));
	}

	return {
		element, update, table: markers,
		// The passes over samples that a drawing needs.
		*parts(state) {
			kind.update();
			if (state.strips !== "heat") yield* analysis.parts(tally.strips.of(analysis, state, run, lens(), limit));
		},
	};
}

tally.views.time = create;
})();
