/* What a function that blocks waits for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "page/page_waits.h"

static void names_are_known_as_libraries_write_them(void **state)
{
	static const struct {
		const char *name;
		enum page_wait wait;
	} cases[] = {
	    {"read", PAGE_WAIT_FILE},
	    {"__GI___libc_read", PAGE_WAIT_FILE},
	    {"__libc_pwrite64", PAGE_WAIT_FILE},
	    {"___pthread_mutex_lock", PAGE_WAIT_LOCK},
	    {"__GI___pthread_mutex_lock", PAGE_WAIT_LOCK},
	    {"pthread_rwlock_rdlock@GLIBC_2.2.5", PAGE_WAIT_LOCK},
	    {"pthread_cond_wait@@GLIBC_2.3.2", PAGE_WAIT_CONDITION},
	    {"__futex_abstimed_wait_common64", PAGE_WAIT_CONDITION},
	    {"__GI___clock_nanosleep", PAGE_WAIT_SLEEP},
	    {"clock_nanosleep@GLIBC_2.2.5", PAGE_WAIT_SLEEP},
	    {"__GI_epoll_pwait", PAGE_WAIT_EVENT},
	    {"__GI___wait4", PAGE_WAIT_CHILD},
	    {"do_wait", PAGE_WAIT_CHILD},
	    {"__libc_recvfrom", PAGE_WAIT_NETWORK},
	    /* Names that only contain one of these. */
	    {"reader", PAGE_WAIT_UNKNOWN},
	    {"spread", PAGE_WAIT_UNKNOWN},
	    {"my_read", PAGE_WAIT_UNKNOWN},
	    {"main", PAGE_WAIT_UNKNOWN},
	    {"_", PAGE_WAIT_UNKNOWN},
	    {"", PAGE_WAIT_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(tally_page_wait_of(cases[i].name), cases[i].wait);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_known_as_libraries_write_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
