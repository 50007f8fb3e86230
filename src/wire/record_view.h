/* A record in memory, by its header. */
#ifndef TALLY_WIRE_RECORD_VIEW_H
#define TALLY_WIRE_RECORD_VIEW_H

#include <string.h>
#include <tally/abi.h>
#include <tally/record.h>

static inline struct tally_record record_view(const uint8_t *bytes)
{
	struct perf_event_header header;

	memcpy(&header, bytes, sizeof(header));
	return (struct tally_record){
	    .bytes = bytes, .type = header.type, .misc = header.misc, .size = header.size};
}

#endif
