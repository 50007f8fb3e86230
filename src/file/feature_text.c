/* Strings of feature sections, and the sections' names. */
#include "file/feature_read.h"

const char *tally_feature_string(struct tally_data *data, struct file_cursor *cursor)
{
	uint32_t length = cursor_u32(cursor);
	const uint8_t *bytes = cursor_bytes(cursor, length);

	if (!bytes)
		return NULL;
	return tally_arena_strndup(&data->arena, (const char *)bytes,
				   strnlen((const char *)bytes, length));
}

int tally_feature_strings(struct tally_data *data, struct file_cursor *cursor,
			  struct tally_data_strings *ret)
{
	uint32_t count = cursor_count(cursor, 4);
	const char **strings;

	if (!count)
		return 0;
	strings = feature_list(data, const char *, count);
	if (!strings)
		return -ENOMEM;
	ret->text = strings;
	for (uint32_t i = 0; i < count; i++) {
		strings[i] = tally_feature_string(data, cursor);
		if (!strings[i])
			return feature_no_string(cursor);
		ret->count = i + 1;
	}
	return 0;
}

int tally_feature_pairs(struct tally_data *data, struct file_cursor *cursor,
			struct tally_data_pairs *ret)
{
	uint32_t count = cursor_count(cursor, 8);
	struct tally_data_pair *pairs;

	if (!count)
		return 0;
	pairs = feature_list(data, struct tally_data_pair, count);
	if (!pairs)
		return -ENOMEM;
	ret->pair = pairs;
	for (uint32_t i = 0; i < count; i++) {
		pairs[i].key = tally_feature_string(data, cursor);
		pairs[i].value = pairs[i].key ? tally_feature_string(data, cursor) : NULL;
		if (!pairs[i].value)
			return feature_no_string(cursor);
		ret->count = i + 1;
	}
	return 0;
}

const char *tally_feature_name(unsigned feature)
{
	/* Source: perf's names of the sections, in the order of their numbers. */
	static const char perf[TALLY_FEATURES_OF_PERF][24] = {
	    "",
	    "TRACING_DATA",
	    "BUILD_ID",
	    "HOSTNAME",
	    "OSRELEASE",
	    "VERSION",
	    "ARCH",
	    "NRCPUS",
	    "CPUDESC",
	    "CPUID",
	    "TOTAL_MEM",
	    "CMDLINE",
	    "EVENT_DESC",
	    "CPU_TOPOLOGY",
	    "NUMA_TOPOLOGY",
	    "BRANCH_STACK",
	    "PMU_MAPPINGS",
	    "GROUP_DESC",
	    "AUXTRACE",
	    "STAT",
	    "CACHE",
	    "SAMPLE_TIME",
	    "MEM_TOPOLOGY",
	    "CLOCKID",
	    "DIR_FORMAT",
	    "BPF_PROG_INFO",
	    "BPF_BTF",
	    "COMPRESSED",
	    "CPU_PMU_CAPS",
	    "CLOCK_DATA",
	    "HYBRID_TOPOLOGY",
	    "PMU_CAPS",
	    "CPU_DOMAIN_INFO",
	    "E_MACHINE",
	    "CLN_SIZE",
	};
	static const char *const simpleperf[] = {
	    "FILE", "META_INFO", "DEBUG_UNWIND", "DEBUG_UNWIND_FILE", "FILE2", "ETM_BRANCH_LIST"};

	if (feature == TALLY_FEATURE_STACKS)
		return "STACKS";
	if (feature == TALLY_FEATURE_RECORDINGS)
		return "RECORDINGS";
	if (feature < TALLY_FEATURES_OF_PERF)
		return feature ? perf[feature] : NULL;
	if (feature >= TALLY_FEATURE_SIMPLEPERF_FILE &&
	    feature <= TALLY_FEATURE_SIMPLEPERF_ETM_BRANCH_LIST)
		return simpleperf[feature - TALLY_FEATURE_SIMPLEPERF_FILE];
	return NULL;
}

const char *tally_data_feature_name(const struct tally_data_info *info, unsigned feature)
{
	/* Source: the sections of hiperf's perf_file_format.h. */
	static const char *const hiperf[] = {
	    "SYMBOLS", "WORKLOAD",    "RECORD_TIME", "CPU_OFF",
	    "DEVHOST", "STACK_TABLE", "ADD_COUNTER",
	};

	if (!info->hiperf || feature < TALLY_FEATURE_HIPERF_SYMBOLS)
		return tally_feature_name(feature);
	return feature <= TALLY_FEATURE_HIPERF_ADD_COUNTER
		   ? hiperf[feature - TALLY_FEATURE_HIPERF_SYMBOLS]
		   : NULL;
}
