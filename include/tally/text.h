/* Text that people type and programs print: numbers, lists of CPUs, the nearest of several names,
 * and text from files and processes escaped.
 *
 * One rule holds for all text that comes from files and processes (names of commands, files,
 * functions and events, fields of tracepoints): whoever prints it escapes it as tally_text_escape()
 * does.  Functions of this library that write to a FILE do so; those that write JSON, HTML or SQL
 * follow the rules of these.  The option `raw_text`, where a function has it, turns this off, for
 * output that only another program reads.  Text in structs is as it was found: a program that
 * prints it escapes it. */
#ifndef TALLY_TEXT_H
#define TALLY_TEXT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Parses all of `text` as a number, decimal or 0x...; -EINVAL, -ERANGE. */
int tally_text_u64(const char *text, uint64_t *ret);

/* A kernel CPU list, "0-3,7\n" (Documentation/admin-guide/cputopology.rst), in any order; gives an
 * ascending array of numbers below 65,536, the caller's to free(), NULL when there are none;
 * -EINVAL, -ENOMEM. */
int tally_text_cpu_list(const char *text, uint32_t **ret, size_t *ret_count);

/* The one of `count` names that differs least from `name` (in edits, ignoring case); NULL: none is
 * similar.  Borrowed from `names`. */
const char *tally_text_nearest(const char *name, const char *const *names, size_t count);

/* Copies `text` with control bytes, DEL and invalid UTF-8 as \xNN, so that no terminal acts on it.
 * Writes at most `room` bytes with the NUL; returns the full length, as snprintf(3) does. */
size_t tally_text_escape(const char *text, char *to, size_t room);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
