/* One line of TAP a test, for programs that run where there is no cmocka. */
#ifndef TALLY_TESTS_PMU_TAP_H
#define TALLY_TESTS_PMU_TAP_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

static int tap_failures, tap_count;

/* Prints a result, and what was found (printf) when it is wrong. */
static void __attribute__((format(printf, 3, 4)))
tap(bool right, const char *name, const char *found, ...)
{
	va_list list;

	printf("%sok %d - %s\n", right ? "" : "not ", ++tap_count, name);
	if (right)
		return;
	tap_failures++;
	printf("# ");
	va_start(list, found);
	vprintf(found, list);
	va_end(list);
	printf("\n");
}

#endif
