/* A program written for perf_event_open(2), linked to Tally's bottom layer instead of its own.
 *
 * Test suites of the system call have a few functions that all else goes through: one that opens,
 * one that reads a ring.  These two have the usual shapes of those; put in their place, the
 * programs that use them run on this library unchanged.
 *
 *	cc relink.c $(pkg-config --cflags --libs tally) -o relink && ./relink
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tally/raw.h>

/* --- in place of the suite's own --- */

static int perf_event_open(struct perf_event_attr *attr, pid_t pid, int cpu, int group_fd,
			   unsigned long flags)
{
	return tally_perf_event_open(attr, pid, cpu, group_fd, flags);
}

/* Calls `each` for every record from `from` on; where the next reading begins. */
static uint64_t ring_read(void *mapping, int pages, uint64_t from,
			  void (*each)(const struct perf_event_header *header, void *context),
			  void *context)
{
	static uint64_t
	    joined[8192]; /* a record that wraps; static, for handlers have small stacks */
	const struct perf_event_header *header;
	struct tally_raw_ring ring;

	if (tally_raw_ring_init(&ring, mapping, (size_t)(pages + 1) * (size_t)getpagesize(),
				joined))
		return from;
	ring.at = from;
	while (tally_raw_ring_next(&ring, &header) == 1)
		each(header, context);
	tally_raw_ring_release(&ring);
	return ring.at;
}

/* --- a program of the suite --- */

struct seen {
	unsigned samples, others;
};

static void look(const struct perf_event_header *header, void *context)
{
	struct seen *seen = context;

	if (header->type == PERF_RECORD_SAMPLE)
		seen->samples++;
	else
		seen->others++;
}

int main(void)
{
	struct perf_event_attr attr;
	size_t page = (size_t)getpagesize(), count = 100;
	struct seen seen = {0};
	uint64_t at = 0;
	uint8_t *memory;
	void *ring;
	int fd;

	memset(&attr, 0, sizeof(attr));
	attr.size = sizeof(attr);
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_PAGE_FAULTS;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_ADDR;
	attr.exclude_kernel = 1;
	attr.disabled = 1;
	fd = perf_event_open(&attr, 0, -1, -1, 0);
	if (fd < 0) {
		fprintf(stderr, "relink: perf_event_open: %s\n", strerror(errno));
		return 1;
	}
	ring = mmap(NULL, 9 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memory =
	    mmap(NULL, count * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring == MAP_FAILED || memory == MAP_FAILED ||
	    madvise(memory, count * page, MADV_NOHUGEPAGE) < 0)
		return 1;
	ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
	for (size_t i = 0; i < count; i++)
		*(volatile uint8_t *)(memory + i * page) = 1;
	ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
	at = ring_read(ring, 8, at, look, &seen);
	printf("%u samples and %u other records in %llu bytes\n", seen.samples, seen.others,
	       (unsigned long long)at);
	close(fd);
	return 0;
}
