/* The feature sections that are known before the first record, from the caller's options.
 * Source of the layouts: the perf.data format as perf 2.6.32 to 7.0 reads it. */
#include "write/writer.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include "base/bytes.h"

#define STRING_ALIGN 64 /* perf's; readers go by the length */

void tally_file_add_string(struct tally_buf *to, const char *text)
{
	size_t size = strlen(text) + 1, padded = align_up(size, STRING_ALIGN);

	tally_buf_u32(to, (uint32_t)padded);
	tally_buf_add(to, text, size);
	tally_buf_zero(to, padded - size);
}

int tally_file_add_build_id(struct tally_buf *to, const struct tally_data_build_id *build_id)
{
	static const size_t fixed = 8 + 4 + 20 + 4; /* header, pid, id, {size, 3 unused} */
	size_t name = strlen(build_id->filename) + 1, size = align_up(fixed + name, 8);
	struct perf_event_header header = {0};
	uint8_t tail[4] = {build_id->size};

	if (build_id->size > sizeof(build_id->id))
		return -EINVAL;
	if (size > UINT16_MAX)
		return -ENAMETOOLONG;
	header.misc = (uint16_t)(build_id->misc | FEATURE_BUILD_ID_HAS_SIZE);
	header.size = (uint16_t)size;
	if (tally_buf_reserve(to, size))
		return -ENOMEM;
	tally_buf_add(to, &header, sizeof(header));
	tally_buf_u32(to, build_id->pid);
	tally_buf_add(to, build_id->id, build_id->size);
	tally_buf_zero(to, sizeof(build_id->id) - build_id->size);
	tally_buf_add(to, tail, sizeof(tail));
	tally_buf_add(to, build_id->filename, name);
	tally_buf_zero(to, size - fixed - name);
	return 0;
}

static void write_tracing_data(const struct file_facts *facts, struct tally_buf *to)
{
	if (facts->options->tracing_data)
		tally_buf_add(to, facts->options->tracing_data, facts->options->tracing_data_size);
}

static void write_version(const struct file_facts *facts, struct tally_buf *to)
{
	(void)facts;
	tally_file_add_string(to, "tally " TALLY_VERSION);
}

static void write_cmdline(const struct file_facts *facts, struct tally_buf *to)
{
	size_t count = facts->options->cmdline_count;

	if (!count)
		return;
	tally_buf_u32(to, (uint32_t)count);
	for (size_t i = 0; i < count; i++)
		tally_file_add_string(to, facts->options->cmdline[i]);
}

static void write_event_desc(const struct file_facts *facts, struct tally_buf *to)
{
	tally_buf_u32(to, (uint32_t)facts->event_count);
	tally_buf_u32(to, facts->attr_size);
	for (size_t i = 0; i < facts->event_count; i++) {
		const struct tally_writer_event *event = &facts->events[i];
		struct tally_attr attr = event->attr;

		attr.size = facts->attr_size;
		tally_buf_add(to, &attr, facts->attr_size);
		tally_buf_u32(to, (uint32_t)event->id_count);
		tally_file_add_string(to, event->name ? event->name : "");
		tally_buf_add(to, event->ids, event->id_count * sizeof(*event->ids));
	}
}

