/* Names of the kernel's constants, from tables. */
#ifndef TALLY_ABI_CONSTANT_NAMES_H
#define TALLY_ABI_CONSTANT_NAMES_H

#include <stddef.h>
#include <stdint.h>

struct tally_abi_name {
	uint32_t number; /* a bit's position, or a value */
	char name[28];
};

struct tally_abi_table {
	const struct tally_abi_name *names; /* ascending by number */
	size_t count;
};

extern const struct tally_abi_table tally_abi_sample_bits, tally_abi_read_format_bits,
    tally_abi_branch_bits, tally_abi_attr_flags, tally_abi_event_types, tally_abi_cpumodes,
    tally_abi_aux_actions;

/* NULL when the table has no such number. */
const char *tally_abi_name(const struct tally_abi_table *table, uint32_t number);

/* The name of bit 12 to 15 of misc in records of a type; NULL when it has no meaning there. */
const char *tally_abi_misc_name(uint32_t record_type, unsigned bit);

#endif
