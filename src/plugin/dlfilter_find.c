/* Where filters are. */
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "plugin/dlfilter_host.h"

/* Where `perf` of distributions and of its own makefile has its parts. */
static const char *const perf_folders[] = {"/usr/lib/perf-core", "/usr/libexec/perf-core"};

static char *below(const char *folder)
{
	char *path;

	return asprintf(&path, "%s/dlfilters", folder) < 0 ? NULL : path;
}

char *tally_dlfilters_folder(unsigned index)
{
	const char *ours = getenv("TALLY_EXEC_PATH"), *perf = getenv("PERF_EXEC_PATH");

	if (!index)
		return below(ours && *ours ? ours : TALLY_EXEC_PATH);
	if (perf && *perf)
		return index == 1 ? below(perf) : NULL;
	index--;
	return index < sizeof(perf_folders) / sizeof(*perf_folders) ? below(perf_folders[index])
								    : NULL;
}

char *tally_dlfilter_find(const char *name)
{
	char *folder, *path = NULL;

	if (strchr(name, '/'))
		return strdup(name);
	/* dlopen() does not look there for a name without a slash. */
	if (!access(name, R_OK))
		return asprintf(&path, "./%s", name) < 0 ? NULL : path;
	for (unsigned i = 0; (folder = tally_dlfilters_folder(i)); i++) {
		int length = asprintf(&path, "%s/%s", folder, name);

		free(folder);
		if (length < 0)
			return NULL;
		if (!access(path, R_OK))
			return path;
		free(path);
	}
	return strdup(name);
}

int tally_dlfilter_describe(const char *path, char **ret_short, char **ret_long)
{
	void *handle = dlopen(path, RTLD_NOW), *symbol;
	const char *(*describe)(const char **text);
	const char *brief = NULL, *more = NULL;

	if (!handle)
		return -ENOENT;
	if (!dlsym(handle, "filter_event") && !dlsym(handle, "filter_event_early")) {
		dlclose(handle);
		return -ENOENT;
	}
	symbol = dlsym(handle, "filter_description");
	memcpy(&describe, &symbol, sizeof(describe));
	if (describe)
		brief = describe(&more);
	*ret_short = brief ? strdup(brief) : NULL;
	*ret_long = more ? strdup(more) : NULL;
	dlclose(handle);
	return 0;
}
