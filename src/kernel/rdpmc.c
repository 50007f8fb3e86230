#include <tally/rdpmc.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tally/abi.h>
#include <tally/fd.h>
#include <tally/record.h>
#include "kernel/rdpmc_page.h"

struct tally_rdpmc {
	const struct perf_event_mmap_page *page; /* NULL: always by read(2) */
	int fd;
	uint64_t read_format;
	pthread_t thread; /* the owner of the counter */
};

#if defined(__x86_64__) || defined(__i386__)

#define HAVE_CPU 1

static inline uint64_t cpu_counter(uint32_t index)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a"(low), "=d"(high) : "c"(index));
	return (uint64_t)high << 32 | low;
}

static inline uint64_t cpu_clock(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

#elif defined(__aarch64__)

#define HAVE_CPU 1

/* Each register has its own instruction. Source: Arm ARM, PMEVCNTR<n>_EL0 is S3_3_C14_C(8 + n /
 * 8)_(n % 8); 31 is the cycle counter, PMCCNTR_EL0. */
#define COUNTER(n, crm, op2)                                                        \
	case n:                                                                     \
		__asm__ volatile("mrs %0, S3_3_C14_C" #crm "_" #op2 : "=r"(value)); \
		break;
#define EIGHT(n, crm)          \
	COUNTER(n, crm, 0)     \
	COUNTER(n + 1, crm, 1) \
	COUNTER(n + 2, crm, 2) \
	COUNTER(n + 3, crm, 3) \
	COUNTER(n + 4, crm, 4) COUNTER(n + 5, crm, 5) COUNTER(n + 6, crm, 6)

static inline uint64_t cpu_counter(uint32_t index)
{
	uint64_t value = 0;

	switch (index) {
		EIGHT(0, 8)
		COUNTER(7, 8, 7)
		EIGHT(8, 9)
		COUNTER(15, 9, 7)
		EIGHT(16, 10)
		COUNTER(23, 10, 7)
		EIGHT(24, 11)
	case 31:
		__asm__ volatile("mrs %0, pmccntr_el0" : "=r"(value));
		break;
	default:
		break;
	}
	return value;
}

static inline uint64_t cpu_clock(void)
{
	uint64_t value;

	/* Not before the instructions that are measured. */
	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(value));
	return value;
}

#else

#define HAVE_CPU 0

static inline uint64_t cpu_counter(uint32_t index)
{
	(void)index;
	return 0;
}

static inline uint64_t cpu_clock(void)
{
	return 0;
}

#endif

int tally_rdpmc_open(int fd, const struct tally_attr *attr, struct tally_rdpmc **ret)
{
	struct tally_rdpmc *counter;

	if (attr->read_format & PERF_FORMAT_GROUP)
		return -EINVAL;
	counter = calloc(1, sizeof(*counter));
	if (!counter)
		return -ENOMEM;
	*counter = (struct tally_rdpmc){
	    .fd = fd,
	    .read_format = attr->read_format,
	    .thread = pthread_self(),
	};
	/* The page is for this event only, without the counts of children. */
	if (HAVE_CPU && !attr->inherit) {
		void *page =
		    mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, fd, 0);

		counter->page = page == MAP_FAILED ? NULL : page;
	}
	*ret = counter;
	return 0;
}

void tally_rdpmc_close(struct tally_rdpmc *counter)
{
	if (!counter)
		return;
	if (counter->page)
		munmap((void *)counter->page, (size_t)sysconf(_SC_PAGESIZE));
	free(counter);
}

static bool read_direct(const struct tally_rdpmc *counter, struct tally_count *ret)
{
	static const struct rdpmc_cpu cpu = {cpu_counter, cpu_clock};
	uint64_t raw, enabled, running;

	if (!counter->page || !pthread_equal(counter->thread, pthread_self()) ||
	    !rdpmc_page_read(counter->page, cpu, &raw, &enabled, &running))
		return false;
	*ret = (struct tally_count){
	    .raw = raw,
	    .time_enabled = enabled,
	    .time_running = running,
	    .places = 1,
	    .quality = tally_count_judge(raw, enabled, running),
	};
	return true;
}

bool tally_rdpmc_direct(const struct tally_rdpmc *counter)
{
	struct tally_count count;

	return read_direct(counter, &count);
}

int tally_rdpmc_read(struct tally_rdpmc *counter, struct tally_count *ret)
{
	struct tally_read read;
	uint64_t words[8];
	int result;

	if (read_direct(counter, ret))
		return 0;
	result = tally_fd_read(counter->fd, counter->read_format, words,
			       sizeof(words) / sizeof(*words), &read);
	if (result == -ENODATA) {
		*ret = (struct tally_count){.quality = TALLY_COUNT_PINNED_ERROR};
		return 0;
	}
	if (result)
		return result;
	*ret = (struct tally_count){
	    .raw = read.value,
	    .time_enabled = read.time_enabled,
	    .time_running = read.time_running,
	    .id = read.id,
	    .lost = read.lost,
	    .places = 1,
	    .quality = tally_count_judge(read.value, read.time_enabled, read.time_running),
	};
	return 0;
}
