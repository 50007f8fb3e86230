#include <stddef.h>
#include <string.h>
#include "resolve/thread_start.h"

/* Of a program's first thread, of others, and of what else has a stack of its own.  Sources: glibc
 * (csu/, nptl/, sysdeps/unix/sysv/linux), musl (crt/, src/thread), bionic (libc/bionic), the Go
 * runtime (asm_*.s, rt0_*.s). */
static const char *const names[] = {
    "_start",
    "__libc_start_main",
    "_start_c",
    "__libc_start_call_main",
    "_dl_start",
    "__libc_start_main_impl",
    "_dl_start_user",
    "generic_start_main",
    "__libc_init",
    "__libc_start_main_stage2",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
    "__bionic_clone",
    "__clone_internal",
    "start_thread",
    "__start_thread",
    "__pthread_start",
    "__start_context",
    "runtime.goexit",
    "runtime.rt0_go",
    "runtime.mstart",
    "runtime.mcall",
    "runtime.morestack",
    "runtime.systemstack",
};

bool tally_thread_start_name(const char *symbol)
{
	/* "clone@@GLIBC_2.2.5"; Go's "runtime.goexit.abi0". */
	size_t length;

	if (!*symbol || !strchr("_cgrs", *symbol)) /* what they begin with */
		return false;
	length = strcspn(symbol, "@");
	if (length > 5 && !memcmp(symbol + length - 5, ".abi0", 5))
		length -= 5;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(names[i], symbol, length) && !names[i][length])
			return true;
	return false;
}
