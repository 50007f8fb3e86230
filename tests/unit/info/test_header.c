/* Lines of the header that no perf of today's distributions writes, or shows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "info/header_lines.h"

static void the_newest_sections_have_their_lines(void **state)
{
	static const struct tally_data_cpu_domain domains[] = {
	    {.cpu = 0, .domain = 0, .name = "SMT", .cpu_mask = "3", .cpus = "0-1"},
	    {.cpu = 0, .domain = 1, .name = "MC", .cpu_mask = "f", .cpus = "0-3"},
	    {.cpu = 2, .domain = 0, .cpu_mask = "c", .cpus = "2-3"},
	};
	const struct tally_data_info info = {
	    .schedstat_version = 17,
	    .domain_levels = 2,
	    .cpu_domains = domains,
	    .cpu_domain_count = 3,
	    .e_machine = 62,
	    .e_flags = 5,
	    .cache_line_size = 64,
	};
	struct tally_buf text = {0};

	(void)state;
	tally_header_machine_lines(&text, &info, TALLY_FEATURE_CPU_DOMAIN_INFO);
	tally_header_machine_lines(&text, &info, TALLY_FEATURE_E_MACHINE);
	tally_header_machine_lines(&text, &info, TALLY_FEATURE_CLN_SIZE);
	assert_string_equal(tally_buf_str(&text), "# schedstat version\t: 17\n"
						  "# Maximum sched domains\t: 2\n"
						  "# cpu\t\t: 0\n"
						  "# nr_domains\t: 2\n"
						  "# Domain\t\t: 0\n"
						  "# Domain name      : SMT\n"
						  "# Domain cpu map   : 3\n"
						  "# Domain cpu list  : 0-1\n"
						  "# Domain\t\t: 1\n"
						  "# Domain name      : MC\n"
						  "# Domain cpu map   : f\n"
						  "# Domain cpu list  : 0-3\n"
						  "# cpu\t\t: 2\n"
						  "# nr_domains\t: 1\n"
						  "# Domain\t\t: 0\n"
						  "# Domain cpu map   : c\n"
						  "# Domain cpu list  : 2-3\n"
						  "# e_machine : 62, e_flags : 5\n"
						  "# cache line size : 64\n");
	tally_buf_done(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_newest_sections_have_their_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
