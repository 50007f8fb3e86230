/* The facts of a machine, read from a made-up one, as the file has them. */
#include "../file/made_recording.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/bytes.h"

static const char cpuinfo[] = "processor\t: 0\n"
			      "vendor_id\t: GenuineIntel\n"
			      "cpu family\t: 6\n"
			      "model\t\t: 85\n"
			      "model name\t: Made-up(R)   CPU @  1.00GHz\n"
			      "stepping\t: 7\n\n";

static const struct {
	const char *path, *text;
} files[] = {
    {"proc/sys/kernel/hostname", "somewhere\n"},
    {"proc/sys/kernel/osrelease", "7.1.0-test\n"},
    {"proc/sys/kernel/arch", "x86_64\n"},
    {"proc/cpuinfo", cpuinfo},
    {"proc/meminfo", "MemTotal:       16384 kB\nMemFree:        100 kB\n"},
    {"sys/devices/system/cpu/present", "0-2\n"},
    {"sys/devices/system/cpu/online", "0,2\n"},
    {"sys/devices/system/cpu/cpu0/topology/package_cpus_list", "0,2\n"},
    {"sys/devices/system/cpu/cpu0/topology/core_cpus_list", "0\n"},
    {"sys/devices/system/cpu/cpu0/topology/die_cpus_list", "0,2\n"},
    {"sys/devices/system/cpu/cpu0/topology/core_id", "4\n"},
    {"sys/devices/system/cpu/cpu0/topology/physical_package_id", "0\n"},
    {"sys/devices/system/cpu/cpu0/topology/die_id", "1\n"},
    {"sys/devices/system/cpu/cpu2/topology/package_cpus_list", "0,2\n"},
    {"sys/devices/system/cpu/cpu2/topology/core_cpus_list", "2\n"},
    {"sys/devices/system/cpu/cpu2/topology/die_cpus_list", "0,2\n"},
    {"sys/devices/system/cpu/cpu2/topology/core_id", "5\n"},
    {"sys/devices/system/cpu/cpu2/topology/physical_package_id", "0\n"},
    {"sys/devices/system/cpu/cpu2/topology/die_id", "1\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/level", "2\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/coherency_line_size", "64\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/number_of_sets", "1024\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/ways_of_associativity", "16\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/type", "Unified\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/size", "1024K\n"},
    {"sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list", "0,2\n"},
    {"sys/devices/system/cpu/cpu2/cache/index0/level", "2\n"},
    {"sys/devices/system/cpu/cpu2/cache/index0/coherency_line_size", "64\n"},
    {"sys/devices/system/cpu/cpu2/cache/index0/number_of_sets", "1024\n"},
    {"sys/devices/system/cpu/cpu2/cache/index0/ways_of_associativity", "16\n"},
    {"sys/devices/system/cpu/cpu2/cache/index0/type", "Unified\n"},
    {"sys/devices/system/cpu/cpu2/cache/index0/size", "1024K\n"},
    {"sys/devices/system/cpu/cpu2/cache/index0/shared_cpu_list", "0,2\n"},
    {"sys/devices/system/memory/block_size_bytes", "8000000\n"},
    {"sys/devices/system/node/online", "0\n"},
    {"sys/devices/system/node/node0/meminfo",
     "Node 0 MemTotal:       16384 kB\nNode 0 MemFree:        4096 kB\n"},
    {"sys/devices/system/node/node0/cpulist", "0,2\n"},
    {"sys/devices/system/node/node0/memory0/state", "online\n"},
    {"sys/devices/system/node/node0/memory65/state", "online\n"},
    {"sys/devices/system/node/node0/memory_side_cache", "\n"},
    {"sys/bus/event_source/devices/cpu/type", "4\n"},
    {"sys/bus/event_source/devices/cpu/caps/branches", "32\n"},
    {"sys/bus/event_source/devices/cpu/caps/max_precise", "3\n"},
    {"sys/bus/event_source/devices/cpu_atom/type", "10\n"},
    {"sys/bus/event_source/devices/cpu_atom/cpus", "2\n"},
    {"sys/bus/event_source/devices/cpu_atom/caps/pmu_name", "atom\n"},
    {"sys/bus/event_source/devices/software/type", "1\n"},
};

static void make_tree(const char *root)
{
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		char *path = NULL;

		assert_true(asprintf(&path, "%s/%s", root, files[i].path) > 0);
		for (char *at = path + 1; (at = strchr(at, '/')); at++) {
			*at = 0;
			assert_true(!mkdir(path, 0700) || errno == EEXIST);
			*at = '/';
		}
		write_bytes(path, files[i].text, strlen(files[i].text));
		free(path);
	}
}

/* Reading a feature's payload, value by value. */
struct reader {
	struct tally_block block;
	size_t at;
};

