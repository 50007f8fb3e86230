/* What the kernel is entered for is known by the names of its functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "page/page_entries.h"

static void system_calls_faults_and_interrupts_are_known(void **state)
{
	static const struct {
		const char *function, *entry;
	} known[] = {
	    {"__x64_sys_write", "write"},
	    {"__arm64_sys_exit_group", "exit_group"},
	    {"__do_sys_clone", "clone"},
	    {"exc_page_fault", "page faults"},
	    {"asm_sysvec_apic_timer_interrupt", "interrupts"},
	    {"x64_sys_call", ""},
	    {"vfs_write", ""},
	    {"exc_page_fault_of_mine", ""},
	    {"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		assert_string_equal(tally_page_entry_of(known[i].function), known[i].entry);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(system_calls_faults_and_interrupts_are_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
