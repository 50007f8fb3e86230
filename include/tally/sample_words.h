/* Words for what samples hold: kinds of branches, registers, clocks.  For the fields
 * branch_filter, intr_registers, user_registers and clockid of struct tally_recorder_options. */
#ifndef TALLY_SAMPLE_WORDS_H
#define TALLY_SAMPLE_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* "any_call,u" -> PERF_SAMPLE_BRANCH_* bits.  Levels alone (u, k, hv) mean any branch to them.
 * -EINVAL with the nearest word.  Source: perf-record(1), -j. */
int tally_branch_filter_parse(const char *text, uint64_t *ret, struct tally_error *error);
/* Word number `index`, and what it means (ret_help may be NULL); NULL behind the last one. */
const char *tally_branch_filter_word(size_t index, const char **ret_help);

/* "ax,ip" or "AX,IP" -> bits of attr.sample_regs_intr and sample_regs_user, for this machine.
 * NULL or "": all that every sample can hold.  -EINVAL with the nearest name; -EOPNOTSUPP: the
 * registers of this kind of processor have no names.  Source: asm/perf_regs.h of the machine. */
int tally_registers_parse(const char *text, uint64_t *ret, struct tally_error *error);
/* Name number `index` of this machine's registers; NULL behind the last one. */
const char *tally_register_word(size_t index);

/* "monotonic", "CLOCK_BOOTTIME", "mono" or a number -> clockid_t for attr.clockid.  -EINVAL with
 * the valid words.  Source: clock_gettime(2), perf-record(1), -k. */
int tally_clock_parse(const char *text, int32_t *ret, struct tally_error *error);
/* Name number `index`, and what it is (ret_help may be NULL); NULL behind the last one. */
const char *tally_clock_word(size_t index, const char **ret_help);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
