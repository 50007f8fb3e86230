/* libtally: performance events of Linux, from name to picture.  This header includes all others. */
#ifndef TALLY_TALLY_H
#define TALLY_TALLY_H

#include <tally/abi.h>
#include <tally/attr.h>
#include <tally/build_id_cache.h>
#include <tally/catalog.h>
#include <tally/choice.h>
#include <tally/count.h>
#include <tally/counter.h>
#include <tally/data.h>
#include <tally/descendants.h>
#include <tally/dlfilter.h>
#include <tally/doctor.h>
#include <tally/error.h>
#include <tally/event.h>
#include <tally/evlist.h>
#include <tally/fd.h>
#include <tally/header.h>
#include <tally/info.h>
#include <tally/limits.h>
#include <tally/metric.h>
#include <tally/names.h>
#include <tally/open.h>
#include <tally/overflow.h>
#include <tally/pfm.h>
#include <tally/probe.h>
#include <tally/probe_event.h>
#include <tally/profile.h>
#include <tally/raw.h>
#include <tally/rdpmc.h>
#include <tally/record.h>
#include <tally/recorder.h>
#include <tally/region.h>
#include <tally/repair.h>
#include <tally/report.h>
#include <tally/ring.h>
#include <tally/script.h>
#include <tally/session.h>
#include <tally/sql.h>
#include <tally/stat.h>
#include <tally/summary.h>
#include <tally/text.h>
#include <tally/topology.h>
#include <tally/version.h>

#endif
