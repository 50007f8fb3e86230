/* A recording into the tables of an SQLite database, record by record in perf's order. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/version.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "base/text.h"
#include "jit/compiled_name.h"
#include "resolve/payload_symbols.h"
#include "resolve/resolver.h"
#include "export/script_json.h"
#include "export/script_sql.h"
#include "export/sql_file.h"
#include "export/sql_keys.h"
#include "export/sql_schema.h"
#include "export/sql_state.h"
#include "trace/trace_text.h"
#include "resolve/lines.h"
#include "session/numbers.h"
#include "session/record_sink.h"
#include "session/run.h"

/* Records from here up are perf's own, not the kernel's. */
#define FIRST_OF_TOOL 64U
/* Longer details of a record (of features, that is) are left out. */
#define DETAIL_LIMIT ((size_t)65536)

#define KNOWN_IMAGE (1ULL << 32) /* a key of `known`: an image's number; others: a frame's */

static int set_name(struct tally_sql_insert *insert, unsigned column, struct tally_buf *scratch,
		    const char *name)
{
	if (!name)
		return 0;
	tally_buf_clear(scratch);
	tally_text_add_escaped(scratch, name, strlen(name));
	if (scratch->failed)
		return scratch->failed;
	tally_sql_set_text(insert, column, tally_buf_str(scratch), scratch->size);
	return 0;
}

/* --- the code at addresses --- */

/* 1: the row is to be made; 0: it exists; -ENOMEM. */
static int is_new(struct sql *sql, uint64_t key)
{
	bool added;

	return tally_map_put(&sql->known, key, &added) ? added : -ENOMEM;
}

static int add_image(struct sql *sql, const struct tally_frame *frame)
{
	int result = is_new(sql, KNOWN_IMAGE | frame->image);

	if (result <= 0)
		return result;
	tally_sql_set(sql->images, SQL_IMAGE_ID, frame->image + 1ULL);
	tally_sql_set_text(sql->images, SQL_IMAGE_LEVEL, &frame->level, 1);
	result = set_name(sql->images, SQL_IMAGE_NAME, &sql->text, frame->image_name);
	if (!result)
		result = set_name(sql->images, SQL_IMAGE_PATH, &sql->other, frame->image_path);
	return result ? result : tally_sql_add(sql->images, sql->error);
}

static int add_symbol(struct sql *sql, uint32_t number, const struct tally_frame *frame)
{
	int result = is_new(sql, number);

	if (result <= 0)
		return result;
	tally_sql_set(sql->symbols, SQL_SYMBOL_ID, number);
	if (frame->image != UINT32_MAX)
		tally_sql_set(sql->symbols, SQL_SYMBOL_IMAGE, frame->image + 1ULL);
	result = set_name(sql->symbols, SQL_SYMBOL_NAME, &sql->text, frame->symbol);
	return result ? result : tally_sql_add(sql->symbols, sql->error);
}

static int add_line(struct sql *sql, struct tally_resolver *resolver,
		    const struct tally_located *located)
{
	struct tally_line line;
	int result = tally_resolver_line(resolver, located, &line);

	if (result == -ENOENT || (!result && !line.line))
		return 0;
	if (result)
		return result;
	tally_buf_clear(&sql->other);
	tally_buf_printf(&sql->other, "%s:%u", line.file, line.line);
	return set_name(sql->frames, SQL_FRAME_LINE, &sql->text, tally_buf_str(&sql->other));
}

/* Of the function that is the n-th of those that were inlined there. */
static int add_inlined_line(struct sql *sql, struct tally_resolver *resolver,
			    const struct tally_located *located, uint32_t nth)
{
	const struct tally_inline *inlines;
	size_t count;
	int result = tally_resolver_inlines(resolver, located, &inlines, &count);

	if (result || nth >= count || !inlines[nth].line)
		return result;
	tally_buf_clear(&sql->other);
	tally_buf_printf(&sql->other, "%s:%u", inlines[nth].file, inlines[nth].line);
	return set_name(sql->frames, SQL_FRAME_LINE, &sql->text, tally_buf_str(&sql->other));
}

