#include "page/page_entries.h"

#include <stddef.h>
#include <string.h>

/* Source: arch/x86/mm/fault.c, arch/x86/include/asm/idtentry.h, arch/arm64/mm/fault.c and
 * arch/arm64/kernel/entry-common.c. */
static const struct {
	const char *name, *entry;
} table[] = {
    {"exc_page_fault", "page faults"},
    {"asm_exc_page_fault", "page faults"},
    {"do_page_fault", "page faults"},
    {"do_mem_abort", "page faults"},
    {"common_interrupt", "interrupts"},
    {"asm_common_interrupt", "interrupts"},
    {"sysvec_apic_timer_interrupt", "interrupts"},
    {"asm_sysvec_apic_timer_interrupt", "interrupts"},
    {"sysvec_call_function_single", "interrupts"},
    {"el1_interrupt", "interrupts"},
    {"el0_interrupt", "interrupts"},
};

/* Source: arch/x86/include/asm/syscall_wrapper.h, the same of arm64, and include/linux/syscalls.h:
 * a prefix for each architecture, and two that all have. */
const char *tally_page_entry_of(const char *function)
{
	static const char *const prefixes[] = {"__x64_sys_", "__ia32_sys_", "__arm64_sys_",
					       "__do_sys_",  "__se_sys_",   "__riscv_sys_"};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (!strncmp(function, prefixes[i], strlen(prefixes[i])))
			return function + strlen(prefixes[i]);
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(function, table[i].name))
			return table[i].entry;
	return "";
}
