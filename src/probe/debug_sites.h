/* The places of a definition by debug information, of a program or of the kernel. */
#ifndef TALLY_PROBE_DEBUG_SITES_H
#define TALLY_PROBE_DEBUG_SITES_H

#include "dwarf/debug_info.h"
#include "probe/probe_set.h"

struct debug_sites {
	const struct debug_info *info;
	bool kernel; /* places are addresses as linked, else offsets in the file */
	/* Makes the site's text of the place, and appends the site. */
	int (*add)(struct tally_probe_set *set, uint64_t place, struct probe_site *site,
		   void *context, struct tally_error *error);
	void *context;
};

/* Finds the sites of a point, with the set's arguments; there may be none. */
int tally_probe_set_find_debug(struct tally_probe_set *set, const struct debug_sites *sites,
			       const struct probe_point *point, struct tally_error *error);

/* Fails with why the set's point has no site, and names what is similar. */
int tally_probe_set_fail_absent(const struct tally_probe_set *set, const struct debug_info *info,
				struct tally_error *error);

#endif
