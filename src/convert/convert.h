/* An export in progress: what all formats share. */
#ifndef TALLY_CONVERT_CONVERT_H
#define TALLY_CONVERT_CONVERT_H

#include <stdio.h>
#include <tally/export.h>
#include <tally/profile.h>
#include "base/buf.h"
#include "base/json.h"
#include "convert/export_format.h"

struct convert {
	struct tally_session *session;
	struct tally_data *data;
	const struct export_format *format;
	struct tally_export_options options;
	struct tally_profile_options filter; /* the options that choose samples */
	FILE *to;
	struct tally_buf text; /* what is to be written next */
	const char *image;     /* the path of the only binary that it is about; NULL: of all */
	uint64_t samples;      /* that were chosen, of the events that were asked for */
	struct tally_error *error;
};

/* Text is written when it has so many bytes. */
#define CONVERT_WRITE_SIZE ((size_t)1 << 16)

/* Writes the text, all of it or when there is much.  0, -ENOMEM, or -errno of writing. */
int tally_convert_flush(struct convert *convert);
static inline int convert_pour(struct convert *convert)
{
	return convert->text.size < CONVERT_WRITE_SIZE ? 0 : tally_convert_flush(convert);
}

/* Whether an event was asked for. */
bool tally_convert_has_event(const struct convert *convert, uint32_t event);
/* "nanoseconds" or "count": what the periods of an event count.  Source: perf_event.h; the clocks
 * of software events count ns. */
const char *tally_convert_unit(const struct convert *convert, uint32_t event);
/* Adds the name that reports show: the symbol; of a function without one, its image and address;
 * else nothing, and false. */
bool tally_convert_frame_name(const struct tally_frame *frame, struct tally_buf *to);
/* The same, always a name: of other places that of their image, in brackets. */
void tally_convert_frame_label(const struct tally_frame *frame, struct tally_buf *to);

/* What the recording says of itself, and what it lacks: one line each, text from outside.  Complete
 * once the samples were read. */
typedef void (*tally_convert_line_fn)(void *context, const char *line, size_t length);
int tally_convert_facts(const struct convert *convert, tally_convert_line_fn take, void *context);
/* Nanoseconds to be added to a sample's time for that since 1970.  False: it is not recorded. */
bool tally_convert_wall_offset(const struct convert *convert, int64_t *ret);

#endif
