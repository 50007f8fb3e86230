/* libpfm4's tables under our names: calls its functions, in the library loaded at run time. */
#include "pfm/pfm_library.h"

/* The library stays loaded with its state: to load it again is only a look-up. */
#define ASK(ask, lost)                                \
	do {                                          \
		struct pfm_library library;           \
		int result;                           \
                                                      \
		if (tally_pfm_library_load(&library)) \
			return lost;                  \
		result = library.ask;                 \
		tally_pfm_library_close(&library);    \
		return result;                        \
	} while (0)

int tally_pfm_initialize(void)
{
	ASK(initialize(), TALLY_PFM_NOINIT);
}

void tally_pfm_terminate(void)
{
	struct pfm_library library;

	if (tally_pfm_library_load(&library))
		return;
	library.terminate();
	tally_pfm_library_close(&library);
}

int tally_pfm_get_version(void)
{
	ASK(version(), 0);
}

int tally_pfm_get_pmu_info(unsigned pmu, struct tally_pfm_pmu_info *ret)
{
	ASK(pmu_info(pmu, ret), TALLY_PFM_NOINIT);
}

int tally_pfm_find_event(const char *text)
{
	ASK(find_event(text), TALLY_PFM_NOINIT);
}

int tally_pfm_get_event_next(int idx)
{
	ASK(event_next(idx), -1);
}

int tally_pfm_get_event_info(int idx, int os, struct tally_pfm_event_info *ret)
{
	ASK(event_info(idx, (unsigned)os, ret), TALLY_PFM_NOINIT);
}

int tally_pfm_get_event_attr_info(int idx, int attr, int os, struct tally_pfm_attr_info *ret)
{
	ASK(attr_info(idx, attr, (unsigned)os, ret), TALLY_PFM_NOINIT);
}

int tally_pfm_pmu_validate(unsigned pmu, FILE *file)
{
	ASK(validate(pmu, file), TALLY_PFM_NOINIT);
}