static bool has_branches(const struct file_facts *facts)
{
	for (size_t i = 0; i < facts->event_count; i++)
		if (facts->events[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	return false;
}

/* The number of events in the group that begins at `leader`; 1: no group. */
static uint32_t group_size(const struct file_facts *facts, size_t leader)
{
	size_t i = leader + 1;

	if (facts->events[leader].leader != leader)
		return 1;
	while (i < facts->event_count && facts->events[i].leader == leader)
		i++;
	return (uint32_t)(i - leader);
}

static void write_group_desc(const struct file_facts *facts, struct tally_buf *to)
{
	uint32_t groups = 0;

	for (size_t i = 0; i < facts->event_count; i++)
		groups += group_size(facts, i) > 1;
	if (!groups)
		return;
	tally_buf_u32(to, groups);
	for (size_t i = 0; i < facts->event_count; i++) {
		uint32_t size = group_size(facts, i);

		if (size == 1)
			continue;
		tally_file_add_string(to,
				      "{anon_group}"); /* perf's word for a group without name */
		tally_buf_u32(to, (uint32_t)i);
		tally_buf_u32(to, size);
	}
}

static uint64_t nanoseconds(struct timespec time)
{
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static bool clock_of(const struct file_facts *facts, clockid_t *ret)
{
	if (!facts->options->has_clockid)
		return false;
	for (size_t i = 0; i < facts->event_count; i++) {
		if (facts->events[i].attr.use_clockid) {
			*ret = facts->events[i].attr.clockid;
			return true;
		}
	}
	return false;
}

static void write_clockid(const struct file_facts *facts, struct tally_buf *to)
{
	struct timespec resolution;
	clockid_t clock;

	if (clock_of(facts, &clock) && !clock_getres(clock, &resolution))
		tally_buf_u64(to, nanoseconds(resolution));
}

/* {u32 version 1, u32 clock, u64 wall clock, u64 that clock}, both ns, read at nearly the same
 * moment: of a few tries the one with the smallest difference is used. */
static void write_clock_data(const struct file_facts *facts, struct tally_buf *to)
{
	uint64_t wall = 0, event = 0, width = UINT64_MAX;
	clockid_t clock;

	if (!clock_of(facts, &clock))
		return;
	for (int i = 0; i < 5; i++) {
		struct timespec before, middle, after;
		uint64_t took;

		if (clock_gettime(clock, &before) || clock_gettime(CLOCK_REALTIME, &middle) ||
		    clock_gettime(clock, &after))
			return;
		took = nanoseconds(after) - nanoseconds(before);
		if (took >= width)
			continue;
		width = took;
		wall = nanoseconds(middle);
		event = nanoseconds(before) + took / 2;
	}
	tally_buf_u32(to, 1);
	tally_buf_u32(to, (uint32_t)clock);
	tally_buf_u64(to, wall);
	tally_buf_u64(to, event);
}

/* As perf: {u32 version 0, u32 zstd, u32 level, u32 ratio, u32 bytes to have room for}. */
static void write_compressed(const struct file_facts *facts, struct tally_buf *to)
{
	if (!facts->options->compress_level)
		return;
	tally_buf_u32(to, 0);
	tally_buf_u32(to, 1);
	tally_buf_u32(to, (uint32_t)facts->options->compress_level);
	tally_buf_u32(to, 0); /* written at the end */
	tally_buf_u32(to, FILE_PACK_ROOM);
}

static void write_dir_format(const struct file_facts *facts, struct tally_buf *to)
{
	if (facts->options->folder && !facts->options->alone)
		tally_buf_u64(to, 1); /* its version */
}

static bool has_stat(const struct file_facts *facts)
{
	return facts->options->has_stat;
}

const struct file_feature_row *tally_file_early_features(void)
{
	static const struct file_feature_row rows[] = {
	    {FEATURE_TRACING_DATA, write_tracing_data, false, NULL},
	    {FEATURE_HOSTNAME, tally_file_write_hostname, false, NULL},
	    {FEATURE_OSRELEASE, tally_file_write_osrelease, false, NULL},
	    {FEATURE_VERSION, write_version, false, NULL},
	    {FEATURE_ARCH, tally_file_write_arch, false, NULL},
	    {FEATURE_NRCPUS, tally_file_write_nrcpus, false, NULL},
	    {FEATURE_CPUDESC, tally_file_write_cpudesc, false, NULL},
	    {FEATURE_CPUID, tally_file_write_cpuid, false, NULL},
	    {FEATURE_TOTAL_MEM, tally_file_write_total_mem, false, NULL},
	    {FEATURE_CMDLINE, write_cmdline, false, NULL},
	    {FEATURE_EVENT_DESC, write_event_desc, false, NULL},
	    {FEATURE_CPU_TOPOLOGY, tally_file_write_cpu_topology, false, NULL},
	    {FEATURE_NUMA_TOPOLOGY, tally_file_write_numa_topology, false, NULL},
	    {FEATURE_BRANCH_STACK, NULL, true, has_branches},
	    {FEATURE_PMU_MAPPINGS, tally_file_write_pmu_mappings, false, NULL},
	    {FEATURE_GROUP_DESC, write_group_desc, false, NULL},
	    {FEATURE_STAT, NULL, true, has_stat},
	    {FEATURE_CACHE, tally_file_write_cache, false, NULL},
	    {FEATURE_MEM_TOPOLOGY, tally_file_write_mem_topology, false, NULL},
	    {FEATURE_CLOCKID, write_clockid, false, NULL},
	    {FEATURE_DIR_FORMAT, write_dir_format, false, NULL},
	    {FEATURE_COMPRESSED, write_compressed, false, NULL},
	    {FEATURE_CPU_PMU_CAPS, tally_file_write_cpu_pmu_caps, false, NULL},
	    {FEATURE_CLOCK_DATA, write_clock_data, false, NULL},
	    {FEATURE_HYBRID_TOPOLOGY, tally_file_write_hybrid_topology, false, NULL},
	    {FEATURE_PMU_CAPS, tally_file_write_pmu_caps, false, NULL},
	    {0, NULL, false, NULL},
	};

	return rows;
}
