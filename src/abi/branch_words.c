/* Source: PERF_SAMPLE_BRANCH_* of include/uapi/linux/perf_event.h; the words: perf-record(1), -j.
 */
#include "abi/branch_words.h"

#include <string.h>

static const struct tally_branch_word words[] = {
    {"any", "any branch that is taken", 1 << 3},
    {"any_call", "calls of functions and of the system", 1 << 4},
    {"any_ret", "returns of functions and of system calls", 1 << 5},
    {"ind_call", "indirect calls", 1 << 6},
    {"ind_jmp", "indirect jumps", 1 << 12},
    {"cond", "conditional branches", 1 << 10},
    {"call", "direct calls", 1 << 13},
    {"u", "only those to user space", 1 << 0},
    {"k", "only those to the kernel", 1 << 1},
    {"hv", "only those to the hypervisor", 1 << 2},
    {"abort_tx", "aborts of transactions", 1 << 7},
    {"in_tx", "only within transactions", 1 << 8},
    {"no_tx", "only outside transactions", 1 << 9},
    {"stack", "the calls that are open, as --call-graph lbr", 1 << 11},
    {"call_stack", "the same", 1 << 11},
    {"no_flags", "without predictions and transactions", 1 << 14},
    {"no_cycles", "without cycles", 1 << 15},
    {"save_type", "with the type of each branch", 1 << 16},
    {"hw_index", "with the index of the newest entry", 1 << 17},
    {"priv", "with the privilege level of each branch", 1 << 18},
    {"counter", "with counts of events between branches", 1 << 19},
    {"no", "none", 0},
};

#define COUNT (sizeof(words) / sizeof(words[0]))

const struct tally_branch_word *tally_branch_word_at(size_t index)
{
	return index < COUNT ? &words[index] : NULL;
}

const struct tally_branch_word *tally_branch_word_find(const char *text, size_t length)
{
	for (size_t i = 0; i < COUNT; i++)
		if (strlen(words[i].name) == length && !memcmp(words[i].name, text, length))
			return &words[i];
	return NULL;
}
