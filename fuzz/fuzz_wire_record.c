/* One record of any bytes under an attr of any bytes: decoded, encoded, swapped, dumped; and what
 * holds for every record that decodes: what is encoded from it decodes to the same bytes again.
 *
 * Input: an attr of 144 bytes, then the record. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <tally/record.h>
#include "base/bytes.h"
#include "base/buf.h"
#include "wire/attr_wire.h"
#include "wire/dump.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static void require(bool truth)
{
	if (!truth)
		abort();
}

static struct tally_record view(const uint8_t *bytes, size_t size)
{
	return (struct tally_record){.bytes = bytes,
				     .type = load_u32(bytes),
				     .misc = load_u16(bytes + 4),
				     .size = (uint16_t)size};
}

static void dump(const struct tally_layout *layout, const struct tally_body *body)
{
	struct tally_buf text = {0};

	require(tally_body_dump(layout, body, &text) == 0 && !text.failed);
	require(strlen(tally_buf_str(&text)) == text.size);
	tally_buf_done(&text);
}

static void encode_again(const struct tally_layout *layout, const struct tally_body *body)
{
	int size = tally_record_size(layout, body);
	uint8_t *once, *twice;
	struct tally_record record;
	struct tally_body again = {.size = sizeof(again)};

	if (size < 0) /* what was shorter than it had to be may not fit when padded */
		return;
	once = malloc((size_t)size);
	twice = malloc((size_t)size);
	require(once && twice);
	require(tally_record_encode(layout, body, once, (size_t)size) == size);
	record = view(once, (size_t)size);
	require(tally_record_decode(layout, &record, &again, NULL) == 0);
	require(tally_record_encode(layout, &again, twice, (size_t)size) == size);
	require(!memcmp(once, twice, (size_t)size));
	require(tally_record_swap(layout, once, (size_t)size, false, NULL) == 0);
	require(tally_record_swap(layout, once, (size_t)size, true, NULL) == 0);
	require(!memcmp(once, twice, (size_t)size));
	free(once);
	free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	const size_t prefix = sizeof(struct tally_attr);
	struct tally_buf text = {0};
	struct tally_layout layout;
	struct tally_record record;
	struct tally_sample sample = {.size = sizeof(sample)};
	struct tally_body body = {.size = sizeof(body)};
	struct tally_attr attr;
	uint8_t *copy;

	if (size < prefix + sizeof(struct perf_event_header) || size - prefix > UINT16_MAX)
		return 0;
	tally_attr_decode(bytes, prefix, &attr, NULL);
	require(tally_attr_dump(&attr, &text) == 0);
	tally_buf_done(&text);
	tally_layout_init(&layout, &attr);
	size -= prefix;
	copy = malloc(size); /* a place of its own, aligned, and no byte longer */
	require(copy);
	memcpy(copy, bytes + prefix, size);
	store_u16(copy + 6, (uint16_t)size);
	record = view(copy, size);
	if (tally_record_decode(&layout, &record, &body, NULL) == 0) {
		dump(&layout, &body);
		encode_again(&layout, &body);
	}
	if (record.type == PERF_RECORD_SAMPLE)
		(void)tally_sample_decode(&layout, &record, attr.config, &sample, NULL);
	(void)tally_record_swap(&layout, copy, size, attr.config & 1, NULL);
	free(copy);
	return 0;
}
