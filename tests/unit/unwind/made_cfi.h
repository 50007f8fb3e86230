/* Sections of call frame information made up byte by byte, and what the tables of them say. */
#ifndef TESTS_MADE_CFI_H
#define TESTS_MADE_CFI_H

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <string.h>
#include "unwind/cfi.h"

#define MADE_AT 0x4000 /* the section's address */

struct made {
	uint8_t bytes[4096];
	size_t size, common; /* where the last common part is */
};

static inline void made_fixed(struct made *made, uint64_t value, unsigned size)
{
	memcpy(made->bytes + made->size, &value, size);
	made->size += size;
}

static inline size_t made_begin(struct made *made)
{
	made_fixed(made, 0, 4);
	return made->size;
}

static inline void made_end(struct made *made, size_t begin)
{
	uint32_t length;

	while (made->size % 8)
		made_fixed(made, 0, 1);
	length = (uint32_t)(made->size - begin);
	memcpy(made->bytes + begin - 4, &length, 4);
}

/* "zR" or "zRS", code in steps of 1, data of -8, return address in 16, addresses as sdata4 relative
 * to themselves; CFA is r7+8, return address at CFA-8. */
static inline void made_common(struct made *made, const char *letters)
{
	size_t begin = made_begin(made);

	made->common = begin - 4;
	made_fixed(made, 0, 4);
	made_fixed(made, 1, 1);
	memcpy(made->bytes + made->size, letters, strlen(letters) + 1);
	made->size += strlen(letters) + 1;
	made_fixed(made, 0x107801, 3);
	made_fixed(made, 0x1b01, 2);
	made_fixed(made, 0x0c, 1);
	made_fixed(made, 7, 1);
	made_fixed(made, 8, 1);
	made_fixed(made, 0x190, 2);
	made_end(made, begin);
}

static inline void made_function(struct made *made, uint64_t start, uint32_t length,
				 const uint8_t *program, size_t size)
{
	size_t begin = made_begin(made);

	made_fixed(made, made->size - made->common, 4);
	made_fixed(made, start - (MADE_AT + made->size), 4);
	made_fixed(made, length, 4);
	made_fixed(made, 0, 1);
	if (size)
		memcpy(made->bytes + made->size, program, size);
	made->size += size;
	made_end(made, begin);
}

static inline struct tally_cfi *made_table(const struct made *made)
{
	const struct cfi_section section = {made->bytes, made->size, MADE_AT}, none = {0};
	struct tally_cfi *cfi;

	assert_int_equal(tally_cfi_new(&section, &none, 8, &cfi), 0);
	return cfi;
}

static inline const struct cfi_rules *made_set(struct tally_cfi *cfi, uint64_t address)
{
	const struct cfi_rules *rules = tally_cfi_find(cfi, address);

	assert_ptr_not_equal(rules, &tally_cfi_none);
	assert_ptr_not_equal(rules, &tally_cfi_damaged);
	return rules;
}

/* The rule of a column at an address; NULL: same value. */
static inline const struct cfi_rule *made_rule(struct tally_cfi *cfi, uint64_t address,
					       unsigned column)
{
	const struct cfi_rules *rules = made_set(cfi, address);

	for (uint32_t i = 0; i < rules->count; i++)
		if (rules->rules[i].column == column)
			return &rules->rules[i];
	return NULL;
}

/* The bytes of an expression of a set. */
static inline const uint8_t *made_bytes(const struct cfi_rules *rules, const struct cfi_rule *rule)
{
	return (const uint8_t *)rules + rule->value;
}

#endif
