#include "jit/compiled_name.h"

#include <string.h>

/* Source: V8, src/logging/log.cc (names of kinds of code) and src/objects/code-kind.cc: '~' is the
 * interpreter, '^' and '+' are the quick compilers, '*' is the one that optimises. */
static const char *const kinds[] = {"JS:", "LazyCompile:", "Function:", "Script:", "Eval:"};

size_t tally_compiled_name(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		size_t length = strlen(kinds[i]);

		if (!strncmp(name, kinds[i], length))
			return name[length] && strchr("~^+*", name[length]) ? length : 0;
	}
	return 0;
}