/* A function without a symbol, by the name that reports give it. */
static int add_function(struct sql *sql, const struct tally_function_place *function)
{
	tally_buf_clear(&sql->other);
	tally_buf_printf(&sql->other, "%s+0x%llx", function->image_name,
			 (unsigned long long)function->address);
	tally_sql_set(sql->frames, SQL_FRAME_OFFSET, function->offset);
	return set_name(sql->frames, SQL_FRAME_FUNCTION, &sql->text, tally_buf_str(&sql->other));
}

/* Code that V8 made of a function has a mark in its symbol, which reports leave out. */
static int add_unmarked(struct sql *sql, const char *symbol)
{
	size_t mark = tally_compiled_name(symbol);

	if (!mark)
		return 0;
	tally_buf_clear(&sql->other);
	tally_buf_add(&sql->other, symbol, mark);
	tally_buf_text(&sql->other, symbol + mark + 1);
	return set_name(sql->frames, SQL_FRAME_FUNCTION, &sql->text, tally_buf_str(&sql->other));
}

/* `of`: the frame at the place, or that of the n-th function that was inlined there. */
static int add_frame(struct sql *sql, struct tally_resolver *resolver,
		     const struct tally_located *located,
		     const struct tally_function_place *function, uint32_t of, uint32_t nth)
{
	struct tally_frame frame = tally_session_frame(sql->session, of);
	int result = 0;

	if (frame.image != UINT32_MAX)
		result = add_image(sql, &frame);
	if (!result && frame.symbol)
		result = add_symbol(sql, of, &frame);
	if (!result && sql->options.lines)
		result = frame.inlined ? add_inlined_line(sql, resolver, located, nth)
				       : add_line(sql, resolver, located);
	if (result)
		return result;
	if (frame.image != UINT32_MAX)
		tally_sql_set(sql->frames, SQL_FRAME_IMAGE, frame.image + 1ULL);
	tally_sql_set(sql->frames, SQL_FRAME_PLACE, located->place);
	if (frame.symbol) {
		tally_sql_set(sql->frames, SQL_FRAME_SYMBOL, of);
		if (frame.inlined)
			tally_sql_set(sql->frames, SQL_FRAME_INLINED, 1);
		else
			tally_sql_set(sql->frames, SQL_FRAME_OFFSET,
				      located->place - located->symbol_start);
		result = add_unmarked(sql, frame.symbol);
	} else if (function) {
		result = add_function(sql, function);
	}
	return result ? result : tally_sql_add(sql->frames, sql->error);
}

/* The row of the place that an address leads to, which processes at addresses of their own share.
 */
int tally_sql_row_of(struct sql *sql, struct tally_resolver *resolver,
		     const struct tally_resolved *sample, uint8_t mode, uint64_t address,
		     uint32_t frame, uint32_t nth, uint32_t *ret)
{
	struct tally_function_place function;
	struct tally_located located;
	bool added, nameless;
	uint64_t place;
	int result =
	    frame ? tally_resolver_place_of(resolver, sample, mode, address, &place) : -ENOMEM;

	if (result)
		return result;
	*ret = tally_sql_keys_number(&sql->frame_keys, place, frame, &added);
	if (!*ret)
		return -ENOMEM;
	if (!added)
		return 0;
	result = tally_resolver_locate(resolver, sample, mode, address, &located);
	if (result)
		return result;
	nameless = located.mapped && located.symbol_start == located.symbol_end &&
		   tally_resolver_function(resolver, sample, mode, address, &function);
	return add_frame(sql, resolver, &located, nameless ? &function : NULL, frame, nth);
}

static struct address_row *address_row(const struct sql *sql, uint64_t address, uint32_t era)
{
	return &sql->address_rows[hash_mix(hash_u64(address), era) % ADDRESSES_SEEN];
}

void tally_sql_frame_fetch(const struct sql *sql, const struct tally_resolved *sample, uint8_t mode,
			   uint64_t address)
{
	uint32_t era = resolver_era(sample, resolver_cpumode(mode, address));

	__builtin_prefetch(address_row(sql, address, era));
}

