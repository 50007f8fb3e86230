/* What is shown: -F and --time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "script/script_state.h"

#define SECOND 1000000000ULL

static int parse(struct script_fields *fields, const char *text)
{
	const struct tally_script_options options = {.size = sizeof(options)};
	struct tally_error error = {0};

	return tally_script_fields_parse(fields, text, &options, &error);
}

static void signs_change_what_is_usual_and_lists_replace_it(void **state)
{
	struct script_fields fields;
	uint64_t usual;

	(void)state;
	tally_script_fields_init(&fields);
	usual = fields.types[SCRIPT_HARDWARE].fields;
	assert_int_equal(parse(&fields, "+srcline,-dso"), 0);
	assert_int_equal(fields.types[SCRIPT_HARDWARE].fields,
			 (usual | SCRIPT_FIELD(SRCLINE)) & ~SCRIPT_FIELD(DSO));
	assert_int_equal(parse(&fields, "ip,sym"), 0);
	assert_int_equal(fields.types[SCRIPT_RAW].fields, SCRIPT_FIELD(IP) | SCRIPT_FIELD(SYM));
	/* For all types that can have it. */
	assert_int_equal(parse(&fields, "trace,time"), 0);
	assert_int_equal(fields.types[SCRIPT_HARDWARE].fields, SCRIPT_FIELD(TIME));
	assert_int_equal(fields.types[SCRIPT_TRACEPOINT].fields,
			 SCRIPT_FIELD(TRACE) | SCRIPT_FIELD(TIME));
}

static void a_type_is_changed_alone(void **state)
{
	struct script_fields fields;
	uint64_t usual;

	(void)state;
	tally_script_fields_init(&fields);
	usual = fields.types[SCRIPT_SOFTWARE].fields;
	assert_int_equal(parse(&fields, "trace:time,trace"), 0);
	assert_int_equal(fields.types[SCRIPT_TRACEPOINT].fields,
			 SCRIPT_FIELD(TRACE) | SCRIPT_FIELD(TIME));
	assert_int_equal(fields.types[SCRIPT_SOFTWARE].fields, usual);
	assert_int_equal(parse(&fields, "sw:"), 0);
	assert_int_equal(fields.types[SCRIPT_SOFTWARE].fields, 0);
	assert_int_equal(parse(&fields, "+flags"), 0);
	assert_true(fields.flags);
}

static void what_is_not_understood_is_refused(void **state)
{
	static const char *const wrong[] = {"",        "perod",  "+ip,sym",  "ip,+sym",
					    "hard:ip", "ip sym", "hw:trace", "+",
					    ":",       "-",      "sw:x"};
	struct script_fields fields;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		tally_script_fields_init(&fields);
		assert_int_not_equal(parse(&fields, wrong[i]), 0);
	}
}

static void check_times(const char *text, bool relative, size_t count,
			const struct tally_time_span *want)
{
	struct tally_error error = {0};
	struct tally_time_span *times;
	size_t got;

	assert_int_equal(tally_time_spans_parse(text, 1000, 2000, relative, &times, &got, &error),
			 0);
	assert_int_equal(got, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(times[i].start, want[i].start);
		assert_int_equal(times[i].end, want[i].end);
	}
	free(times);
}

static void spans_are_seconds_or_shares(void **state)
{
	(void)state;
	check_times("1.5,2", false, 1, (struct tally_time_span[]){{SECOND * 3 / 2, SECOND * 2}});
	check_times(",2.000000001", false, 1, (struct tally_time_span[]){{0, SECOND * 2 + 1}});
	check_times("3,", false, 1, (struct tally_time_span[]){{SECOND * 3, 0}});
	check_times("1,2 3,4  5,", false, 3,
		    (struct tally_time_span[]){
			{SECOND, SECOND * 2}, {SECOND * 3, SECOND * 4}, {SECOND * 5, 0}});
	check_times("0.000000001,", true, 1, (struct tally_time_span[]){{1001, 0}});
	/* The end of a share is the start of the next one. */
	check_times("10%/2", false, 1, (struct tally_time_span[]){{1100, 1199}});
	check_times("50%", false, 1, (struct tally_time_span[]){{1000, 1499}});
	check_times("0%-10%,90%-100%", false, 2,
		    (struct tally_time_span[]){{1000, 1099}, {1900, 2000}});
}

static void spans_that_cannot_be_are_refused(void **state)
{
	static const char *const wrong[] = {"",
					    "1",
					    "a,b",
					    "5,3",
					    "1,2,3",
					    "3,4 1,2",
					    "1.2.3,",
					    "0%-200%",
					    "10%/x",
					    "10%,20%",
					    "10%-",
					    "-10%/1",
					    "99999999999999999999,"};
	struct tally_error error;
	struct tally_time_span *times;
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (!tally_time_spans_parse(wrong[i], 0, 1000, false, &times, &count, &error))
			fail_msg("'%s' was taken", wrong[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(signs_change_what_is_usual_and_lists_replace_it),
	    cmocka_unit_test(a_type_is_changed_alone),
	    cmocka_unit_test(what_is_not_understood_is_refused),
	    cmocka_unit_test(spans_are_seconds_or_shares),
	    cmocka_unit_test(spans_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
