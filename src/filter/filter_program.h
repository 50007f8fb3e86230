/* Filters of samples: an expression as a program that the kernel runs for each sample, for events
 * that are not tracepoints.
 *
 *   filter    = either { "," either }              all must hold
 *   either    = all { "||" all }
 *   all       = one { "&&" one }
 *   one       = "(" filter ")" | "!" one | term operator value
 *   operator  = "==" | "!=" | ">" | ">=" | "<" | "<=" | "&"
 *   value     = decimal | 0xhex; of comm: "text" or a word
 *
 * A comma binds less than ||, as in filters of perf (perf-record(1), --filter, since 6.3). Terms:
 * filter_term.def. */
#ifndef TALLY_FILTER_FILTER_PROGRAM_H
#define TALLY_FILTER_FILTER_PROGRAM_H

#include <linux/bpf.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

#define TALLY_FILTER_TESTS_MOST 64
#define TALLY_FILTER_INSNS_MOST (TALLY_FILTER_TESTS_MOST * 16 + 8)

struct tally_filter_program {
	struct bpf_insn insns[TALLY_FILTER_INSNS_MOST];
	size_t count;
	uint64_t sample_type; /* PERF_SAMPLE_*: fields that samples must have for it */
};

/* Makes the program, of BPF_PROG_TYPE_PERF_EVENT: it returns 1 for samples that are kept, else 0.
 * 0; -EINVAL with the column and words; -EOPNOTSUPP: a term that cannot be tested here. */
int tally_filter_compile(const char *text, struct tally_filter_program *ret,
			 struct tally_error *error);

#endif
