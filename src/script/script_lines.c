#include "script/script_lines.h"

#include <errno.h>
#include <stdlib.h>
#include "base/bytes.h"
#include "base/table.h"
#include "script/script_state.h"

/* Bytes that stand with the text of a symbol: tab, address, offset. */
#define NUMBERS_MOST (1 + 16 + 16)

static void view_free(struct script_view *view)
{
	for (uint32_t i = 0; view && i < view->image_count; i++)
		free(view->images[i].lines);
	if (view)
		free(view->images);
	free(view);
}

void tally_script_lines_done(struct script_lines *lines)
{
	for (unsigned i = 0; i < SCRIPT_KINDS_MOST; i++)
		view_free(lines->views[i]);
	tally_buf_done(&lines->store);
	free(lines->slots);
	free(lines->words);
	free(lines->back);
	free(lines->modes);
	*lines = (struct script_lines){0};
}

void tally_script_lines_forget(struct script_lines *lines)
{
	lines->store.size = 0;
	if (lines->slots)
		memset(lines->slots, 0, sizeof(*lines->slots) * SCRIPT_SLOTS);
	for (unsigned i = 0; i < SCRIPT_KINDS_MOST; i++) {
		struct script_view *view = lines->views[i];

		for (uint32_t k = 0; view && k < view->image_count; k++) {
			struct script_image *image = &view->images[k];

			if (image->lines)
				memset(image->lines, 0, image->count * sizeof(*image->lines));
			image->tail_length = 0;
		}
	}
}

static inline const struct script_line *line_at(const struct script_lines *lines, uint32_t number)
{
	return (const void *)(lines->store.data + ((uint64_t)number - 1) * 8);
}

/* --- making lines --- */

/* Appends text with room for a piece behind it; where it begins. */
static size_t keep_text(struct script_lines *lines, const struct tally_buf *text)
{
	size_t at = lines->store.size;

	tally_buf_add(&lines->store, text->data, text->size);
	tally_buf_zero(&lines->store, align_up(lines->store.size, 8) - lines->store.size);
	(void)tally_buf_reserve(&lines->store, SCRIPT_COPY_PIECE);
	return at;
}

/* Keeps a line and its text: its number, 0 when memory or numbers ran out.  More than one chain of
 * the longest names: no recording of any use. */
static uint32_t keep_line(struct script_lines *lines, struct script_line *line,
			  const struct tally_buf *text)
{
	size_t at = lines->store.size;

	line->head = (uint32_t)text->size;
	if (text->failed || at / 8 + 1 >= 1U << SCRIPT_AT_BITS)
		return 0;
	tally_buf_add(&lines->store, line, sizeof(*line));
	(void)keep_text(lines, text);
	if (line->head + line->tail_length + NUMBERS_MOST > lines->longest)
		lines->longest = line->head + line->tail_length + NUMBERS_MOST;
	return lines->store.failed ? 0 : (uint32_t)(at / 8 + 1);
}

/* --- by address --- */

/* The era of addresses of a mode.  Those of the kernel and of processes have no number in common.
 */
static struct script_key key_of(const struct tally_resolved *sample, uint8_t mode, uint64_t addr)
{
	uint32_t era = mode == PERF_RECORD_MISC_KERNEL ? sample->kernel_era
		       : mode == PERF_RECORD_MISC_USER ? sample->era
						       : UINT32_MAX;
	uint64_t hash = hash_u64(addr ^ (uint64_t)era << 36);

	return (struct script_key){addr, era,
				   (uint32_t)(hash >> (64 - SCRIPT_BUCKET_BITS)) * SCRIPT_BUCKET};
}

static const struct script_line *make_by_address(const struct script_out *out, uint8_t mode,
						 struct script_key key, unsigned kind)
{
	struct script_lines *lines = &out->worker->lines;
	struct script_line_slot *slot = &lines->slots[key.bucket];
	struct script_line line = {0};
	struct tally_buf text = {0};
	struct script_out own = *out;
	uint32_t number = 0;
	unsigned i;

	own.to = &text;
	if (!tally_script_place_put(&own, mode, key.addr,
				    &out->script->kinds[kind % SCRIPT_KINDS_MOST], &line.stops))
		number = keep_line(lines, &line, &text);
	tally_buf_done(&text);
	if (!number)
		return NULL;
	for (i = 0; i < SCRIPT_BUCKET - 1 && slot[i].at_kind; i++)
		;
	if (slot[i].at_kind)
		i = lines->next++ % SCRIPT_BUCKET;
	slot[i] = (struct script_line_slot){
	    .addr = key.addr,
	    .era = key.era,
	    .at_kind = number | (uint32_t)kind << SCRIPT_AT_BITS,
	};
	return line_at(lines, number);
}

static int find_by_address(const struct script_out *out, uint8_t mode, uint64_t addr, unsigned kind,
			   struct script_found *ret)
{
	struct script_lines *lines = &out->worker->lines;
	const struct script_line_slot *slot;
	const struct script_line *line = NULL;
	uint8_t other = mode;
	struct script_key key;

