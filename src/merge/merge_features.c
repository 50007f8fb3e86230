/* The feature sections of a merged file.
 *
 * Those about events and records are made; those about the machine are kept where all recordings
 * are of one machine, or say the same: readers take them for every sample.  What each recording
 * says of its host is in the section RECORDINGS. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bits.h"
#include "jit/jit_file.h"
#include "merge/data_merge.h"
#include "write/repair.h"
#include "write/writer.h"

#define HOSTS_MOST 1024U /* bytes of the names of all hosts */

static const struct tally_data_info *info_of(const struct merge *merge, size_t input)
{
	return tally_data_info(merge->inputs[input].data);
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b && !strcmp(a, b);
}

/* Whether all recordings are of the same machine, as far as they say. */
static bool is_one_machine(const struct merge *merge)
{
	const struct tally_data_info *first = info_of(merge, 0);

	for (size_t i = 0; i < merge->input_count; i++) {
		const struct tally_data_info *info = info_of(merge, i);

		if (!is_same_text(first->hostname, info->hostname) ||
		    !is_same_text(first->cpu_desc, info->cpu_desc) ||
		    first->cpus_available != info->cpus_available)
			return false;
	}
	return true;
}

/* Whether a section is the same in all inputs. */
static bool is_equal(const struct merge *merge, unsigned feature)
{
	struct tally_buf first = {0}, other = {0};
	bool equal = merge->inputs[0].data->has_section[feature] &&
		     tally_repair_kept(merge->inputs[0].data, feature, &first);

	for (size_t i = 1; i < merge->input_count && equal; i++) {
		const struct tally_data *data = merge->inputs[i].data;

		tally_buf_clear(&other);
		equal = data->has_section[feature] && tally_repair_kept(data, feature, &other) &&
			!other.failed && other.size == first.size &&
			(!first.size || !memcmp(other.data, first.data, first.size));
	}
	equal = equal && !first.failed;
	tally_buf_done(&first);
	tally_buf_done(&other);
	return equal;
}

static bool is_of_machine(unsigned feature)
{
	switch (feature) {
	case FEATURE_OSRELEASE:
	case FEATURE_ARCH:
	case FEATURE_CPUDESC:
	case FEATURE_CPUID:
	case FEATURE_TOTAL_MEM:
	case FEATURE_CPU_TOPOLOGY:
	case FEATURE_NUMA_TOPOLOGY:
	case FEATURE_PMU_MAPPINGS:
	case FEATURE_CACHE:
	case FEATURE_MEM_TOPOLOGY:
	case FEATURE_CPU_PMU_CAPS:
	case FEATURE_HYBRID_TOPOLOGY:
	case FEATURE_PMU_CAPS:
	case FEATURE_CPU_DOMAIN_INFO:
	case FEATURE_E_MACHINE:
	case FEATURE_CLN_SIZE:
		return true;
	default:
		return false;
	}
}

/* What is not of the machine alone: a boot, a clock. */
static bool is_kept_if_equal(const struct merge *merge, unsigned feature)
{
	return feature == FEATURE_CLOCKID || feature == FEATURE_BPF_PROG_INFO ||
	       feature == FEATURE_BPF_BTF ||
	       (feature == FEATURE_CLOCK_DATA && merge->options.times == TALLY_MERGE_SAME_CLOCK);
}

static void add_hosts(const struct merge *merge, struct tally_buf *to)
{
	struct tally_buf names = {0};

	for (uint32_t i = 0; i < merge->recording_count && names.size < HOSTS_MOST; i++) {
		const char *name = merge->recordings[i].facts.hostname;
		bool known = !*name;

		for (uint32_t k = 0; k < i && !known; k++)
			known = !strcmp(merge->recordings[k].facts.hostname, name);
		if (!known)
			tally_buf_printf(&names, "%s%s", names.size ? ", " : "", name);
	}
	if (names.failed)
		to->failed = names.failed;
	else if (names.size)
		tally_file_add_string(to, tally_buf_str(&names));
	tally_buf_done(&names);
}

static void add_cpus(const struct merge *merge, struct tally_buf *to)
{
	uint32_t available = 0, online = 0;

	for (size_t i = 0; i < merge->input_count; i++) {
		const struct tally_data_info *info = info_of(merge, i);

		available = info->cpus_available > available ? info->cpus_available : available;
		online = info->cpus_online > online ? info->cpus_online : online;
	}
	if (!available)
		return;
	tally_buf_u32(to, available);
	tally_buf_u32(to, online);
}

static void add_stacks(const struct merge *merge, struct tally_buf *to)
{
	struct tally_stack_counts sum = {0};
	uint64_t *words = (uint64_t *)&sum;
	size_t count = sizeof(sum) / sizeof(*words);

	for (size_t i = 0; i < merge->input_count; i++) {
		const uint64_t *more = (const uint64_t *)&info_of(merge, i)->stacks;

		for (size_t k = 0; k < count; k++)
			words[k] += more[k];
	}
	if (!sum.count)
		return;
	tally_buf_u32(to, (uint32_t)count);
	tally_buf_u32(to, 0);
	tally_buf_add(to, &sum, sizeof(sum));
}

