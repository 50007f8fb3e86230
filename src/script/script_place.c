/* The text for an address: symbol, image, line of the source. */
#include <errno.h>
#include <string.h>
#include "script/script_state.h"
#include "resolve/lines.h"
#include "resolve/resolver.h"

/* The line of the source, on a line of its own, where anything is known. */
static int put_source(const struct script_out *out, uint8_t mode, uint64_t addr)
{
	struct tally_buf *to = out->to;
	struct tally_located at;
	size_t before = to->size;
	int result = tally_resolver_locate(out->resolver, out->at, mode, addr, &at);

	if (result)
		return result;
	tally_buf_add(to, "\n  ", 3);
	result =
	    tally_resolver_srcline(out->resolver, &at, out->script->options.full_source_path, to);
	if (to->size == before + 3)
		to->size = before;
	return result;
}

static void put_image(const struct script *script, struct tally_buf *to,
		      const struct tally_location *at, uint64_t fields)
{
	char room[TALLY_LABEL_ROOM];

	if (at->mapped)
		tally_script_name_put(script, to, tally_label_of(&script->labels, at, room));
	else
		tally_buf_text(to, "[unknown]");
	if (fields & SCRIPT_FIELD(DSOFF) && at->mapped) {
		tally_buf_add(to, "+0x", 3);
		buf_hex(to, at->place);
	}
}

static void put_symbol(const struct script *script, struct tally_buf *to,
		       const struct tally_location *at, bool offset)
{
	if (!at->mapped || !at->symbol) {
		tally_buf_add(to, "[unknown]", 9);
		return;
	}
	tally_script_name_put(script, to, at->symbol);
	if (!offset)
		return;
	tally_buf_add(to, "+0x", 3);
	buf_hex(to, at->place < at->symbol_end ? at->place - at->symbol_start
					       : at->place - at->map_start - at->symbol_start);
}

static void put_place(const struct script *script, struct tally_buf *to,
		      const struct tally_location *at, uint64_t fields)
{
	if (fields & SCRIPT_FIELD(SYM)) {
		tally_buf_byte(to, ' ');
		put_symbol(script, to, at, fields & SCRIPT_FIELD(SYMOFF));
	}
	if (fields & SCRIPT_FIELD(DSO)) {
		tally_buf_add(to, " (", 2);
		put_image(script, to, at, fields);
		tally_buf_byte(to, ')');
	}
}

/* The address as lines of chains have it. */
static uint64_t shown_address(const struct tally_location *at, uint64_t addr)
{
	return at->mapped && at->level != 'k' ? tally_label_place(at, addr) : addr;
}

static void put_branch(const struct script *script, struct tally_buf *to,
		       const struct tally_location *at, uint64_t addr,
		       const struct script_kind *kind)
{
	if (kind->shape == SCRIPT_SHAPE_BRANCH_SYM) {
		put_symbol(script, to, at, true);
	} else {
		tally_buf_add(to, "0x", 2);
		buf_hex(to, kind->shape == SCRIPT_SHAPE_BRANCH_OFF ? at->place : addr);
	}
	if (!(kind->fields & SCRIPT_FIELD(DSO)))
		return;
	tally_buf_byte(to, '(');
	put_image(script, to, at, kind->fields);
	tally_buf_byte(to, ')');
}

static bool is_stop(const struct script *script, const char *symbol)
{
	for (size_t i = 0; symbol && i < script->options.stop_count; i++)
		if (!strcmp(script->options.stops[i], symbol))
			return true;
	return false;
}

static void put_chain_line(const struct script *script, struct tally_buf *to,
			   const struct tally_location *at, uint64_t addr, uint64_t fields)
{
	if (fields & SCRIPT_FIELD(IP)) {
		tally_buf_byte(to, '\t');
		buf_hex_right(to, shown_address(at, addr), 16);
	}
	put_place(script, to, at, fields);
}

/* The functions that were inlined where an address is, each on a line of its own, as if it was
 * where the one is that they are in.  Below 0: -ENOMEM; 0: nothing is known of any. */
