/* Shared by the writers of facts from the header: evlist and info, as text and as JSON. */
#ifndef TALLY_INFO_FACTS_H
#define TALLY_INFO_FACTS_H

#include <stdio.h>
#include <tally/data.h>
#include "base/bits.h"
#include "base/buf.h"
#include "base/json.h"

static inline bool facts_has(const struct tally_data_info *info, unsigned feature)
{
	return bits_has(info->features, feature);
}

/* "monotonic", perf's names; "(not found)". */
const char *tally_facts_clock_name(uint32_t clockid);

/* The attr that perf shows for the event. */
struct tally_attr tally_facts_attr_of_perf(const struct tally_data_event *event);

/* How call chains are taken: "fp", "dwarf", "lbr", NULL: they are not. */
const char *tally_facts_callchain(const struct tally_attr *attr);

/* "4000 a second; user space only; call chains by frame pointers"; `unwound`: the recorder made
 * chains of copies of stacks. */
void tally_facts_event_words(struct tally_buf *to, const struct tally_attr *attr, bool unwound);

/* {"name":..., "type":..., ...}: one event; tally-evlist(1) says what is in it. */
void tally_facts_event_json(struct json *json, const struct tally_data *data, size_t index);

#endif
