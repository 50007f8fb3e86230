#include "unwind/cfi_sets.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

#define BLOCK_FIRST 1024U

/* A set while it is put together: of all columns, each with the longest expression. */
struct made_set {
	_Alignas(struct cfi_rules)
	    uint8_t bytes[sizeof(struct cfi_rules) + CFI_COLUMNS * sizeof(struct cfi_rule) +
			  (CFI_COLUMNS + 1) * CFI_EXPRESSION_MOST];
	size_t size;
};
_Static_assert(sizeof(struct made_set) <= UINT16_MAX, "a rule has 16 bits for a set's size");

/* Block k begins at the sum of the sizes before it. */
static size_t block_start(unsigned block)
{
	return BLOCK_FIRST * (((size_t)1 << block) - 1);
}

static unsigned block_of(size_t offset)
{
	return 63U - (unsigned)__builtin_clzll(offset / BLOCK_FIRST + 1);
}

const struct cfi_rules *tally_cfi_sets_at(const struct cfi_sets *sets, uint32_t offset)
{
	unsigned block = block_of(offset);

	return (const void *)(sets->blocks[block] + (offset - block_start(block)));
}

/* Room for a set in one block: its offset; -ENOSPC: no more may be taken; -ENOMEM. */
static int64_t take_room(struct cfi_sets *sets, size_t size)
{
	size_t at = sets->used;
	unsigned block = block_of(at);

	while (at + size > block_start(block + 1))
		at = block_start(++block);
	if (at + size > sets->most || block >= CFI_SET_BLOCKS)
		return -ENOSPC;
	if (!sets->blocks[block]) {
		size_t room = block_start(block + 1) - block_start(block);

		sets->blocks[block] = malloc(room);
		if (!sets->blocks[block])
			return -ENOMEM;
		sets->taken += room;
	}
	sets->used = at + size;
	return (int64_t)at;
}

/* A rule as it is kept; false: its offset is too large. */
static bool place_rule(struct made_set *made, const struct cfi_section *section,
		       const struct cfi_state_rule *from, struct cfi_rule *to)
{
	int64_t value = from->value;

	if (from->how == CFI_AT_EXPRESSION || from->how == CFI_IS_EXPRESSION) {
		value = (int64_t)made->size;
		memcpy(made->bytes + made->size, section->bytes + from->value, from->length);
		made->size += from->length;
	}
	*to = (struct cfi_rule){.column = from->column,
				.how = from->how,
				.length = from->length,
				.value = (int32_t)value};
	return value == (int32_t)value;
}

static bool make(struct made_set *made, const struct cfi_section *section,
		 const struct cfi_common *common, const struct cfi_state *state)
{
	struct cfi_rules *rules = (void *)made->bytes;
	bool valid = state->cfa.how == CFI_REGISTER || state->cfa.how == CFI_IS_EXPRESSION;
	uint8_t at = 0;

	memset(rules, 0, sizeof(*rules)); /* sets are compared by their bytes */
	rules->count = (uint8_t)__builtin_popcountll(state->changed);
	rules->return_column = common->return_column;
	rules->signal = common->signal;
	rules->plain = true;
	made->size = sizeof(*rules) + rules->count * sizeof(*rules->rules);
	/* Without a rule for the CFA no instruction has set it. */
	valid = valid && place_rule(made, section, &state->cfa, &rules->cfa);
	for (uint64_t left = state->changed; left && valid; left &= left - 1, at++) {
		const struct cfi_state_rule *rule = &state->rules[__builtin_ctzll(left)];

		valid = place_rule(made, section, rule, &rules->rules[at]);
		if (rule->how != CFI_AT_CFA && rule->how != CFI_UNDEFINED)
			rules->plain = false;
	}
	while (made->size % _Alignof(struct cfi_rules))
		made->bytes[made->size++] = 0;
	rules->size = (uint16_t)made->size;
	return valid;
}

int64_t tally_cfi_sets_add(struct cfi_sets *sets, const struct cfi_section *section,
			   const struct cfi_common *common, const struct cfi_state *state)
{
	struct made_set made;
	const struct cfi_rules *other;
	uint64_t hash, *known;
	int64_t offset;
	bool added;

	if (!make(&made, section, common, state))
		return -EINVAL;
	hash = tally_hash_bytes(made.bytes, made.size);
	known = tally_map_find(&sets->known, hash);
	other = known ? tally_cfi_sets_at(sets, (uint32_t)(*known - 1)) : NULL;
	if (other && other->size == made.size && !memcmp(other, made.bytes, made.size))
		return (int64_t)(*known - 1);
	offset = take_room(sets, made.size);
	if (offset < 0)
		return offset;
	known = tally_map_put(&sets->known, hash, &added);
	if (!known)
		return -ENOMEM;
	memcpy(sets->blocks[block_of((size_t)offset)] +
		   ((size_t)offset - block_start(block_of((size_t)offset))),
	       made.bytes, made.size);
	*known = (uint64_t)offset + 1;
	return offset;
}

void tally_cfi_sets_done(struct cfi_sets *sets)
{
	for (unsigned i = 0; i < CFI_SET_BLOCKS; i++)
		free(sets->blocks[i]);
	tally_map_done(&sets->known);
}