static int put_inlines(const struct script_out *out, uint64_t addr, uint64_t fields,
		       const struct tally_location *at, bool *ret_stops)
{
	struct tally_buf *to = out->to;
	const struct tally_inline *inlines;
	struct tally_located located;
	size_t count;
	int result;

	if (!at->mapped || !at->symbol)
		return 0;
	result =
	    tally_resolver_locate(out->resolver, out->at, PERF_RECORD_MISC_USER, addr, &located);
	if (!result)
		result = tally_resolver_inlines(out->resolver, &located, &inlines, &count);
	if (result)
		return result;
	for (size_t i = 0; i < count && !*ret_stops; i++) {
		struct tally_location function = *at;

		function.symbol = inlines[i].name;
		put_chain_line(out->script, to, &function, addr,
			       inlines[i].inlined ? fields & ~SCRIPT_FIELD(DSO) : fields);
		if (fields & SCRIPT_FIELD(SRCLINE)) {
			tally_buf_add(to, "\n  ", 3);
			tally_inline_srcline(&inlines[i], out->script->options.full_source_path,
					     to);
		}
		if (inlines[i].inlined)
			tally_buf_add(to, " (inlined)", 10);
		tally_buf_byte(to, '\n');
		*ret_stops = is_stop(out->script, function.symbol);
	}
	return count != 0;
}

/* With --inline, recorded chains of user space are shown as unwound ones are. */
static enum script_shape shape_of(const struct script_out *out, const struct script_kind *kind,
				  uint8_t mode)
{
	return kind->shape == SCRIPT_SHAPE_CHAIN && mode == PERF_RECORD_MISC_USER &&
		       out->resolver->tables->inlines
		   ? SCRIPT_SHAPE_UNWOUND
		   : kind->shape;
}

int tally_script_place_put(const struct script_out *out, uint8_t mode, uint64_t addr,
			   const struct script_kind *kind, bool *ret_stops)
{
	const struct script *script = out->script;
	struct tally_buf *to = out->to;
	bool fall_back = kind->shape >= SCRIPT_SHAPE_ADDR;
	struct tally_location at;
	int result =
	    tally_resolver_perf_location(out->resolver, out->at, mode, addr, fall_back, &at);

	if (result)
		return result;
	*ret_stops = is_stop(script, at.symbol);
	switch (shape_of(out, kind, mode)) {
	case SCRIPT_SHAPE_UNWOUND:
		*ret_stops = false;
		result = put_inlines(out, addr, kind->fields, &at, ret_stops);
		if (result)
			break;
		*ret_stops = is_stop(script, at.symbol);
		put_chain_line(script, to, &at, addr, kind->fields);
		if (kind->fields & SCRIPT_FIELD(SRCLINE) && at.mapped)
			result = put_source(out, mode, addr);
		tally_buf_byte(to, '\n');
		break;
	case SCRIPT_SHAPE_CHAIN:
		put_chain_line(script, to, &at, addr, kind->fields);
		if (kind->fields & SCRIPT_FIELD(SRCLINE) && at.mapped)
			result = put_source(out, mode, addr);
		tally_buf_byte(to, '\n');
		break;
	case SCRIPT_SHAPE_SINGLE:
		if (kind->fields & SCRIPT_FIELD(IP))
			buf_hex_right(to, addr, 16);
		put_place(script, to, &at, kind->fields);
		if (kind->fields & SCRIPT_FIELD(SRCLINE) && at.mapped)
			result = put_source(out, mode, addr);
		break;
	case SCRIPT_SHAPE_ADDR:
		put_place(script, to, &at, kind->fields);
		break;
	case SCRIPT_SHAPE_BRANCH:
	case SCRIPT_SHAPE_BRANCH_SYM:
	case SCRIPT_SHAPE_BRANCH_OFF:
		put_branch(script, to, &at, addr, kind);
		break;
	}
	return result < 0 ? result : to->failed;
}

int tally_script_symbol_put(const struct script_out *out, struct tally_buf *tail, uint8_t mode,
			    uint64_t addr, const struct script_kind *kind, struct script_line *line)
{
	const struct script *script = out->script;
	struct tally_buf *to = out->to;
	struct tally_location at;
	int result = tally_resolver_perf_location(out->resolver, out->at, mode, addr, false, &at);

	if (result)
		return result;
	line->stops = is_stop(script, at.symbol);
	line->offset = at.mapped && at.symbol && (kind->fields & SCRIPT_FIELD(SYM)) &&
		       (kind->fields & SCRIPT_FIELD(SYMOFF));
	line->start = at.symbol_start;
	/* Where it counts from depends on the mapping then. */
	line->apart = line->offset && at.place >= at.symbol_end;
	if (kind->fields & SCRIPT_FIELD(SYM)) {
		tally_buf_byte(to, ' ');
		put_symbol(script, to, &at, false);
	}
	if (line->offset)
		tally_buf_add(to, "+0x", 3);
	if (kind->fields & SCRIPT_FIELD(DSO)) {
		tally_buf_add(tail, " (", 2);
		put_image(script, tail, &at, kind->fields);
		tally_buf_byte(tail, ')');
	}
	if (kind->shape != SCRIPT_SHAPE_SINGLE)
		tally_buf_byte(tail, '\n');
	return to->failed ? to->failed : tail->failed;
}
