/* Samples of this program itself, straight from the kernel's ring: how often and where it was seen.
 *
 *	cc samples.c $(pkg-config --cflags --libs tally) -o samples && ./samples
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <tally/tally.h>

/* Some work to be seen. */
static uint64_t collatz(uint64_t below)
{
	uint64_t longest = 0;

	for (uint64_t start = 1; start < below; start++) {
		uint64_t steps = 0;

		for (uint64_t n = start; n != 1; steps++)
			n = n % 2 ? 3 * n + 1 : n / 2;
		if (steps > longest)
			longest = steps;
	}
	return longest;
}

static int fail(const struct tally_error *error)
{
	fprintf(stderr, "samples: %s\n", error->text);
	return 1;
}

int main(void)
{
	struct tally_event_options by_default = {.size = sizeof(by_default)};
	struct tally_ring_options small = {.size = sizeof(small), .pages = 16, .least_pages = 1};
	struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	struct tally_event_list events = {0};
	struct tally_limits limits = {.size = sizeof(limits)};
	struct tally_error error;
	struct tally_layout layout;
	struct tally_record record;
	struct tally_ring *ring;
	struct tally_attr attr;
	uint64_t samples = 0, elsewhere = 0, longest;
	uint64_t low = UINT64_MAX, high = 0;
	int fd, got;

	/* A name becomes an attr; what is sampled is ours to say. */
	if (tally_event_list_parse("cpu-clock:u", &by_default, &events, &error) < 0)
		return fail(&error);
	attr = events.events[0].attr;
	tally_event_list_done(&events);
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME;
	attr.freq = 1;
	attr.sample_freq = 1000;
	attr.disabled = 1;
	attr.size = tally_attr_min_size(&attr);

	tally_limits_read(NULL, &limits);
	fd = tally_open(&attr, &self, &limits, &error);
	if (fd < 0)
		return fail(&error);
	if (tally_ring_open(fd, &small, &limits, &ring, &error) < 0) {
		close(fd);
		return fail(&error);
	}

	tally_fd_enable(fd, false);
	longest = collatz(1000000);
	tally_fd_disable(fd, false);

	tally_layout_init(&layout, &attr);
	while ((got = tally_ring_next(ring, &record)) > 0) {
		struct tally_sample sample = {.size = sizeof(sample)};

		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		if (tally_sample_decode(&layout, &record, attr.sample_type, &sample, &error) < 0)
			return fail(&error);
		if (sample.pid != (uint32_t)getpid())
			elsewhere++;
		if (sample.ip < low)
			low = sample.ip;
		if (sample.ip > high)
			high = sample.ip;
		samples++;
	}
	tally_ring_close(ring);
	close(fd);
	printf("longest way to 1: %" PRIu64 " steps\n", longest);
	printf("%" PRIu64 " samples", samples);
	if (samples)
		printf(", from 0x%" PRIx64 " to 0x%" PRIx64, low, high);
	printf("; %" PRIu64 " of other processes\n", elsewhere);
	return got < 0;
}
