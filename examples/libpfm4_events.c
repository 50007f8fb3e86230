/* Written for libpfm4, and built unchanged against it or against libtally: every PMU that is
 * present, its events, their attributes, and what the events of one PMU are to the kernel.
 *
 *	cc libpfm4_events.c $(pkg-config --cflags --libs tally-libpfm4)
 *	cc libpfm4_events.c -lpfm */
#include <perfmon/pfmlib_perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_event(int index, const char *pmu)
{
	pfm_event_info_t event = {.size = sizeof(event)};
	struct perf_event_attr attr = {.size = sizeof(attr)};
	pfm_perf_encode_arg_t encoding = {.size = sizeof(encoding), .attr = &attr};
	char name[512], *whole = NULL;
	int code, i;

	if (pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &event) != PFM_SUCCESS)
		return;
	snprintf(name, sizeof(name), "%s::%s", pmu, event.name);
	encoding.fstr = &whole;
	code =
	    pfm_get_os_event_encoding(name, PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &encoding);
	printf("%s (%s): %s", name, event.desc, pfm_strerror(code));
	if (code == PFM_SUCCESS)
		printf(", type %u config 0x%llx as %s", attr.type, (unsigned long long)attr.config,
		       whole);
	putchar('\n');
	free(whole);
	pfm_for_each_event_attr(i, &event)
	{
		pfm_event_attr_info_t about = {.size = sizeof(about)};

		if (pfm_get_event_attr_info(index, i, PFM_OS_PERF_EVENT_EXT, &about) == PFM_SUCCESS)
			printf("  %s (%s) %d%s\n", about.name, about.desc, (int)about.type,
			       about.is_dfl ? ", default" : "");
	}
}

int main(void)
{
	int code = pfm_initialize(), index, pmu;

	if (code != PFM_SUCCESS) {
		fprintf(stderr, "libpfm4: %s\n", pfm_strerror(code));
		return 1;
	}
	pfm_for_all_pmus(pmu)
	{
		pfm_pmu_info_t info = {.size = sizeof(info)};

		if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) != PFM_SUCCESS || !info.is_present)
			continue;
		printf("%s (%s): %d events\n", info.name, info.desc, info.nevents);
		for (index = info.first_event; index != -1; index = pfm_get_event_next(index))
			print_event(index, info.name);
	}
	pfm_terminate();
	return 0;
}
