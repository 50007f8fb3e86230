/* What a decoder must know of the trace units of a machine with CoreSight. */
#ifndef TALLY_AUX_CS_ETM_H
#define TALLY_AUX_CS_ETM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/buf.h"

enum tally_etm_version { TALLY_ETM_3, TALLY_ETM_4, TALLY_ETE };

struct tally_etm_unit {
	uint32_t cpu;
	enum tally_etm_version version;
	/* ETM 3: ETMCR, ETMTRACEIDR, ETMCCER, ETMIDR.  4: TRCCONFIGR, TRCTRACEIDR, TRCIDR0, 1, 2,
	 * 8, TRCAUTHSTATUS.  ETE: and TRCDEVARCH. */
	uint64_t registers[8];
};

/* The private words of AUXTRACE_INFO, in version 1 of its header, which all perf since 5.13 read.
 */
void tally_etm_words(uint32_t pmu_type, bool snapshot, const struct tally_etm_unit *units,
		     size_t count, struct tally_buf *to);

#endif