/* Maps of code made at run time are named after their process. */
const char *tally_merge_file_name(struct merge *merge, const struct merge_input *input,
				  const char *name)
{
	char made[64];
	uint32_t pid;

	if (!input->first || !tally_jit_is_map(name, &pid) ||
	    pid >= input->count << RECORDING_PID_BITS)
		return name;
	snprintf(made, sizeof(made), "/tmp/perf-%u.map",
		 pid + (input->first << RECORDING_PID_BITS));
	return tally_arena_strndup(&merge->arena, made, strlen(made));
}

/* Each build-id of a name once. */
static int add_build_ids(struct merge *merge, struct tally_buf *to)
{
	struct tally_map known = {0};
	int code = 0;

	for (size_t i = 0; i < merge->input_count && !code; i++) {
		const struct tally_data_info *info = info_of(merge, i);

		for (size_t k = 0; k < info->build_id_count && !code; k++) {
			struct tally_data_build_id id = info->build_ids[k];
			uint64_t hash;
			bool added = true;

			id.filename = tally_merge_file_name(merge, &merge->inputs[i], id.filename);
			if (!id.filename || id.size > sizeof(id.id)) {
				code = id.filename ? 0 : -ENOMEM;
				continue;
			}
			hash = hash_mix(tally_hash_bytes(id.filename, strlen(id.filename)),
					tally_hash_bytes(id.id, sizeof(id.id)));
			if (!tally_map_put(&known, hash_mix(hash, id.misc), &added))
				code = -ENOMEM;
			/* No file has a name that is too long for a record. */
			else if (added && tally_file_add_build_id(to, &id) == -ENOMEM)
				code = -ENOMEM;
		}
	}
	tally_map_done(&known);
	return code;
}

/* Those that are made as a recorder makes them. */
static bool add_as_recorder(const struct file_facts *facts, unsigned feature, struct tally_buf *to)
{
	for (const struct file_feature_row *row = tally_file_early_features(); row->feature;
	     row++) {
		if ((unsigned)row->feature != feature)
			continue;
		if (row->empty)
			return row->wanted(facts);
		row->write(facts, to);
	}
	return false;
}

/* Whether there is such a section although it is empty, or -ENOMEM. */
static int add_feature(struct merge *merge, const struct file_facts *facts, unsigned feature,
		       bool one_machine, struct tally_buf *to)
{
	switch (feature) {
	case FEATURE_TRACING_DATA:
		tally_buf_add(to, merge->formats.data, merge->formats.size);
		return 0;
	case FEATURE_BUILD_ID:
		return add_build_ids(merge, to);
	case FEATURE_HOSTNAME:
		add_hosts(merge, to);
		return 0;
	case FEATURE_NRCPUS:
		add_cpus(merge, to);
		return 0;
	case FEATURE_SAMPLE_TIME:
		if (merge->least > merge->most)
			return 0;
		tally_buf_u64(to, merge->least);
		tally_buf_u64(to, merge->most);
		return 0;
	case FEATURE_STACKS:
		add_stacks(merge, to);
		return 0;
	case FEATURE_RECORDINGS:
		tally_merge_add_recordings(merge, to);
		return 0;
	case FEATURE_VERSION:
	case FEATURE_CMDLINE:
	case FEATURE_EVENT_DESC:
	case FEATURE_BRANCH_STACK:
	case FEATURE_GROUP_DESC:
		return add_as_recorder(facts, feature, to);
	default:
		if (is_of_machine(feature)
			? one_machine || is_equal(merge, feature)
			: is_kept_if_equal(merge, feature) && is_equal(merge, feature))
			if (merge->inputs[0].data->has_section[feature])
				tally_repair_kept(merge->inputs[0].data, feature, to);
		return 0;
	}
}

int tally_merge_features(struct merge *merge)
{
	struct tally_writer_event *events = calloc(merge->event_count + 1, sizeof(*events));
	const struct tally_writer_options options = {
	    .size = sizeof(options),
	    .cmdline = merge->options.cmdline,
	    .cmdline_count = merge->options.cmdline_count,
	};
	const struct file_facts facts = {
	    .options = &options,
	    .events = events,
	    .event_count = merge->event_count,
	    .attr_size = merge->file.attr_size,
	};
	struct tally_buf *to = &merge->file.payloads;
	bool one_machine = is_one_machine(merge);
	int code = events ? 0 : -ENOMEM;

	for (size_t i = 0; events && i < merge->event_count; i++)
		events[i] = (struct tally_writer_event){
		    .attr = merge->events[i].attr,
		    .name = merge->events[i].name,
		    .ids = (const uint64_t *)(const void *)merge->events[i].ids.data,
		    .id_count = merge->events[i].ids.size / 8,
		    .leader = merge->events[i].leader,
		};
	for (unsigned feature = 1; feature < FILE_FEATURES && code >= 0; feature++) {
		size_t before = to->size;

		code = add_feature(merge, &facts, feature, one_machine, to);
		if (code > 0 || (!code && to->size > before))
			tally_plain_file_feature(&merge->file, feature);
	}
	free(events);
	return code < 0 ? code : to->failed;
}
