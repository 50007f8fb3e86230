/* Call chains, a line for each frame.  Successive chains often have the same outer frames, whose
 * text is copied from the last chain. */
#include <errno.h>
#include <string.h>
#include "base/table.h"
#include "script/script_state.h"

/* The mode of words that were unwound. */
#define UNWOUND 0x80

static bool chain_room(struct script_lines *lines, uint32_t count)
{
	uint32_t room = array_room(lines->room, count, 256);

	if (room == lines->room)
		return true;
	if (!array_resize(&lines->words, room, sizeof(*lines->words)) ||
	    !array_resize(&lines->back, room, sizeof(*lines->back)) ||
	    !array_resize(&lines->modes, room, sizeof(*lines->modes)))
		return false;
	lines->room = room;
	return true;
}

/* The number of words of the chain that are shown: perf stops after so many addresses.  Unwound
 * frames are already cut. */
static uint32_t cut_chain(const struct script *script, const struct tally_resolved *sample)
{
	const uint64_t *chain = sample->sample.callchain;
	uint64_t count = sample->sample.callchain_nr;
	uint32_t frames = 0;

	if (count <= script->max_stack || (sample->unwound && script->max_stack))
		return (uint32_t)count;
	for (uint32_t i = 0; i < count; i++) {
		if (frames == script->max_stack)
			return i;
		frames += chain[i] < FIRST_MARK;
	}
	return (uint32_t)count;
}

/* Words that are equal to the last chain's from the outermost in, and so have the same text, when
 * they are read under the same modes. */
static uint32_t count_equal(const struct script_lines *lines, const struct tally_resolved *sample,
			    const uint64_t *chain, uint32_t count, unsigned kind)
{
	uint32_t most = count < lines->count ? count : lines->count, equal = 0;

	if (!lines->chain_valid || lines->era != sample->era || lines->kind != kind ||
	    lines->kernel_era != sample->kernel_era)
		return 0;
	while (equal < most && lines->words[equal] == chain[count - 1 - equal])
		equal++;
	return equal;
}

/* Shorter ones are not worth remembering. */
#define LONG_CHAIN 8U

/* Puts the line of a word; whether the chain ends behind it, or -ENOMEM. */
static inline int put_word(const struct script_out *out, uint8_t mode, uint64_t word, unsigned kind,
			   bool address)
{
	struct script_lines *lines = &out->worker->lines;
	struct script_found found;
	char *put;

	if (__builtin_expect(!script_line_look(lines, out->at, mode, word, kind, &found), 0) &&
	    tally_script_line_find(out, mode, word, kind, &found))
		return -ENOMEM;
	put = buf_put_begin(out->to, lines->longest + SCRIPT_COPY_PIECE);
	if (!put)
		return -ENOMEM;
	if (found.by_symbol && address) {
		*put++ = '\t';
		put = put_hex_right(put, mode == PERF_RECORD_MISC_KERNEL ? word : found.place, 16);
	}
	buf_put_end(out->to, (const char *)script_found_put(lines, &found, (uint8_t *)put));
	return found.line->stops;
}

static int put_short(const struct script_out *out, uint32_t count, unsigned kind)
{
	struct tally_buf *to = out->to;
	const uint64_t *chain = out->at->sample.callchain;
	bool address = out->script->kinds[kind].fields & SCRIPT_FIELD(IP);
	uint8_t mode = PERF_RECORD_MISC_USER;
	size_t start = to->size;

	for (uint32_t i = 0; i < count; i++) {
		int result;

		if (chain[i] >= FIRST_MARK) {
			mode = resolved_mode_behind(chain[i]);
			if (mode)
				continue;
			to->size = start;
			return 0;
		}
		result = put_word(out, mode, chain[i], kind, address);
		if (result)
			return result < 0 ? result : 0;
	}
	return 0;
}

static int put_long(const struct script_out *out, uint32_t count, unsigned kind)
{
	struct script_lines *lines = &out->worker->lines;
	struct tally_buf *to = out->to;
	const struct tally_resolved *sample = out->at;
	const uint64_t *chain = sample->sample.callchain;
	uint32_t equal = count_equal(lines, sample, chain, count, kind), at, old;
	bool stopped = false, address = out->script->kinds[kind].fields & SCRIPT_FIELD(IP);
	uint8_t mode = PERF_RECORD_MISC_USER;
	size_t start = to->size;

	if (!chain_room(lines, count))
		return -ENOMEM;
	lines->chain_valid = false;
	for (at = count; at-- > 0 && !stopped;) {
		uint32_t i = count - 1 - at;
		uint64_t word = chain[i];
		int result;

		if (sample->unwound && i >= sample->unwound)
			mode = UNWOUND;

		/* What is equal was read under the same mode, or is not equal. */
		if (at < equal) {
			if (lines->modes[at] == mode)
				break;
			equal = 0;
		}
		lines->words[at] = word;
		lines->modes[at] = mode;
		lines->back[at] = (uint32_t)(to->size - start);
		if (word >= FIRST_MARK && mode != UNWOUND) {
			mode = resolved_mode_behind(word);
			if (mode)
				continue;
			to->size = start;
			return 0;
		}
		if (mode == UNWOUND)
			result = put_word(out, PERF_RECORD_MISC_USER, word,
					  out->script->kinds[kind].unwound, address);
		else
			result = put_word(out, mode, word, kind, address);
		if (result < 0)
			return result;
		stopped = result;
	}
	/* How much of the last chain's text is the equal words'. */
	old = equal && !stopped ? lines->back[equal - 1] : 0;
	if (tally_buf_reserve(to, old))
		return -ENOMEM;
	memcpy(to->data + to->size, to->data + lines->chain_end - old, old);
	to->size += old;
	/* From the start was known; from the end is what the next chain needs. */
	for (at = equal; at < count; at++)
		lines->back[at] = (uint32_t)(to->size - start) - lines->back[at];
	lines->chain_end = to->size;
	lines->count = count;
	lines->era = sample->era;
	lines->kernel_era = sample->kernel_era;
	lines->kind = kind;
	lines->chain_valid = !out->script->options.stop_count;
	return 0;
}

int tally_script_chain_put(const struct script_out *out, unsigned kind)
{
	uint32_t count = cut_chain(out->script, out->at);

	return count < LONG_CHAIN && !out->at->unwound ? put_short(out, count, kind)
						       : put_long(out, count, kind);
}