int tally_sql_frame_of(struct sql *sql, struct tally_resolver *resolver,
		       const struct tally_resolved *sample, uint8_t mode, uint64_t address,
		       uint32_t *ret)
{
	uint32_t era = resolver_era(sample, resolver_cpumode(mode, address)), frame;
	struct address_row *seen = address_row(sql, address, era);
	int result;

	if (seen->row && seen->address == address && seen->era == era) {
		*ret = seen->row;
		return 0;
	}
	frame = tally_resolver_frame(resolver, sample, mode, address);
	result = tally_sql_row_of(sql, resolver, sample, mode, address, frame, 0, ret);
	if (!result)
		*seen = (struct address_row){.address = address, .era = era, .row = *ret};
	return result;
}

/* --- samples --- */

static int thread_of(struct sql *sql, const struct tally_resolved *at, uint32_t *ret)
{
	uint32_t pid = at->sample.pid, tid = at->sample.tid;
	bool added;
	int result;

	*ret =
	    tally_sql_keys_number(&sql->thread_keys, (uint64_t)pid << 32 | tid, at->comm, &added);
	if (!*ret)
		return -ENOMEM;
	if (!added)
		return 0;
	tally_sql_set(sql->threads, SQL_THREAD_ID, *ret);
	tally_sql_set(sql->threads, SQL_THREAD_PID, (uint64_t)(int32_t)pid);
	tally_sql_set(sql->threads, SQL_THREAD_TID, (uint64_t)(int32_t)tid);
	result = set_name(sql->threads, SQL_THREAD_COMM, &sql->text,
			  tally_session_string(sql->session, at->comm));
	return result ? result : tally_sql_add(sql->threads, sql->error);
}

static int add_branches(struct sql *sql, const struct tally_sample *sample)
{
	for (uint64_t i = 0; i < sample->branch_nr; i++) {
		const struct tally_branch *branch = &sample->branches[i];
		int result;

		tally_sql_set(sql->branches, SQL_BRANCH_SAMPLE, sql->number);
		tally_sql_set(sql->branches, SQL_BRANCH_POSITION, i);
		tally_sql_set(sql->branches, SQL_BRANCH_FROM, branch->from);
		tally_sql_set(sql->branches, SQL_BRANCH_TO, branch->to);
		tally_sql_set(sql->branches, SQL_BRANCH_FLAGS, branch->flags);
		result = tally_sql_add(sql->branches, sql->error);
		if (result)
			return result;
	}
	return 0;
}

/* Fields that are plain numbers. */
static void set_numbers(struct sql *sql, const struct tally_sample *sample)
{
	const struct {
		uint64_t bit, value;
		unsigned column;
	} fields[] = {
	    {PERF_SAMPLE_TIME, sample->time, SQL_SAMPLE_TIME},
	    {PERF_SAMPLE_CPU, (uint64_t)(int32_t)sample->cpu, SQL_SAMPLE_CPU},
	    {PERF_SAMPLE_IP, sample->ip, SQL_SAMPLE_IP},
	    {PERF_SAMPLE_ADDR, sample->addr, SQL_SAMPLE_ADDR},
	    {PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT, tally_script_weight_value(sample),
	     SQL_SAMPLE_WEIGHT},
	    {PERF_SAMPLE_DATA_SRC, sample->data_src, SQL_SAMPLE_DATA_SRC},
	    {PERF_SAMPLE_TRANSACTION, sample->transaction, SQL_SAMPLE_TRANSACTION},
	    {PERF_SAMPLE_PHYS_ADDR, sample->phys_addr, SQL_SAMPLE_PHYS_ADDR},
	    {PERF_SAMPLE_CGROUP, sample->cgroup, SQL_SAMPLE_CGROUP},
	    {PERF_SAMPLE_DATA_PAGE_SIZE, sample->data_page_size, SQL_SAMPLE_DATA_PAGE_SIZE},
	    {PERF_SAMPLE_CODE_PAGE_SIZE, sample->code_page_size, SQL_SAMPLE_CODE_PAGE_SIZE},
	};

	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (sample->present & fields[i].bit)
			tally_sql_set(sql->samples, fields[i].column, fields[i].value);
}

