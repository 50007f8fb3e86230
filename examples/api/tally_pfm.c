/* Encodes an event that is written in libpfm4's language. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/pfm.h>

int main(int argc, char **argv)
{
	const char *text = argc > 1 ? argv[1] : "skl::INST_RETIRED:ANY_P:u";
	const struct tally_pfm_options options = {.size = sizeof(options)};
	struct tally_pfm_event event = {.size = sizeof(event)};
	struct tally_pfm *pfm = NULL;
	struct tally_error error;

	if (tally_pfm_open(&options, &pfm, &error) ||
	    tally_pfm_encode(pfm, text, TALLY_PFM_PLM0 | TALLY_PFM_PLM3, TALLY_PFM_OS_PERF_EVENT,
			     &event, &error)) {
		printf("%s\n", error.text);
		tally_pfm_close(pfm);
		return 0; /* libpfm4 need not be installed */
	}
	printf("%s: config %#" PRIx64 "\n", event.name, event.attr.config);
	tally_pfm_event_done(&event);
	tally_pfm_close(pfm);
	return 0;
}