static uint32_t take_u32(struct reader *reader)
{
	reader->at += 4;
	assert_true(reader->at <= reader->block.size);
	return load_u32(reader->block.bytes + reader->at - 4);
}

static uint64_t take_u64(struct reader *reader)
{
	reader->at += 8;
	assert_true(reader->at <= reader->block.size);
	return load_u64(reader->block.bytes + reader->at - 8);
}

static void take_string(struct reader *reader, const char *want)
{
	uint32_t size = take_u32(reader);

	assert_int_equal(size % 64, 0);
	assert_true(reader->at + size <= reader->block.size);
	assert_string_equal((const char *)reader->block.bytes + reader->at, want);
	reader->at += size;
}

static struct reader feature(struct tally_data *data, unsigned number)
{
	struct reader reader = {.block = tally_data_feature(data, number)};

	assert_non_null(reader.block.bytes);
	return reader;
}

static void at_end(const struct reader *reader)
{
	assert_int_equal(reader->at, reader->block.size);
}

static void check_topology(struct tally_data *data)
{
	static const uint32_t ids[] = {4, 0, UINT32_MAX, UINT32_MAX, 5, 0};
	static const uint32_t dies[] = {1, UINT32_MAX, 1};
	struct reader reader = feature(data, 13);

	assert_int_equal(take_u32(&reader), 1);
	take_string(&reader, "0,2");
	assert_int_equal(take_u32(&reader), 2);
	take_string(&reader, "0");
	take_string(&reader, "2");
	for (size_t i = 0; i < 6; i++)
		assert_int_equal(take_u32(&reader), ids[i]);
	assert_int_equal(take_u32(&reader), 1);
	take_string(&reader, "0,2");
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(take_u32(&reader), dies[i]);
	at_end(&reader);

	reader = feature(data, 14);
	assert_int_equal(take_u32(&reader), 1);
	assert_int_equal(take_u32(&reader), 0);
	assert_int_equal(take_u64(&reader), 16384);
	assert_int_equal(take_u64(&reader), 4096);
	take_string(&reader, "0,2");
	at_end(&reader);

	reader = feature(data, 20); /* two CPUs share the only cache */
	assert_int_equal(take_u32(&reader), 1);
	assert_int_equal(take_u32(&reader), 1);
	assert_int_equal(take_u32(&reader), 2);
	assert_int_equal(take_u32(&reader), 64);
	assert_int_equal(take_u32(&reader), 1024);
	assert_int_equal(take_u32(&reader), 16);
	take_string(&reader, "Unified");
	take_string(&reader, "1024K");
	take_string(&reader, "0,2");
	at_end(&reader);

	reader = feature(data, 22);
	assert_int_equal(take_u64(&reader), 1);
	assert_int_equal(take_u64(&reader), 0x8000000);
	assert_int_equal(take_u64(&reader), 1);
	assert_int_equal(take_u64(&reader), 0);
	assert_int_equal(take_u64(&reader), 66);
	assert_int_equal(take_u64(&reader), 66);
	assert_int_equal(take_u64(&reader), 1);
	assert_int_equal(take_u64(&reader), 2);
	at_end(&reader);
}

static void check_pmus(struct tally_data *data)
{
	struct reader reader = feature(data, 16);

	assert_int_equal(take_u32(&reader), 3);
	assert_int_equal(take_u32(&reader), 4);
	take_string(&reader, "cpu");
	assert_int_equal(take_u32(&reader), 10);
	take_string(&reader, "cpu_atom");
	assert_int_equal(take_u32(&reader), 1);
	take_string(&reader, "software");
	at_end(&reader);

	reader = feature(data, 28);
	assert_int_equal(take_u32(&reader), 2);
	take_string(&reader, "branches");
	take_string(&reader, "32");
	take_string(&reader, "max_precise");
	take_string(&reader, "3");
	at_end(&reader);

	reader = feature(data, 30);
	assert_int_equal(take_u32(&reader), 1);
	take_string(&reader, "cpu_atom");
	take_string(&reader, "2");
	at_end(&reader);

	reader = feature(data, 31);
	assert_int_equal(take_u32(&reader), 1);
	assert_int_equal(take_u32(&reader), 1);
	take_string(&reader, "pmu_name");
	take_string(&reader, "atom");
	take_string(&reader, "cpu_atom");
	at_end(&reader);
}

static struct tally_data *record(const char *path, const char *root, bool tracing_data)
{
	static const char blob[] = "\x17\x08\x44tracing as given";
	struct tally_writer_event event = {.name = "cpu-clock"};
	struct tally_writer_options options = {
	    .size = sizeof(options),
	    .root = root,
	    .has_clockid = true,
	    .tracing_data = tracing_data ? blob : NULL,
	    .tracing_data_size = tracing_data ? sizeof(blob) : 0,
	};
	struct tally_writer *writer;
	struct tally_data *data;
	struct tally_block tracing;

