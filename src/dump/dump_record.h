/* Parts of the dump that -D prints; each appends the text after "PERF_RECORD_NAME". */
#ifndef TALLY_DUMP_DUMP_RECORD_H
#define TALLY_DUMP_DUMP_RECORD_H

#include "dump/value_text.h"

/* The fields of a sample. */
void tally_script_dump_sample(struct tally_buf *buf, const struct tally_script_dump *dump,
			      const struct tally_data_event *event,
			      const struct tally_record *record, const struct tally_sample *sample);

/* A record of the perf tool (types from 64 up). */
void tally_script_dump_tool(struct tally_buf *buf, const struct tally_body *body);

/* The description of the hardware in an AUXTRACE_INFO, after its type. */
void tally_script_dump_auxtrace_info(struct tally_buf *buf,
				     const struct tally_record_auxtrace_info *info);

#endif
