#include "fleet/fleet_table.h"

#include <string.h>
#include <unistd.h>
#include "base/regular.h"

int tally_fleet_table_open(const char *path, struct fleet_table *ret, struct fleet_state *ret_state,
			   const char **ret_why)
{
	struct stat about;
	int fd = tally_regular_open(path, &about), result;

	*ret = (struct fleet_table){.map = {NULL, 0}};
	*ret_why = "out of memory";
	result = fd < 0 ? fd : tally_fs_map(fd, &ret->map);
	if (fd >= 0)
		close(fd);
	if (result) {
		*ret_why = strerror(-result);
		return result;
	}
	if (ret_state)
		*ret_state = (struct fleet_state){.device = about.st_dev,
						  .inode = about.st_ino,
						  .size = (uint64_t)about.st_size,
						  .seconds = about.st_mtim.tv_sec,
						  .nanoseconds = about.st_mtim.tv_nsec};
	return tally_parquet_open(&ret->reader, ret->map.data, ret->map.size, ret_why);
}

void tally_fleet_table_close(struct fleet_table *table)
{
	tally_parquet_close(&table->reader);
	tally_fs_unmap(&table->map);
}

bool tally_fleet_state_is(const struct fleet_state *state, const struct fleet_state *other)
{
	return state->device == other->device && state->inode == other->inode &&
	       state->size == other->size && state->seconds == other->seconds &&
	       state->nanoseconds == other->nanoseconds;
}