	event.attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	event.attr.use_clockid = 1;
	event.attr.clockid = 1; /* CLOCK_MONOTONIC */
	assert_int_equal(tally_writer_open(path, &event, 1, &options, &writer, NULL), 0);
	assert_int_equal(tally_writer_close(writer, NULL), 0);
	data = open_data(path);
	tracing = tally_data_feature(data, 1);
	assert_int_equal(tracing.size, options.tracing_data_size);
	if (tracing_data)
		assert_memory_equal(tracing.bytes, blob, sizeof(blob));
	return data;
}

static void writes_what_the_machine_says(void **state)
{
	char *path = path_in(state, "machine.data"), *root = path_in(state, "root/");
	const struct tally_data_info *info;
	struct tally_data *data;

	make_tree(root);
	data = record(path, root, true);
	info = tally_data_info(data);
	assert_string_equal(info->hostname, "somewhere");
	assert_string_equal(info->os_release, "7.1.0-test");
	assert_string_equal(info->arch, "x86_64");
	assert_string_equal(info->cpu_desc, "Made-up(R) CPU @ 1.00GHz");
	assert_string_equal(info->cpuid, "GenuineIntel,6,85,7");
	assert_int_equal(info->cpus_available, 3);
	assert_int_equal(info->cpus_online, 2);
	assert_int_equal(info->total_mem_kb, 16384);
	assert_int_equal(info->clockid, 1);
	assert_true(info->has_clock_data);
	assert_true(info->clock_wall_ns > info->clock_event_ns);
	assert_in_range(info->clockid_resolution, 1, 10000000);
	assert_true(info->features[0] >> 15 & 1); /* BRANCH_STACK: a flag */
	assert_int_equal(tally_data_feature(data, 15).size, 0);
	check_topology(data);
	check_pmus(data);
	assert_int_equal(tally_data_damage(data)->count, 0);
	tally_data_close(data);
	free(path);
	free(root);
}

/* Where nothing can be read the sections are left out, but for the name that shows the byte order.
 */
static void leaves_out_what_is_not_known(void **state)
{
	char *path = path_in(state, "bare.data");
	struct tally_data *data = record(path, "/nonexistent", false);
	const struct tally_data_info *info = tally_data_info(data);

	assert_string_equal(info->hostname, "");
	assert_null(info->os_release);
	assert_null(info->arch);
	assert_null(info->cpu_desc);
	assert_null(info->cpuid);
	assert_int_equal(info->cpus_available, 0);
	assert_int_equal(info->total_mem_kb, 0);
	for (unsigned number = 13; number <= 22; number++)
		if (number != 15)
			assert_null(tally_data_feature(data, number).bytes);
	assert_int_equal(tally_data_damage(data)->count, 0);
	tally_data_close(data);
	free(path);
}

static void compare_with_perf(void **state)
{
	static const char *const wanted[] = {
	    "# hostname : somewhere\n",
	    "# os release : 7.1.0-test\n",
	    "# nrcpus online : 2\n",
	    "# nrcpus avail : 3\n",
	    "# cpudesc : Made-up(R) CPU @ 1.00GHz\n",
	    "# cpuid : GenuineIntel,6,85,7\n",
	    "# total memory : 16384 kB\n",
	    "# sibling sockets : 0,2\n",
	    "# sibling dies    : 0,2\n",
	    "# CPU 2: Core ID 5, Die ID 1, Socket ID 0\n",
	    "# node0 meminfo  : total = 16384 kB, free = 4096 kB\n",
	    "# pmu mappings: cpu = 4, cpu_atom = 10, software = 1\n",
	    "#  L2 Unified            1024K [0,2]\n",
	    "#    0 [256M]: 0,65\n",
	    "# cpu pmu capabilities: branches=32, max_precise=3\n",
	    "# cpu_atom pmu capabilities: pmu_name=atom\n",
	    "# hybrid cpu system:\n# cpu_atom cpu list : 2\n",
	    "# contains samples with branch stack\n",
	    "# clockid: monotonic (1)\n",
	};
	char *path = path_in(state, "shown.data"), *root = path_in(state, "root"), *output;
	const char *arguments[] = {"report", "-i", path, "--header-only", "-I", NULL};
	int status;

	tally_data_close(record(path, root, false));
	output = run_perf(arguments, &status);
	free(path);
	free(root);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++)
		if (!strstr(output, wanted[i]))
			fail_msg("\"%s\" is not in: %s", wanted[i], output);
	free(output);
}

static void perf_reads_them(void **state)
{
	if (!have_perf())
		skip(); /* there is no perf to compare with */
	compare_with_perf(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(writes_what_the_machine_says),
	    cmocka_unit_test(leaves_out_what_is_not_known),
	    cmocka_unit_test(perf_reads_them),
	};

	return cmocka_run_group_tests(tests, recording_folder_make, recording_folder_remove);
}
