/* `tally script --json`: an object on each line.
 *
 * The first describes the file, {"version":2,"type":"FILE",...}, then there is one for each record,
 * {"type":"SAMPLE",...}, and the last reports losses, {"type":"END",...}.  The fields of a record
 * have the names of its struct in <tally/record.h>, made from the same rows as decoding.
 * Addresses, registers and sets of bits are strings "0x7f00", bytes strings of hexadecimal digits,
 * all other numbers are numbers (of 64 bits: times and ids may pass 2^53). */
#ifndef TALLY_EXPORT_SCRIPT_JSON_H
#define TALLY_EXPORT_SCRIPT_JSON_H

#include "base/json.h"
#include "dump/value_text.h"
#include "trace/trace_text.h"

struct tally_session_counts;

/* Changes when a key is removed or changes its meaning, not when one is added. */
#define TALLY_SCRIPT_JSON_VERSION 2

/* The code at an address of a sample. */
struct tally_script_json_frame {
	uint64_t ip;
	const char *symbol; /* NULL: none */
	uint64_t offset;    /* of ip in the symbol, or in the function */
	/* Without a symbol, where a function starts that has none: "NAME+0x1234"; NULL: unknown. */
	const char *function_image;
	uint64_t function_address;
	const char *dso;     /* the image's path; NULL: no mapping holds the address */
	const char *srcline; /* "file.c:12"; NULL: unknown */
	bool inlined;        /* then without an offset */
};

/* A record and what is known of it besides its bytes.  Borrowed during the call. */
struct tally_script_json {
	const struct tally_record *record;
	uint64_t offset; /* in its file, as tally_data_place() gives it */
	const struct tally_layout *layout;
	const struct tally_body *body; /* the record decoded; of samples the fields wanted */
	enum tally_register_arch arch;
	const char *event, *comm; /* NULL: left out */
	const char *trace;        /* a tracepoint's text; NULL: left out */
	/* Its fields, members of an object in JSON; size 0: left out. */
	const char *trace_fields;
	size_t trace_fields_size;
	/* Of samples: the code at the address, or at each address of the call chain, innermost
	 * first. */
	const struct tally_script_json_frame *frames;
	size_t frame_count;
};

/* Appends a tracepoint's field as a member: a number, a string, or an array's bytes in hexadecimal.
 */
void tally_script_json_field(struct json *json, const struct tally_trace_field *field);

void tally_script_json_begin(struct tally_buf *buf, const struct tally_data *data);
void tally_script_json_record(struct tally_buf *buf, const struct tally_script_json *with);
/* `counts`: of the whole session. */
void tally_script_json_end(struct tally_buf *buf, const struct tally_data *data,
			   const struct tally_session_counts *counts);

#endif
