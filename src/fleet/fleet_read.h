/* Tables of a fleet that are read: what the parts of tally/fleet.h share. */
#ifndef TALLY_FLEET_FLEET_READ_H
#define TALLY_FLEET_FLEET_READ_H

#include <pthread.h>
#include <tally/fleet.h>
#include "base/buf.h"
#include "base/map.h"
#include "fleet/fleet_functions.h"
#include "fleet/fleet_table.h"
#include "session/given.h"

/* Bounds of what a folder may be. */
#define FLEET_FILES_MOST  (1U << 20)
#define FLEET_DEPTH_MOST  16U
#define FLEET_EVENTS_MOST 256U
#define FLEET_NAMES_MOST  (1U << 20) /* of threads */
#define FLEET_NAME_SIZE   4096U
#define FLEET_STACK_MOST  65536U /* frames */

/* Equal values take no room, so a small file can claim any number of them: tables have at most so
 * many values, and so many more for each of their bytes.  Tables of real recordings have up to 50
 * a byte. */
#define FLEET_VALUES_FREE (1ULL << 26)
#define FLEET_VALUES_BYTE 1024ULL

/* What tables claim to have, all together. */
struct fleet_claim {
	uint64_t values, bytes;
};
static inline bool fleet_claims_too_much(struct fleet_claim *claim,
					 const struct parquet_reader *reader)
{
	claim->values += reader->values;
	claim->bytes += reader->size;
	return claim->values > FLEET_VALUES_FREE + claim->bytes * FLEET_VALUES_BYTE;
}
#define FLEET_CLAIM_WHY "it claims more values than a table of its size has (1,024 a byte)"

enum fleet_kind { FLEET_SAMPLES, FLEET_STACKS };

/* Files are opened while they are read, and are what they were when they were found. */
struct fleet_file {
	char *path;
	enum fleet_kind kind;
	struct fleet_state state;
};

/* A group of rows of a table of samples. */
struct fleet_piece {
	uint32_t file, group;
};

struct tally_fleet {
	char *folder;
	struct fleet_file *files;
	uint32_t file_count, file_room;
	struct fleet_claim claim;
	struct fleet_piece *pieces;
	uint32_t piece_count, piece_room;
	struct tally_strings events, comms;
	uint64_t *event_samples;
	uint32_t event_room;
	struct tally_session_counts counts;
	uint64_t columns; /* of tally/batch.h, that all tables of samples have */
	bool has_chains;
	struct tally_data *data;
	struct tally_session *session;
	uint32_t *comm_ids; /* strings of the session, by comm */
	/* What stacks are made of; texts stay as long as the fleet does. */
	struct tally_strings texts;
	struct tally_map images; /* path -> image of the session */
	struct tally_map names;  /* path -> text of the image's short name, + 1 */
	struct fleet_functions functions;
	/* stack_id -> stack of the session, and its innermost frame; until it is made how many of
	 * its frames are named where most are. */
	struct tally_map stacks;
	uint32_t unknown; /* the frame of samples without a stack */
	struct tally_given given;
	pthread_mutex_t lock; /* of the failure */
	struct tally_error failure;
};

/* A failure of reading a file, in the words of `why`; several threads may fail. */
int tally_fleet_fail(struct tally_fleet *fleet, const struct fleet_file *file, int result,
		     const char *why);
/* Called with each file below a folder, in the order of their names.  Not 0 ends it, and is
 * returned. */
typedef int (*tally_fleet_file_fn)(void *context, const char *path, const char *name);
int tally_fleet_walk(const char *folder, tally_fleet_file_fn take, void *context);
/* Whether a file is named as a table: BEGIN*.parquet. */
bool tally_fleet_named(const char *name, const char *begin);
/* Whether an image is the kernel, or a part of it, by its path. */
bool tally_fleet_is_kernel(const char *path, size_t length);
/* Opens what is in the buffer, which is emptied, as a recording that is called `name`.  0, or
 * -errno with words. */
int tally_fleet_open_bytes(struct tally_buf *bytes, const char *name, struct tally_data **ret,
			   struct tally_error *error);
/* Finds the files below the folder.  0, or -errno with words. */
int tally_fleet_find(struct tally_fleet *fleet, struct tally_error *error);
void tally_fleet_forget_files(struct tally_fleet *fleet);
/* By any thread.  0, or -errno; see `failure`; to be closed in any case. */
int tally_fleet_open_file(struct tally_fleet *fleet, const struct fleet_file *file,
			  struct fleet_table *ret);
/* Which events, names and losses the samples have.  0, or -errno; see `failure`. */
int tally_fleet_survey(struct tally_fleet *fleet);
/* The data of a session, without samples.  0, or -errno with words. */
int tally_fleet_make_data(struct tally_fleet *fleet, struct tally_error *error);
/* Reads all stacks into the session.  0, or -errno; see `failure`. */
int tally_fleet_read_stacks(struct tally_fleet *fleet);
/* struct tally_given. */
int tally_fleet_read_piece(void *context, size_t piece, tally_given_put put, void *to);

#endif
