/* Source lines and files of addresses as strings that have a number. */
#ifndef TALLY_RESOLVE_SOURCE_TEXTS_H
#define TALLY_RESOLVE_SOURCE_TEXTS_H

#include <pthread.h>
#include <stdbool.h>
#include "base/map.h"

struct tally_resolver;
struct tally_resolved;

/* Of all resolvers of a session. */
struct tally_source_texts {
	pthread_mutex_t lock;
	struct tally_strings strings;
};

void tally_source_texts_init(struct tally_source_texts *texts);
void tally_source_texts_done(struct tally_source_texts *texts);
/* The string of a number; it lives as long as these. */
const char *tally_source_texts_get(struct tally_source_texts *texts, uint32_t number);

struct source_numbers {
	uint32_t line, file;
};

/* The line and the file of a sample's address, as perf's sort keys srcline and srcfile print them:
 * "qsort.c:81" and "qsort.c"; "malloc@plt+4", "libc.so.6[27249]" and "" where no line is
 * known.  0 or -ENOMEM. */
int tally_resolver_source(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  struct source_numbers *ret);

struct tally_resolve_tables;
/* The line of a frame that is at a place (session options `places`), as perf adds it to functions
 * in call chains by address: "qsort.c:81", "+4" where no line is known, "" without a symbol; as a
 * number.  0 or -ENOMEM. */
int tally_source_of_frame(struct tally_resolve_tables *tables, uint32_t frame, uint32_t *ret);
/* The line and the file of a frame that is at a place, in the words of tally_resolver_source(); of
 * one that a call returns to, those of the call; where what it calls was inlined, those of that
 * call.  0 or -ENOMEM. */
int tally_source_of_call(struct tally_resolve_tables *tables, uint32_t frame, bool returned_to,
			 bool calls_inlined, struct source_numbers *ret);

#endif
