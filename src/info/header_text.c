/* The header in perf's words.  Source of the lines: the output of perf 6.1 (`script --header-only`,
 * with and without -I). */
#include <tally/header.h>

#include <string.h>
#include <time.h>
#include "base/text.h"
#include "base/digits.h"
#include "info/attr_text.h"
#include "info/facts.h"
#include "info/header_lines.h"

/* The list of missing sections ends where that of perf 6.1 does. */
#define FEATURES_OF_PERF_61 32

void tally_header_line(struct tally_buf *to, const char *what, const char *text)
{
	tally_buf_printf(to, "# %s : ", what);
	tally_buf_text(to,
		       text ? text : "(null)"); /* perf's line for a value that it could not read */
	tally_buf_byte(to, '\n');
}

static void add_cmdline(struct tally_buf *to, const struct tally_data_info *info)
{
	tally_buf_text(to, "# cmdline : ");
	for (size_t i = 0; i < info->cmdline_count; i++) {
		const char *at = info->cmdline[i], *quote;

		for (; (quote = strchr(at, '\'')); at = quote + 1) {
			tally_buf_add(to, at, (size_t)(quote - at));
			tally_buf_text(to, "\\'");
		}
		tally_buf_text(to, at);
		tally_buf_byte(to, ' ');
	}
	tally_buf_byte(to, '\n');
}

static void add_member(void *context, const char *name, const char *value)
{
	tally_buf_printf(context, ", %s = %s", name, value);
}

static void add_event_desc(struct tally_buf *to, const struct tally_data_info *info)
{
	if (!info->has_event_desc) {
		tally_buf_text(to, "# event desc: not available or unable to read\n");
		return;
	}
	for (size_t i = 0; i < info->event_desc_count; i++) {
		const struct tally_data_event_desc *desc = &info->event_descs[i];

		if (!desc->attr.size) /* perf's mark of the end */
			break;
		tally_buf_text(to, "# event : name = ");
		tally_buf_text(to, desc->name);
		tally_buf_text(to, ", ");
		for (size_t k = 0; k < desc->id_count; k++) {
			tally_buf_text(to, k ? ", " : ", id = { ");
			buf_dec(to, desc->ids[k]);
		}
		if (desc->id_count)
			tally_buf_text(to, " }");
		tally_attr_each(&desc->attr, add_member, to);
		tally_buf_byte(to, '\n');
	}
}

static void add_groups(struct tally_buf *to, const struct tally_data *data,
		       const struct tally_data_info *info)
{
	for (size_t i = 0; i < info->group_count; i++) {
		const struct tally_data_group *group = &info->groups[i];

		if (group->members < 2)
			continue;
		tally_buf_text(to, "# group: ");
		if (strcmp(group->name, "{anon_group}") != 0)
			tally_buf_text(to, group->name);
		for (uint32_t k = 0; k < group->members; k++) {
			tally_buf_byte(to, k ? ',' : '{');
			tally_buf_text(to, tally_data_event(data, group->leader + k)->name);
		}
		tally_buf_text(to, "}\n");
	}
}

static void add_time(struct tally_buf *to, const char *what, uint64_t ns)
{
	tally_buf_printf(to, "# time of %s sample : ", what);
	buf_dec(to, ns / 1000000000);
	tally_buf_byte(to, '.');
	buf_dec_zeros(to, ns % 1000000000 / 1000, 6);
	tally_buf_byte(to, '\n');
}

static void add_sample_time(struct tally_buf *to, const struct tally_data_info *info)
{
	add_time(to, "first", info->sample_time_first);
	add_time(to, "last", info->sample_time_last);
	tally_buf_printf(to, "# sample duration : %10.3f ms\n",
			 (double)(info->sample_time_last - info->sample_time_first) / 1e6);
}

