/* One reading of an event's control page, in user space.
 *
 * The kernel raises `lock` around each change of the page, on the reading CPU, so a reader that
 * sees the same lock before and after has consistent values. The count is `offset` plus what the
 * hardware has counted since, in pmc_width bits with a sign; the times are those of the last change
 * plus what the CPU's clock says. Source: include/uapi/linux/perf_event.h at struct
 * perf_event_mmap_page, and perf_event_open(2), "MMAP layout". */
#ifndef TALLY_KERNEL_RDPMC_PAGE_H
#define TALLY_KERNEL_RDPMC_PAGE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <tally/count.h>

/* What differs between CPUs. */
struct rdpmc_cpu {
	uint64_t (*counter)(uint32_t index); /* from 0 */
	uint64_t (*clock)(void);
};

/* Fields newer than some headers: time_cycles and time_mask are of Linux 5.12, behind `size`.
 * Offsets from the source above. */
#define RDPMC_TIME_CYCLES 80
#define RDPMC_TIME_MASK   88
#define RDPMC_TIME_SHORT  (1ULL << 5) /* bit of capabilities */

#define RDPMC_LOAD(field) __atomic_load_n(&(field), __ATOMIC_RELAXED)

static inline __attribute__((always_inline)) uint64_t
rdpmc_elapsed(const struct perf_event_mmap_page *page, uint64_t cycles, uint64_t caps)
{
	uint16_t shift = RDPMC_LOAD(page->time_shift);
	uint64_t mult = RDPMC_LOAD(page->time_mult), quotient, rest;

	/* A clock of fewer bits: it continues from time_cycles. */
	if (caps & RDPMC_TIME_SHORT) {
		const uint8_t *bytes = (const uint8_t *)page;
		uint64_t from = RDPMC_LOAD(*(const uint64_t *)(bytes + RDPMC_TIME_CYCLES));
		uint64_t mask = RDPMC_LOAD(*(const uint64_t *)(bytes + RDPMC_TIME_MASK));

		cycles = from + ((cycles - from) & mask);
	}
	if (shift > 63)
		return 0;
	quotient = cycles >> shift;
	rest = cycles & ((1ULL << shift) - 1);
	return RDPMC_LOAD(page->time_offset) + quotient * mult + ((rest * mult) >> shift);
}

/* Whether the page can be used: the counter is on the hardware, may be read, and so may the time.
 */
static inline __attribute__((always_inline)) bool
rdpmc_page_read(const struct perf_event_mmap_page *page, struct rdpmc_cpu cpu, uint64_t *ret_raw,
		uint64_t *ret_enabled, uint64_t *ret_running)
{
	uint64_t raw, enabled, running, elapsed;
	uint32_t lock;

	do {
		uint64_t caps;
		uint32_t index;
		uint16_t width;

		lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		caps = RDPMC_LOAD(page->capabilities);
		index = RDPMC_LOAD(page->index);
		width = RDPMC_LOAD(page->pmc_width);
		/* Bit 0 had two meanings until Linux 3.12 added bit 1. */
		if (!(caps & 2) || !(caps & 4) || !(caps & 8) || !index || !width || width > 64)
			return false;
		enabled = RDPMC_LOAD(page->time_enabled);
		running = RDPMC_LOAD(page->time_running);
		elapsed = rdpmc_elapsed(page, cpu.clock(), caps);
		raw = cpu.counter(index - 1) << (64 - width);
		raw = (uint64_t)((int64_t)raw >> (64 - width));
		raw += (uint64_t)RDPMC_LOAD(page->offset);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (RDPMC_LOAD(page->lock) != lock);
	*ret_raw = raw;
	*ret_enabled = enabled + elapsed;
	*ret_running = running + elapsed;
	return true;
}

#endif