	if (!lines->slots)
		lines->slots = table_new(SCRIPT_SLOTS, sizeof(*lines->slots));
	if (!lines->slots)
		return -ENOMEM;
	/* What is looked up in another mode too depends on that one's mappings. */
	if (out->script->kinds[kind].shape >= SCRIPT_SHAPE_ADDR)
		other = tally_addr_mode(mode, addr);
	if (other != mode)
		kind += SCRIPT_KINDS_MOST;
	key = key_of(out->at, other, addr);
	slot = &lines->slots[key.bucket];
	for (unsigned i = 0; i < SCRIPT_BUCKET && !line; i++)
		if (slot[i].addr == addr && slot[i].era == key.era &&
		    slot[i].at_kind >> SCRIPT_AT_BITS == kind && slot[i].at_kind)
			line = line_at(lines, slot[i].at_kind & ((1U << SCRIPT_AT_BITS) - 1));
	if (__builtin_expect(!line, 0))
		line = make_by_address(out, mode, key, kind);
	*ret = (struct script_found){.line = line};
	return line ? 0 : -ENOMEM;
}

/* --- by symbol --- */

/* The image of that number in a view, with room for the lines of its symbols; NULL: no memory. */
static struct script_image *image_of(struct script_view *view, uint32_t number, uint32_t symbols)
{
	if (number >= view->image_count) {
		uint32_t count = number + 16;

		if (!array_resize(&view->images, count, sizeof(*view->images)))
			return NULL;
		memset(view->images + view->image_count, 0,
		       (count - view->image_count) * sizeof(*view->images));
		view->image_count = count;
	}
	if (!view->images[number].lines) {
		view->images[number].lines =
		    calloc((size_t)symbols + 1, sizeof(*view->images[number].lines));
		view->images[number].count = symbols + 1;
	}
	return view->images[number].lines ? &view->images[number] : NULL;
}

static void add_extent(struct script_extents *set, uint64_t from,
		       const struct script_extent *extent)
{
	uint32_t at = 0;

	if (set->count == SCRIPT_EXTENTS) {
		at = set->victim++ % SCRIPT_EXTENTS;
		set->count--;
		memmove(&set->from[at], &set->from[at + 1], (set->count - at) * sizeof(*set->from));
		memmove(&set->rest[at + 1], &set->rest[at + 2],
			(set->count - at) * sizeof(*set->rest));
	}
	for (at = 0; at < set->count && set->from[at] < from; at++)
		;
	memmove(&set->from[at + 1], &set->from[at], (set->count - at) * sizeof(*set->from));
	memmove(&set->rest[at + 2], &set->rest[at + 1], (set->count - at) * sizeof(*set->rest));
	set->from[at] = from;
	set->rest[at + 1] = *extent;
	set->count++;
}

/* Finds out what there is around an address.  1; 0: that is not plain; -ENOMEM. */
static int learn_extent(const struct script_out *out, struct script_view *view,
			struct script_extents *set, const struct script_kind *kind, uint8_t mode,
			uint64_t addr)
{
	struct tally_extent there;
	struct script_extent extent = {0};
	struct script_image *image;
	int result = tally_resolver_extent(out->resolver, out->at, mode, addr, &there);
	uint32_t number;

	if (result <= 0)
		return result;
	extent.until = there.until;
	number = there.kind == TALLY_EXTENT_NOTHING ? 0 : there.image + 1;
	if (there.kind == TALLY_EXTENT_NOTHING ||
	    (there.kind == TALLY_EXTENT_SHARED && kind->by_symbol)) {
		image = image_of(view, number, number && kind->symbols ? there.symbol_count : 0);
		if (!image)
			return -ENOMEM;
		extent.less = there.less;
		extent.lines = image->lines;
		extent.symbols = number && kind->symbols ? there.symbols : NULL;
		extent.count = image->count;
		extent.image = number;
	}
	add_extent(set, there.from, &extent);
	return 1;
}

/* Makes the line of a symbol.  1; 0: an address must have its own; -ENOMEM. */
static int make_by_symbol(const struct script_out *out, uint8_t mode, uint64_t addr, unsigned kind,
			  const struct script_extent *extent)
{
	struct script_lines *lines = &out->worker->lines;
	struct script_image *image = &lines->views[kind]->images[extent->image];
	struct tally_buf head = {0}, tail = {0};
	struct script_line line = {0};
	struct script_out own = *out;
	int64_t symbol =
	    extent->symbols ? tally_extent_symbol(extent->symbols, addr - extent->less) : -1;
	uint32_t at = symbol < 0 ? 0 : (uint32_t)symbol + 1;
	int result;

	/* The existing line cannot be used for this one. */
	if (at >= extent->count || extent->lines[at])
		return 0;
	own.to = &head;
	result = tally_script_symbol_put(&own, &tail, mode, addr, &out->script->kinds[kind], &line);
	if (!result && !image->tail_length && tail.size) {
		image->tail = (uint32_t)keep_text(lines, &tail);
		image->tail_length = (uint32_t)tail.size;
	}
	line.tail = image->tail;
	line.tail_length = image->tail_length;
	if (!result)
		extent->lines[at] = keep_line(lines, &line, &head);
	tally_buf_done(&head);
	tally_buf_done(&tail);
	return result || !extent->lines[at] ? -ENOMEM : 1;
}

