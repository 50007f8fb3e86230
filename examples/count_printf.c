/* How many instructions a printf takes: the example of perf_event_open(2)'s manual page.
 *
 *	cc count_printf.c $(pkg-config --cflags --libs tally) -o count_printf && ./count_printf
 */
#include <inttypes.h>
#include <stdio.h>
#include <tally/tally.h>

static int fail(const struct tally_error *error)
{
	fprintf(stderr, "count_printf: %s\n", error->text);
	return 1;
}

int main(void)
{
	struct tally_event_options by_default = {.size = sizeof(by_default)};
	struct tally_counters_options self = {.size = sizeof(self), .no_inherit = true};
	struct tally_event_list events = {0};
	struct tally_count counts[2];
	struct tally_counters *set;
	struct tally_error error;
	uint64_t value;

	/* The second is there on machines without a PMU, too. */
	if (tally_event_list_parse("instructions:u,task-clock:u", &by_default, &events, &error) < 0)
		return fail(&error);
	self.events = &events;
	if (tally_counters_open(&self, &set, &error) < 0)
		return fail(&error);

	tally_counters_enable(set);
	printf("Measuring this printf\n");
	tally_counters_disable(set);

	if (tally_counters_read(set, counts) < 0)
		return 1;
	if (!tally_count_exact(&counts[0], &value))
		printf("Used %" PRIu64 " instructions\n", value);
	else
		printf("No instructions: %s here (a virtual machine without a PMU?)\n",
		       tally_count_quality_name(counts[0].quality));
	if (!tally_count_exact(&counts[1], &value))
		printf("Used %" PRIu64 " ns of CPU time\n", value);
	else if (!tally_counters_why(set, 1, 0, &error))
		printf("No CPU time: %s\n", tally_count_quality_name(counts[1].quality));
	else
		fail(&error);
	tally_counters_close(set);
	tally_event_list_done(&events);
	return 0;
}
