/* A recording written again as a stream: the part before its records. */
#include "write/repair.h"

#include <errno.h>
#include <stdlib.h>
#include "write/stream_write.h"

static int add_events(const struct file_repair *repair, struct tally_buf *to,
		      struct tally_error *error)
{
	const struct tally_data *data = repair->data;
	struct tally_writer_event *events = calloc(data->event_count, sizeof(*events));
	const struct file_facts facts = {
	    .events = events,
	    .event_count = data->event_count,
	    .attr_size = repair->result.attr_size,
	};
	int code;

	if (!events)
		return -ENOMEM;
	for (size_t i = 0; i < data->event_count; i++) {
		events[i].attr = repair->attrs[i];
		events[i].ids = data->events[i].ids;
		events[i].id_count = data->events[i].id_count;
		events[i].name = data->events[i].name;
	}
	code = tally_file_stream_events(&facts, to, error);
	free(events);
	return code;
}

static void add_feature(struct file_repair *repair, unsigned feature, struct tally_buf *payload,
			struct tally_buf *to)
{

	/* Only files have offsets of AUX records. */
	if (feature == FEATURE_AUXTRACE || feature == FEATURE_BUILD_ID ||
	    feature == FEATURE_TRACING_DATA || !tally_repair_wants(repair, feature))
		return;
	tally_buf_clear(payload);
	if (!tally_repair_feature(repair, feature, payload)) {
		if (!repair->result.features_lost++)
			repair->result.first_feature_lost = feature;
		return;
	}
	if (payload->size) { /* flags are part of a header */
		tally_file_stream_feature(feature, payload->data, payload->size, to);
		repair->result.features++;
	}
}

int tally_repair_stream_front(struct file_repair *repair, struct tally_buf *to,
			      struct tally_error *error)
{
	const struct tally_data *data = repair->data;
	const struct file_payload *tracing = &data->sections[FEATURE_TRACING_DATA];
	struct tally_buf payload = {0};
	int code = add_events(repair, to, error);

	for (unsigned feature = 0; feature < FILE_FEATURES && !code; feature++)
		add_feature(repair, feature, &payload, to);
	if (!code && data->has_section[FEATURE_TRACING_DATA] &&
	    tally_repair_trusts_tracing(tracing->bytes, tracing->size))
		tally_file_stream_tracing_data(tracing->bytes, tracing->size, to);
	tally_buf_clear(&payload);
	tally_repair_build_ids(repair, &payload);
	tally_file_stream_build_ids(payload.data, payload.size, to);
	if (!code)
		code = payload.failed ? payload.failed : to->failed;
	tally_buf_done(&payload);
	return code;
}
