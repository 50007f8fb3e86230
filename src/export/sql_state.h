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

/* A word of the last chain that was walked, and where it led to. */
struct chain_word {
	uint64_t word, node, depth;
	uint8_t mode;
};

/* Where a chain that was met lately led to, by a hash of its words. */
struct chain_seen {
	uint64_t hash; /* 0: none */
	uint64_t node;
};

struct sql {
	struct tally_session *session;
	struct tally_data *data;
	struct tally_sql_options options;
	struct tally_error *error;
	struct tally_sql_file *file;
	struct tally_sql_insert *meta, *events, *threads, *images, *symbols, *frames, *chains,
	    *samples, *branches, *lost, *records;
	struct tally_sql_keys thread_keys;  /* pid and tid, comm */
	struct tally_sql_keys address_keys; /* address, frame of the session: the frame's row */
	struct tally_sql_keys frame_keys;   /* place, frame of the session */
	/* Most rows of chains are called by the row before.  Only the others have keys. */
	struct tally_sql_keys chain_keys; /* caller, frame */
	uint32_t *chain_frames;           /* by row: its frame if the row before calls it, else 0 */
	uint32_t chain_count, chain_room;
	/* The last chain, outermost first: most begin as the one before did.  Its words mean the
	 * same only in the same mappings. */
	struct chain_word *last;
	uint32_t last_count, last_room, last_era, last_kernel_era;
	const struct tally_space *last_space;
	struct chain_seen *seen;
	struct tally_map known;         /* images and symbols that have their row */
	uint64_t number;                /* of records so far */
	struct tally_trace_text *trace; /* NULL: no tracepoints */
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
/* The number of the innermost row of a sample's call chain; 0: it has none.  0 or -errno. */
int tally_sql_chain_of(struct sql *sql, struct tally_resolver *resolver,
		       const struct tally_resolved *sample, uint64_t *ret);

#endif
