/* Where addresses lead in detail, and what is shown with records that are not samples. */
#include "../session/scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "resolve/locate.h"
#include "session/record_sink.h"

#define TYPE      (PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CPU)
#define SEEN_MOST 16

struct seen {
	struct tally_session *session;
	struct tally_located at[SEEN_MOST];
	struct tally_frame frames[SEEN_MOST];
	struct tally_resolved others[SEEN_MOST];
	char comms[SEEN_MOST][16];
	uint32_t types[SEEN_MOST];
	size_t count, other_count, taken;
};

static void on_sample(struct seen *seen, struct tally_resolver *resolver,
		      const struct tally_resolved *sample)
{
	struct tally_located *at = &seen->at[seen->count];

	assert_true(seen->count < SEEN_MOST);
	assert_int_equal(
	    tally_resolver_locate(resolver, sample, sample->cpumode, sample->sample.ip, at), 0);
	assert_int_equal(
	    at->frame, tally_resolver_frame(resolver, sample, sample->cpumode, sample->sample.ip));
	seen->frames[seen->count++] = tally_session_frame(seen->session, at->frame);
}

static void on_other(struct seen *seen, const struct tally_resolved *at, uint32_t type)
{
	size_t number = seen->other_count;

	if (type == PERF_RECORD_FINISHED_ROUND) {
		assert_int_equal(at->sample.present, 0);
		return;
	}
	assert_true(number < SEEN_MOST);
	seen->others[number] = *at;
	seen->types[number] = type;
	(void)snprintf(seen->comms[number], sizeof(seen->comms[number]), "%s",
		       tally_session_string(seen->session, at->comm));
	seen->other_count++;
}

static int on_batch(void *context, struct tally_record_batch *batch)
{
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		if (entry.kind == TALLY_ENTRY_SAMPLE)
			on_sample(context, batch->resolver, entry.at);
		else
			on_other(context, entry.at, entry.record.type);
	}
	return result;
}

static int on_take(void *context, unsigned slot)
{
	struct seen *seen = context;

	(void)slot;
	seen->taken++;
	return 0;
}

static void visit(struct scene *scene, struct seen *seen)
{
	const struct tally_record_sink sink = {
	    .want = PERF_SAMPLE_IP,
	    .context = seen,
	    .samples = true,
	    .records = true,
	    .batch = on_batch,
	    .take = on_take,
	};

	*seen = (struct seen){.session = scene->session};
	assert_int_equal(tally_session_run_in_order(scene->session, &sink, true, NULL), 0);
	assert_int_equal(seen->taken, 1);
}

static void mode_sample(struct scene *scene, uint64_t time, uint16_t mode, uint64_t ip)
{
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_SAMPLE, .misc = mode};

	body.sample = (struct tally_sample){
	    .present = scene->layouts[0].sample_type,
	    .identifier = 7,
	    .ip = ip,
	    .pid = 10,
	    .tid = 10,
	    .time = time,
	};
	scene_add(scene, 0, &body);
}

static void places_in_files_are_offsets_with_the_symbol_around(void **state)
{
	struct own_text text;
	struct scene scene;
	struct seen seen;
	uint64_t place = (uint64_t)(uintptr_t)scene_begin;

	(void)state;
	own_text_find(&text);
	scene_begin(&scene, TYPE);
	scene_map(&scene, 10, 10, text.start, text.end, text.pgoff, text.path);
	scene_map(&scene, 10, 10, 0x777000, 0x779000, 0x3000, "/none/such");
	mode_sample(&scene, 20, PERF_RECORD_MISC_USER, place + 3);
	mode_sample(&scene, 21, PERF_RECORD_MISC_USER, 0x778010);
	mode_sample(&scene, 22, PERF_RECORD_MISC_USER, 0x10);
	scene_open(&scene, 1);
	visit(&scene, &seen);

	assert_int_equal(seen.count, 3);
	assert_true(seen.at[0].mapped);
	assert_string_equal(seen.frames[0].symbol, "scene_begin");
	assert_int_equal(seen.at[0].place, place + 3 - text.start + text.pgoff);
	assert_int_equal(seen.at[0].place - seen.at[0].symbol_start, 3);
	assert_true(seen.at[0].symbol_end > seen.at[0].place);
	assert_int_equal(seen.at[0].map_start, text.start);
	assert_int_equal(seen.at[0].map_end, text.end);

	assert_true(seen.at[1].mapped);
	assert_int_equal(seen.at[1].place, 0x4010);
	assert_int_equal(seen.at[1].symbol_start, seen.at[1].symbol_end);
	assert_string_equal(seen.frames[1].image_path, "/none/such");
	assert_int_equal(seen.at[1].map_start, 0x777000);

	assert_false(seen.at[2].mapped);
	assert_int_equal(seen.at[2].place, 0x10);
	assert_int_equal(seen.at[2].symbol_start, seen.at[2].symbol_end);
	scene_end(&scene);
}

static void kernel_map(struct scene *scene, uint64_t start, uint64_t end, uint64_t pgoff,
		       const char *name)
{
	struct tally_body body = {.size = sizeof(body),
				  .type = PERF_RECORD_MMAP,
				  .misc = PERF_RECORD_MISC_KERNEL,
				  .id = {.pid = UINT32_MAX}};

	body.mmap = (struct tally_record_mmap){
	    .pid = UINT32_MAX, .addr = start, .len = end - start, .pgoff = pgoff, .filename = name};
	scene_add(scene, 0, &body);
}