static void add_clock_data(struct tally_buf *to, const struct tally_data_info *info)
{
	const char *name = tally_facts_clock_name(info->clockid);
	unsigned long long wall = info->clock_wall_ns, event = info->clock_event_ns;
	time_t seconds = (time_t)(wall / 1000000000);
	char date[64] = "<error>";
	struct tm local;

	if (!info->has_clock_data) {
		tally_buf_text(to, "# reference time disabled\n");
		return;
	}
	tally_buf_printf(to, "# clockid: %s (%u)\n", name, info->clockid);
	if (localtime_r(&seconds, &local)) {
		size_t at = strftime(date, sizeof(date), "%F %T", &local);

		snprintf(date + at, sizeof(date) - at, ".%06llu", wall % 1000000000 / 1000);
	}
	tally_buf_printf(to, "# reference time: %s = %llu.%06llu (TOD) = %llu.%09llu (%s)\n", date,
			 wall / 1000000000, wall % 1000000000 / 1000, event / 1000000000,
			 event % 1000000000, name);
}

static void add_bpf_programs(struct tally_buf *to, const struct tally_data_info *info)
{
	for (size_t i = 0; i < info->bpf_program_count; i++) {
		const struct tally_data_bpf_program *program = &info->bpf_programs[i];

		/* An id is printed once. */
		if (!program->functions_known || (i && program->id == info->bpf_programs[i - 1].id))
			continue;
		tally_buf_printf(to, "# bpf_prog_info %u:", program->id);
		if (program->function_count != 1)
			tally_buf_byte(to, '\n');
		for (size_t k = 0; k < program->function_count; k++) {
			const struct tally_data_bpf_function *function = &program->functions[k];

			if (program->function_count > 1)
				tally_buf_printf(to, "# \tsub_prog %zu:", k);
			tally_buf_byte(to, ' ');
			tally_buf_text(to, function->name);
			tally_buf_printf(to, " addr 0x%llx size %u\n",
					 (unsigned long long)function->address, function->size);
		}
	}
}

static void add_btfs(struct tally_buf *to, const struct tally_data_info *info)
{
	for (size_t i = 0; i < info->btf_count; i++)
		if (!i || info->btfs[i].id != info->btfs[i - 1].id)
			tally_buf_printf(to, "# btf info of id %u\n", info->btfs[i].id);
}

static void add_what_it_holds(struct tally_buf *to, const struct tally_data *data,
			      const struct tally_data_info *info, unsigned feature)
{
	switch (feature) {
	case TALLY_FEATURE_EVENT_DESC:
		add_event_desc(to, info);
		break;
	case TALLY_FEATURE_BRANCH_STACK:
		tally_buf_text(to, "# contains samples with branch stack\n");
		break;
	case TALLY_FEATURE_GROUP_DESC:
		add_groups(to, data, info);
		break;
	case TALLY_FEATURE_AUXTRACE:
		tally_buf_text(to, "# contains AUX area data (e.g. instruction trace)\n");
		break;
	case TALLY_FEATURE_STAT:
		tally_buf_text(to, "# contains stat data\n");
		break;
	case TALLY_FEATURE_SAMPLE_TIME:
		add_sample_time(to, info);
		break;
	case TALLY_FEATURE_CLOCKID:
		tally_buf_printf(to, "# clockid frequency: %llu MHz\n",
				 (unsigned long long)info->clockid_resolution * 1000);
		break;
	case TALLY_FEATURE_DIR_FORMAT:
		tally_buf_printf(to, "# directory data version : %llu\n",
				 (unsigned long long)info->directory_version);
		break;
	case TALLY_FEATURE_BPF_PROG_INFO:
		add_bpf_programs(to, info);
		break;
	case TALLY_FEATURE_BPF_BTF:
		add_btfs(to, info);
		break;
	case TALLY_FEATURE_COMPRESSED:
		tally_buf_printf(to, "# compressed : %s, level = %d, ratio = %d\n",
				 info->compression_type == 1 ? "Zstd" : "Unknown",
				 (int)info->compression_level, (int)info->compression_ratio);
		break;
	case TALLY_FEATURE_CLOCK_DATA:
		add_clock_data(to, info);
		break;
	default:
		tally_header_machine_lines(to, info, feature);
	}
}