/* A tracepoint's text, or the bytes of other raw data. */
static void set_raw(struct sql *sql, const struct tally_attr *attr, struct tally_resolver *resolver,
		    const struct tally_resolved *resolved)
{
	struct kernel_symbols seen = {resolver, resolved};
	const struct tally_trace_symbols symbols = {tally_kernel_symbol, &seen};
	const struct tally_sample *sample = &resolved->sample;

	if (!(sample->present & PERF_SAMPLE_RAW))
		return;
	if (attr->type == PERF_TYPE_TRACEPOINT && sql->trace) {
		tally_buf_clear(&sql->other);
		tally_buf_clear(&sql->text);
		if (!tally_trace_text_add(sql->trace, &sql->other, attr->config, sample->raw,
					  sample->raw_size, &symbols)) {
			tally_text_add_escaped(&sql->text, tally_buf_str(&sql->other),
					       sql->other.size);
			tally_sql_set_text(sql->samples, SQL_SAMPLE_TRACE,
					   tally_buf_str(&sql->text), sql->text.size);
			return;
		}
	}
	tally_sql_set_bytes(sql->samples, SQL_SAMPLE_RAW, sample->raw, sample->raw_size);
}

static int take_sample(struct sql *sql, struct tally_resolver *resolver,
		       const struct tally_resolved *resolved)
{
	const struct tally_sample *sample = &resolved->sample;
	const struct tally_attr *attr = &tally_data_event(sql->data, resolved->event)->attr;
	uint32_t thread, addr_frame = 0;
	struct sql_stack stack = {0};
	int result = thread_of(sql, resolved, &thread);

	sql->number++;
	if (!result)
		result = tally_sql_stack_of(sql, resolver, resolved, &stack);
	if (!result && sample->present & PERF_SAMPLE_ADDR && sample->addr)
		result =
		    tally_sql_frame_of(sql, resolver, resolved, PERF_RECORD_MISC_CPUMODE_UNKNOWN,
				       sample->addr, &addr_frame);
	if (result)
		return result;
	if (sql->number != sql->sample_number + 1) /* else SQLite numbers it so */
		tally_sql_set(sql->samples, SQL_SAMPLE_ID, sql->number);
	sql->sample_number = sql->number;
	tally_sql_set(sql->samples, SQL_SAMPLE_EVENT, resolved->event + 1ULL);
	tally_sql_set(sql->samples, SQL_SAMPLE_THREAD, thread);
	/* What perf counts a sample for that does not say. */
	tally_sql_set(sql->samples, SQL_SAMPLE_PERIOD,
		      sample->present & PERF_SAMPLE_PERIOD ? sample->period : attr->sample_period);
	if (stack.frame)
		tally_sql_set(sql->samples, SQL_SAMPLE_FRAME, stack.frame);
	if (stack.chain)
		tally_sql_set(sql->samples, SQL_SAMPLE_CALLCHAIN, stack.chain);
	if (addr_frame)
		tally_sql_set(sql->samples, SQL_SAMPLE_ADDR_FRAME, addr_frame);
	set_numbers(sql, sample);
	set_raw(sql, attr, resolver, resolved);
	result = tally_sql_add(sql->samples, sql->error);
	if (!result && sample->present & PERF_SAMPLE_BRANCH_STACK)
		result = add_branches(sql, sample);
	return result;
}

/* --- other records --- */

static int take_lost(struct sql *sql, const struct tally_resolved *at, uint64_t count,
		     const char *kind)
{
	const struct tally_sample *sample = &at->sample;

	tally_sql_set(sql->lost, SQL_LOST_ID, sql->number);
	if (sample->present & PERF_SAMPLE_TIME)
		tally_sql_set(sql->lost, SQL_LOST_TIME, sample->time);
	tally_sql_set(sql->lost, SQL_LOST_EVENT, at->event + 1ULL);
	if (sample->present & PERF_SAMPLE_CPU)
		tally_sql_set(sql->lost, SQL_LOST_CPU, (uint64_t)(int32_t)sample->cpu);
	tally_sql_set(sql->lost, SQL_LOST_COUNT, count);
	tally_sql_set_text(sql->lost, SQL_LOST_KIND, kind, strlen(kind));
	return tally_sql_add(sql->lost, sql->error);
}

