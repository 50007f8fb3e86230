/* The control page of a ring, read at one moment, and the CPU's clock as perf's time.
 *
 * Source: include/uapi/linux/perf_event.h at struct perf_event_mmap_page: `lock` is odd, or
 * changes, while the kernel writes; the formulas are those at time_zero and time_cycles.  The
 * reverse is the one that perf's decoders of traces use. */
#include <errno.h>
#include <tally/record.h>
#include <tally/ring.h>
#include "base/option_struct.h"
#include "kernel/barrier.h"
#include "kernel/rdpmc_page.h"
#include "kernel/ring_page.h"

#define CAP_USER_RDPMC     (1U << 2)
#define CAP_USER_TIME      (1U << 3)
#define CAP_USER_TIME_ZERO (1U << 4)

static uint64_t load_at(const struct perf_event_mmap_page *page, size_t offset)
{
	const uint8_t *bytes = (const uint8_t *)page;

	return RDPMC_LOAD(*(const uint64_t *)(const void *)(bytes + offset));
}

/* What the kernel changes while it holds the lock. */
static void read_locked(const struct perf_event_mmap_page *page, struct tally_ring_control *ret)
{
	uint64_t caps = RDPMC_LOAD(page->capabilities);

	ret->cap_user_rdpmc = caps & CAP_USER_RDPMC;
	ret->cap_user_time = caps & CAP_USER_TIME;
	ret->cap_user_time_zero = caps & CAP_USER_TIME_ZERO;
	ret->cap_user_time_short = caps & RDPMC_TIME_SHORT;
	ret->time_shift = RDPMC_LOAD(page->time_shift);
	ret->time_mult = RDPMC_LOAD(page->time_mult);
	ret->time_offset = RDPMC_LOAD(page->time_offset);
	ret->time_zero = RDPMC_LOAD(page->time_zero);
	ret->time_cycles = ret->time_mask = 0;
	if (ret->cap_user_time_short) {
		ret->time_cycles = load_at(page, RDPMC_TIME_CYCLES);
		ret->time_mask = load_at(page, RDPMC_TIME_MASK);
	}
}

void tally_ring_page_control(const struct perf_event_mmap_page *page,
			     struct tally_ring_control *ret)
{
	uint32_t lock;

	do {
		lock = __atomic_load_n(&page->lock, __ATOMIC_ACQUIRE);
		read_locked(page, ret);
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
	} while (RDPMC_LOAD(page->lock) != lock || lock & 1);
	ret->version = page->version;
	ret->compat_version = page->compat_version;
	ret->data_head = barrier_load_head(page);
	ret->data_tail = RDPMC_LOAD(page->data_tail);
	ret->data_offset = page->data_offset;
	ret->data_size = page->data_size;
	ret->aux_head = barrier_load_aux_head(page);
	ret->aux_tail = RDPMC_LOAD(page->aux_tail);
	ret->aux_offset = RDPMC_LOAD(page->aux_offset);
	ret->aux_size = RDPMC_LOAD(page->aux_size);
}

int tally_ring_control(const struct tally_ring *ring, struct tally_ring_control *ret)
{
	struct tally_ring_control own = {.size = sizeof(own)};

	if (!tally_result_is_sized(ret))
		return -EINVAL;
	tally_ring_page_control(tally_ring_page(ring), &own);
	return tally_result_copy(ret, sizeof(own), &own);
}

int tally_ring_page_time_conv(const struct perf_event_mmap_page *page,
			      struct tally_record_time_conv *ret)
{
	struct tally_ring_control control = {.size = sizeof(control)};

	tally_ring_page_control(page, &control);
	if (!control.cap_user_time_zero || !control.time_mult)
		return -EOPNOTSUPP;
	*ret = (struct tally_record_time_conv){
	    .time_shift = control.time_shift,
	    .time_mult = control.time_mult,
	    .time_zero = control.time_zero,
	    .time_cycles = control.time_cycles,
	    .time_mask = control.time_mask,
	    .cap_user_time_zero = 1,
	    .cap_user_time_short = control.cap_user_time_short,
	    .has_cycles = true,
	};
	return 0;
}

int tally_ring_time_conv(const struct tally_ring *ring, struct tally_record_time_conv *ret)
{
	return tally_ring_page_time_conv(tally_ring_page(ring), ret);
}

uint64_t tally_time_conv_ns(const struct tally_record_time_conv *conv, uint64_t cycles)
{
	uint64_t quotient, rest;

	if (conv->time_shift > 63)
		return 0;
	if (conv->cap_user_time_short)
		cycles = conv->time_cycles + ((cycles - conv->time_cycles) & conv->time_mask);
	quotient = cycles >> conv->time_shift;
	rest = cycles & ((1ULL << conv->time_shift) - 1);
	return conv->time_zero + quotient * conv->time_mult +
	       ((rest * conv->time_mult) >> conv->time_shift);
}

uint64_t tally_time_conv_cycles(const struct tally_record_time_conv *conv, uint64_t ns)
{
	uint64_t time = ns - conv->time_zero;

	if (conv->time_shift > 63 || !conv->time_mult)
		return 0;
	return ((time / conv->time_mult) << conv->time_shift) +
	       ((time % conv->time_mult) << conv->time_shift) / conv->time_mult;
}
