/* What the feature sections say; the larger ones have files of their own (feature_*.c).
 *
 * Source of the layouts: the perf.data format as perf 2.6.32 to 7.0 writes it.  An invalid section
 * is damage: the part that was read before is kept, the rest is skipped. */
#include "file/data_file.h"

#include <errno.h>
#include <sys/stat.h>
#include "base/fail.h"
#include "file/feature.h"
#include "file/feature_read.h"

static struct file_cursor section_cursor(const struct tally_data *data, unsigned feature)
{
	const struct file_payload *section = &data->sections[feature];

	return (struct file_cursor){
	    .at = section->bytes,
	    .end = section->bytes + section->size,
	    .swapped = data->swapped,
	};
}

static int read_one_string(struct tally_data *data, struct file_cursor *cursor, const char **ret)
{
	const char *text = tally_feature_string(data, cursor);

	if (!text)
		return feature_no_string(cursor);
	*ret = text;
	return 0;
}

/* hiperf writes it as one string. */
static int read_hiperf_cmdline(struct tally_data *data, struct file_cursor *cursor)
{
	const char **line = feature_list(data, const char *, 1);
	int code = line ? read_one_string(data, cursor, line) : -ENOMEM;

	if (code || cursor->failed)
		return code;
	data->info.cmdline = line;
	data->info.cmdline_count = 1;
	return 0;
}

static int read_cmdline(struct tally_data *data, struct file_cursor *cursor)
{
	struct tally_data_strings words = {0};
	int code = tally_feature_strings(data, cursor, &words);

	data->info.cmdline = words.text;
	data->info.cmdline_count = words.count;
	return code;
}

/* {u64 n, n x {u64 offset, u64 size}} */
static int read_auxtrace(struct tally_data *data, struct file_cursor *cursor)
{
	/* simpleperf writes the pairs without their count. */
	uint64_t whole = cursor_left(cursor);
	uint64_t count = whole && whole % 16 == 0 ? whole / 16 : cursor_u64(cursor);
	struct tally_data_aux_part *parts;

	if (count > cursor_left(cursor) / 16) {
		cursor->failed = true;
		return 0;
	}
	parts = feature_list(data, struct tally_data_aux_part, count);
	if (!parts)
		return -ENOMEM;
	for (uint64_t i = 0; i < count; i++) {
		parts[i].offset = cursor_u64(cursor);
		parts[i].size = cursor_u64(cursor);
	}
	data->info.aux_parts = parts;
	data->info.aux_part_count = count;
	return 0;
}

static void read_clock_data(struct tally_data_info *info, struct file_cursor *cursor)
{
	uint32_t version = cursor_u32(cursor);

	if (version != 1) /* none is known to exist */
		return;
	info->clockid = cursor_u32(cursor);
	info->clock_wall_ns = cursor_u64(cursor);
	info->clock_event_ns = cursor_u64(cursor);
	info->has_clock_data = !cursor->failed;
}

static void read_compressed(struct tally_data_info *info, struct file_cursor *cursor)
{
	info->compression_version = cursor_u32(cursor);
	info->compression_type = cursor_u32(cursor);
	info->compression_level = cursor_u32(cursor);
	info->compression_ratio = cursor_u32(cursor);
	info->compression_block = cursor_u32(cursor);
	info->has_compression = !cursor->failed;
}

static void read_stacks(struct tally_data_info *info, struct file_cursor *cursor)
{
	struct tally_stack_counts counts = {0};
	uint64_t *words = (uint64_t *)&counts;
	uint32_t count = cursor_u32(cursor);

	(void)cursor_u32(cursor);
	for (uint32_t i = 0; i < count && i < sizeof(counts) / sizeof(*words); i++)
		words[i] = cursor_u64(cursor);
	if (!cursor->failed)
		info->stacks = counts;
}

static int read_numbers(struct tally_data_info *info, unsigned feature, struct file_cursor *cursor)
{
	switch (feature) {
	case FEATURE_NRCPUS:
		info->cpus_available = cursor_u32(cursor);
		info->cpus_online = cursor_u32(cursor);
		break;
	case FEATURE_TOTAL_MEM:
		info->total_mem_kb = cursor_u64(cursor);
		break;
	case FEATURE_SAMPLE_TIME:
		info->sample_time_first = cursor_u64(cursor);
		info->sample_time_last = cursor_u64(cursor);
		info->has_sample_time = !cursor->failed;
		break;
	case FEATURE_CLOCKID:
		info->clockid_resolution = cursor_u64(cursor);
		break;
	case FEATURE_CLOCK_DATA:
		read_clock_data(info, cursor);
		break;
	case FEATURE_COMPRESSED:
		read_compressed(info, cursor);
		break;
	case FEATURE_DIR_FORMAT:
		info->directory_version = cursor_u64(cursor);
		break;
	case FEATURE_E_MACHINE:
		info->e_machine = cursor_u32(cursor);
		info->e_flags = cursor_u32(cursor);
		info->has_e_machine = !cursor->failed;
		break;
	case FEATURE_STACKS:
		read_stacks(info, cursor);
		break;
	case FEATURE_CLN_SIZE:
		info->cache_line_size = cursor_u32(cursor);
		break;
	default:
		break;
	}
	return 0;
}

