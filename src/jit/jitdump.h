/* Dumps of compilers that work at run time: which code was at which address from when on, with its
 * bytes, names, source lines and call frame information.
 *
 * A dump is read once from its front to its end; only what is needed to find code is kept, the rest
 * is read again when it is asked for.  A dump that is still written can be read on later.
 * Source: Linux tools/perf/Documentation/jitdump-specification.txt. */
#ifndef TALLY_JIT_JITDUMP_H
#define TALLY_JIT_JITDUMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/arena.h"
#include "base/map.h"

/* One compiled function (JIT_CODE_LOAD).  Places are offsets in the dump. */
struct tally_jit_code {
	uint64_t address, size;                       /* where it was loaded; bytes, never 0 */
	uint64_t place;                               /* of its bytes; ascends from code to code */
	uint64_t index;                               /* the compiler's own number for it */
	uint64_t lines_place, lines_size, line_count; /* JIT_CODE_DEBUG_INFO; size 0: none */
	uint64_t unwind_place, unwind_size;           /* JIT_CODE_UNWINDING_INFO; size 0: none */
	uint64_t unwind_header_size, unwind_mapped_size;
	const char *name; /* lives as long as the dump; untrusted */
};

/* Code that is at an address from a time on: it was loaded there, or moved there. */
struct tally_jit_load {
	uint64_t time; /* of the dump's clock, ns unless `own_clock` */
	uint64_t address, size;
	uint32_t code; /* index of its struct tally_jit_code */
	uint32_t tid;
};

struct tally_jitdump {
	int fd;
	bool swapped;     /* the other byte order */
	bool own_clock;   /* times are cycles of the processor */
	bool closed;      /* the compiler said that no more comes */
	uint16_t machine; /* EM_* */
	uint32_t pid;     /* in the PID namespace of the process */
	uint64_t started; /* the header's time, not always of the same clock as the others */
	struct tally_jit_code *codes;
	size_t code_count, code_room;
	struct tally_jit_load *loads; /* as in the file */
	size_t load_count, load_room;
	struct tally_arena names;
	uint64_t read;  /* bytes that were read, whole records */
	uint64_t wrong; /* records that were skipped, as they are invalid */
	/* How far behind their function's start the first lines of functions are at least. */
	uint64_t line_shift;
	/* Parts of the code that comes next. */
	uint64_t next_address, next_lines, next_lines_size, next_line_count;
	uint64_t next_unwind, next_unwind_size, next_unwind_header, next_unwind_mapped;
	struct tally_map by_index; /* the compiler's number -> index of the newest code, + 1 */
};

/* Reads an open dump to its end.  Takes `fd` over, also when it fails.  0; -ENOEXEC: it is no dump;
 * -ENOMEM, -errno.  Damage is counted, and ends the dump where the next record cannot be found. */
int tally_jitdump_open(int fd, struct tally_jitdump **ret);
void tally_jitdump_free(struct tally_jitdump *dump);
/* Reads what was added since.  The numbers of codes and loads stay.  1: there was something. */
int tally_jitdump_read_on(struct tally_jitdump *dump);

/* The code whose bytes are at a place of the dump; -ENOENT. */
int64_t tally_jitdump_find(const struct tally_jitdump *dump, uint64_t place);

/* A line of the source, for the code from an offset on, in the order of the dump. */
struct tally_jit_line {
	uint64_t offset; /* from the start of the code; may be beyond its end */
	uint32_t line, discriminator;
	const char *file;
};

struct tally_jit_lines {
	struct tally_jit_line *lines;
	size_t count;
	char *bytes; /* that files are in */
};

/* The lines of a code; none is no error.  For tally_jit_lines_done().  0, -ENOMEM, -errno. */
int tally_jitdump_lines(const struct tally_jitdump *dump, size_t code, struct tally_jit_lines *ret);
void tally_jit_lines_done(struct tally_jit_lines *lines);

/* Call frame information: .eh_frame, which the compiler laid out for the first address behind the
 * code that 8 divides, with .eh_frame_hdr behind it. */
struct tally_jit_unwind {
	uint8_t *bytes;
	size_t frame_size, header_size;
	uint64_t mapped_size;
};

/* Of a code; frame_size and header_size 0: there is none.  The bytes are the caller's to free().
 * 0, -ENOMEM, -errno. */
int tally_jitdump_unwind(const struct tally_jitdump *dump, size_t code,
			 struct tally_jit_unwind *ret);

/* Bytes at a place of the dump.  0, or -ENODATA when not all are there. */
int tally_jitdump_read(const struct tally_jitdump *dump, uint64_t place, void *to, size_t size);

#endif
