/* Source of the layout: the perf.data format as perf 2.6.32 to 7.0 reads it. */
#include "write/plain_file.h"

#include "base/bits.h"
#include "base/bytes.h"

void tally_plain_file_front(struct plain_file *file, const struct plain_file_event *events,
			    size_t count, struct tally_buf *to)
{
	uint64_t ids_at = FILE_HEADER_SIZE;

	file->event_count = count;
	tally_buf_zero(to, FILE_HEADER_SIZE);
	for (size_t i = 0; i < count; i++)
		tally_buf_add(to, events[i].ids, events[i].id_count * 8);
	file->attrs_at = to->size;
	for (size_t i = 0; i < count; i++) {
		/* perf reads attrs one after the other, each with its own size. */
		struct tally_attr attr = *events[i].attr;

		attr.size = file->attr_size;
		tally_buf_add(to, &attr, file->attr_size);
		tally_buf_u64(to, ids_at);
		tally_buf_u64(to, events[i].id_count * 8);
		ids_at += events[i].id_count * 8;
	}
	file->data_at = to->size;
}

void tally_plain_file_feature(struct plain_file *file, unsigned feature)
{
	struct tally_buf *payloads = &file->payloads;
	uint64_t before = 0;

	for (unsigned i = 0; i < feature; i++)
		before += align_up(file->sizes[i], 8);
	file->sizes[feature] = payloads->size - before;
	tally_buf_zero(payloads, align_up(payloads->size, 8) - payloads->size);
	bits_add(file->features, feature);
	file->feature_count++;
}

void tally_plain_file_end(const struct plain_file *file, struct tally_buf *to,
			  uint64_t ret_header[FILE_HEADER_SIZE / 8])
{
	uint64_t entry = file->attr_size + 16ULL, at = file->data_end + file->feature_count * 16ULL;
	const uint64_t words[FILE_HEADER_SIZE / 8] = {
	    0x32454c4946524550ULL, /* "PERFILE2" in native order */
	    FILE_HEADER_SIZE,
	    entry,
	    file->attrs_at,
	    entry * file->event_count,
	    file->data_at,
	    file->data_end - file->data_at,
	    0, /* event_types: none */
	    0,
	    file->features[0],
	    file->features[1],
	    file->features[2],
	    file->features[3],
	};

	for (unsigned feature = 0; feature < FILE_FEATURES; feature++) {
		if (!bits_has(file->features, feature))
			continue;
		tally_buf_u64(to, at);
		tally_buf_u64(to, file->sizes[feature]);
		at += align_up(file->sizes[feature], 8);
	}
	tally_buf_add(to, file->payloads.data, file->payloads.size);
	memcpy(ret_header, words, sizeof(words));
}

void tally_plain_file_done(struct plain_file *file)
{
	tally_buf_done(&file->payloads);
}
