#include "push/series.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include "base/fail.h"
#include "base/protobuf.h"

enum request_field { REQUEST_SERIES = 1 };
enum series_field { SERIES_LABELS = 1, SERIES_SAMPLES };
enum label_field { LABEL_NAME = 1, LABEL_VALUE };
enum sample_field { SAMPLE_PROFILE = 1, SAMPLE_ID };

/* What a server accepts unless it is set up otherwise.  Source: the limits
 * max-length-label-name, max-length-label-value and max-label-names-per-series of Pyroscope. */
#define NAME_MOST   1024
#define VALUE_MOST  2048
#define LABELS_MOST 30
#define KIND        "__name__"
#define SERVICE     "service_name"
#define UUID_SIZE   37

static bool is_name(const char *name)
{
	static const char letters[] = "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	static const char more[] =
	    "_abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

	return *name && strchr(letters, *name) && !name[strspn(name, more)] &&
	       strlen(name) <= NAME_MOST && (strncmp(name, "__", 2) != 0 || !strcmp(name, KIND));
}

static int by_name(const void *left, const void *right)
{
	return strcmp(((const struct tally_push_label *)left)->name,
		      ((const struct tally_push_label *)right)->name);
}

static int check_labels(const struct tally_push_label *labels, size_t count,
			struct tally_error *error)
{
	bool service = false;

	for (size_t i = 0; i < count; i++) {
		if (!is_name(labels[i].name))
			return tally_fail(error, -EINVAL, -1,
					  "'%.100s' is not a name of a label: letters, digits and "
					  "_, and no __ at the start",
					  labels[i].name);
		if (i && !strcmp(labels[i].name, labels[i - 1].name))
			return tally_fail(error, -EINVAL, -1, "the label %.100s is there twice",
					  labels[i].name);
		if (!*labels[i].value || strlen(labels[i].value) > VALUE_MOST)
			return tally_fail(error, -EINVAL, -1,
					  "the label %.100s: its value must have 1 to %d bytes",
					  labels[i].name, VALUE_MOST);
		service |= !strcmp(labels[i].name, SERVICE);
	}
	if (count > LABELS_MOST)
		return tally_fail(error, -EINVAL, -1, "%zu labels are too many; at most %d", count,
				  LABELS_MOST);
	return service ? 0 : tally_fail(error, -EINVAL, -1, "the label " SERVICE " is missing");
}

static void put_label(struct tally_buf *to, const struct tally_push_label *label)
{
	size_t place = tally_protobuf_begin(to, SERIES_LABELS);

	tally_protobuf_text(to, LABEL_NAME, label->name, strlen(label->name));
	tally_protobuf_text(to, LABEL_VALUE, label->value, strlen(label->value));
	tally_protobuf_end(to, place);
}

/* Source: RFC 9562, version 4. */
static int make_id(char *ret)
{
	uint8_t bytes[16];
	size_t at = 0;

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return -EIO;
	bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
	bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
	for (size_t i = 0; i < sizeof(bytes); i++)
		at += (size_t)snprintf(ret + at, UUID_SIZE - at, "%s%02x",
				       i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
	return 0;
}

/* The key and length of a field whose `size` bytes follow. */
static void put_start(struct tally_buf *to, unsigned field, uint64_t size)
{
	tally_protobuf_varint(to, (uint64_t)field << 3 | PROTOBUF_BYTES);
	tally_protobuf_varint(to, size);
}

/* From the inside out, as a length is before what it counts. */
static void put_parts(struct tally_buf *to, const struct tally_push_label *labels, size_t count,
		      const char *id, uint64_t size)
{
	struct tally_buf sample = {.data = NULL}, series = {.data = NULL};

	tally_protobuf_text(&sample, SAMPLE_ID, id, strlen(id));
	put_start(&sample, SAMPLE_PROFILE, size);
	for (size_t i = 0; i < count; i++)
		put_label(&series, &labels[i]);
	put_start(&series, SERIES_SAMPLES, sample.size + size);
	tally_buf_add(&series, sample.data, sample.size);
	put_start(to, REQUEST_SERIES, series.size + size);
	tally_buf_add(to, series.data, series.size);
	if (sample.failed || series.failed)
		to->failed = -ENOMEM;
	tally_buf_done(&sample);
	tally_buf_done(&series);
}

int tally_push_series_head(struct tally_buf *to, const struct tally_push_label *labels,
			   size_t count, uint64_t size, struct tally_error *error)
{
	struct tally_push_label *list = calloc(count + 1, sizeof(*list));
	char id[UUID_SIZE];
	bool named = false;
	int result;

	if (!list)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	for (size_t i = 0; i < count; i++) {
		list[i] = labels[i];
		named |= !strcmp(labels[i].name, KIND);
	}
	if (!named)
		list[count++] = (struct tally_push_label){KIND, "process_cpu"};
	qsort(list, count, sizeof(*list), by_name);
	result = check_labels(list, count, error);
	if (!result) {
		result = make_id(id);
		if (result)
			tally_fail(error, result, -1, "no random numbers: %s", strerror(-result));
	}
	if (!result) {
		put_parts(to, list, count, id, size);
		result = to->failed ? tally_fail(error, -ENOMEM, -1, "out of memory") : 0;
	}
	free(list);
	return result;
}

bool tally_push_series_is_whole(const uint8_t *bytes, size_t have, uint64_t size)
{
	uint64_t length = 0;
	size_t at = 1;

	if (!have || bytes[0] != (REQUEST_SERIES << 3 | PROTOBUF_BYTES))
		return false;
	for (unsigned shift = 0; at < have && shift < 63; shift += 7) {
		length |= (uint64_t)(bytes[at] & 0x7f) << shift;
		if (!(bytes[at++] & 0x80))
			return length == size - at;
	}
	return false;
}
