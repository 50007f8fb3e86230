/* Records as JSON, with what the session knows of them. */
#include <errno.h>
#include "export/script_json.h"
#include "script/script_state.h"

static int find_frame(const struct script_out *out, uint8_t mode, uint64_t addr,
		      struct tally_script_json_frame *ret)
{
	bool known = mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER;
	struct tally_function_place nameless;
	struct tally_location at = {0};
	int result = 0;

	if (known)
		result = tally_resolver_location(out->resolver, out->at, mode, addr, &at);
	*ret = (struct tally_script_json_frame){
	    .ip = addr,
	    .symbol = at.symbol,
	    .offset = at.symbol ? at.place - at.symbol_start : 0,
	    .dso = at.mapped ? at.image_path : NULL,
	};
	if (known && !result && !at.symbol && at.mapped &&
	    tally_resolver_function(out->resolver, out->at, mode, addr, &nameless)) {
		ret->function_image = nameless.image_name;
		ret->function_address = nameless.address;
		ret->offset = nameless.offset;
	}
	return result;
}

/* Those of an address that was unwound; their count, or -ENOMEM. */
static int add_unwound(const struct script_out *out, uint64_t addr,
		       const struct tally_script_json_frame *plain)
{
	const uint32_t *numbers;
	uint32_t count = tally_resolver_unwound(out->resolver, out->at, addr, &numbers);

	for (uint32_t i = 0; i < count; i++) {
		struct tally_script_json_frame frame = *plain;
		struct tally_frame named = tally_session_frame(out->script->session, numbers[i]);

		if (named.inlined) {
			frame.symbol = named.symbol;
			frame.inlined = true;
		}
		tally_buf_add(&out->worker->frames, &frame, sizeof(frame));
	}
	return count ? (int)count : -ENOMEM;
}

/* The frames of the chain, or the address alone; their count, or -ENOMEM. */
static int find_frames(const struct script_out *out)
{
	struct script_worker *worker = out->worker;
	const struct tally_resolved *sample = out->at;
	uint64_t chain =
	    sample->sample.present & PERF_SAMPLE_CALLCHAIN ? sample->sample.callchain_nr : 0;
	struct tally_script_json_frame frame;
	uint8_t mode = PERF_RECORD_MISC_USER;
	uint32_t count = 0;

	tally_buf_clear(&worker->frames);
	if (!chain && (sample->sample.present & PERF_SAMPLE_IP)) {
		if (find_frame(out, sample->cpumode, sample->sample.ip, &frame))
			return -ENOMEM;
		tally_buf_add(&worker->frames, &frame, sizeof(frame));
		return worker->frames.failed ? -ENOMEM : 1;
	}
	for (uint64_t i = 0; i < chain && (count < out->script->max_stack ||
					   (sample->unwound && out->script->max_stack));
	     i++) {
		uint64_t word = sample->sample.callchain[i];

		if (resolved_is_mark(sample, i)) {
			mode = word == (uint64_t)PERF_CONTEXT_KERNEL ? PERF_RECORD_MISC_KERNEL
			       : word == (uint64_t)PERF_CONTEXT_USER ? PERF_RECORD_MISC_USER
								     : 0;
			continue;
		}
		if (find_frame(out, mode, word, &frame))
			return -ENOMEM;
		if (sample->unwound && i >= sample->unwound) {
			int more = add_unwound(out, word, &frame);

			if (more < 0)
				return more;
			count += (uint32_t)more;
			continue;
		}
		tally_buf_add(&worker->frames, &frame, sizeof(frame));
		count++;
	}
	return worker->frames.failed ? -ENOMEM : (int)count;
}

static int add_trace_field(void *context, const struct tally_trace_field *field)
{
	if (!field->common)
		tally_script_json_field(context, field);
	return 0;
}

int tally_script_object_put(const struct script_out *out)
{
	const struct script *script = out->script;
	struct script_worker *worker = out->worker;
	const struct tally_resolved *at = out->at;
	const struct script_event *event = &script->events[at->event];
	bool is_sample = out->record->type == PERF_RECORD_SAMPLE;
	struct tally_body body;
	struct tally_script_json with = {
	    .record = out->record,
	    .offset = out->record->offset,
	    .layout = &event->event->layout,
	    .body = &body,
	    .arch = script->arch,
	    .event = is_sample ? event->event->name : NULL,
	    .comm = (at->sample.present & PERF_SAMPLE_TID)
			? tally_session_string(script->session, at->comm)
			: NULL,
	};
	struct json fields = {.to = &worker->trace_fields};
	struct script_out text = *out;
	int frames;

	body.size = sizeof(body);
	if (tally_record_decode(with.layout, out->record, &body, NULL) < 0)
		return 0;
	if (is_sample) {
		frames = find_frames(out);
		if (frames < 0)
			return frames;
		with.frames = (const void *)worker->frames.data;
		with.frame_count = (size_t)frames;
		if (script->trace && event->type == SCRIPT_TRACEPOINT &&
		    (body.sample.present & PERF_SAMPLE_RAW)) {
			tally_buf_clear(&worker->spare);
			text.to = &worker->spare;
			tally_script_trace_put(&text, event, body.sample.raw, body.sample.raw_size);
			with.trace = tally_buf_str(&worker->spare);
			tally_buf_clear(&worker->trace_fields);
			tally_trace_text_each_field(script->trace, event->event->attr.config,
						    body.sample.raw, body.sample.raw_size,
						    add_trace_field, &fields);
			with.trace_fields = (const char *)worker->trace_fields.data;
			with.trace_fields_size = worker->trace_fields.size;
		}
	}
	tally_script_json_record(out->to, &with);
	return out->to->failed;
}
