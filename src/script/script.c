/* The script command's text: the options are examined once; then several threads make the text of
 * samples, each for a batch, and the batches are written in order. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/script.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "export/script_json.h"
#include "session/session.h"
#include "script/script_state.h"

static int take_options(struct script *script, const struct tally_script_options *options,
			struct tally_error *error)
{
	struct tally_script_options *own = &script->options;
	int result = tally_options_take(own, sizeof(*own), options);

	if (result)
		return tally_fail(error, result, -1,
				  "this libtally does not know one of the options; use a newer "
				  "one");
	if (own->json && (own->dump || own->per_event_dump))
		return tally_fail(error, -EINVAL, -1,
				  "--json prints all fields of every record; leave out -D "
				  "and --per-event-dump");
	if (own->relative && own->delta)
		return tally_fail(error, -EINVAL, -1,
				  "--reltime and --deltatime exclude each other; leave one out");
	tally_script_fields_init(&script->fields);
	script->fields.callchains = !own->hide_call_graph;
	script->max_stack = own->max_stack == TALLY_SCRIPT_NO_FRAMES ? 0
			    : own->max_stack                         ? own->max_stack
								     : SCRIPT_FRAMES_USUAL;
	for (size_t i = 0; i < own->field_count; i++) {
		result = tally_script_fields_parse(&script->fields, own->fields[i], own, error);
		if (result)
			return result;
	}
	return 0;
}

int tally_script_check(const struct tally_script_options *options, struct tally_error *error)
{
	struct script script = {0};
	struct tally_script_options quiet = {.size = sizeof(quiet)};
	struct tally_time_span *times;
	uint32_t *cpus;
	size_t count;
	int result = tally_options_take(&quiet, sizeof(quiet), options);

	quiet.notice = NULL;
	if (!result)
		result = take_options(&script, &quiet, error);
	if (!result && quiet.cpus) {
		result = tally_script_cpus_parse(quiet.cpus, &cpus, &count, error);
		if (!result)
			free(cpus);
	}
	if (result || !quiet.time)
		return result;
	/* Any range of time is fine for this check. */
	result = tally_time_spans_parse(quiet.time, 0, 1000, false, &times, &count, error);
	if (!result)
		free(times);
	return result;
}

/* --- events --- */

static int kind_of(struct script *script, enum script_shape shape, uint64_t fields)
{
	bool inlines;

	for (unsigned i = 0; i < script->kind_count; i++)
		if (script->kinds[i].shape == shape && script->kinds[i].fields == fields)
			return (int)i;
	if (script->kind_count == SCRIPT_KINDS_MOST)
		return -ENOMEM; /* 8 types of events, 4 shapes each */
	/* a symbol's places differ by what was inlined there */
	inlines = shape == SCRIPT_SHAPE_UNWOUND ||
		  (shape == SCRIPT_SHAPE_CHAIN && script->session->options.inlines);
	script->kinds[script->kind_count] = (struct script_kind){
	    .fields = fields,
	    .shape = shape,
	    .by_symbol = shape <= SCRIPT_SHAPE_SINGLE && !inlines &&
			 !(fields & (SCRIPT_FIELD(DSOFF) | SCRIPT_FIELD(SRCLINE))),
	    .symbols = fields & SCRIPT_FIELD(SYM) || script->options.stop_count,
	};
	return (int)script->kind_count++;
}

/* BTS: each sample is a branch.  Source: how perf distinguishes them from counted branches. */
static bool is_branch_event(const struct tally_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE &&
	       (attr->config & PERF_COUNT_HW_BRANCH_INSTRUCTIONS) && attr->sample_period == 1;
}

