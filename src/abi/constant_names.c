#include "abi/constant_names.h"

#include <tally/record.h>
#include "base/sorted.h"

#define ROW(number_, name_, since_) {number_, #name_},
#define TABLE(names)                                    \
	{                                               \
		names, sizeof(names) / sizeof(names[0]) \
	}

static const struct tally_abi_name sample_bits[] = {
#include "abi/sample_bit.def"
};
static const struct tally_abi_name read_format_bits[] = {
#include "abi/read_format.def"
};
static const struct tally_abi_name branch_bits[] = {
#include "abi/branch_bit.def"
};
static const struct tally_abi_name attr_flags[] = {
#include "abi/attr_flag.def"
};
static const struct tally_abi_name event_types[] = {
#include "abi/event_type.def"
};
static const struct tally_abi_name cpumodes[] = {
#include "abi/cpumode.def"
};
static const struct tally_abi_name aux_actions[] = {
#include "abi/aux_action.def"
};

const struct tally_abi_table tally_abi_sample_bits = TABLE(sample_bits);
const struct tally_abi_table tally_abi_read_format_bits = TABLE(read_format_bits);
const struct tally_abi_table tally_abi_branch_bits = TABLE(branch_bits);
const struct tally_abi_table tally_abi_attr_flags = TABLE(attr_flags);
const struct tally_abi_table tally_abi_event_types = TABLE(event_types);
const struct tally_abi_table tally_abi_cpumodes = TABLE(cpumodes);
const struct tally_abi_table tally_abi_aux_actions = TABLE(aux_actions);

const char *tally_abi_name(const struct tally_abi_table *table, uint32_t number)
{
	size_t low = SORTED_BOUND(at, 0, table->count, table->names[at].number < number);

	return low < table->count && table->names[low].number == number ? table->names[low].name
									: NULL;
}

#define MISC(type_, bit_, name_, since_) {PERF_RECORD_##type_, bit_, #name_},

const char *tally_abi_misc_name(uint32_t type, unsigned bit)
{
	static const struct {
		uint32_t type;
		unsigned bit;
		const char *name;
	} bits[] = {
#include "abi/misc_bit.def"
	};

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (bits[i].type == type && bits[i].bit == bit)
			return bits[i].name;
	return NULL;
}
