/* Every string of perf61.tbl becomes what perf 6.1 made of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <tally/event.h>
#include "made_tracefs.h"

static char table_path[4096];

/* Makes every tracepoint that the line expects. */
static void make_tracepoints(struct made_tracefs *tracefs, const char *line)
{
	char system[64], name[64];

	while ((line = strstr(line, "tp:"))) {
		line += 3;
		if (sscanf(line, "%63[^:]:%63[^ |\n]", system, name) == 2)
			assert_true(made_tracefs_id(tracefs, system, name) > 0);
	}
}

/* The event as the table writes it. */
static void describe(const struct tally_event *event, size_t index, const char *tracepoint,
		     char *to, size_t room)
{
	const struct tally_attr *attr = &event->attr;
	char leader[16] = "", numbers[200], precise[8] = "";

	if (event->leader != index)
		snprintf(leader, sizeof(leader), "%u ", event->leader);
	if (tracepoint)
		snprintf(numbers, sizeof(numbers), "%s", tracepoint);
	else
		snprintf(numbers, sizeof(numbers), "%u:0x%llx", attr->type,
			 (unsigned long long)attr->config);
	if (attr->precise_ip)
		snprintf(precise, sizeof(precise), " p%u", (unsigned)attr->precise_ip);
	snprintf(to, room, "%s%s%s%s%s%s%s%s%s%s%s", leader, numbers,
		 attr->exclude_user ? " no-user" : "", attr->exclude_kernel ? " no-kernel" : "",
		 attr->exclude_hv ? " no-hv" : "", attr->exclude_host ? " no-host" : "",
		 attr->exclude_guest ? " no-guest" : "", attr->exclude_idle ? " no-idle" : "",
		 attr->pinned ? " pinned" : "", attr->exclusive ? " exclusive" : "", precise);
}

/* "tp:system:name" of an id, from the made-up tree's own files. */
static bool find_tracepoint(struct made_tracefs *tracefs, const char *line, uint64_t id, char *to,
			    size_t room)
{
	char system[64], name[64];

	while ((line = strstr(line, "tp:"))) {
		line += 3;
		if (sscanf(line, "%63[^:]:%63[^ |\n]", system, name) == 2 &&
		    (uint64_t)made_tracefs_id(tracefs, system, name) == id) {
			snprintf(to, room, "tp:%s:%s", system, name);
			return true;
		}
	}
	return false;
}

static int check_line(struct made_tracefs *tracefs, char *line, size_t number)
{
	struct tally_event_options options = {.size = sizeof(options), .tracefs = tracefs->root};
	struct tally_event_list list = {0};
	struct tally_error error = {0};
	char got[4096] = "", *want = strchr(line, '\t');
	int result;

	assert_non_null(want);
	*want++ = 0;
	make_tracepoints(tracefs, want);
	result = tally_event_list_parse(line, &options, &list, &error);
	if (result < 0) {
		snprintf(got, sizeof(got), "error");
		assert_int_equal(error.code, result);
		assert_true(error.text[0]);
		assert_in_range(error.position, 0, strlen(line));
	}
	for (size_t i = 0; i < list.count; i++) {
		char one[512], tracepoint[160];
		bool traced = list.events[i].attr.type == PERF_TYPE_TRACEPOINT &&
			      find_tracepoint(tracefs, want, list.events[i].attr.config, tracepoint,
					      sizeof(tracepoint));
		size_t at = strlen(got);

		describe(&list.events[i], i, traced ? tracepoint : NULL, one, sizeof(one));
		snprintf(got + at, sizeof(got) - at, "%s%s", i ? " | " : "", one);
	}
	tally_event_list_done(&list);
	if (!strcmp(got, want))
		return 0;
	print_error("perf61.tbl:%zu: %s\n  perf: %s\n  tally: %s %s\n", number, line, want, got,
		    error.text);
	return 1;
}

static void as_perf(void **state)
{
	struct made_tracefs tracefs;
	FILE *table = fopen(table_path, "r");
	char line[8192];
	size_t number = 0, checked = 0;
	int wrong = 0;

	(void)state;
	assert_non_null(table);
	assert_int_equal(made_tracefs_init(&tracefs), 0);
	made_tracefs_id(&tracefs, "sched", "sched_migrate_task");
	while (fgets(line, sizeof(line), table)) {
		number++;
		line[strcspn(line, "\n")] = 0;
		if (!line[0] || line[0] == '#')
			continue;
		wrong += check_line(&tracefs, line, number);
		checked++;
	}
	fclose(table);
	made_tracefs_done(&tracefs);
	assert_true(checked > 500);
	assert_int_equal(wrong, 0);
}

int main(int count, char **arguments)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(as_perf)};

	if (count < 2)
		return 2;
	snprintf(table_path, sizeof(table_path), "%s/perf61.tbl", arguments[1]);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