static void the_kernel_s_places_are_addresses(void **state)
{
	const uint64_t text = 0xffffffff81000000, module = 0xffffffffc0100000,
		       program = 0xffffffffc0800000;
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_KSYMBOL, .id = {.time = 5}};
	struct scene scene;
	struct seen seen;

	(void)state;
	scene_begin(&scene, TYPE);
	kernel_map(&scene, text, text + 0x1000000, text, "[kernel.kallsyms]_text");
	kernel_map(&scene, module, module + 0x10000, 0, "[such]");
	body.ksymbol = (struct tally_record_ksymbol){
	    .addr = program, .len = 0x100, .ksym_type = 1, .name = "bpf_prog_1_such"};
	scene_add(&scene, 0, &body);
	mode_sample(&scene, 20, PERF_RECORD_MISC_KERNEL, text + 0x1234);
	mode_sample(&scene, 21, PERF_RECORD_MISC_KERNEL, module + 0x10);
	mode_sample(&scene, 22, PERF_RECORD_MISC_KERNEL, program + 0x20);
	mode_sample(&scene, 23, PERF_RECORD_MISC_GUEST_KERNEL, text + 0x1234);
	/* Not recorded: the upper half is the kernel's. */
	mode_sample(&scene, 24, PERF_RECORD_MISC_CPUMODE_UNKNOWN, module + 0x18);
	scene_open(&scene, 1);
	visit(&scene, &seen);

	assert_int_equal(seen.count, 5);
	assert_true(seen.at[0].mapped);
	assert_int_equal(seen.at[0].place, text + 0x1234);
	assert_int_equal(seen.at[0].map_start, text);
	assert_true(seen.at[1].mapped);
	assert_int_equal(seen.at[1].place, module + 0x10);
	assert_int_equal(seen.at[2].place, program + 0x20);
	assert_string_equal(seen.frames[2].symbol, "bpf_prog_1_such");
	assert_int_equal(seen.at[2].symbol_start, program);
	assert_int_equal(seen.at[2].symbol_end, program + 0x100);
	assert_false(seen.at[3].mapped);
	assert_int_equal(seen.frames[3].level, 'g');
	assert_int_equal(seen.at[4].place, module + 0x18);
	assert_int_equal(seen.at[4].map_end, module + 0x10000);
	scene_end(&scene);
}

static void other_records_come_with_their_trailer_and_thread(void **state)
{
	struct tally_body lost = {.size = sizeof(lost),
				  .type = PERF_RECORD_LOST,
				  .id = {.pid = 10, .tid = 11, .time = 15, .cpu = 3}};
	struct scene scene;
	struct seen seen;

	(void)state;
	lost.lost = (struct tally_record_lost){.id = 8, .lost = 5};
	scene_begin(&scene, TYPE);
	/* The first one is without a time: it comes at once. */
	scene_comm(&scene, 0, 10, 11, "first", false);
	scene_comm(&scene, 20, 10, 11, "second", false);
	scene_add(&scene, 1, &lost);
	scene_open(&scene, 1);
	visit(&scene, &seen);

	assert_int_equal(seen.other_count, 3);
	assert_int_equal(seen.types[1], PERF_RECORD_LOST);
	assert_int_equal(seen.others[1].event, 1);
	assert_int_equal(seen.others[1].sample.time, 15);
	assert_int_equal(seen.others[1].sample.tid, 11);
	assert_int_equal(seen.others[1].sample.cpu, 3);
	assert_true(seen.others[1].sample.present & PERF_SAMPLE_TIME);
	assert_true(seen.others[1].sample.present & PERF_SAMPLE_CPU);
	assert_string_equal(seen.comms[0], "first");
	assert_string_equal(seen.comms[1], "first");
	assert_string_equal(seen.comms[2], "second");
	scene_end(&scene);
}

/* Lets the session open, and stops what comes then. */
struct patience {
	bool opened;
	unsigned calls;
};

static int stop(void *context, uint64_t done, uint64_t total)
{
	struct patience *patience = context;

	assert_true(done <= total);
	patience->calls++;
	return patience->opened;
}

static int ignore(void *context, struct tally_record_batch *batch)
{
	(void)context;
	(void)batch;
	return 0;
}

static void progress_interrupts(void **state)
{
	const struct tally_record_sink sink = {
	    .want = PERF_SAMPLE_IP, .samples = true, .batch = ignore};
	struct patience patience = {0};
	struct tally_session_options options = {
	    .size = sizeof(options), .threads = 1, .progress = stop, .progress_context = &patience};
	struct tally_error error = {0};
	struct scene scene;

	(void)state;
	scene_begin(&scene, TYPE);
	for (uint64_t i = 1; i < 12000; i++)
		mode_sample(&scene, i, PERF_RECORD_MISC_USER, 0x10);
	scene_open(&scene, 1);
	tally_session_free(scene.session);
	assert_int_equal(tally_session_new(scene.data, &options, &scene.session, NULL), 0);
	assert_int_equal(tally_session_run_in_order(scene.session, &sink, false, &error), 0);
	assert_true(patience.calls > 1);
	patience.opened = true;
	assert_int_equal(tally_session_run_in_order(scene.session, &sink, false, &error),
			 -ECANCELED);
	assert_non_null(strstr(error.text, "interrupted"));
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(places_in_files_are_offsets_with_the_symbol_around),
	    cmocka_unit_test(the_kernel_s_places_are_addresses),
	    cmocka_unit_test(other_records_come_with_their_trailer_and_thread),
	    cmocka_unit_test(progress_interrupts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