/* The "fields" of `tally script --json`, with the rest of the object around them. */
static void set_detail(struct sql *sql, const struct tally_record *record,
		       const struct tally_layout *layout, const struct tally_body *body)
{
	struct tally_data_place place = {.size = sizeof(place)};
	struct tally_script_json with = {
	    .record = record,
	    .layout = layout,
	    .body = body,
	    .arch = tally_register_arch(tally_data_info(sql->data)->arch),
	};

	if (record->size > DETAIL_LIMIT / 4)
		return;
	tally_data_place(sql->data, record->offset, &place);
	with.offset = place.offset;
	tally_buf_clear(&sql->text);
	tally_script_json_record(&sql->text, &with);
	if (sql->text.size && sql->text.data[sql->text.size - 1] == '\n')
		sql->text.size--;
	if (sql->text.size <= DETAIL_LIMIT)
		tally_sql_set_text(sql->records, SQL_RECORD_DETAIL, (const char *)sql->text.data,
				   sql->text.size);
}

static int add_record(struct sql *sql, const struct tally_resolved *at,
		      const struct tally_record *record, const struct tally_body *body)
{
	const struct tally_sample *sample = &at->sample;
	const char *type = tally_record_type_name(record->type);
	char number[16];

	if (!type) {
		snprintf(number, sizeof(number), "%u", record->type);
		type = number;
	}
	tally_sql_set(sql->records, SQL_RECORD_ID, sql->number);
	tally_sql_set_text(sql->records, SQL_RECORD_TYPE, type, strlen(type));
	if (sample->present & PERF_SAMPLE_TIME)
		tally_sql_set(sql->records, SQL_RECORD_TIME, sample->time);
	if (sample->present & PERF_SAMPLE_TID) {
		tally_sql_set(sql->records, SQL_RECORD_PID, (uint64_t)(int32_t)sample->pid);
		tally_sql_set(sql->records, SQL_RECORD_TID, (uint64_t)(int32_t)sample->tid);
	}
	if (sample->present & PERF_SAMPLE_CPU)
		tally_sql_set(sql->records, SQL_RECORD_CPU, (uint64_t)(int32_t)sample->cpu);
	if (record->type < FIRST_OF_TOOL)
		tally_sql_set(sql->records, SQL_RECORD_EVENT, at->event + 1ULL);
	if (body)
		set_detail(sql, record, &tally_data_event(sql->data, at->event)->layout, body);
	return tally_sql_add(sql->records, sql->error);
}

static int take_record(struct sql *sql, const struct tally_resolved *at,
		       const struct tally_record *record)
{
	struct tally_body body;
	int result = 0;
	bool whole;

	body.size = sizeof(body);
	if (record->type == PERF_RECORD_FINISHED_ROUND || !tally_data_event_count(sql->data))
		return 0; /* it has no fields */
	sql->number++;
	whole = !tally_record_decode(&tally_data_event(sql->data, at->event)->layout, record, &body,
				     NULL);
	if (whole && record->type == PERF_RECORD_LOST)
		result = take_lost(sql, at, body.lost.lost, "ring");
	else if (whole && record->type == PERF_RECORD_LOST_SAMPLES)
		result = take_lost(sql, at, body.lost_samples.lost, "samples");
	return result ? result : add_record(sql, at, record, whole ? &body : NULL);
}

static int take_batch(void *context, struct tally_record_batch *batch)
{
	struct sql *sql = context;
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		if (entry.kind == TALLY_ENTRY_SAMPLE) {
			result =
			    sql->choose ? sql->choose(sql->context, batch->resolver, entry.at) : 1;
			if (result > 0)
				result = take_sample(sql, batch->resolver, entry.at);
		} else {
			result = take_record(sql, entry.at, &entry.record);
		}
		if (result)
			break;
	}
	return result;
}

/* --- the frame around it --- */