static bool is_fault(const struct tally_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_PAGE_FAULTS ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
						    attr->config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

#define PLACE_FIELDS                                                                       \
	(SCRIPT_FIELD(IP) | SCRIPT_FIELD(SYM) | SCRIPT_FIELD(DSO) | SCRIPT_FIELD(SYMOFF) | \
	 SCRIPT_FIELD(DSOFF) | SCRIPT_FIELD(SRCLINE))

static int choose_kinds(struct script *script, struct script_event *event)
{
	uint64_t place = event->fields & PLACE_FIELDS;
	uint64_t image = place & (SCRIPT_FIELD(DSO) | SCRIPT_FIELD(DSOFF));
	/* perf takes the first of these that is asked for. */
	enum script_shape shape = event->fields & SCRIPT_FIELD(BRSTACK) ? SCRIPT_SHAPE_BRANCH
				  : event->fields & SCRIPT_FIELD(BRSTACKSYM)
				      ? SCRIPT_SHAPE_BRANCH_SYM
				      : SCRIPT_SHAPE_BRANCH_OFF;
	uint64_t own = script->fields.types[event->type].no_place ? 0 : place;
	int chain = kind_of(script, SCRIPT_SHAPE_CHAIN, own);
	int single = kind_of(script, SCRIPT_SHAPE_SINGLE, own);
	int addr = kind_of(script, SCRIPT_SHAPE_ADDR, place & ~SCRIPT_FIELD(SRCLINE));
	int branch = kind_of(script, shape, image);
	int unwound = kind_of(script, SCRIPT_SHAPE_UNWOUND, own);

	if (chain < 0 || unwound < 0 || single < 0 || addr < 0 || branch < 0)
		return -ENOMEM;
	event->chain = (uint8_t)chain;
	script->kinds[chain].unwound = (uint8_t)unwound;
	event->single = (uint8_t)single;
	event->addr = (uint8_t)addr;
	event->branch = (uint8_t)branch;
	return 0;
}

static int make_event(struct script *script, struct script_event *event, size_t width)
{
	const struct tally_attr *attr = &event->event->attr;
	bool chains = attr->sample_type & PERF_SAMPLE_CALLCHAIN;
	struct tally_buf name = {0}, padded = {0};

	event->type = tally_script_type(attr);
	event->fields = script->fields.types[event->type].fields;
	event->chains = chains && script->fields.callchains;
	event->columns = (uint8_t)((event->fields & SCRIPT_FIELD(COMM) ? SCRIPT_COLUMN_COMM : 0) |
				   (event->fields & SCRIPT_FIELD(PID) ? SCRIPT_COLUMN_PID : 0) |
				   (event->fields & SCRIPT_FIELD(TID) ? SCRIPT_COLUMN_TID : 0));
	if (event->chains && (event->fields & SCRIPT_FIELD(IP)))
		event->columns |= SCRIPT_COLUMN_ALONE;
	event->branches = is_branch_event(attr);
	event->addr_named = event->branches || is_fault(attr);
	event->places = (event->fields & SCRIPT_FIELD(IP)) && !(event->fields & ~PLACE_FIELDS) &&
			!event->branches && !script->fields.flags;
	event->bpf_output =
	    attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_BPF_OUTPUT;
	tally_script_name_put(script, &name, event->event->name);
	if (name.size < width)
		buf_pad(&padded, ' ', width - name.size);
	tally_buf_add(&padded, name.data, name.size);
	tally_buf_add(&padded, ": ", 2);
	event->name_length = (uint32_t)padded.size;
	tally_buf_zero(&padded, SCRIPT_COPY_PIECE);
	event->name = padded.failed
			  ? NULL
			  : tally_arena_strndup(&script->arena, (char *)padded.data, padded.size);
	tally_buf_done(&name);
	tally_buf_done(&padded);
	return event->name ? choose_kinds(script, event) : -ENOMEM;
}

static int make_events(struct script *script)
{
	size_t width = 0;

	script->event_count = tally_data_event_count(script->data);
	script->events = calloc(script->event_count + 1, sizeof(*script->events));
	if (!script->events)
		return -ENOMEM;
	for (size_t i = 0; i < script->event_count; i++) {
		struct tally_buf name = {0};

		script->events[i].event = tally_data_event(script->data, i);
		tally_script_name_put(script, &name, script->events[i].event->name);
		if (name.size > width)
			width = name.size;
		tally_buf_done(&name);
	}
	for (size_t i = 0; i < script->event_count; i++) {
		int result = make_event(script, &script->events[i], width);

		if (result)
			return result;
	}
	return 0;
}

/* Chooses the fields that are decoded of samples, and finds whether a sample's text depends on
 * earlier ones. */
static void choose_want(struct script *script)
{
	static const struct {
		uint64_t fields, sample_type;
	} sources[] = {
	    {SCRIPT_FIELD(IP), PERF_SAMPLE_IP},
	    {SCRIPT_FIELD(CPU), PERF_SAMPLE_CPU},
	    {SCRIPT_FIELD(PERIOD), PERF_SAMPLE_PERIOD},
	    {SCRIPT_FIELD(ADDR), PERF_SAMPLE_ADDR},
	    {SCRIPT_FIELD(TRACE) | SCRIPT_FIELD(BPF_OUTPUT), PERF_SAMPLE_RAW},
	    {SCRIPT_FIELD(IREGS), PERF_SAMPLE_REGS_INTR},
	    {SCRIPT_FIELD(UREGS), PERF_SAMPLE_REGS_USER},
	    {SCRIPT_FIELD(BRSTACK) | SCRIPT_FIELD(BRSTACKSYM) | SCRIPT_FIELD(BRSTACKOFF) |
		 SCRIPT_FIELD(BRSTACKINSN) | SCRIPT_FIELD(BRSTACKINSNLEN),
	     PERF_SAMPLE_BRANCH_STACK},
	    {SCRIPT_FIELD(INSN) | SCRIPT_FIELD(INSNLEN) | SCRIPT_FIELD(BRSTACKINSN) |
		 SCRIPT_FIELD(BRSTACKINSNLEN),
	     PERF_SAMPLE_IP},
	    {SCRIPT_FIELD(DATA_SRC), PERF_SAMPLE_DATA_SRC},
	    {SCRIPT_FIELD(WEIGHT) | SCRIPT_FIELD(INS_LAT) | SCRIPT_FIELD(RETIRE_LAT),
	     PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT},
	    {SCRIPT_FIELD(PHYS_ADDR), PERF_SAMPLE_PHYS_ADDR},
	    {SCRIPT_FIELD(DATA_PAGE_SIZE), PERF_SAMPLE_DATA_PAGE_SIZE},
	    {SCRIPT_FIELD(CODE_PAGE_SIZE), PERF_SAMPLE_CODE_PAGE_SIZE},
	    {SCRIPT_FIELD(CGROUP), PERF_SAMPLE_CGROUP},
	};

	script->want = PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	/* Names that records other than samples are shown under are learnt in order, too. */
	script->serial = script->options.relative || script->options.delta || script->options.show;
	if (script->filter.frames || script->options.dump)
		script->want |= PERF_SAMPLE_IP;
	if (script->filter.any_cpu)
		script->want |= PERF_SAMPLE_CPU;
	if (script->options.json)
		script->want |= PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_CPU;
	for (size_t i = 0; !script->options.json && i < script->event_count; i++) {
		const struct script_event *event = &script->events[i];
		uint64_t sample_type = event->event->attr.sample_type;

		for (size_t k = 0; k < sizeof(sources) / sizeof(*sources); k++)
			if (event->fields & sources[k].fields)
				script->want |= sources[k].sample_type;
		if (event->chains && (event->fields & SCRIPT_FIELD(IP)))
			script->want |= PERF_SAMPLE_CALLCHAIN;
		if (event->branches)
			script->want |= PERF_SAMPLE_ADDR;
		if (sample_type & PERF_SAMPLE_READ) {
			script->want |= PERF_SAMPLE_READ;
			script->serial = true;
			/* Each counter that a sample has read is a sample to the filter. */
			script->asks = tally_session_is_filtered(script->session);
		}
		if (event->fields & (SCRIPT_FIELD(DATA_SRC) | SCRIPT_FIELD(CGROUP)))
			script->serial = true;
		script->guest_fields |=
		    (event->fields & (SCRIPT_FIELD(MACHINE_PID) | SCRIPT_FIELD(VCPU))) != 0;
	}
	script->serial |= script->sources != NULL;
	if (script->guest_fields) {
		script->want |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_ID;
		script->serial = true;
	}
	if (script->asks)
		script->want = UINT64_MAX;
}

static int read_tracing_data(struct script *script)
{
	struct tally_block block = tally_data_feature(script->data, 1);
	struct tally_error error = {0};
	bool wanted = false;
	int result;

	for (size_t i = 0; i < script->event_count; i++)
		wanted |= script->events[i].type == SCRIPT_TRACEPOINT &&
			  (script->events[i].fields & SCRIPT_FIELD(TRACE));
	if (!wanted)
		return 0;
	result = tally_trace_text_new(block.bytes, block.size, &script->trace, &error);
	if (result == -ENOMEM)
		return result;
	/* Then only the text of payloads is missing. */
	if (result)
		tally_script_notice(&script->options, "payloads of tracepoints are left out: %s",
				    error.text[0] ? error.text : "the recording has no formats");
	return 0;
}

/* --- output --- */

/* Flushes, so that later output to the same file, written in another way, comes after it. */
static int write_text(struct script *script, FILE *to, const struct tally_buf *text)
{
	size_t at = 0;

	if (text->failed)
		return text->failed;
	for (;;) {
		if (at < text->size)
			at += fwrite(text->data + at, 1, text->size - at, to);
		if (at == text->size && !fflush(to))
			return 0;
		if (errno != EINTR) {
			script->unwritten = true;
			return -errno;
		}
		clearerr(to);
	}
}

static int dump_name(const struct script *script, size_t event, struct tally_buf *ret)
{
	const char *path = tally_data_path(script->data);

	tally_buf_printf(ret, "%s.%s.dump", path, script->events[event].event->name);
	if (ret->failed)
		return ret->failed;
	/* The event's name must not contain a path. */
	for (size_t at = strlen(path); at < ret->size; at++)
		if (ret->data[at] == '/')
			ret->data[at] = '_';
	return 0;
}

static int open_outputs(struct script *script, FILE *to, struct tally_error *error)
{
	script->outputs = script->options.per_event_dump ? script->event_count : 1;
	script->files = calloc(script->outputs + 1, sizeof(*script->files));
	script->samples = calloc(script->event_count + 1, sizeof(*script->samples));
	if (!script->files || !script->samples)
		return -ENOMEM;
	/* After the files, the last slot has the text that a filter prints. */
	for (size_t i = 0; i <= script->outputs; i++)
		script->files[i] =
		    script->options.per_event_dump && i < script->outputs ? NULL : to;
	for (size_t i = 0; script->options.per_event_dump && i < script->outputs; i++) {
		struct tally_buf name = {0};
		int result = dump_name(script, i, &name);

		if (!result) {
			script->files[i] = fopen(tally_buf_str(&name), "we");
			if (!script->files[i])
				result = tally_fail(error, -errno, -1, "%s: cannot be created: %s",
						    tally_buf_str(&name), strerror(errno));
		}
		tally_buf_done(&name);
		if (result)
			return result;
	}
	return 0;
}

/* Reports what was written to which file, as perf does. */
static int close_dumps(struct script *script, FILE *to, bool report)
{
	struct tally_buf text = {0};
	int result = 0;

	for (size_t i = 0; script->options.per_event_dump && i < script->outputs; i++) {
		struct tally_buf name = {0};
		struct stat status;

		if (!script->files[i])
			continue;
		if (report && !fstat(fileno(script->files[i]), &status) &&
		    !dump_name(script, i, &name))
			tally_buf_printf(&text,
					 "[ tally script: Wrote %.3f MB %s (%llu samples) ]\n",
					 (double)status.st_size / 1024 / 1024, tally_buf_str(&name),
					 (unsigned long long)script->samples[i]);
		if (fclose(script->files[i]) && !result)
			result = -errno;
		tally_buf_done(&name);
	}
	if (!result)
		result = write_text(script, to, &text);
	tally_buf_done(&text);
	return result;
}

/* --- the visit --- */

static int make_workers(struct script *script)
{
	script->worker_count = script->serial ? 1 : tally_session_threads(script->session);
	script->slot_count = tally_session_slots(script->session);
	script->workers = table_apart(script->worker_count, sizeof(*script->workers));
	script->slots = calloc(script->slot_count, sizeof(*script->slots));
	if (!script->workers || !script->slots)
		return -ENOMEM;
	for (unsigned i = 0; i < script->worker_count; i++) {
		struct script_worker *worker = &script->workers[i];

		worker->tasks = calloc(SCRIPT_TASKS, sizeof(*worker->tasks));
		if (!worker->tasks)
			return -ENOMEM;
	}
	for (unsigned i = 0; i < script->slot_count; i++) {
		struct script_slot *slot = &script->slots[i];

		slot->text = table_apart(script->outputs + 1, sizeof(*slot->text));
		slot->samples = table_apart(script->event_count + 1, sizeof(*slot->samples));
		if (!slot->text || !slot->samples)
			return -ENOMEM;
	}
	return 0;
}

static struct tally_buf *text_of(struct script *script, struct script_worker *worker, unsigned slot,
				 size_t event)
{
	struct tally_buf *text = &script->slots[slot].text[script->outputs > 1 ? event : 0];

	/* The last chain's text is no longer there, or elsewhere. */
	if (text != worker->text || !text->size)
		worker->lines.chain_valid = false;
	worker->text = text;
	return text;
}

/* Writes what a filter printed: to the same place as the text, or to stdout if the text goes to
 * files. */
static int put_filter_text(const struct script *script, unsigned slot,
			   const struct tally_entry *entry, size_t from, size_t until)
{
	struct tally_buf *to =
	    &script->slots[slot].text[script->options.per_event_dump ? script->outputs : 0];

	if (until > from)
		tally_buf_add(to, entry->text + from, until - from);
	return to->failed;
}

/* -D: a sample's fields, and where it was taken, with what the filter printed between them. */
static int put_dump(const struct script_out *out, unsigned slot, const struct tally_entry *entry)
{
	int result = tally_script_dump_put(out);

	if (!result)
		result = put_filter_text(out->script, slot, entry, 0, entry->early);
	/* Of samples that read counters the place stands before each of these. */
	if (!result && entry->dropped != TALLY_DROPPED_EARLY &&
	    !tally_script_skips(out->script, out->at) &&
	    !(out->at->sample.present & PERF_SAMPLE_READ))
		result = tally_script_dump_location(out);
	return result ? result
		      : put_filter_text(out->script, slot, entry, entry->early, entry->size);
}

static bool is_guest(const struct tally_resolved *sample)
{
	return sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	       sample->cpumode == PERF_RECORD_MISC_GUEST_USER;
}

static int put_sample(const struct script_out *out, unsigned slot, const struct tally_entry *entry)
{
	struct script *script = out->script;
	int result = 0;

	if (script->options.dump)
		result = put_dump(out, slot, entry);
	else if (entry->size)
		result = put_filter_text(script, slot, entry, 0, entry->size);
	if (result || entry->dropped)
		return result;
	/* All samples count for the values of counters. */
	if (!(out->at->sample.present & PERF_SAMPLE_READ)) {
		int verdict = script->asks ? tally_script_ask(out) : TALLY_FILTER_KEEP;

		if (verdict != TALLY_FILTER_KEEP)
			return verdict < 0 ? verdict : verdict == TALLY_FILTER_END;
		if ((script->filter.any || is_guest(out->at)) && !tally_script_passes(out))
			return 0;
	}
	out->worker->any_sample = true;
	if (script->options.json)
		return tally_script_object_put(out);
	script_lines_tidy(&out->worker->lines);
	if (script->options.per_event_dump)
		script->slots[slot].samples[out->at->event]++;
	return tally_script_sample_put(out);
}

/* The text of a place, if it was made before. */
static uint64_t known_place(void *context, const struct tally_record_batch *batch, uint32_t era,
			    uint64_t addr)
{
	const struct script *script = context;
	struct script_lines *lines = &script->workers[batch->worker].lines;
	struct script_memo *memo = script_memo_look(lines, era, addr, script->events->single);

	if (memo)
		memo->noted = lines->slot = (uint16_t)(batch->slot + 1);
	return (uintptr_t)memo;
}

/* Room is made for so many. */
#define PLACES_AT_ONCE 64U

static int put_places(const struct script_out *out, const uint64_t *places, size_t count)
{
	struct tally_buf *to = out->to;

	out->worker->any_sample = true;
	while (count) {
		size_t some = count < PLACES_AT_ONCE ? count : PLACES_AT_ONCE;
		char *put = buf_put_begin(to, some * (SCRIPT_MEMO_TEXT + 2));

		if (!put)
			return to->failed;
		for (size_t i = 0; i < some; i++) {
			*put++ = ' ';
			put = script_memo_put((const void *)(uintptr_t)(places[i] << 1 >> 1), put);
			*put++ = '\n';
		}
		buf_put_end(to, put);
		places += some;
		count -= some;
	}
	return 0;
}

static int keep_cgroup(const struct script_out *out)
{
	struct script *script = out->script;
	struct tally_body body;
	uint64_t *place;
	bool added;

	body.size = sizeof(body);
	if (tally_record_decode(&script->events[out->at->event].event->layout, out->record, &body,
				NULL) < 0)
		return 0;
	place = tally_map_put(&script->cgroups, body.cgroup.id, &added);
	if (!place)
		return -ENOMEM;
	*place = (uintptr_t)tally_arena_strndup(&script->arena, body.cgroup.path,
						strlen(body.cgroup.path));
	return *place ? 0 : -ENOMEM;
}

/* Whose samples are those of a guest. */
static int keep_guests(const struct script_out *out)
{
	struct script *script = out->script;
	const struct tally_record_id_index *index;
	struct tally_body body;

	body.size = sizeof(body);
	if (tally_record_decode(&script->events->event->layout, out->record, &body, NULL) < 0)
		return 0;
	index = &body.id_index;
	for (uint64_t i = 0; index->guests && i < index->nr; i++) {
		bool added;
		uint64_t *place = tally_map_put(&script->guests, index->entries[i].id, &added);

		if (!place)
			return -ENOMEM;
		*place = index->guests[2 * i] << 32 | (uint32_t)index->guests[2 * i + 1];
	}
	return 0;
}

static int put_record(const struct script_out *out)
{
	const struct script *script = out->script;
	uint32_t type = out->record->type;
	int result = 0;

	if (!script->event_count) /* nothing says how records are laid out */
		return 0;
	if (script->options.json)
		return tally_script_object_put(out);
	if (script->options.dump)
		result = tally_script_dump_put(out);
	if (!result && script->options.show)
		result = tally_script_names_learn(out);
	if (!result && type == PERF_RECORD_CGROUP && (script->want & PERF_SAMPLE_CGROUP))
		result = keep_cgroup(out);
	if (!result && type == PERF_RECORD_ID_INDEX && script->guest_fields)
		result = keep_guests(out);
	if (result || !(script->options.show & tally_script_show_of(type)))
		return result;
	return tally_script_other_put(out);
}

static int put_batch(void *context, struct tally_record_batch *batch)
{
	struct script *script = context;
	struct tally_entry entry;
	struct script_out out = {
	    .script = script,
	    .worker = &script->workers[batch->worker],
	    .resolver = batch->resolver,
	    .record = &entry.record,
	};
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		out.at = entry.at;
		out.to = text_of(script, out.worker, batch->slot, entry.at ? entry.at->event : 0);
		if (entry.kind == TALLY_ENTRY_SAMPLE)
			result = put_sample(&out, batch->slot, &entry);
		else if (entry.kind == TALLY_ENTRY_RECORD)
			result = put_record(&out);
		else
			result = put_places(&out, entry.tokens, entry.token_count);
		if (result)
			break;
	}
	return result;
}

