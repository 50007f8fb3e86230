#include "rounds/rounds_numbers.h"

#include <errno.h>

int tally_rounds_mode(enum tally_stat_by by)
{
	static const int modes[] = {
	    [TALLY_STAT_GLOBAL] = 1, [TALLY_STAT_CPU] = 0,      [TALLY_STAT_THREAD] = 5,
	    [TALLY_STAT_CORE] = 4,   [TALLY_STAT_CLUSTER] = -1, [TALLY_STAT_CACHE] = -1,
	    [TALLY_STAT_DIE] = 3,    [TALLY_STAT_SOCKET] = 2,   [TALLY_STAT_NODE] = 7,
	};

	return modes[by];
}

int tally_rounds_by(uint64_t mode, enum tally_stat_by *ret)
{
	for (int by = TALLY_STAT_GLOBAL; by <= TALLY_STAT_NODE; by++) {
		int known = tally_rounds_mode((enum tally_stat_by)by);

		if (known < 0 || (uint64_t)known != mode)
			continue;
		*ret = (enum tally_stat_by)by;
		return 0;
	}
	return -ENOENT;
}
