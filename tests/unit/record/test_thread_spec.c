/* Which threads drain which CPUs, on a made-up machine of two packages with two cores of two CPUs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <errno.h>
#include <sched.h>
#include "../collect/made_up_tree.h"
#include "record/thread_spec.h"

static const uint32_t cpus[8] = {0, 1, 2, 3, 4, 5, 6, 7};
static char root[] = "/tmp/tally-spec-XXXXXX";

static int make(void **state)
{
	(void)state;
	if (!mkdtemp(root))
		return -1;
	for (unsigned cpu = 0; cpu < 8; cpu++) {
		char path[128], number[16];

		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/topology/core_id", cpu);
		snprintf(number, sizeof(number), "%u\n", cpu / 2 % 2);
		tree_text(root, path, number);
		snprintf(path, sizeof(path),
			 "sys/devices/system/cpu/cpu%u/topology/physical_package_id", cpu);
		snprintf(number, sizeof(number), "%u\n", cpu / 4);
		tree_text(root, path, number);
		snprintf(path, sizeof(path), "sys/devices/system/cpu/cpu%u/node%u/x", cpu, cpu % 2);
		tree_text(root, path, "");
	}
	return 0;
}

static int clean(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command);
}

/* "0,1/0,1 2,3/2,3": the groups as text. */
static void check(const char *text, size_t count, const char *expected)
{
	struct tally_thread_spec spec;
	struct tally_error error;
	char is[256];
	size_t at = 0;

	if (tally_thread_spec_parse(text, root, cpus, count, &spec, &error))
		fail_msg("%s: %s", text, error.text);
	is[0] = 0;
	for (size_t i = 0; i < spec.count; i++) {
		const struct tally_thread_group *group = &spec.groups[i];

		at += (size_t)snprintf(is + at, sizeof(is) - at, "%s", i ? " " : "");
		for (size_t j = 0; j < group->cpu_count; j++)
			at += (size_t)snprintf(is + at, sizeof(is) - at, "%s%u", j ? "," : "",
					       group->cpus[j]);
		for (size_t j = 0; j < group->runs_on_count; j++)
			at += (size_t)snprintf(is + at, sizeof(is) - at, "%c%u", j ? ',' : '/',
					       group->runs_on[j]);
	}
	assert_string_equal(is, expected);
	tally_thread_spec_done(&spec);
}

static void units_are_the_machines(void **state)
{
	(void)state;
	check("cpu", 4, "0/0 1/1 2/2 3/3");
	check("core", 8, "0,1/0,1 2,3/2,3 4,5/4,5 6,7/6,7");
	check("package", 8, "0,1,2,3/0,1,2,3 4,5,6,7/4,5,6,7");
	check("numa", 8, "0,2,4,6/0,2,4,6 1,3,5,7/1,3,5,7");
}

static void lists_say_who_drains_and_where(void **state)
{
	(void)state;
	check("0-1/2:2-3/0,1", 4, "0,1/2 2,3/0,1");
	check("0-3", 4, "0,1,2,3");
	/* CPUs that are not recorded are left out. */
	check("0-5/7:6,7/7", 2, "0,1/7 /7");
}

static void refused(const char *text, const char *why)
{
	struct tally_thread_spec spec;
	struct tally_error error = {0};

	assert_int_equal(tally_thread_spec_parse(text, root, cpus, 4, &spec, &error), -EINVAL);
	if (!strstr(error.text, why))
		fail_msg("'%s' is not in: %s", why, error.text);
}

static void mistakes_are_refused(void **state)
{
	(void)state;
	refused("socket", "is not cpu, core, package, numa");
	refused("", "is not cpu, core, package, numa");
	refused("0-3/", "is not cpu, core, package, numa");
	refused("0-3/x", "is not cpu, core, package, numa");
	refused("0-1/0", "CPU 2 is recorded and no thread drains it");
	refused("0-3/0:2/1", "CPU 2 is recorded and is drained by two threads");
}

static void a_set_has_its_cpus(void **state)
{
	static const uint32_t some[] = {1, 70, 200};
	size_t size;
	cpu_set_t *set = tally_thread_cpu_set(some, 3, &size);

	(void)state;
	assert_non_null(set);
	assert_int_equal(CPU_COUNT_S(size, set), 3);
	assert_true(CPU_ISSET_S(1, size, set) && CPU_ISSET_S(70, size, set) &&
		    CPU_ISSET_S(200, size, set));
	CPU_FREE(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(units_are_the_machines),
	    cmocka_unit_test(lists_say_who_drains_and_where),
	    cmocka_unit_test(mistakes_are_refused),
	    cmocka_unit_test(a_set_has_its_cpus),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
