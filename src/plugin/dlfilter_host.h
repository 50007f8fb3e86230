/* The host of filters inside: what its parts share.
 *
 * Source of the structs and of every rule here: the binary interface as <perf/perf_dlfilter.h>
 * describes it, and what perf 6.1 does. */
#ifndef TALLY_PLUGIN_DLFILTER_HOST_H
#define TALLY_PLUGIN_DLFILTER_HOST_H

#include <perf/perf_dlfilter.h>
#include <stdbool.h>
#include <tally/dlfilter.h>
#include "base/arena.h"
#include "image/code.h"
#include "code/insn_length.h"
#include "plugin/own_stdout.h"
#include "session/filter.h"
#include "session/numbers.h"
#include "resolve/label.h"
#include "resolve/lines.h"

enum dlfilter_phase {
	DLFILTER_LOAD,
	DLFILTER_START,
	DLFILTER_EARLY,
	DLFILTER_LATE,
	DLFILTER_STOP,
	DLFILTER_UNLOAD,
};

typedef int (*dlfilter_event)(void *data, const struct perf_dlfilter_sample *sample, void *ctx);

/* One filter; its address is the ctx of its callbacks. */
struct dlfilter {
	struct tally_dlfilters *host;
	char *name; /* of the file, as it was opened */
	void *handle;
	int (*start)(void **data, void *ctx);
	int (*stop)(void *data, void *ctx);
	dlfilter_event early, late;
	void *data;
	char **args;
	int arg_count;
	bool started;
};

/* Facts about an event, found once. */
struct dlfilter_event_facts {
	const struct tally_data_event *event;
	struct perf_event_attr *attr; /* a filter may write to it */
	bool correlates;              /* a data address leads to a symbol */
};

/* The current sample, and what was already looked up for it. */
struct dlfilter_moment {
	struct tally_filter_call *call;
	struct perf_dlfilter_sample sample;
	bool has_ip_location, has_addr_location, has_insn;
	struct tally_location ip_location, addr_location;
	uint8_t insn[16];
	uint32_t insn_length;
	/* Of the callback that runs; size 0: not asked yet. */
	struct perf_dlfilter_al ip, addr;
};

struct tally_dlfilters {
	struct dlfilter **list;
	size_t count;
	struct tally_session *session;
	struct tally_sample_filter hook;
	struct tally_labels labels;
	struct tally_arena arena; /* facts, and made labels, which live until all is over */
	struct tally_map made;    /* labels: hash -> const char * */
	struct dlfilter_event_facts *facts;
	size_t event_count;
	struct insn_decoder *decoders[2]; /* of 32 and of 64 bits */
	bool decoder_asked[2];
	struct own_stdout out;
	struct tally_dlfilter_end end;
	struct dlfilter_moment now;

	/* Read by signal handlers. */
	struct dlfilter *volatile running;
	volatile enum dlfilter_phase phase;
	volatile uint64_t calls;
};

/* dlfilter_functions.c: what filters may ask. */
extern const struct perf_dlfilter_fns tally_dlfilter_functions;

/* dlfilter_find.c: the path for dlopen(); for free().  NULL: out of memory. */
char *tally_dlfilter_find(const char *name);

/* dlfilter_sample.c */
void tally_dlfilter_fill(struct tally_dlfilters *host, const struct tally_filter_call *call,
			 struct perf_dlfilter_sample *to);
/* 0 or -ENOMEM. */
int tally_dlfilter_facts(struct tally_dlfilters *host);

/* dlfilter_table.c: gives a filter its functions.  0, or -errno when its table cannot be written.
 */
int tally_dlfilter_table_fill(void *table);

#endif
