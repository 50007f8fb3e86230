/* 13.32: what a person writes for a place is cut as perf-probe(1) says, and a mistake is where it
 * is. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>
#include "base/name_filter.h"
#include "place/probe_spec.h"

static void parse(const char *text, struct probe_spec *spec)
{
	struct tally_error error = {0};

	if (tally_probe_spec_parse(text, spec, &error))
		fail_msg("%s: %s", text, error.text);
}

static void a_place_has_its_parts(void **state)
{
	struct probe_spec spec;

	(void)state;
	parse("g:e=func@dir/src.c:12", &spec);
	assert_string_equal(spec.group, "g");
	assert_string_equal(spec.event, "e");
	assert_string_equal(spec.point.function, "func");
	assert_string_equal(spec.point.file, "dir/src.c");
	assert_int_equal(spec.point.line, 12);
	tally_probe_spec_done(&spec);
	parse("src.c:7", &spec);
	assert_null(spec.point.function);
	assert_string_equal(spec.point.file, "src.c");
	tally_probe_spec_done(&spec);
	parse("func+0x10", &spec);
	assert_int_equal(spec.point.offset, 16);
	tally_probe_spec_done(&spec);
	parse("malloc\\@GLIBC_2.2.5%return", &spec);
	assert_string_equal(spec.point.function, "malloc@GLIBC_2.2.5");
	assert_true(spec.point.at_return);
	tally_probe_spec_done(&spec);
	parse("func;a=*;b", &spec);
	assert_string_equal(spec.point.pattern, "a=*;b");
	tally_probe_spec_done(&spec);
	parse("e=ns::Shape::twice:3", &spec);
	assert_string_equal(spec.point.function, "ns::Shape::twice");
	assert_int_equal(spec.point.line, 3);
	tally_probe_spec_done(&spec);
	parse("0x1f0 %ax", &spec);
	assert_true(spec.point.is_address);
	assert_int_equal(spec.point.address, 0x1f0);
	tally_probe_spec_done(&spec);
	parse("sdt_toy:tick@/bin/prog", &spec);
	assert_true(spec.marker);
	assert_string_equal(spec.group, "sdt_toy");
	assert_string_equal(spec.event, "tick");
	assert_string_equal(spec.program, "/bin/prog");
	tally_probe_spec_done(&spec);
	parse("%tick", &spec);
	assert_null(spec.group);
	tally_probe_spec_done(&spec);
}

static void an_argument_has_its_parts(void **state)
{
	struct probe_spec spec;
	const struct probe_argument *argument;

	(void)state;
	parse("f p->in.list[2]:u8 x=n:string $retval %di:u64 ptr@user", &spec);
	assert_int_equal(spec.argument_count, 5);
	argument = &spec.arguments[0];
	assert_string_equal(argument->variable, "p");
	assert_string_equal(argument->name, "list");
	assert_string_equal(argument->type, "u8");
	assert_int_equal(argument->step_count, 3);
	assert_true(argument->steps[0].arrow);
	assert_string_equal(argument->steps[1].member, "list");
	assert_false(argument->steps[1].arrow);
	assert_null(argument->steps[2].member);
	assert_int_equal(argument->steps[2].index, 2);
	assert_string_equal(spec.arguments[1].name, "x");
	assert_string_equal(spec.arguments[1].type, "string");
	assert_null(spec.arguments[2].name);
	assert_string_equal(spec.arguments[3].variable, "%di");
	assert_true(spec.arguments[4].user);
	assert_string_equal(spec.arguments[4].variable, "ptr");
	assert_true(tally_probe_wants_debug(&spec));
	tally_probe_spec_done(&spec);
	parse("f $arg1 %di @sym+4 +8(%sp)", &spec);
	assert_false(tally_probe_wants_debug(&spec));
	tally_probe_spec_done(&spec);
}

static void a_mistake_is_where_it_is(void **state)
{
	static const struct {
		const char *text;
		int64_t position;
	} wrong[] = {
	    {"", 0},         {"func:x", 5}, {"func:3x", 6},    {"func+", 5}, {"func%retrun", 5},
	    {"func@a@b", 7}, {"func;", 4},  {"1e=func", 0},    {"f n->", 5}, {"f n[x]", 4},
	    {"f n-x", 3},    {"f n:", 3},   {"f%return n", 9}, {"f:1+2", 0}, {"file.c", -2},
	    {"f a=", 4},     {"f 1=n", 2},  {"sdt_a:b n", 8},  {"%", 1},     {"f:99999999999", 2},
	    {"0xzz", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct tally_error error = {.position = -1};
		struct probe_spec spec;
		int result = tally_probe_spec_parse(wrong[i].text, &spec, &error);

		if (wrong[i].position == -2) { /* a function may have a dot in its name */
			assert_int_equal(result, 0);
			tally_probe_spec_done(&spec);
			continue;
		}
		if (result != -EINVAL || error.position != wrong[i].position)
			fail_msg("'%s': %d at %d: %s", wrong[i].text, result, (int)error.position,
				 error.text);
	}
}

