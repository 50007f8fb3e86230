#include "output/script_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/digits.h"
#include "base/table.h"
#include "output/script_state.h"
#include "session/lines.h"

#define FIRST_MARK ((uint64_t)PERF_CONTEXT_MAX)

/* Text is copied in pieces of this size: what is read and written beyond its end has room. */
#define PIECE 32U

/* The mode of words that were unwound. */
#define UNWOUND 0x80

int tally_script_lines_init(struct script_lines *lines)
{
	lines->slots = table_new(SCRIPT_SLOTS, sizeof(*lines->slots));
	lines->extents = calloc(SCRIPT_EXTENT_SETS, sizeof(*lines->extents));
	if (!lines->slots || !lines->extents) {
		tally_script_lines_done(lines);
		return -ENOMEM;
	}
	return 0;
}

void tally_script_lines_done(struct script_lines *lines)
{
	tally_buf_done(&lines->store);
	free(lines->slots);
	free(lines->extents);
	free(lines->words);
	free(lines->back);
	free(lines->found);
	free(lines->keys);
	free(lines->modes);
	*lines = (struct script_lines){0};
}

/* --- making text --- */

/* The line of the source, on a line of its own, where anything is known. */
static int put_source(const struct script *script, struct tally_buf *to,
		      struct tally_resolver *resolver, const struct tally_resolved *sample,
		      uint8_t mode, uint64_t addr)
{
	struct tally_located at;
	size_t before = to->size;
	int result = tally_resolver_locate(resolver, sample, mode, addr, &at);

	if (result)
		return result;
	tally_buf_add(to, "\n  ", 3);
	result = tally_resolver_srcline(resolver, &at, script->options.full_source_path, to);
	if (to->size == before + 3)
		to->size = before;
	return result;
}

static void put_image(const struct script *script, struct tally_buf *to,
		      const struct tally_spot *at, uint64_t fields)
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
		       const struct tally_spot *at, bool offset)
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
		      const struct tally_spot *at, uint64_t fields)
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

/* The address as lines of chains have it: in a file its place there, which a memfd counts as,
 * though its symbols are found by addresses. */
static uint64_t shown_address(const struct tally_spot *at, uint64_t addr)
{
	if (!at->mapped || at->level == 'k')
		return addr;
	if (!strncmp(at->image_path, "/memfd:", 7))
		return addr - at->map_start + at->map_pgoff;
	return at->place;
}

static void put_branch(const struct script *script, struct tally_buf *to,
		       const struct tally_spot *at, uint64_t addr, const struct script_kind *kind)
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
			   const struct tally_spot *at, uint64_t addr, uint64_t fields)
{
	if (fields & SCRIPT_FIELD(IP)) {
		tally_buf_byte(to, '\t');
		buf_hex_right(to, shown_address(at, addr), 16);
	}
	put_place(script, to, at, fields);
}

/* The functions that were inlined where an address is, each on a line of its own, as if it was
 * where the one is that they are in.  Below 0: -ENOMEM; 0: nothing is known of any. */
static int put_inlines(const struct script *script, struct tally_buf *to,
		       struct tally_resolver *resolver, const struct tally_resolved *sample,
		       uint64_t addr, uint64_t fields, const struct tally_spot *at, bool *ret_stops)
{
	const struct tally_inline *inlines;
	struct tally_located located;
	size_t count;
	int result;

	if (!at->mapped || !at->symbol)
		return 0;
	result = tally_resolver_locate(resolver, sample, PERF_RECORD_MISC_USER, addr, &located);
	if (!result)
		result = tally_resolver_inlines(resolver, &located, &inlines, &count);
	if (result)
		return result;
	for (size_t i = 0; i < count && !*ret_stops; i++) {
		struct tally_spot function = *at;

		function.symbol = inlines[i].name;
		put_chain_line(script, to, &function, addr,
			       inlines[i].inlined ? fields & ~SCRIPT_FIELD(DSO) : fields);
		if (fields & SCRIPT_FIELD(SRCLINE)) {
			tally_buf_add(to, "\n  ", 3);
			tally_inline_srcline(&inlines[i], script->options.full_source_path, to);
		}
		if (inlines[i].inlined)
			tally_buf_add(to, " (inlined)", 10);
		tally_buf_byte(to, '\n');
		*ret_stops = is_stop(script, function.symbol);
	}
	return count != 0;
}

