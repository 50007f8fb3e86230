/* A database that is being written: what the files that fill its tables share. */
#ifndef TALLY_EXPORT_SQL_STATE_H
#define TALLY_EXPORT_SQL_STATE_H

#include "base/buf.h"
#include "base/map.h"
#include "export/script_sql.h"
#include "export/sql_file.h"
#include "export/sql_keys.h"
#include "resolve/resolve.h"

struct tally_trace_text;

/* A word of a chain that was walked, and where it led to. */
struct chain_word {
	uint64_t word, node, depth;
	uint8_t mode;
};

/* The last chain of a thread, outermost first: most begin as the one before did.  Its words mean
 * the same only in the same mappings. */
#define LASTS 64U
struct chain_last {
	struct chain_word *words;
	uint32_t count, room, era, kernel_era;
	const struct tally_space *space;
};

/* Rows of a sample: its place, and the innermost one of its call chain; 0: it has none. */
struct sql_stack {
	uint32_t frame, chain;
};

/* Those of samples that were met lately, by a hash of the address and the chain. */
#define STACKS_SEEN (1U << 20)
struct stack_seen {
	uint64_t hash; /* 0: none */
	struct sql_stack stack;
};

/* The frame's row that an address led to in an era of its process, or of the kernel. */
#define ADDRESSES_SEEN (1U << 20)
struct address_row {
	uint64_t address;
	uint32_t era, row; /* row 0: none */
};

struct sql {
	struct tally_session *session;
	struct tally_data *data;
	struct tally_sql_options options;
	struct tally_error *error;
	struct tally_sql_file *file;
	struct tally_sql_insert *meta, *events, *threads, *images, *symbols, *frames, *chains,
	    *samples, *branches, *lost, *records;
	struct tally_sql_keys thread_keys; /* pid and tid, comm */
	struct tally_sql_keys frame_keys;  /* place, frame of the session */
	/* Most rows of chains are called by the row before.  Only the others have keys. */
	struct tally_sql_keys chain_keys; /* caller, frame */
	uint32_t *chain_frames;           /* by row: its frame if the row before calls it, else 0 */
	uint32_t chain_count, chain_room;
	struct chain_last *lasts;         /* LASTS, by thread */
	struct stack_seen *seen;          /* STACKS_SEEN */
	struct address_row *address_rows; /* ADDRESSES_SEEN */
	struct tally_map known;           /* images and symbols that have their row */
	uint64_t number;                  /* of records so far */
	uint64_t sample_number;           /* of the last row of a sample */
	struct tally_trace_text *trace;   /* NULL: no tracepoints */
	struct tally_buf text, other;
	tally_sql_choose_fn choose; /* NULL: all samples */
	void *context;
};

/* The number of the row of the place that an address leads to, in a mode; the row is made when it
 * is new.  0 or -errno. */
int tally_sql_frame_of(struct sql *sql, struct tally_resolver *resolver,
		       const struct tally_resolved *sample, uint8_t mode, uint64_t address,
		       uint32_t *ret);
/* The same of a frame there, the n-th of those that one address leads to. */
int tally_sql_row_of(struct sql *sql, struct tally_resolver *resolver,
		     const struct tally_resolved *sample, uint8_t mode, uint64_t address,
		     uint32_t frame, uint32_t nth, uint32_t *ret);
/* Fetches what tally_sql_frame_of() looks at first. */
void tally_sql_frame_fetch(const struct sql *sql, const struct tally_resolved *sample, uint8_t mode,
			   uint64_t address);
/* A sample's rows.  0 or -errno. */
int tally_sql_stack_of(struct sql *sql, struct tally_resolver *resolver,
		       const struct tally_resolved *sample, struct sql_stack *ret);

#endif
