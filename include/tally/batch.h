/* Batches: resolved samples of a session in columns, and sinks that take them.
 *
 * A session (tally/session.h) is the source.  It reads samples, finds the thread, the functions and
 * the call stack of each, and gives some thousand samples at a time to the sinks.  A sink says
 * which columns it wants; others are not made. */
#ifndef TALLY_BATCH_H
#define TALLY_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_session;

/* Columns.  The column of events is always there. */
#define TALLY_COLUMN_TIME     (1ULL << 0) /* ns of the event clock; 0 when it is not recorded */
#define TALLY_COLUMN_CPU      (1ULL << 1) /* UINT32_MAX when it is not recorded */
#define TALLY_COLUMN_THREAD   (1ULL << 2) /* number of a thread: tally_session_thread() */
#define TALLY_COLUMN_IP       (1ULL << 3) /* the sampled address; 0 when it is not recorded */
#define TALLY_COLUMN_FRAME    (1ULL << 4) /* the code at that address: tally_session_frame() */
#define TALLY_COLUMN_STACK    (1ULL << 5) /* the call stack: tally_session_stack(); 0: none */
#define TALLY_COLUMN_PERIOD   (1ULL << 6) /* the sum of the periods of the row's samples */
#define TALLY_COLUMN_ADDR     (1ULL << 7) /* address of data; 0 when it is not recorded */
#define TALLY_COLUMN_WEIGHT   (1ULL << 8) /* 0 when it is not recorded */
#define TALLY_COLUMN_DATA_SRC (1ULL << 9) /* PERF_SAMPLE_DATA_SRC; 0 when it is not recorded */
/* Where the record begins: bytes from the start of the file; of a live source, from the start of
 * all that it gave so far. */
#define TALLY_COLUMN_OFFSET (1ULL << 10)
/* How many samples a row stands for.  For a sink that asks for it, samples that are equal in all
 * columns that it asks for are one row; their periods are added up.  Without it each row is a
 * sample. */
#define TALLY_COLUMN_COUNT (1ULL << 11)
/* The rest of a sample, by tally_batch_sample(). */
#define TALLY_COLUMN_SAMPLE (1ULL << 12)
/* The source line, and the source file, of the code at the sampled address: a string's number for
 * tally_session_source().  Needs debug information of the program. */
#define TALLY_COLUMN_LINE (1ULL << 13)
#define TALLY_COLUMN_FILE (1ULL << 14)
/* The place of the sampled address in its image, counted as the places of struct tally_frame are: a
 * file offset, or the address itself where there is no file.  One binary has the same places in all
 * processes, wherever it is mapped. */
#define TALLY_COLUMN_PLACE (1ULL << 15)

struct tally_batch_rows;

/* Some samples.  A column that no sink asked for is NULL.  Borrowed while the sink is called. */
struct tally_batch {
	size_t size;           /* sizeof of this struct, set by the library */
	uint32_t count;        /* rows */
	const uint32_t *event; /* index of the event in the session's data */
	const uint64_t *time;
	const uint32_t *cpu, *thread;
	const uint64_t *ip;
	const uint32_t *frame, *stack;
	const uint64_t *period, *addr, *weight, *data_src, *offset;
	const uint32_t *samples; /* TALLY_COLUMN_COUNT */
	/* For tally_batch_sample() only. */
	const struct tally_batch_rows *rows;
	const uint32_t *line, *file; /* TALLY_COLUMN_LINE, TALLY_COLUMN_FILE */
	const uint64_t *place;       /* TALLY_COLUMN_PLACE */
};

/* Gives all fields of the sample in that row; its pointers are borrowed as the batch is. 0;
 * -EINVAL: there is no such row, ret->size is not set, or TALLY_COLUMN_SAMPLE was not asked for;
 * -EIO: the file was changed while it was read. */
int tally_batch_sample(const struct tally_batch *batch, uint32_t row, struct tally_sample *ret);

/* What takes batches.  Each function except `batch` may be NULL.  A result below 0 ends the run,
 * which returns it. */