static int put_text(struct sql *sql, const char *key, const char *value)
{
	int result;

	if (!value)
		return 0;
	tally_sql_set_text(sql->meta, 0, key, strlen(key));
	result = set_name(sql->meta, 1, &sql->text, value);
	return result ? result : tally_sql_add(sql->meta, sql->error);
}

static int put_number(struct sql *sql, const char *key, uint64_t value)
{
	tally_sql_set_text(sql->meta, 0, key, strlen(key));
	tally_sql_set(sql->meta, 1, value);
	return tally_sql_add(sql->meta, sql->error);
}

static int put_command(struct sql *sql, const struct tally_data_info *info)
{
	tally_buf_clear(&sql->other);
	for (size_t i = 0; i < info->cmdline_count; i++)
		tally_buf_printf(&sql->other, "%s%s", i ? " " : "", info->cmdline[i]);
	return info->cmdline_count ? put_text(sql, "cmdline", tally_buf_str(&sql->other)) : 0;
}

static int put_meta(struct sql *sql)
{
	const struct tally_data_info *info = tally_data_info(sql->data);
	const struct tally_session_counts *counts = tally_session_counts(sql->session);
	const struct tally_data_damage *damage = tally_data_damage(sql->data);
	const struct {
		const char *key, *text;
	} texts[] = {
	    {"tally_version", tally_version()},
	    {"path", tally_data_path(sql->data)},
	    {"hostname", info->hostname},
	    {"os_release", info->os_release},
	    {"arch", info->arch},
	    {"damage", damage->count ? damage->text : NULL},
	};
	const struct {
		const char *key;
		uint64_t number;
	} numbers[] = {
	    {"schema_version", TALLY_SQL_VERSION},
	    {"records", counts->records},
	    {"samples", counts->samples},
	    {"lost", counts->lost},
	    {"throttled", counts->throttled},
	    {"first_time", counts->first_time},
	    {"last_time", counts->last_time},
	    {"unusable", counts->unusable + counts->undecoded},
	    {"damaged_places", damage->count},
	    {"damaged_bytes", damage->lost_bytes},
	};
	int result = put_command(sql, info);

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !result; i++)
		result = put_text(sql, texts[i].key, texts[i].text);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]) && !result; i++)
		result = put_number(sql, numbers[i].key, numbers[i].number);
	return result;
}

static int put_events(struct sql *sql)
{
	for (size_t i = 0; i < tally_data_event_count(sql->data); i++) {
		const struct tally_data_event *event = tally_data_event(sql->data, i);
		int result;

		tally_sql_set(sql->events, SQL_EVENT_ID, i + 1);
		tally_sql_set(sql->events, SQL_EVENT_TYPE, event->attr.type);
		tally_sql_set(sql->events, SQL_EVENT_CONFIG, event->attr.config);
		tally_sql_set(sql->events, SQL_EVENT_SAMPLE_TYPE, event->attr.sample_type);
		tally_sql_set(sql->events,
			      event->attr.freq ? SQL_EVENT_SAMPLE_FREQ : SQL_EVENT_SAMPLE_PERIOD,
			      event->attr.sample_period);
		tally_sql_set(sql->events, SQL_EVENT_LEADER, event->leader + 1ULL);
		tally_sql_set(sql->events, SQL_EVENT_SAMPLES,
			      tally_session_event_samples(sql->session, i));
		result = set_name(sql->events, SQL_EVENT_NAME, &sql->text, event->name);
		if (!result)
			result = tally_sql_add(sql->events, sql->error);
		if (result)
			return result;
	}
	return 0;
}

static int prepare(struct sql *sql)
{
	const struct {
		struct tally_sql_insert **insert;
		const char *table;
	} tables[] = {
	    {&sql->meta, "meta"},         {&sql->events, "events"},   {&sql->threads, "threads"},
	    {&sql->images, "images"},     {&sql->symbols, "symbols"}, {&sql->frames, "frames"},
	    {&sql->chains, "callchains"}, {&sql->samples, "samples"}, {&sql->branches, "branches"},
	    {&sql->lost, "lost"},         {&sql->records, "records"},
	};
	int result = tally_sql_file_run(sql->file, tally_sql_tables, sql->error);

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]) && !result; i++)
		result = tally_sql_file_table(sql->file, tables[i].table, tables[i].insert);
	return result;
}