static void lines_are_a_function_or_a_file(void **state)
{
	struct probe_range range;
	struct tally_error error;

	(void)state;
	assert_int_equal(tally_probe_range_parse("work:3+4", &range, &error), 0);
	assert_string_equal(range.function, "work");
	assert_int_equal(range.first, 3);
	assert_int_equal(range.last, 6);
	tally_probe_range_done(&range);
	assert_int_equal(tally_probe_range_parse("work@b.c:2-5", &range, &error), 0);
	assert_string_equal(range.file, "b.c");
	assert_int_equal(range.last, 5);
	tally_probe_range_done(&range);
	assert_int_equal(tally_probe_range_parse("dir/a.c", &range, &error), 0);
	assert_null(range.function);
	assert_int_equal(range.last, INT32_MAX);
	tally_probe_range_done(&range);
	assert_int_equal(tally_probe_range_parse("work:5-2", &range, &error), -EINVAL);
	assert_int_equal(tally_probe_range_parse("work:x", &range, &error), -EINVAL);
	assert_int_equal(tally_probe_range_parse("", &range, &error), -EINVAL);
}

static bool takes(const char *text, const char *name)
{
	struct name_filter *filter;
	struct tally_error error;
	bool result;

	assert_int_equal(tally_name_filter_new(text, &filter, &error), 0);
	result = tally_name_filter_takes(filter, name);
	tally_name_filter_free(filter);
	return result;
}

static void a_filter_joins_patterns(void **state)
{
	struct name_filter *filter;
	struct tally_error error;

	(void)state;
	assert_true(takes("foo* | bar*", "barrel"));
	assert_false(takes("!foo* & *bar", "foobar"));
	assert_true(takes("!foo* & *bar", "fizzbar"));
	assert_true(takes("!(a | b)", "c"));
	assert_false(takes("!(a | b)", "b"));
	assert_true(takes("[!a-c]x", "dx"));
	assert_false(takes("[!a-c]x", "ax"));
	assert_int_equal(tally_name_filter_new("a &", &filter, &error), -EINVAL);
	assert_int_equal(error.position, 3);
	assert_int_equal(tally_name_filter_new("(a", &filter, &error), -EINVAL);
	assert_int_equal(tally_name_filter_new("a b", &filter, &error), -EINVAL);
	assert_true(tally_line_matches("\tsum  += n2;", "sum+=*"));
	assert_false(tally_line_matches("\tx = sum;", "sum*"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_place_has_its_parts),
	    cmocka_unit_test(an_argument_has_its_parts),
	    cmocka_unit_test(a_mistake_is_where_it_is),
	    cmocka_unit_test(lines_are_a_function_or_a_file),
	    cmocka_unit_test(a_filter_joins_patterns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