struct tally_sink {
	size_t size;      /* sizeof of this struct */
	uint64_t columns; /* TALLY_COLUMN_* */
	/* True: batches, and samples within them, come in the order of time, all in the caller's
	 * thread.  False: they come in any order, in several threads at once. */
	bool in_order;
	void *context;
	/* Called before the first batch. There are at most so many workers. */
	int (*begin)(void *context, unsigned workers);
	/* `worker` is below that number; no two threads call with the same one at a time. */
	int (*batch)(void *context, unsigned worker, const struct tally_batch *batch);
	/* A live source has passed this time (ns of the event clock): all samples before it were
	 * given.  Called between batches, in the caller's thread, and while no samples come some
	 * ten times a second with the same time.  A file has passed all times when it ends. */
	int (*passed)(void *context, uint64_t time);
	/* Called once after the last batch, in the caller's thread; not after a failure. */
	int (*end)(void *context);
};

/* Gives all samples of the session to all sinks.  Sinks of the same order share one reading.  A
 * session on a file may be run several times, a live one once. 0; -E2BIG: a sink has members that
 * this libtally does not know; -EINVAL: a column is unknown; -ECANCELED: the session's progress
 * function cancelled; -ENOMEM; what a sink returned; or an error of reading. */
int tally_session_run(struct tally_session *session, const struct tally_sink *const *sinks,
		      size_t count, struct tally_error *error);

/* A thread as it was for some time: a thread that changes its name or its program has another
 * number from then on. */
struct tally_thread {
	size_t size;       /* sizeof of this struct, set by the caller */
	uint32_t pid, tid; /* UINT32_MAX when they are not recorded */
	const char *comm;  /* borrowed until the session is freed */
};
/* 0; -ENOENT: there is no such number; -EINVAL: the size is not set. */
int tally_session_thread(const struct tally_session *session, uint32_t number,
			 struct tally_thread *ret);

/* The string of a number of the columns of lines ("qsort.c:81"; "malloc@plt+4", "libc.so.6[27249]"
 * or
 * "??:0" if no line is known) and files (their base names; "??" or "" if it is not known).
 * Untrusted; borrowed until the session is freed.  Callable while samples are read. */
const char *tally_session_source(const struct tally_session *session, uint32_t number);

/* A stack is a node of the session's tree of stacks: its innermost frame, and the stack of the
 * frame's caller, 0 for the outermost.  Equal stacks have equal numbers. */
struct tally_stack {
	uint32_t caller; /* a stack, or 0 */
	uint32_t frame;
};
/* 0, or -ENOENT. */
int tally_session_stack(const struct tally_session *session, uint32_t number,
			struct tally_stack *ret);
/* Numbers of stacks are below this.  Grows while samples are read. */
uint32_t tally_session_stack_count(const struct tally_session *session);

/* The code at an address: an image and a symbol in it, or only the place.  Frames are numbered from
 * 1; equal (image, symbol), or equal (image, place) without a symbol, have equal numbers, and so do
 * functions of one name that were inlined into one symbol.  Numbers hold for the session. */
struct tally_frame {
	const char *image_name; /* short; "[unknown]" when no mapping held the address */
	const char *image_path;
	const char *symbol; /* demangled; NULL when unknown */
	uint64_t place; /* file offset of the symbol's start; without a symbol, of the address */
	char level;     /* '.', 'k', 'g', 'u', 'H': the letters that perf prints */
	uint32_t image; /* number, for grouping; UINT32_MAX: none */
	bool inlined;   /* the function is part of the symbol at `place`, as debug information
			 * says */
	bool function;  /* there is no symbol, but `place` is where the function starts */
	/* `place` as reports show it: of a function without a symbol as an address of the file, as
	 * objdump has it; of a kernel module from where that was loaded. */
	uint64_t address;
};

/* What a frame number stands for.  For 0 and for unknown numbers it is that of an address
 * in no mapping: the image "[unknown]" without a number, no symbol, place 0.  Callable while
 * samples are read.  Neither struct tally_frame nor struct tally_stack will grow. */
struct tally_frame tally_session_frame(const struct tally_session *session, uint32_t number);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
