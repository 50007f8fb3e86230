#include "aux/aux_records.h"

#include <errno.h>
#include "base/bytes.h"

int tally_aux_add_info(const struct tally_aux_plan *plan, const struct tally_attr *attr,
		       const char *filter, const struct tally_record_time_conv *conv,
		       struct tally_buf *to)
{
	struct perf_event_header header = {.type = PERF_RECORD_AUXTRACE_INFO};
	size_t at = to->size, size;

	tally_buf_add(to, &header, sizeof(header));
	tally_buf_u32(to, plan->kind->type);
	tally_buf_u32(to, 0);
	plan->kind->info(plan, attr, filter, conv, to);
	if (to->failed)
		return to->failed;
	size = to->size - at;
	if (size > UINT16_MAX)
		return -E2BIG;
	store_u16(to->data + at + 6, (uint16_t)size);
	return 0;
}

int tally_aux_add_time_conv(const struct tally_record_time_conv *conv, struct tally_buf *to)
{
	struct tally_layout layout;
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_TIME_CONV, .time_conv = *conv};
	struct tally_attr none = {0};
	uint8_t bytes[64];
	int size;

	tally_layout_init(&layout, &none);
	size = tally_record_encode(&layout, &body, bytes, sizeof(bytes));
	if (size < 0)
		return size;
	tally_buf_add(to, bytes, (size_t)size);
	return to->failed;
}