static int write_batch(void *context, unsigned number)
{
	struct script *script = context;
	struct script_slot *slot = &script->slots[number];

	for (size_t i = 0; i <= script->outputs; i++) {
		struct tally_buf *text = &slot->text[i];
		int result = write_text(script, script->files[i], text);

		if (result)
			return result;
		tally_buf_clear(text);
	}
	for (size_t i = 0; i < script->event_count; i++) {
		script->samples[i] += slot->samples[i];
		slot->samples[i] = 0;
	}
	return 0;
}

static bool wants_others(const struct script *script)
{
	return script->options.show || script->options.dump || script->options.json ||
	       script->guest_fields || (script->want & PERF_SAMPLE_CGROUP);
}

/* Whether only the places of samples are shown, in the same way for all events, and no option needs
 * each sample. */
static bool shows_places(const struct script *script)
{
	for (size_t i = 0; i < script->event_count; i++)
		if (!script->events[i].places || script->events[i].chains ||
		    script->events[i].single != script->events->single)
			return false;
	return !script->filter.any && !script->asks && !script->options.json &&
	       !script->options.dump && !script->options.per_event_dump &&
	       !(script->want & PERF_SAMPLE_READ);
}

/* Writes the text before or after all records. */
static int write_frame(struct script *script, FILE *to, bool begin)
{
	struct tally_buf text = {0};
	int result;

	if (!script->options.json)
		return 0;
	if (begin)
		tally_script_json_begin(&text, script->data);
	else
		tally_script_json_end(&text, script->data, tally_session_counts(script->session));
	result = write_text(script, to, &text);
	tally_buf_done(&text);
	return result;
}

