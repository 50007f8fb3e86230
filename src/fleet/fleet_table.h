/* A file of a fleet that is read: mapped while it is used, so that a folder may have any number of
 * files. */
#ifndef TALLY_FLEET_FLEET_TABLE_H
#define TALLY_FLEET_FLEET_TABLE_H

#include <sys/stat.h>
#include "base/fs.h"
#include "parquet/parquet_read.h"

struct fleet_table { /* all zero is none */
	struct tally_mapped map;
	struct parquet_reader reader;
};

/* Which file is at a path. */
struct fleet_state {
	uint64_t device, inode, size;
	int64_t seconds, nanoseconds; /* of its last change */
};

/* `ret_state` may be NULL.  0; -errno, -ENOMEM, -EBADMSG or -ENOTSUP with a reason in *ret_why; to
 * be closed in any case. */
int tally_fleet_table_open(const char *path, struct fleet_table *ret, struct fleet_state *ret_state,
			   const char **ret_why);
void tally_fleet_table_close(struct fleet_table *table);
/* Whether it is the same file, unchanged. */
bool tally_fleet_state_is(const struct fleet_state *state, const struct fleet_state *other);

#endif