static int read_feature(struct tally_data *data, unsigned feature, struct file_cursor *cursor)
{
	struct tally_data_info *info = &data->info;

	if (info->hiperf && feature >= TALLY_FEATURE_HIPERF_SYMBOLS)
		return feature == TALLY_FEATURE_HIPERF_SYMBOLS
			   ? tally_feature_hiperf_symbols(data, cursor)
			   : 0;
	switch (feature) {
	case FEATURE_BUILD_ID:
		return tally_feature_build_ids(data, cursor);
	case FEATURE_HOSTNAME:
		return read_one_string(data, cursor, &info->hostname);
	case FEATURE_OSRELEASE:
		return read_one_string(data, cursor, &info->os_release);
	case FEATURE_VERSION:
		return read_one_string(data, cursor, &info->version);
	case FEATURE_ARCH:
		return read_one_string(data, cursor, &info->arch);
	case FEATURE_CPUDESC:
		return read_one_string(data, cursor, &info->cpu_desc);
	case FEATURE_CPUID:
		return read_one_string(data, cursor, &info->cpuid);
	case FEATURE_CMDLINE:
		return info->hiperf ? read_hiperf_cmdline(data, cursor)
				    : read_cmdline(data, cursor);
	case FEATURE_EVENT_DESC:
		return tally_feature_event_desc(data, cursor);
	case FEATURE_CPU_TOPOLOGY:
		return tally_feature_cpu_topology(data, cursor);
	case FEATURE_NUMA_TOPOLOGY:
		return tally_feature_numa_topology(data, cursor);
	case FEATURE_PMU_MAPPINGS:
		return tally_feature_pmu_mappings(data, cursor);
	case FEATURE_GROUP_DESC:
		return tally_feature_group_desc(data, cursor);
	case FEATURE_AUXTRACE:
		return read_auxtrace(data, cursor);
	case FEATURE_CACHE:
		return tally_feature_cache(data, cursor);
	case FEATURE_MEM_TOPOLOGY:
		return tally_feature_mem_topology(data, cursor);
	case FEATURE_BPF_PROG_INFO:
		return tally_feature_bpf_prog_info(data, cursor);
	case FEATURE_BPF_BTF:
		return tally_feature_bpf_btf(data, cursor);
	case FEATURE_CPU_PMU_CAPS:
		return tally_feature_cpu_pmu_caps(data, cursor);
	case FEATURE_HYBRID_TOPOLOGY:
		return tally_feature_hybrid_topology(data, cursor);
	case FEATURE_PMU_CAPS:
		return tally_feature_pmu_caps(data, cursor);
	case FEATURE_CPU_DOMAIN_INFO:
		return tally_feature_cpu_domain_info(data, cursor);
	case FEATURE_RECORDINGS:
		return tally_feature_recordings(data, cursor);
	case TALLY_FEATURE_SIMPLEPERF_FILE:
		return tally_feature_simpleperf_file(data, cursor);
	case TALLY_FEATURE_SIMPLEPERF_META_INFO:
		return tally_feature_simpleperf_meta_info(data, cursor);
	case TALLY_FEATURE_SIMPLEPERF_FILE2:
		return tally_feature_simpleperf_file2(data, cursor);
	default:
		return read_numbers(info, feature, cursor);
	}
}

static void read_file_facts(struct tally_data *data)
{
	struct tally_data_info *info = &data->info;
	struct stat stat;

	info->header_version =
	    data->file.size >= 8 && !memcmp(data->file.data, "PERFFILE", 8) ? 1 : 2;
	if (data->modified)
		info->modified = data->modified;
	else if (data->fd >= 0 && !fstat(data->fd, &stat))
		info->modified = stat.st_mtime;
	info->data_offset = data->data.offset;
	info->data_size = data->data.size;
	memcpy(info->features, data->features, sizeof(data->features));
	info->hiperf = file_has_feature(data, TALLY_FEATURE_HIPERF_RECORD_TIME);
}

static int name_events(struct tally_data *data)
{
	for (size_t i = 0; i < data->event_count; i++) {
		struct tally_data_event *event = &data->events[i];

		if (!event->name && event->attr.type == PERF_TYPE_TRACEPOINT)
			event->name = tally_file_tracepoint_name(
			    &data->arena, tally_data_feature(data, FEATURE_TRACING_DATA),
			    event->attr.config);
		if (!event->name)
			event->name = tally_file_event_name(&data->arena, &event->attr);
		if (!event->name)
			return -ENOMEM;
	}
	return 0;
}

/* Ascending, but types of BPF before the programs that have names from them. */
static unsigned feature_of_turn(unsigned turn)
{
	if (turn == FEATURE_BPF_PROG_INFO)
		return FEATURE_BPF_BTF;
	return turn == FEATURE_BPF_BTF ? FEATURE_BPF_PROG_INFO : turn;
}

int tally_file_features_read(struct tally_data *data, struct tally_error *error)
{
	int code = 0;

	read_file_facts(data);
	for (unsigned turn = 0; turn < FILE_FEATURES && !code; turn++) {
		unsigned feature = feature_of_turn(turn);
		struct file_cursor cursor;

		if (!data->has_section[feature])
			continue;
		cursor = section_cursor(data, feature);
		code = read_feature(data, feature, &cursor);
		/* A perf that was built without what a section needs writes an empty one. */
		if (cursor.failed && data->sections[feature].size)
			tally_file_feature_damage(data, feature, data->sections[feature].offset,
						  "has invalid contents");
	}
	if (!code)
		code = tally_feature_simpleperf_tracing(data);
	if (!code)
		code = name_events(data);
	if (code)
		return tally_fail(error, code, -1, "%s: out of memory for its features",
				  data->path);
	return 0;
}
