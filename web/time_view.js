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
	axis.style.height = `${AXIS}px`;
	const rows = tally.stripRows((who) => store.set({ who: store.now.who === who ? "" : who }));
	const more = button("", () => {
		limit += LIMIT * 2;
		page.update(store.now);
	}, { class: "more" });
	const none = make("p", { class: "empty", hidden: true });
	const veil = tally.spanVeil(), plots = make("div", { class: "strips" }, axis, rows.element, veil.element);
	const heat = tally.heatMap.create(page);
	const markers = tally.markers.table(page);
	const list = make("section", { class: "markers", "aria-label": "Markers", hidden: !recording.has("marker") }, make("h2", null, "Markers"), markers.element);
	const element = make("section", { class: "view view-time", "aria-label": "Time" },
		make("div", { class: "controls", hidden: page.isEmpty }, kind.element, zoomIn, zoomOut), key, none, plots, more, heat.element, list);
	let limit = LIMIT, run = null, marker = null, drawn = [];
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

	// What is to be seen, before it is drawn: the heat map measures its room.
	function arrange(state) {
		const isHeat = state.strips === "heat";
		kind.update();
		heat.element.hidden = !isHeat;
		plots.hidden = key.hidden = isHeat || recording.sample.count === 0;
		zoomIn.hidden = isHeat || !state.span || state.span === state.lens;
		zoomOut.hidden = isHeat || !state.lens;
		none.hidden = recording.sample.count > 0;
		none.textContent = page.nothing();
		if (isHeat) more.hidden = true;
	}
	function update(state) {
		if (state.strips === "heat") heat.update(state);
		else strips(state, ...lens(), tally.palette.theme(state));
		if (marker) markers.update();
	}

	function strips(state, begin, end, theme) {
		const width = Math.max(40, plots.clientWidth - labelWide());
		const all = analysis.now(tally.strips.of(analysis, state, run, [begin, end], limit));
		const of = [all, width, devicePixelRatio, theme.name, marker, matchMedia("print").matches];
		if (of.some((one, at) => one !== drawn[at])) paint(all, state, width, [begin, end], theme);
		drawn = of;
		rows.choose(state.who);
		veil.update({ begin, end, left: labelWide(), width, top: AXIS, height: all.rows.length * tally.strips.PITCH, chosen: tally.state.read.range(state.span) });
		more.hidden = all.all <= all.rows.length;
		more.textContent = `Show ${Math.min(LIMIT * 2, all.all - all.rows.length)} more of ${tally.format.count(all.all)}`;
	}

	function paint(all, state, width, [begin, end], theme) {
		const units = recording.unit;
		rows.show(all, { left: labelWide(), width, theme, name: (id) => state.strips === "cpu" ? `CPU ${id}` : state.strips === "thread" ? recording.threadName(id) : recording.processName(id) });
		axis.style.width = `${width}px`;
		axis.style.marginLeft = `${labelWide()}px`;
		const context = fit(axis, width, AXIS), where = { begin: begin * units, end: end * units, whole: recording.end * units, left: 0, width, theme };
		tally.timeAxis.draw(context, { ...where, top: 0, height: 15 });
		if (marker) tally.markers.draw(context, marker, recording, { begin, end, left: 0, width, top: 18, height: 7, theme });
		const colours = [[theme.on, "on a CPU"]];
		if (all.run) colours.push([theme.bar, "runs by switches"]);
		if (all.taken.some(Boolean)) colours.push([theme.match, "CPU taken by another thread"]);
		if (all.off.some((value) => value > 0)) colours.push([theme.off, "off the CPUs"]);
		if (marker) colours.push(...tally.markers.legend(marker, theme));
		clear(key, colours.map(([colour, text]) => {
			const swatch = make("span", { class: "swatch", "aria-hidden": "true" });
			swatch.style.backgroundColor = colour;
			return make("span", { role: "listitem", class: "legend-row" }, swatch, text);
		}));
	}

	return {
		element, update, heat, table: markers,
		// The passes over samples that a drawing needs.
		*parts(state) {
			arrange(state);
			yield* state.strips === "heat" ? heat.parts(state, innerWidth) : analysis.parts(tally.strips.of(analysis, state, run, lens(), limit));
		},
	};
}

tally.views.time = create;
})();
