/* From AUX areas to the file: made-up areas of two CPUs, and what the file then has. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>
#include <tally/abi.h>
#include <tally/data.h>
#include <tally/info.h>
#include "record/drain_aux.h"

#define CPUS 2
#define AREA 8192

struct machine {
	struct perf_event_mmap_page pages[CPUS];
	_Alignas(8) uint8_t areas[CPUS][AREA];
	uint32_t cpus[CPUS];
	pid_t tid;
	struct tally_targets targets;
	struct tally_planned planned[2];
	struct tally_plan plan;
	struct tally_openset set;
	struct tally_aux_area aux[CPUS];
	int fds[CPUS * 2];
	struct tally_drain_aux drain;
	char path[64];
};

/* `bts`: Intel BTS, whose entries have 24 bytes; else CoreSight. */
static void begin(struct machine *machine, enum tally_aux_mode mode, bool bts)
{
	struct tally_writer_options options = {.size = sizeof(options)};
	struct tally_writer_event events[2] = {0};
	struct tally_error error;
	int fd;

	*machine = (struct machine){.cpus = {3, 5}, .tid = 4242};
	machine->targets = (struct tally_targets){
	    .tids = &machine->tid, .tid_count = 1, .cpus = machine->cpus, .cpu_count = CPUS};
	for (size_t i = 0; i < 2; i++) {
		machine->planned[i].attr =
		    (struct tally_attr){.type = i ? 1 : 8, .config = 9, .sample_id_all = 1};
		machine->planned[i].leader = (uint32_t)i;
		events[i] = (struct tally_writer_event){
		    .attr = machine->planned[i].attr, .name = "e", .leader = (uint32_t)i};
	}
	machine->plan = (struct tally_plan){
	    .events = machine->planned,
	    .count = 2,
	    .aux = {.kind = bts ? &tally_aux_intel_bts : &tally_aux_cs_etm,
		    .root = "/nonexistent",
		    .pmu = "made_up",
		    .mode = mode,
		    .per_cpu = true,
		    .cpus = machine->cpus,
		    .cpu_count = CPUS,
		    .pages = AREA / 4096},
	};
	for (size_t i = 0; i < CPUS * 2; i++)
		machine->fds[i] = -1;
	for (size_t i = 0; i < CPUS; i++)
		tally_aux_area_init(&machine->aux[i], &machine->pages[i], machine->areas[i], AREA,
				    mode != TALLY_AUX_WHOLE);
	machine->set = (struct tally_openset){.targets = &machine->targets,
					      .plan = &machine->plan,
					      .fds = machine->fds,
					      .aux = machine->aux};
	snprintf(machine->path, sizeof(machine->path), "/tmp/tally-drain-aux-XXXXXX");
	fd = mkstemp(machine->path);
	assert_true(fd >= 0);
	close(fd);
	machine->drain.set = &machine->set;
	machine->drain.running = true;
	if (tally_writer_open(machine->path, events, 2, &options, &machine->drain.writer, &error))
		fail_msg("%s", error.text);
}

static void hardware_writes(struct machine *machine, size_t cpu, size_t size)
{
	uint64_t head = machine->pages[cpu].aux_head;

	for (size_t i = 0; i < size; i++)
		machine->areas[cpu][(head + i) % AREA] = (uint8_t)(1 + (head + i) * 7 % 251);
	__atomic_store_n(&machine->pages[cpu].aux_head, head + size, __ATOMIC_RELEASE);
}

struct piece {
	uint64_t offset, size;
	uint32_t idx, cpu;
};

/* Closes the file and compares its traces: their bytes are those of their offsets. */
static void check_file(struct machine *machine, const struct piece *pieces, size_t count)
{
	struct tally_data *data;
	struct tally_error error;
	struct tally_block block;
	size_t found = 0;

	assert_int_equal(tally_writer_close(machine->drain.writer, &error), 0);
	if (tally_data_open(machine->path, NULL, &data, &error))
		fail_msg("%s", error.text);
	assert_int_equal(tally_data_info(data)->aux_part_count, count);
	while (tally_data_next(data, &block, &error) == 1) {
		struct tally_record record;

		for (size_t at = 0; tally_block_record(&block, at, &record);
		     at += tally_record_extent(&record)) {
			struct tally_body body = {.size = sizeof(body)};
			const uint8_t *trace = record.bytes + record.size;
			const struct piece *piece = &pieces[found];

			assert_int_equal(record.type, PERF_RECORD_AUXTRACE);
			assert_true(found < count);
			assert_int_equal(tally_record_decode(&tally_data_event(data, 0)->layout,
							     &record, &body, &error),
					 0);
			assert_int_equal(body.auxtrace.trace_offset, piece->offset);
			assert_int_equal(body.auxtrace.size, (piece->size + 7) / 8 * 8);
			assert_int_equal(body.auxtrace.idx, piece->idx);
			assert_int_equal(body.auxtrace.cpu, piece->cpu);
			assert_int_equal(body.auxtrace.tid, 4242);
			for (uint64_t i = 0; i < piece->size; i++)
				assert_int_equal(trace[i], 1 + (piece->offset + i) * 7 % 251);
			found++;
		}
	}
	assert_int_equal(found, count);
	tally_data_close(data);
	unlink(machine->path);
	for (size_t i = 0; i < CPUS; i++)
		tally_aux_area_done(&machine->aux[i]);
}

