#include "pfm/pfm_library.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tally/pfm.h>
#include "base/fail.h"

/* dlsym() returns a data pointer; POSIX guarantees that it works for functions. */
static void find(struct pfm_library *library, const char *name, void *function, size_t size)
{
	void *found = dlsym(library->handle, name);

	memcpy(function, &found, size);
}

int tally_pfm_library_load(struct pfm_library *library)
{
	/* Its state is in its own data: it stays loaded, so that the next handle finds it
	 * initialized. */
	library->handle = dlopen("libpfm.so.4", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library->handle)
		return TALLY_PFM_NOINIT;
#define FIND(member, name) find(library, name, &library->member, sizeof(library->member))
	FIND(initialize, "pfm_initialize");
	FIND(find_event, "pfm_find_event");
	FIND(event_next, "pfm_get_event_next");
	FIND(pmu_info, "pfm_get_pmu_info");
	FIND(event_info, "pfm_get_event_info");
	FIND(attr_info, "pfm_get_event_attr_info");
	FIND(encode, "pfm_get_os_event_encoding");
	FIND(validate, "pfm_pmu_validate");
	FIND(version, "pfm_get_version");
	FIND(terminate, "pfm_terminate");
#undef FIND
	if (library->initialize && library->find_event && library->event_next &&
	    library->pmu_info && library->event_info && library->attr_info && library->encode &&
	    library->validate && library->version && library->terminate)
		return TALLY_PFM_SUCCESS;
	dlclose(library->handle);
	return TALLY_PFM_NOINIT;
}

/* The library reads its environment only in pfm_initialize(); the variable is set just for that
 * call. */
static int initialize(const struct pfm_library *library, int all_pmus)
{
	bool ours = all_pmus && !getenv("LIBPFM_ENCODE_INACTIVE") &&
		    !setenv("LIBPFM_ENCODE_INACTIVE", "1", 0);
	int code = library->initialize();

	if (ours)
		unsetenv("LIBPFM_ENCODE_INACTIVE");
	return code;
}

int tally_pfm_library_open(struct pfm_library *ret, int all_pmus, struct tally_error *error)
{
	struct pfm_library library = {0};
	int code = tally_pfm_library_load(&library);

	if (code) {
		tally_fail(error, -ENOENT, -1, "libpfm4 is not installed: apt install libpfm4");
		return code;
	}
	code = initialize(&library, all_pmus);
	if (code) {
		tally_fail(error, -ENOTSUP, -1, "libpfm4 cannot be initialized: %s",
			   tally_pfm_strerror(code));
		dlclose(library.handle);
		return code;
	}
	*ret = library;
	return TALLY_PFM_SUCCESS;
}

void tally_pfm_library_close(struct pfm_library *library)
{
	if (library->handle)
		dlclose(library->handle);
	library->handle = NULL;
}

int tally_pfm_pmu(const struct pfm_library *library, unsigned id, struct tally_pfm_pmu_info *ret)
{
	*ret = (struct tally_pfm_pmu_info){.size = sizeof(*ret)};
	return library->pmu_info(id, ret);
}

int tally_pfm_event_of(const struct pfm_library *library, int idx, unsigned os,
		       struct tally_pfm_event_info *ret)
{
	*ret = (struct tally_pfm_event_info){.size = sizeof(*ret)};
	return library->event_info(idx, os, ret);
}

int tally_pfm_attr(const struct pfm_library *library, int idx, int at, unsigned os,
		   struct tally_pfm_attr_info *ret)
{
	*ret = (struct tally_pfm_attr_info){.size = sizeof(*ret)};
	return library->attr_info(idx, at, os, ret);
}

int tally_pfm_pmu_named(const struct pfm_library *library, const char *name, size_t length,
			struct tally_pfm_pmu_info *ret)
{
	for (unsigned id = 0; id < PFM_PMU_IDS; id++) {
		struct tally_pfm_pmu_info pmu;

		if (tally_pfm_pmu(library, id, &pmu))
			continue;
		if (strlen(pmu.name) == length && !strncasecmp(pmu.name, name, length)) {
			*ret = pmu;
			return TALLY_PFM_SUCCESS;
		}
	}
	return TALLY_PFM_NOTFOUND;
}
