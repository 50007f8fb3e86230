/* Libraries that are loaded when one of their functions is first called: see tools/late, which
 * makes the callers of this. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "command.h"
#include "say.h"

/* Lists of strings, one after the other; for each function, which library has it. */
extern const char late_names[], late_sonames[];
extern const uint8_t late_libraries[];

void *cli_late_find(uint32_t index);

static const char *nth(const char *strings, uint32_t index)
{
	while (index--)
		strings += strlen(strings) + 1;
	return strings;
}

/* The address of the function.  Ends the command when the library is missing: the caller of the
 * function cannot get an error. */
void *cli_late_find(uint32_t index)
{
	const char *soname = nth(late_sonames, late_libraries[index]);
	void *library = dlopen(soname, RTLD_LAZY), *function = NULL;

	if (library)
		function = dlsym(library, nth(late_names, index));
	if (function)
		return function;
	cli_say(NULL, "%s is needed for this and cannot be loaded: %s", soname, dlerror());
	exit(CLI_OWN_FAILURE);
}
