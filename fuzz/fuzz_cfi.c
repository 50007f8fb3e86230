/* Call frame information: the first byte chooses section and width of addresses, the rest is the
 * section.  The table is in order and the same when the section is read in parts, every rule of it
 * can be run, and unwinding through it ends. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "unwind/unwind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STACK_AT 0x7ff000

static const struct cfi_rules *find_code(void *context, uint64_t address)
{
	return tally_cfi_find(context, address);
}

static int read_nothing(void *context, uint64_t address, void *ret, size_t size)
{
	(void)context;
	memset(ret, 0, size);
	return address % 2 ? 1 : -ENOENT;
}

/* The same section, read in parts. */
static bool read_part(void *context, uint64_t at, void *to, size_t size)
{
	const struct cfi_section *whole = context;

	if (at > whole->size || size > whole->size - at)
		abort();
	memcpy(to, whole->bytes + at, size);
	return true;
}

struct walk {
	struct tally_cfi *cfi, *in_parts;
	size_t rows;
	uint64_t next;
};

static void unwind_from(struct tally_cfi *cfi, unsigned arch, bool as_perf, uint64_t address)
{
	static uint64_t stack[512], values[33];
	uint64_t frames[64];
	const struct tally_unwind_start start = {.arch = arch,
						 .mask = (1ULL << 33) - 1,
						 .values = values,
						 .stack = (const uint8_t *)stack,
						 .stack_size = sizeof(stack),
						 .as_perf = as_perf};
	const struct tally_unwind_world world = {cfi, find_code, read_nothing};

	for (unsigned i = 0; i < 33; i++)
		values[i] = STACK_AT + i * 8;
	for (unsigned i = 0; i < 512; i++)
		stack[i] = i % 2 ? address + i % 7 : STACK_AT + i * 8;
	values[arch == TALLY_UNWIND_ARM64 ? 32 : 8] = address;
	values[arch == TALLY_UNWIND_ARM64 ? 31 : 7] = STACK_AT;
	if (tally_unwind(&start, &world, frames, 64) > 64)
		abort();
}

/* All of a set can be read: the sanitizer watches. */
static unsigned sum_up(const struct cfi_rules *rules)
{
	const uint8_t *bytes = (const uint8_t *)rules;
	unsigned sum = 0;

	for (uint32_t i = 0; i < rules->size; i++)
		sum += bytes[i];
	for (uint32_t i = 0; i < rules->count; i++) {
		const struct cfi_rule *rule = &rules->rules[i];
		bool expression = rule->how == CFI_AT_EXPRESSION || rule->how == CFI_IS_EXPRESSION;

		if (rule->column >= CFI_COLUMNS ||
		    (i && rule->column <= rules->rules[i - 1].column) ||
		    (expression && (rule->value < (int32_t)sizeof(*rules) ||
				    rule->value + rule->length > rules->size)))
			abort();
	}
	return sum;
}

static int visit(void *context, uint64_t from, const struct cfi_rules *rules)
{
	struct walk *walk = context;
	const struct cfi_rules *other = tally_cfi_find(walk->in_parts, from);

	if (from < walk->next || tally_cfi_find(walk->cfi, from) != rules)
		abort();
	if (other->size != rules->size || memcmp(other, rules, rules->size) != 0)
		abort();
	walk->next = from + 1;
	if (sum_up(rules) == UINT32_MAX)
		abort(); /* no set is so large */
	if (walk->rows++ < 64)
		unwind_from(walk->cfi, (unsigned)(TALLY_UNWIND_X86_64 + walk->rows % 3),
			    walk->rows % 2, from);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct cfi_section section, parts, none = {0};
	struct walk walk = {0};
	unsigned word;
	bool debug;

	if (!size)
		return 0;
	word = data[0] & 1 ? 4 : 8;
	debug = data[0] & 2;
	section = (struct cfi_section){data + 1, size - 1, 0x4000};
	if (tally_cfi_new(debug ? &none : &section, debug ? &section : &none, word, &walk.cfi))
		return 0;
	parts = (struct cfi_section){NULL, size - 1, 0x4000, read_part, &section};
	if (tally_cfi_new(debug ? &none : &parts, debug ? &parts : &none, word, &walk.in_parts))
		abort();
	/* One address first, so that the groups are not made in order. */
	if (data[0] & 4)
		tally_cfi_find(walk.cfi, 0x4000 + size);
	if (tally_cfi_each(walk.cfi, visit, &walk))
		abort();
	tally_cfi_free(walk.cfi);
	tally_cfi_free(walk.in_parts);
	return 0;
}
