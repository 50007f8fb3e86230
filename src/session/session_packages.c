#include "session/session_packages.h"

#include <errno.h>
#include <stdlib.h>
#include "elf/package.h"
#include "session/session.h"

int tally_session_symbol_packages(const struct tally_session *session, const char *const *paths,
				  size_t count, char **ret)
{
	const char *symfs = session->options.symfs;
	int result = 0;

	for (size_t i = 0; i < count; i++)
		ret[i] = NULL;
	/* Below another folder are files of another system. */
	if (!symfs || !*symfs)
		result = tally_package_find("", paths, count, ret);
	for (size_t i = 0; i < count && !result; i++) {
		char *symbols = ret[i] ? tally_package_symbols(ret[i]) : NULL;

		if (ret[i] && !symbols)
			result = -ENOMEM;
		free(ret[i]);
		ret[i] = symbols;
	}
	for (size_t i = 0; i < count && result; i++) {
		free(ret[i]);
		ret[i] = NULL;
	}
	return result;
}