/* Appends the text; *ret_stops says whether chains end behind it.  0 or -ENOMEM. */
static int put_text(const struct script *script, struct tally_buf *to,
		    struct tally_resolver *resolver, const struct tally_resolved *sample,
		    uint8_t mode, uint64_t addr, const struct script_kind *kind, bool *ret_stops)
{
	bool fall_back = kind->shape >= SCRIPT_SHAPE_ADDR;
	struct tally_spot at;
	int result = tally_resolver_perf_spot(resolver, sample, mode, addr, fall_back, &at);

	if (result)
		return result;
	*ret_stops = is_stop(script, at.symbol);
	switch (kind->shape) {
	case SCRIPT_SHAPE_UNWOUND:
		*ret_stops = false;
		result =
		    put_inlines(script, to, resolver, sample, addr, kind->fields, &at, ret_stops);
		if (result)
			break;
		*ret_stops = is_stop(script, at.symbol);
		put_chain_line(script, to, &at, addr, kind->fields);
		if (kind->fields & SCRIPT_FIELD(SRCLINE) && at.mapped)
			result = put_source(script, to, resolver, sample, mode, addr);
		tally_buf_byte(to, '\n');
		break;
	case SCRIPT_SHAPE_CHAIN:
		put_chain_line(script, to, &at, addr, kind->fields);
		if (kind->fields & SCRIPT_FIELD(SRCLINE) && at.mapped)
			result = put_source(script, to, resolver, sample, mode, addr);
		tally_buf_byte(to, '\n');
		break;
	case SCRIPT_SHAPE_SINGLE:
		if (kind->fields & SCRIPT_FIELD(IP))
			buf_hex_right(to, addr, 16);
		put_place(script, to, &at, kind->fields);
		if (kind->fields & SCRIPT_FIELD(SRCLINE) && at.mapped)
			result = put_source(script, to, resolver, sample, mode, addr);
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

/* Makes the line; its `at` in the store, or -ENOMEM. */
static int64_t store_line(struct script_lines *lines, const struct script *script,
			  struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t mode, uint64_t addr, unsigned kind)
{
	struct script_line line = {0};
	size_t at = lines->store.size;
	int result;

	tally_buf_add(&lines->store, &line, sizeof(line));
	result = put_text(script, &lines->store, resolver, sample, mode, addr,
			  &script->kinds[kind % SCRIPT_KINDS_MOST], &line.stops);
	if (result || lines->store.failed)
		return -ENOMEM;
	line.length = (uint32_t)(lines->store.size - at - sizeof(line));
	if (line.length > lines->longest)
		lines->longest = line.length;
	memcpy(lines->store.data + at, &line, sizeof(line));
	tally_buf_zero(&lines->store, align_up(lines->store.size, 8) - lines->store.size);
	/* More than one chain of the longest names: no recording of any use. */
	if (tally_buf_reserve(&lines->store, PIECE) || at / 8 + 1 >= 1U << SCRIPT_AT_BITS)
		return -ENOMEM;
	return (int64_t)at;
}

int64_t tally_script_line_make(struct script_lines *lines, const struct script *script,
			       struct tally_resolver *resolver, const struct tally_resolved *sample,
			       uint8_t mode, uint64_t addr, unsigned kind, struct script_key key)
{
	struct script_line_slot *slot = &lines->slots[key.bucket];
	int64_t at = store_line(lines, script, resolver, sample, mode, addr, kind);
	unsigned i;

	if (at < 0)
		return at;
	for (i = 0; i < SCRIPT_BUCKET - 1 && slot[i].at_kind; i++)
		;
	if (slot[i].at_kind)
		i = lines->next++ % SCRIPT_BUCKET;
	slot[i] = (struct script_line_slot){
	    .addr = key.addr,
	    .era = key.era,
	    .at_kind = (uint32_t)(at / 8 + 1) | (uint32_t)kind << SCRIPT_AT_BITS,
	};
	return at;
}

/* --- putting it --- */

/* Copies at least `size` bytes; the room for PIECE more is there on both sides. */
static inline void copy_over(uint8_t *to, const uint8_t *from, size_t size)
{
	for (size_t done = 0; done < size; done += PIECE)
		memcpy(to + done, from + done, PIECE);
}

int tally_script_line_put(struct script_lines *lines, const struct script *script,
			  struct tally_buf *to, struct tally_resolver *resolver,
			  const struct tally_resolved *sample, uint8_t mode, uint64_t addr,
			  unsigned kind)
{
	/* What is looked up in another mode too depends on that one's mappings. */
	uint8_t other =
	    script->kinds[kind].shape >= SCRIPT_SHAPE_ADDR ? tally_addr_mode(mode, addr) : mode;
	unsigned both = other == mode ? kind : kind + SCRIPT_KINDS_MOST;
	struct script_key key = script_key_of(sample, other, addr);
	int64_t at = script_line_look(lines, key, both);
	const struct script_line *line;

	if (at < 0)
		at = tally_script_line_make(lines, script, resolver, sample, mode, addr, both, key);
	if (at < 0)
		return (int)at;
	line = script_line_at(lines, (uint64_t)at);
	if (tally_buf_reserve(to, line->length + PIECE))
		return -ENOMEM;
	copy_over(to->data + to->size, (const uint8_t *)(line + 1), line->length);
	to->size += line->length;
	return 0;
}

static bool chain_room(struct script_lines *lines, uint32_t count)
{
	uint32_t room = lines->room ? lines->room : 256;

	if (count <= lines->room)
		return true;
	while (room < count)
		room *= 2;
	if (!array_resize(&lines->words, room, sizeof(*lines->words)) ||
	    !array_resize(&lines->back, room, sizeof(*lines->back)) ||
	    !array_resize(&lines->found, room, sizeof(*lines->found)) ||
	    !array_resize(&lines->keys, room, sizeof(*lines->keys)) ||
	    !array_resize(&lines->modes, room, sizeof(*lines->modes)))
		return false;
	lines->room = room;
	return true;
}

/* How many words of the chain are looked at: perf stops behind so many addresses.  What was unwound
 * is cut already.
 */
static uint32_t cut_chain(const struct script *script, const struct tally_resolved *sample)
{
	const uint64_t *chain = sample->sample.callchain;
	uint64_t count = sample->sample.callchain_nr;
	uint32_t frames = 0;

	if (count <= script->max_stack || sample->unwound)
		return (uint32_t)count;
	for (uint32_t i = 0; i < count; i++) {
		if (frames == script->max_stack)
			return i;
		frames += chain[i] < FIRST_MARK;
	}
	return (uint32_t)count;
}

/* The mode behind a mark; 0: perf knows no such mark, and shows nothing of the chain. */
static inline uint8_t mode_behind(uint64_t mark)
{
	switch (mark) {
	case (uint64_t)PERF_CONTEXT_HV:
		return PERF_RECORD_MISC_HYPERVISOR;
	case (uint64_t)PERF_CONTEXT_KERNEL:
		return PERF_RECORD_MISC_KERNEL;
	case (uint64_t)PERF_CONTEXT_USER:
		return PERF_RECORD_MISC_USER;
	default:
		return 0;
	}
}

/* What struct script_lines found[] has for words without a line yet. */
#define NO_LINE UINT32_MAX       /* marks */
#define NOTHING (UINT32_MAX - 1) /* an address where nothing is */
#define AT_KEY  (UINT32_MAX - 2) /* to be looked for under its key */
#define UNKNOWN (UINT32_MAX - 3) /* ahead only: not found out */

/* The known extent that holds an address, or NULL. */
static inline const struct tally_extent *extent_find(struct script_extents *set, uint64_t addr)
{
	const struct tally_extent *extent = &set->extents[set->last];

	if (addr >= extent->from && addr < extent->until)
		return extent;
	for (uint32_t i = 0; i < SCRIPT_EXTENTS; i++) {
		extent = &set->extents[i];
		if (addr >= extent->from && addr < extent->until) {
			set->last = i;
			return extent;
		}
	}
	return NULL;
}

/* Looks the extent of an address up.  1; 0: it is not plain; -ENOMEM. */
static __attribute__((noinline)) int extent_learn(struct script_extents *set,
						  struct tally_resolver *resolver,
						  const struct tally_resolved *sample,
						  uint64_t addr)
{
	uint32_t next = set->count % SCRIPT_EXTENTS;
	int result = tally_resolver_extent(resolver, sample, addr, &set->extents[next]);

	if (result > 0) {
		set->count++;
		set->last = next;
	}
	return result;
}

/* What stands behind addresses where nothing is. */
static void begin_nothing(struct script_lines *lines, const struct script *script, unsigned kind)
{
	uint64_t fields = script->kinds[kind].fields;

	if (lines->nothing_length && lines->nothing_kind == kind)
		return;
	lines->nothing_kind = kind;
	lines->nothing_length =
	    (uint32_t)snprintf(lines->nothing, sizeof(lines->nothing), "%s%s\n",
			       fields & SCRIPT_FIELD(SYM) ? " [unknown]" : "",
			       fields & SCRIPT_FIELD(DSO) ? " ([unknown])" : "");
	if (lines->longest < 17 + lines->nothing_length)
		lines->longest = 17 + lines->nothing_length;
}

static uint8_t *put_nothing(const struct script_lines *lines, uint8_t *put, uint64_t addr,
			    bool address)
{
	char *to = (char *)put;

	if (address) {
		*to++ = '\t';
		to = put_hex_right(to, addr, 16);
	}
	memcpy(to, lines->nothing, sizeof(lines->nothing));
	return (uint8_t *)to + lines->nothing_length;
}

/* Where the line of a user address is, or that there is nothing. */
static int find_user(struct script_lines *lines, struct tally_resolver *resolver,
		     const struct tally_resolved *sample, uint64_t addr, struct script_key *ret)
{
	struct script_extents *set = &lines->extents[sample->era % SCRIPT_EXTENT_SETS];
	const struct tally_extent *extent;

	if (__builtin_expect(set->era != sample->era, 0))
		*set = (struct script_extents){.era = sample->era};
	extent = extent_find(set, addr);
	if (!extent) {
		int result = extent_learn(set, resolver, sample, addr);

		if (result < 0)
			return result;
		extent = result ? &set->extents[set->last] : NULL;
	}
	if (!extent || extent->kind == TALLY_EXTENT_OWN)
		*ret = script_key(addr, sample->era);
	else if (extent->kind == TALLY_EXTENT_FILE)
		*ret = script_key(addr - extent->less, extent->image | SCRIPT_ERA_IMAGE);
	else
		return 0;
	return 1;
}

/* What was found out ahead of a chain, if that is true for its sample; else NULL. */
static const struct script_ahead *ahead_of(const struct script_lines *lines,
					   const struct tally_resolved *sample,
					   const uint64_t *chain, unsigned kind)
{
	for (uint32_t i = 0; i < SCRIPT_AHEAD; i++) {
		const struct script_ahead *ahead = &lines->ahead[i];

		if (lines->ahead_of[i] == chain)
			return ahead->era == sample->era &&
				       ahead->kernel_era == sample->kernel_era &&
				       ahead->kind == kind
				   ? ahead
				   : NULL;
	}
	return NULL;
}

/* Where the line of an address is: what found[] is to have, or -ENOMEM. */
static int64_t find_key(struct script_lines *lines, struct tally_resolver *resolver,
			const struct tally_resolved *sample, uint8_t mode, uint64_t addr,
			struct script_key *ret)
{
	int there = 1;

	if (mode == PERF_RECORD_MISC_USER)
		there = find_user(lines, resolver, sample, addr, ret);
	else
		*ret = script_key_of(sample, mode, addr);
	if (there <= 0)
		return there ? there : (int64_t)NOTHING;
	__builtin_prefetch(&lines->slots[ret->bucket]);
	return AT_KEY;
}

/* The modes of the words that are not known from the last chain, and where their lines are.  1; 0:
 * an unknown mark; -ENOMEM. */
static int read_words(struct script_lines *lines, struct tally_resolver *resolver,
		      const struct tally_resolved *sample, const uint64_t *chain, uint32_t count,
		      uint32_t *equal, unsigned kind)
{
	const struct script_ahead *ahead = ahead_of(lines, sample, chain, kind);
	uint32_t known = ahead ? ahead->count : 0;
	uint8_t mode = PERF_RECORD_MISC_USER;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = count - 1 - i;
		uint64_t word = chain[i];
		int64_t found;

		if (sample->unwound && i >= sample->unwound)
			mode = UNWOUND;
		/* What is equal was read under the same mode, or is not equal. */
		if (at < *equal) {
			if (lines->modes[at] == mode)
				return 1;
			*equal = 0;
		}
		lines->words[at] = word;
		lines->modes[at] = mode;
		if (word >= FIRST_MARK && mode != UNWOUND) {
			lines->found[at] = NO_LINE;
			mode = mode_behind(word);
			if (!mode)
				return 0;
			continue;
		}
		if (i < known && ahead->found[i] != UNKNOWN) {
			lines->found[at] = ahead->found[i];
			lines->keys[at] = ahead->keys[i];
			continue;
		}
		found = find_key(lines, resolver, sample,
				 mode == UNWOUND ? PERF_RECORD_MISC_USER : mode, word,
				 &lines->keys[at]);
		if (found < 0)
			return (int)found;
		lines->found[at] = (uint32_t)found;
	}
	return 1;
}

static inline void prefetch_line(const struct script_lines *lines, int64_t at)
{
	__builtin_prefetch(script_line_at(lines, (uint64_t)at));
	__builtin_prefetch(script_line_at(lines, (uint64_t)at) + 8);
}

static int find_lines(struct script_lines *lines, const struct script *script,
		      struct tally_resolver *resolver, const struct tally_resolved *sample,
		      uint32_t count, uint32_t equal, unsigned kind)
{
	for (uint32_t at = count; at-- > equal;) {
		bool unwound = lines->modes[at] == UNWOUND;
		unsigned as = unwound ? script->kinds[kind].unwound : kind;
		int64_t found;

		if (lines->found[at] != AT_KEY)
			continue;
		found = script_line_look(lines, lines->keys[at], as);
		if (found < 0)
			found = tally_script_line_make(lines, script, resolver, sample,
						       unwound ? PERF_RECORD_MISC_USER
							       : lines->modes[at],
						       lines->words[at], as, lines->keys[at]);
		if (found < 0)
			return (int)found;
		lines->found[at] = (uint32_t)(found / 8);
		prefetch_line(lines, found);
	}
	return 0;
}

/* The same for a word whose sample's turn has not come: what the process has is not looked up. */
static uint32_t find_ahead(const struct script_lines *lines, uint8_t mode, uint64_t addr,
			   uint32_t era, struct script_key *ret)
{
	struct script_extents *set = &lines->extents[era % SCRIPT_EXTENT_SETS];
	const struct tally_extent *extent;

	if (mode == PERF_RECORD_MISC_KERNEL) {
		*ret = script_kernel_key(addr, lines->kernel_era);
		return AT_KEY;
	}
	if (mode != PERF_RECORD_MISC_USER || !era || set->era != era)
		return UNKNOWN;
	extent = extent_find(set, addr);
	if (!extent || extent->kind == TALLY_EXTENT_OWN)
		return UNKNOWN;
	if (extent->kind == TALLY_EXTENT_NOTHING)
		return NOTHING;
	*ret = script_key(addr - extent->less, extent->image | SCRIPT_ERA_IMAGE);
	return AT_KEY;
}

void tally_script_chain_ahead(struct script_lines *lines, const uint64_t *chain, uint64_t count,
			      uint32_t era, unsigned kind)
{
	uint32_t number = lines->ahead_next++ % SCRIPT_AHEAD, i;
	struct script_ahead *ahead = &lines->ahead[number];
	uint8_t mode = PERF_RECORD_MISC_USER;

	for (i = 0; i < count && i < SCRIPT_AHEAD_WORDS; i++) {
		ahead->found[i] = NO_LINE;
		if (chain[i] >= FIRST_MARK) {
			mode = mode_behind(chain[i]);
			continue;
		}
		ahead->found[i] = find_ahead(lines, mode, chain[i], era, &ahead->keys[i]);
		if (ahead->found[i] == AT_KEY)
			__builtin_prefetch(&lines->slots[ahead->keys[i].bucket]);
	}
	ahead->count = i;
	ahead->era = era;
	ahead->kernel_era = lines->kernel_era;
	ahead->kind = kind;
	lines->ahead_of[number] = chain;
}

void tally_script_chain_near(struct script_lines *lines, const uint64_t *chain)
{
	struct script_ahead *ahead = lines->ahead;
	uint32_t number = 0;

	while (number < SCRIPT_AHEAD && lines->ahead_of[number] != chain)
		number++;
	if (number == SCRIPT_AHEAD)
		return;
	ahead += number;
	for (uint32_t i = 0; i < ahead->count; i++) {
		int64_t found;

		if (ahead->found[i] != AT_KEY)
			continue;
		found = script_line_look(lines, ahead->keys[i], ahead->kind);
		if (found < 0)
			continue;
		ahead->found[i] = (uint32_t)(found / 8);
		prefetch_line(lines, found);
	}
}

int tally_script_chain_put(struct script_lines *lines, const struct script *script,
			   struct tally_buf *to, struct tally_resolver *resolver,
			   const struct tally_resolved *sample, unsigned kind)
{
	const uint64_t *chain = sample->sample.callchain;
	uint32_t count = cut_chain(script, sample), equal = 0;
	uint8_t *start, *put;
	size_t old;
	bool stopped = false, address = script->kinds[kind].fields & SCRIPT_FIELD(IP);
	int result;

	if (!chain_room(lines, count))
		return -ENOMEM;
	begin_nothing(lines, script, kind);
	/* Words that are equal from the outermost in have the same text. */
	if (lines->chain_valid && lines->era == sample->era && lines->kind == kind &&
	    lines->kernel_era == sample->kernel_era) {
		uint32_t most = count < lines->count ? count : lines->count;

		while (equal < most && lines->words[equal] == chain[count - 1 - equal])
			equal++;
	}
	lines->chain_valid = false;
	result = read_words(lines, resolver, sample, chain, count, &equal, kind);
	if (result <= 0)
		return result;
	result = find_lines(lines, script, resolver, sample, count, equal, kind);
	if (result)
		return result;
	/* How much of the last chain's text is the equal words'. */
	old = equal ? lines->back[equal - 1] : 0;
	if (tally_buf_reserve(to, (size_t)(count - equal) * lines->longest + old + PIECE))
		return -ENOMEM;
	start = put = to->data + to->size;
	for (uint32_t at = count; at-- > equal && !stopped;) {
		const struct script_line *line;

		lines->back[at] = (uint32_t)(put - start);
		if (lines->found[at] == NO_LINE)
			continue;
		if (lines->found[at] == NOTHING) {
			put = put_nothing(lines, put, lines->words[at], address);
			continue;
		}
		line = script_line_at(lines, (uint64_t)lines->found[at] * 8);
		copy_over(put, (const uint8_t *)(line + 1), line->length);
		put += line->length;
		stopped = line->stops;
	}
	if (!stopped) {
		memcpy(put, to->data + lines->chain_end - old, old);
		put += old;
	}
	/* From the start was known; from the end is what the next chain needs. */
	for (uint32_t at = equal; at < count; at++)
		lines->back[at] = (uint32_t)(put - start) - lines->back[at];
	to->size = (size_t)(put - to->data);
	lines->chain_end = to->size;
	lines->count = count;
	lines->era = sample->era;
	lines->kernel_era = sample->kernel_era;
	lines->kind = kind;
	lines->chain_valid = !script->options.stop_count;
	return 0;
}