static void add_feature(struct tally_buf *to, const struct tally_data *data,
			const struct tally_data_info *info, unsigned feature)
{
	switch (feature) {
	case TALLY_FEATURE_HOSTNAME:
		tally_header_line(to, "hostname", info->hostname);
		break;
	case TALLY_FEATURE_OSRELEASE:
		tally_header_line(to, "os release", info->os_release);
		break;
	case TALLY_FEATURE_VERSION:
		tally_header_line(to, "perf version", info->version);
		break;
	case TALLY_FEATURE_ARCH:
		tally_header_line(to, "arch", info->arch);
		break;
	case TALLY_FEATURE_CPUDESC:
		tally_header_line(to, "cpudesc", info->cpu_desc);
		break;
	case TALLY_FEATURE_CPUID:
		tally_header_line(to, "cpuid", info->cpuid);
		break;
	case TALLY_FEATURE_NRCPUS:
		tally_buf_printf(to, "# nrcpus online : %u\n# nrcpus avail : %u\n",
				 info->cpus_online, info->cpus_available);
		break;
	case TALLY_FEATURE_TOTAL_MEM:
		tally_buf_printf(to, "# total memory : %llu kB\n",
				 (unsigned long long)info->total_mem_kb);
		break;
	case TALLY_FEATURE_CMDLINE:
		add_cmdline(to, info);
		break;
	default:
		add_what_it_holds(to, data, info, feature);
	}
}

static bool is_long(unsigned feature)
{
	return feature == TALLY_FEATURE_CPU_TOPOLOGY || feature == TALLY_FEATURE_NUMA_TOPOLOGY ||
	       feature == TALLY_FEATURE_CACHE || feature == TALLY_FEATURE_MEM_TOPOLOGY ||
	       feature == TALLY_FEATURE_HYBRID_TOPOLOGY || feature == TALLY_FEATURE_CPU_DOMAIN_INFO;
}

static void add_features(struct tally_buf *to, const struct tally_data *data,
			 const struct tally_data_info *info, bool full)
{
	for (unsigned feature = 1; feature < TALLY_FEATURES_OF_PERF; feature++) {
		if (!tally_data_feature(data, feature).bytes)
			continue;
		if (full || !is_long(feature))
			add_feature(to, data, info, feature);
		else
			tally_buf_printf(to, "# %s info available, use -I to display\n",
					 tally_feature_name(feature));
	}
}

static bool is_stream(const struct tally_data *data)
{
	return tally_data_kind(data) == TALLY_DATA_PIPE;
}

int tally_header_text(const struct tally_data *data, unsigned flags, FILE *out)
{
	const struct tally_data_info *info = tally_data_info(data);
	time_t modified = (time_t)info->modified;
	char date[64] = "";
	struct tally_buf text = {0};
	uint64_t feature_offset = info->data_offset + info->data_size;

	ctime_r(&modified, date);
	tally_buf_printf(&text,
			 "# ========\n# captured on    : %s# header version : %u\n"
			 "# data offset    : %llu\n# data size      : %llu\n"
			 "# feat offset    : %llu\n",
			 date, info->header_version - 1, (unsigned long long)info->data_offset,
			 (unsigned long long)info->data_size, (unsigned long long)feature_offset);
	if (!is_stream(data)) {
		add_features(&text, data, info, flags & TALLY_HEADER_FULL);
		tally_buf_text(&text, "# missing features: ");
		for (unsigned feature = 1; feature < FEATURES_OF_PERF_61; feature++)
			if (!facts_has(info, feature))
				tally_buf_printf(&text, "%s ", tally_feature_name(feature));
		tally_buf_byte(&text, '\n');
	}
	tally_buf_text(&text, "# ========\n#\n");
	return flags & TALLY_HEADER_RAW ? tally_buf_put(&text, out)
					: tally_buf_put_escaped(&text, out);
}

int tally_header_stream_text(const struct tally_data *data, unsigned flags, FILE *out)
{
	const struct tally_data_info *info = tally_data_info(data);
	struct tally_buf text = {0};

	if (is_stream(data))
		add_features(&text, data, info, flags & TALLY_HEADER_FULL);
	return flags & TALLY_HEADER_RAW ? tally_buf_put(&text, out)
					: tally_buf_put_escaped(&text, out);
}