static void pass(struct machine *machine)
{
	struct tally_error error;

	if (tally_drain_aux_pass(&machine->drain, &error))
		fail_msg("%s", error.text);
}

static void all_of_a_trace_is_written(void **state)
{
	static const struct piece pieces[] = {
	    {0, 5000, 0, 3}, {0, 8192, 1, 5}, {5000, 4001, 0, 3}, {8192, 100, 1, 5}};
	struct machine machine;

	(void)state;
	begin(&machine, TALLY_AUX_WHOLE, false);
	pass(&machine);
	hardware_writes(&machine, 0, 5000);
	hardware_writes(&machine, 1, AREA);
	pass(&machine);
	assert_int_equal(machine.pages[0].aux_tail, 5000);
	assert_int_equal(machine.pages[1].aux_tail, AREA);
	hardware_writes(&machine, 0, 4001);
	hardware_writes(&machine, 1, 100);
	pass(&machine);
	pass(&machine);
	assert_int_equal(machine.drain.bytes, 5000 + AREA + 4001 + 100);
	check_file(&machine, pieces, 4);
}

/* The rest of an entry is written when the entry is whole. */
static void entries_are_written_whole(void **state)
{
	static const struct piece pieces[] = {{0, 48, 0, 3}, {48, 24, 0, 3}, {72, 24, 0, 3}};
	struct machine machine;

	(void)state;
	begin(&machine, TALLY_AUX_WHOLE, true);
	hardware_writes(&machine, 0, 50);
	pass(&machine);
	assert_int_equal(machine.pages[0].aux_tail, 48);
	hardware_writes(&machine, 0, 40);
	pass(&machine);
	hardware_writes(&machine, 0, 6);
	pass(&machine);
	/* 90 bytes are three entries and 18; 96 are four */
	check_file(&machine, pieces, 3);
}

static void a_snapshot_has_the_newest(void **state)
{
	static const struct piece pieces[] = {
	    {0, 3000, 0, 3}, {30000 - AREA, AREA, 1, 5}, {3000, 1000, 0, 3}};
	struct machine machine;
	struct tally_error error;

	(void)state;
	begin(&machine, TALLY_AUX_SNAPSHOT, false);
	hardware_writes(&machine, 0, 3000);
	hardware_writes(&machine, 1, 30000);
	pass(&machine); /* nothing: it is overwritten */
	assert_int_equal(tally_drain_aux_snapshot(&machine.drain, false, &error), 0);
	assert_int_equal(tally_drain_aux_snapshot(&machine.drain, false, &error), 0);
	hardware_writes(&machine, 0, 1000);
	assert_int_equal(tally_drain_aux_snapshot(&machine.drain, true, &error), 0);
	check_file(&machine, pieces, 3);
}

static void samples_take_the_trace_themselves(void **state)
{
	struct machine machine;
	struct tally_error error;

	(void)state;
	begin(&machine, TALLY_AUX_SAMPLED, false);
	hardware_writes(&machine, 0, 3000);
	pass(&machine);
	assert_int_equal(tally_drain_aux_snapshot(&machine.drain, true, &error), 0);
	check_file(&machine, NULL, 0);
}

static void the_description_comes_first(void **state)
{
	struct machine machine;
	struct tally_buf records = {0};

	(void)state;
	begin(&machine, TALLY_AUX_SNAPSHOT, true);
	assert_int_equal(tally_drain_aux_describe(&machine.set, &records), 0);
	assert_int_equal(records.size, 16 + 6 * 8);
	tally_buf_clear(&records);
	machine.plan.aux.kind = NULL;
	assert_int_equal(tally_drain_aux_describe(&machine.set, &records), 0);
	assert_int_equal(records.size, 0);
	tally_buf_done(&records);
	check_file(&machine, NULL, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_of_a_trace_is_written),
	    cmocka_unit_test(entries_are_written_whole),
	    cmocka_unit_test(a_snapshot_has_the_newest),
	    cmocka_unit_test(samples_take_the_trace_themselves),
	    cmocka_unit_test(the_description_comes_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
