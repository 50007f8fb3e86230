/* Recordings of others: as many records of each type as an independent parser (and perf) counted.
 * TALLY_CORPUS names the folder; its MANIFEST.tsv says what is in it. */
#include "made_recording.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "corpus.h"

static void count_of(const char *counts, const char *type, uint64_t got, const char *file)
{
	uint64_t want = corpus_count(counts, type);

	if (want != got)
		fail_msg("%s: %llu records %s, not %llu", file, (unsigned long long)got, type,
			 (unsigned long long)want);
}

static bool has(const char *list, const char *word)
{
	return strstr(list, word) != NULL;
}

/* The manifest's names of types that have others here. */
static const char *manifest_name(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_HEADER_ATTR:
		return "H_ATTR";
	case PERF_RECORD_HEADER_EVENT_TYPE:
		return "H_EVENT_TYPE";
	case PERF_RECORD_HEADER_TRACING_DATA:
		return "H_TRACING_DATA";
	case PERF_RECORD_HEADER_BUILD_ID:
		return "H_BUILD_ID";
	case PERF_RECORD_HEADER_FEATURE:
		return "H_FEATURE";
	default:
		return tally_record_type_name(type);
	}
}

/* Records of simpleperf's, which the manifest counts by number: "T32769=9". */
static uint64_t others(const char *counts)
{
	uint64_t sum = 0;

	for (const char *at = counts; (at = strstr(at, "T32")); at++)
		if (at == counts || at[-1] == ' ')
			sum += strtoull(strchr(at, '=') + 1, NULL, 10);
	return sum;
}

static void check_counts(const struct corpus_row *row, const struct tally_data *data,
			 const uint64_t counts[128])
{
	for (uint32_t type = 0; type < 127; type++) {
		const char *name = manifest_name(type);

		if (!name || type == PERF_RECORD_COMPRESSED || type == PERF_RECORD_COMPRESSED2)
			continue;
		count_of(row->counts, name, counts[type], row->path);
	}
	assert_int_equal(counts[127], others(row->counts));
	assert_int_equal(tally_data_packed(data)->records,
			 corpus_count(row->counts, "COMPRESSED") +
			     corpus_count(row->counts, "COMPRESSED2"));
}

static void check(const struct corpus_row *row, void *context)
{
	uint64_t counts[128];
	struct tally_data *data;
	unsigned *checked = context;

	data = open_data(row->path);
	count_records(data, counts);
	/* The manifest stops at a broken record. */
	if (!has(row->counts, "BAD="))
		check_counts(row, data, counts);
	if (!has(row->notes, "trunc") && !has(row->notes, "size 0") && !has(row->notes, "feat"))
		if (tally_data_damage(data)->count)
			fail_msg("%s: %s", row->path, tally_data_damage(data)->text);
	assert_int_equal(tally_data_kind(data),
			 strcmp(row->format, "pipe") ? TALLY_DATA_FILE : TALLY_DATA_PIPE);
	assert_int_equal(tally_data_event_count(data), strtoul(row->events, NULL, 10));
	if (*row->attr_size)
		assert_int_equal(tally_data_event(data, 0)->attr.size,
				 strtoul(row->attr_size, NULL, 10));
	if (*row->kernel)
		assert_string_equal(tally_data_info(data)->os_release, row->kernel);
	if (*row->arch && tally_data_info(data)->arch)
		assert_string_equal(tally_data_info(data)->arch, row->arch);
	tally_data_close(data);
	(*checked)++;
}

static void counts_as_the_manifest(void **state)
{
	unsigned checked = 0;

	(void)state;
	if (!corpus_each(check, &checked))
		skip(); /* TALLY_CORPUS is not set */
	assert_true(checked >= 63);
}

/* Every sample belongs to an event that the file knows. */
static void know_their_events(const struct corpus_row *row, void *context)
{
	struct tally_record record;
	struct tally_data *data;

	(void)context;
	data = open_data(row->path);
	while (tally_data_next_record(data, &record, NULL) > 0) {
		int event = tally_data_event_of(data, &record);

		if (event < 0 && !tally_data_damage(data)->count)
			fail_msg("%s: record at %llu: event %d", row->path,
				 (unsigned long long)record.offset, event);
	}
	tally_data_close(data);
}

static void knows_the_events(void **state)
{
	(void)state;
	if (!corpus_each(know_their_events, NULL))
		skip(); /* TALLY_CORPUS is not set */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(counts_as_the_manifest),
	    cmocka_unit_test(knows_the_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
