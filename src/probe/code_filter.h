/* Filters of code, for hardware that writes traces: functions to ranges of addresses. */
#ifndef TALLY_PROBE_CODE_FILTER_H
#define TALLY_PROBE_CODE_FILTER_H

#include <tally/error.h>

/* Turns "filter main @ /bin/ls, tracestop exit / abort" into what PERF_EVENT_IOC_SET_FILTER takes:
 * "filter 0x1040/0x2a@/usr/bin/ls,stop 0x...".  A filter is
 *
 *   action start [ "/" size ] [ "@" file ]      joined by commas or blanks
 *   action = "filter" | "tracestop" (of a range) | "start" | "stop" (at one address)
 *   start  = number | function [ "#" which ] | "*" (all of the file)
 *   size   = number of bytes | function, up to whose end
 *
 * A number is an offset in the file, or an address of the kernel; without a file functions are the
 * kernel's.  Source: perf-record(1), --filter; kernel/events/core.c,
 * perf_event_parse_addr_filter().
 *
 * The text is the caller's to free().  -EINVAL with the column; -ENOENT no such file or function;
 * -errno, -ENOMEM. */
int tally_code_filter_resolve(const char *text, const char *procfs, char **ret,
			      struct tally_error *error);

#endif
