/* libtally: performance events of Linux, from name to picture.  This header includes all others.
 *
 * Options are structs whose first member is their size: `struct tally_ring_options options = {.size
 * = sizeof(options), ...}`.  Members that are zero have their default.  Results that may grow are
 * such structs, too: set the size once, and the library fills as much as fits.
 *
 * A function returns 0 or a count, otherwise -errno; an optional last `struct tally_error *` says
 * in words what failed, why, and what to do.  A callback that returns something other than 0
 * cancels the function, which then returns -ECANCELED.  The library never prints, exits, or aborts
 * on input.
 *
 * Text goes to a FILE, which stays the caller's.  Names from files and processes are escaped there
 * (tally_text(3)); in structs they are as they were found.
 *
 * Within an edition, 0.N, programs keep running with newer libraries.  Each edition has a soname of
 * its own. */
#ifndef TALLY_TALLY_H
#define TALLY_TALLY_H

#include <tally/abi.h>
#include <tally/annotate.h>
#include <tally/archive.h>
#include <tally/attr.h>
#include <tally/batch.h>
#include <tally/build_id_cache.h>
#include <tally/cache.h>
#include <tally/catalog.h>
#include <tally/cgroup.h>
#include <tally/choice.h>
#include <tally/count.h>
#include <tally/counter.h>
#include <tally/data.h>
#include <tally/debuginfod.h>
#include <tally/descendants.h>
#include <tally/diff.h>
#include <tally/dlfilter.h>
#include <tally/doctor.h>
#include <tally/error.h>
#include <tally/event.h>
#include <tally/evlist.h>
#include <tally/export.h>
#include <tally/fd.h>
#include <tally/fleet.h>
#include <tally/header.h>
#include <tally/info.h>
#include <tally/limits.h>
#include <tally/merge.h>
#include <tally/metric.h>
#include <tally/names.h>
#include <tally/open.h>
#include <tally/overflow.h>
#include <tally/page.h>
#include <tally/pfm.h>
#include <tally/probe.h>
#include <tally/probe_event.h>
#include <tally/profile.h>
#include <tally/push.h>
#include <tally/raw.h>
#include <tally/rdpmc.h>
#include <tally/record.h>
#include <tally/recorder.h>
#include <tally/region.h>
#include <tally/repair.h>
#include <tally/report.h>
#include <tally/ring.h>
#include <tally/sample_words.h>
#include <tally/script.h>
#include <tally/session.h>
#include <tally/sql.h>
#include <tally/stat.h>
#include <tally/stat_rounds.h>
#include <tally/summary.h>
#include <tally/symbolize.h>
#include <tally/text.h>
#include <tally/topology.h>
#include <tally/version.h>

#endif
