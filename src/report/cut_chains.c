#include "report/cut_chains.h"

#include <sys/param.h>
#include <tally/abi.h>

/* The kernel copies no more of a stack: a multiple of 8 below 64 KiB. */
#define COPY_MOST 65528
#define FEW       100 /* one in so many */

static const struct cut_chains
    small_copies = {"with the copy of the stack",
		    "record larger stacks: tally record --call-graph dwarf,65528"},
    copies_ended = {"with the copy of the stack",
		    "record larger stacks (--call-graph dwarf,65528 is the largest), or build the "
		    "program with -fno-omit-frame-pointer"},
    copies_cut = {"with a copy of the stack that was made smaller",
		  "unwinding was slower than sampling: record less (-F, -c)"},
    dropped = {"in the kernel, as the copies of their stacks were given up",
	       "unwinding was slower than sampling: record less (-F, -c)"},
    unknown_code = {"in code whose file could not be read while it was recorded",
		    "record as a user who can read the binaries, while they exist"},
    no_rules = {"in code without call frame information and frame pointers",
		"build it with -fno-omit-frame-pointer"},
    made_code = {"in code made at run time without frame pointers",
		 "java keeps them with -XX:+PreserveFramePointer"},
    too_deep = {"as they have more frames than are kept", "look for recursion without an end"},
    largest_copies = {NULL, "stacks are larger than the kernel copies, or code has no call frame "
			    "information"},
    no_pointers = {"where code keeps no frame pointers", "record with tally record -g"};

static struct cut_chains by_counts(const struct tally_stack_counts *stacks)
{
	const struct {
		uint64_t count;
		const struct cut_chains *means;
	} ends[] = {
	    {stacks->copy_ended,
	     stacks->cut_copies > stacks->copy_ended / 2 ? &copies_cut : &copies_ended},
	    {stacks->unknown_code, &unknown_code},
	    {stacks->lost - MIN(stacks->lost, stacks->lost_made), &no_rules},
	    {stacks->lost_made, &made_code},
	    {stacks->too_deep, &too_deep},
	    {stacks->dropped, &dropped},
	};
	struct cut_chains result;
	size_t most = 0;
	uint64_t all = 0;

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		all += ends[i].count;
		if (ends[i].count > ends[most].count)
			most = i;
	}
	result = *ends[most].means;
	result.few = !all || all < stacks->count / FEW;
	return result;
}

struct cut_chains tally_cut_chains(const struct tally_data *data, size_t event)
{
	const struct tally_stack_counts *stacks = &tally_data_info(data)->stacks;
	const struct tally_attr *attr = &tally_data_event(data, event)->attr;

	if (stacks->count)
		return by_counts(stacks);
	if (!(attr->sample_type & PERF_SAMPLE_STACK_USER))
		return no_pointers;
	return attr->sample_stack_user >= COPY_MOST ? largest_copies : small_copies;
}