static void script_done(struct script *script)
{
	for (unsigned i = 0; script->workers && i < script->worker_count; i++) {
		free(script->workers[i].tasks);
		tally_buf_done(&script->workers[i].spare);
		tally_buf_done(&script->workers[i].trace_fields);
		tally_buf_done(&script->workers[i].frames);
		tally_script_lines_done(&script->workers[i].lines);
	}
	for (unsigned i = 0; script->slots && i < script->slot_count; i++) {
		for (size_t k = 0; script->slots[i].text && k <= script->outputs; k++)
			tally_buf_done(&script->slots[i].text[k]);
		free(script->slots[i].text);
		free(script->slots[i].samples);
	}
	free(script->workers);
	free(script->slots);
	free(script->events);
	free(script->files);
	free(script->samples);
	tally_script_filter_done(&script->filter);
	tally_script_source_done(script);
	tally_trace_text_free(script->trace);
	tally_labels_done(&script->labels);
	tally_map_done(&script->counters);
	tally_map_done(&script->cgroups);
	tally_map_done(&script->guests);
	tally_map_done(&script->names);
	tally_arena_done(&script->arena);
}

static int set_up(struct script *script, FILE *to, struct tally_error *error)
{
	int result = tally_script_fields_fit(&script->fields, script->data, error);

	if (!result)
		result = make_events(script);
	if (!result)
		result = tally_script_filter_init(script, error);
	if (!result)
		result = tally_script_source_init(script);
	if (result)
		return result;
	script->arch = tally_register_arch(tally_data_info(script->data)->arch);
	tally_script_dump_init(&script->dump, script->data);
	choose_want(script);
	tally_session_unwind_most(script->session, script->max_stack ? script->max_stack : 1);
	result = tally_labels_init(&script->labels, script->data, script->options.show_kernel_path);
	if (!result)
		result = read_tracing_data(script);
	if (!result)
		result = open_outputs(script, to, error);
	return result ? result : make_workers(script);
}

