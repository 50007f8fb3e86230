/* Prints the events that a metric of the CPU's vendor tables needs. */
#include <stdio.h>
#include <tally/metric.h>

int main(int argc, char **argv)
{
	const struct tally_metrics_options options = {.size = sizeof(options)};
	struct tally_metrics *metrics;
	struct tally_error error;

	if (tally_metrics_new(argc > 1 ? argv[1] : "IPC", &options, &metrics, &error)) {
		printf("%s\n", error.text);
		return 0; /* many CPUs, and most virtual machines, have no tables */
	}
	printf("%s = %s\nneeds %s\n", tally_metrics_at(metrics, 0)->name,
	       tally_metrics_at(metrics, 0)->expression, tally_metrics_events(metrics));
	tally_metrics_free(metrics);
	return 0;
}
