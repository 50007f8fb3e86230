#include "page/page_program.h"

#include <stdlib.h>
#include <string.h>
#include "page/page_waits.h"

/* How short names of libraries begin in which programs wait, copy or compute: glibc's and musl's,
 * and those of the languages that compilers bring. */
static const char libraries[][12] = {
    "libc.so", "libc-",     "libpthread", "ld-linux", "ld-musl", "libc.musl", "libm.so",
    "libm-",   "libstdc++", "libgcc_s",   "librt.so", "librt-",  "[vdso]",    "linux-vdso",
};

bool tally_page_is_library(const struct page_tables *tables, uint32_t function)
{
	uint32_t number = tables->functions[function].image;
	const char *image =
	    number < tables->image_count ? tables->strings.text[tables->images[number].name] : "";

	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++)
		if (!strncmp(image, libraries[i], strlen(libraries[i])))
			return true;
	return false;
}

void tally_page_program_mark(struct page_tables *tables)
{
	for (uint32_t i = 0; i < tables->function_count; i++) {
		struct page_function *function = &tables->functions[i];
		const char *name = tables->strings.text[function->name];

		if (function->kind == PAGE_KIND_KERNEL || tally_page_is_library(tables, i) ||
		    tally_page_wait_of(name) != PAGE_WAIT_UNKNOWN || strstr(name, "@plt"))
			function->program = PAGE_NOT_PROGRAM;
		else if (*name && strcmp(name, "[unknown]") != 0 && !strstr(name, "+0x"))
			function->program = PAGE_PROGRAM;
		else
			function->program = function->kind == PAGE_KIND_UNKNOWN
						? PAGE_NOT_PROGRAM
						: PAGE_PROGRAM_NAMELESS;
	}
}

uint32_t *tally_page_program_callers(const struct page_tables *tables, enum page_program kind)
{
	uint32_t *callers = calloc((size_t)tables->node_count + 1, sizeof(*callers));

	if (!callers)
		return NULL;
	callers[0] = PAGE_NONE;
	for (uint32_t i = 1; i < tables->node_count; i++) {
		uint32_t function = tables->nodes[i].function;

		callers[i] = tables->functions[function].program == kind
				 ? function
				 : callers[tables->nodes[i].parent];
	}
	return callers;
}
