/* The frame of tracing data: finds the formats in it, without reading their contents.
 *
 * The layout is trace-cmd's version 0.5 and 0.6 as perf writes it (the kernel's
 * tools/perf/util/trace-event-info.c; trace-cmd.dat(5)): magic, version, byte order, size of a
 * long, page size; header_page and header_event; formats of ftrace's own events; formats by system;
 * kallsyms; formats of printk; names of processes.  Numbers are in the recording machine's order.
 */
#ifndef TALLY_FILE_TRACE_DATA_H
#define TALLY_FILE_TRACE_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

/* A kernel `format` file. */
struct trace_format_text {
	const char *system; /* NUL-terminated, in the tracing data */
	const char *text;   /* in the tracing data, no NUL */
	size_t size;
	uint64_t id; /* of its line "ID:" */
};

struct trace_data {
	bool big_endian;
	unsigned long_size; /* 4 or 8, of the recording kernel */
	struct trace_format_text *formats;
	size_t format_count, format_room;
	size_t unnumbered;  /* formats without a valid "ID:" line, left out */
	const char *printk; /* printk_formats, NULL: none */
	size_t printk_size;
	const char *cut; /* the part that is cut short or invalid; NULL: none */
	size_t cut_at;   /* the offset of that */
};

/* Everything is borrowed from `bytes`.  -ENOENT: no bytes; -EBADMSG: not tracing data, or cut
 * before any format; -ENOMEM. */
int tally_trace_data_init(struct trace_data *data, const void *bytes, size_t size,
			  struct tally_error *error);
void tally_trace_data_done(struct trace_data *data);

#endif