int tally_script_write(struct tally_session *session, const struct tally_script_options *options,
		       FILE *to, struct tally_error *error)
{
	struct script script = {.session = session, .data = tally_session_data(session)};
	struct tally_error reason = {0};
	int result = take_options(&script, options, &reason), closed;

	if (!result)
		result = set_up(&script, to, &reason);
	if (!result) {
		const struct tally_record_sink sink = {
		    .context = &script,
		    .want = script.want,
		    .samples = true,
		    .dropped = script.options.dump,
		    .records = wants_others(&script),
		    .text = true,
		    .asks = script.asks,
		    .batch = put_batch,
		    .take = write_batch,
		    .token = shows_places(&script) ? known_place : NULL,
		    .own = {&script, tally_script_skips, tally_script_filtered},
		};

		result = write_frame(&script, to, true);
		if (!result)
			result = tally_session_run_in_order(session, &sink, script.serial, &reason);
		if (!result)
			result = write_frame(&script, to, false);
	}
	closed = script.files ? close_dumps(&script, to, !result) : 0;
	if (script.options.ret_any_sample) {
		*script.options.ret_any_sample = false;
		for (unsigned i = 0; script.workers && i < script.worker_count; i++)
			*script.options.ret_any_sample |= script.workers[i].any_sample;
	}
	script_done(&script);
	if (!result)
		result = closed;
	if (result >= 0 || result == -EPIPE)
		return result < 0 ? result : 0;
	if (script.unwritten)
		return tally_fail(error, result, -1, "the text could not be written: %s",
				  strerror(-result));
	if (reason.code)
		return tally_fail(error, result, reason.position, "%s", reason.text);
	return tally_fail(error, result, -1, "%s",
			  result == -ENOMEM ? "out of memory" : strerror(-result));
}