/* Formats of tracepoints; without them payloads stay bytes. */
static int read_formats(struct sql *sql)
{
	struct tally_block block = tally_data_feature(sql->data, 1);
	int result = tally_trace_text_new(block.bytes, block.size, &sql->trace, NULL);

	return result == -ENOMEM ? result : 0;
}

/* What the database says of a failure comes before that the walk ended. */
static int take_all(struct sql *sql, const struct tally_record_sink *sink)
{
	struct tally_error walk = {0};
	int result = tally_session_run_in_order(sql->session, sink, true, &walk);

	if (result < 0 && !sql->error->code)
		*sql->error = walk;
	return result;
}

static int ask(void *context)
{
	const struct sql *sql = context;

	return tally_session_interrupted(sql->session);
}

/* What rows are known by; it may be more memory than all else. */
static void free_keys(struct sql *sql)
{
	tally_sql_keys_done(&sql->thread_keys);
	tally_sql_keys_done(&sql->frame_keys);
	tally_sql_keys_done(&sql->chain_keys);
	tally_map_done(&sql->known);
	free(sql->chain_frames);
	for (size_t i = 0; sql->lasts && i < LASTS; i++)
		free(sql->lasts[i].words);
	free(sql->lasts);
	free(sql->seen);
	free(sql->address_rows);
	sql->chain_frames = NULL;
	sql->lasts = NULL;
	sql->seen = NULL;
	sql->address_rows = NULL;
}

static int fill(struct sql *sql)
{
	const struct tally_record_sink sink = {
	    .context = sql,
	    .want = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
		    PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW |
		    PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT |
		    PERF_SAMPLE_DATA_SRC | PERF_SAMPLE_TRANSACTION | PERF_SAMPLE_PHYS_ADDR |
		    PERF_SAMPLE_CGROUP | PERF_SAMPLE_DATA_PAGE_SIZE | PERF_SAMPLE_CODE_PAGE_SIZE,
	    .samples = true,
	    .records = true,
	    .batch = take_batch,
	};
	int result = prepare(sql);

	sql->address_rows = table_new(ADDRESSES_SEEN, sizeof(*sql->address_rows));
	sql->seen = table_new(STACKS_SEEN, sizeof(*sql->seen));
	sql->lasts = calloc(LASTS, sizeof(*sql->lasts));
	if (!sql->address_rows || !sql->seen || !sql->lasts)
		result = -ENOMEM;
	tally_sql_file_watch(sql->file, ask, sql);
	if (!result)
		result = read_formats(sql);
	if (!result)
		result = put_events(sql);
	if (!result)
		result = take_all(sql, &sink);
	free_keys(sql);
	if (!result) /* after the samples, because damage is found while they are read */
		result = put_meta(sql);
	if (!result)
		result = tally_sql_file_run(sql->file, tally_sql_views, sql->error);
	return result;
}

static void done(struct sql *sql)
{
	tally_trace_text_free(sql->trace);
	free_keys(sql);
	tally_buf_done(&sql->text);
	tally_buf_done(&sql->other);
}

int tally_sql_write_chosen(struct tally_session *session, const char *path, bool fill_it,
			   const struct tally_sql_options *options, tally_sql_choose_fn choose,
			   void *context, struct tally_error *error)
{
	struct sql sql = {.session = session,
			  .data = tally_session_data(session),
			  .error = error,
			  .choose = choose,
			  .context = context};
	struct tally_error none = {0};
	int result = tally_options_take(&sql.options, sizeof(sql.options), options);

	if (!error)
		sql.error = error = &none;
	error->code = 0;
	if (!result)
		result = fill_it ? tally_sql_file_fill(path, &sql.file, error)
				 : tally_sql_file_open(path, sql.options.replace, &sql.file, error);
	if (!result) {
		result = fill(&sql);
		if (result) {
			tally_sql_file_abandon(sql.file);
		} else {
			result = tally_sql_file_finish(sql.file, error);
		}
	}
	done(&sql);
	if (result < 0 && !error->code)
		tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
	return result < 0 ? result : 0;
}