/* Learns what is missing so that script_line_look() finds the line.  1; 0: it goes by the address;
 * -ENOMEM. */
static int learn(const struct script_out *out, uint8_t mode, uint64_t addr, unsigned kind)
{
	struct script_lines *lines = &out->worker->lines;
	bool kernel = mode == PERF_RECORD_MISC_KERNEL;
	uint32_t era = kernel ? out->at->kernel_era : out->at->era, at = 0;
	struct script_extents *set;
	int result = 1;

	if (!lines->views[kind])
		lines->views[kind] = calloc(1, sizeof(*lines->views[kind]));
	if (!lines->views[kind])
		return -ENOMEM;
	set = &lines->views[kind]->sets[kernel ? SCRIPT_EXTENT_SETS : era % SCRIPT_EXTENT_SETS];
	if (!set->made || set->era != era) {
		*set = (struct script_extents){.era = era, .made = true};
		memset(set->from, 0xff, sizeof(set->from));
	}
	while (at < set->count && set->from[at] <= addr)
		at++;
	if (addr >= set->rest[at].until) {
		result = learn_extent(out, lines->views[kind], set, &out->script->kinds[kind], mode,
				      addr);
		for (at = 0; at < set->count && set->from[at] <= addr; at++)
			;
	}
	if (result <= 0 || !set->rest[at].lines)
		return result < 0 ? result : 0;
	return make_by_symbol(out, mode, addr, kind, &set->rest[at]);
}

int tally_script_line_find(const struct script_out *out, uint8_t mode, uint64_t addr, unsigned kind,
			   struct script_found *ret)
{
	struct script_lines *lines = &out->worker->lines;
	int result = 0;

	if (out->script->kinds[kind].shape <= SCRIPT_SHAPE_SINGLE &&
	    (mode == PERF_RECORD_MISC_USER || mode == PERF_RECORD_MISC_KERNEL)) {
		if (script_line_look(lines, out->at, mode, addr, kind, ret))
			return 0;
		result = learn(out, mode, addr, kind);
		if (result > 0 && script_line_look(lines, out->at, mode, addr, kind, ret))
			return 0;
	}
	return result < 0 ? result : find_by_address(out, mode, addr, kind, ret);
}

/* As tally_script_line_put(out), of any kind. */
static int put_line(const struct script_out *out, uint8_t mode, uint64_t addr, unsigned kind)
{
	struct script_lines *lines = &out->worker->lines;
	struct script_found found;
	int result = tally_script_line_find(out, mode, addr, kind, &found);
	char *put = result ? NULL : buf_put_begin(out->to, lines->longest + SCRIPT_COPY_PIECE);

	if (!put)
		return -ENOMEM;
	if (found.by_symbol && out->script->kinds[kind].fields & SCRIPT_FIELD(IP))
		put = put_hex_right(put, addr, 16);
	buf_put_end(out->to, (const char *)script_found_put(lines, &found, (uint8_t *)put));
	return 0;
}

int tally_script_line_put(const struct script_out *out, uint8_t mode, uint64_t addr, unsigned kind)
{
	struct script_lines *lines = &out->worker->lines;
	struct tally_buf *to = out->to;
	const struct script_memo *known;
	struct script_memo *memo;
	size_t before = to->size;
	uint32_t era = mode == PERF_RECORD_MISC_KERNEL ? out->at->kernel_era : out->at->era;
	int result;

	if (out->script->kinds[kind].shape != SCRIPT_SHAPE_SINGLE || !lines->views[kind] ||
	    (mode != PERF_RECORD_MISC_KERNEL && mode != PERF_RECORD_MISC_USER))
		return put_line(out, mode, addr, kind);
	known = script_memo_look(lines, era, addr, kind);
	if (known) {
		char *put = buf_put_begin(to, sizeof(known->text));

		if (put)
			buf_put_end(to, script_memo_put(known, put));
		return to->failed;
	}
	result = put_line(out, mode, addr, kind);
	if (result || to->size - before > sizeof(memo->text))
		return result;
	memo = &lines->views[kind]->memos[hash_u64(addr) >> (64 - SCRIPT_MEMO_BITS)];
	if (memo->length && memo->noted == lines->slot)
		return 0;
	memo->addr = addr;
	memo->era = era;
	memo->length = (uint16_t)(to->size - before);
	memcpy(memo->text, to->data + before, memo->length);
	return 0;
}
