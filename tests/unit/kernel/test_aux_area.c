/* AUX areas without hardware: a control page and memory, and a thread that writes as a kernel and a
 * PMU would: bytes first, then aux_head; records of what it wrote; the end at aux_tail. */
#include "kernel_test.h"

#include <pthread.h>
#include <sched.h>
#include <tally/abi.h>
#include <tally/record.h>
#include "kernel/aux_area.h"
#include "kernel/ring_page.h"

#define AREA 16384

/* What the kernel says of a piece: a record of type AUX. */
struct piece {
	uint64_t offset, size, flags;
};

#define PIECES 4096

struct pmu {
	struct perf_event_mmap_page page;
	_Alignas(8) uint8_t area[AREA];
	uint64_t head, made;        /* bytes of the trace, also those that had no room */
	bool overwrite, place_only; /* aux_head is a place, as Intel PT's */
	struct piece pieces[PIECES];
	unsigned piece_count;
	uint64_t todo;
	pthread_t thread;
};

/* The byte of the trace at a position; never zero, and not the same a lap later. */
static uint8_t trace_at(uint64_t position)
{
	return (uint8_t)(1 + (position * 2654435761U >> 7) % 255);
}

static struct pmu *pmu_new(bool overwrite, bool place_only)
{
	struct pmu *pmu = calloc(1, sizeof(*pmu));

	assert_non_null(pmu);
	pmu->overwrite = overwrite;
	pmu->place_only = place_only;
	pmu->page.aux_size = AREA;
	return pmu;
}

static void note(struct pmu *pmu, uint64_t offset, uint64_t size, uint64_t flags)
{
	assert_true(pmu->piece_count < PIECES);
	pmu->pieces[pmu->piece_count++] = (struct piece){offset, size, flags};
}

/* Writes as much of `size` as there is room for, and says so. */
static uint64_t pmu_write(struct pmu *pmu, uint64_t size, uint64_t flags)
{
	uint64_t tail = __atomic_load_n(&pmu->page.aux_tail, __ATOMIC_ACQUIRE);
	uint64_t room = pmu->overwrite ? size : AREA - (pmu->head - tail), use = size;

	if (use > room) {
		use = room;
		flags |= PERF_AUX_FLAG_TRUNCATED;
	}
	for (uint64_t i = 0; i < use; i++)
		pmu->area[(pmu->head + i) % AREA] = trace_at(pmu->head + i);
	if (use)
		note(pmu, pmu->head, use, flags);
	else if (flags)
		note(pmu, pmu->head, 0, flags);
	pmu->head += use;
	__atomic_store_n(&pmu->page.aux_head, pmu->place_only ? pmu->head % AREA : pmu->head,
			 __ATOMIC_RELEASE);
	return use;
}

static void check_bytes(const struct tally_aux_bytes *bytes, uint64_t position)
{
	for (size_t i = 0; i < bytes->first_size; i++)
		assert_int_equal(bytes->first[i], trace_at(position + i));
	for (size_t i = 0; i < bytes->second_size; i++)
		assert_int_equal(bytes->second[i], trace_at(position + bytes->first_size + i));
}

static void a_trace_is_read_to_its_end(void **state)
{
	struct pmu *pmu = pmu_new(false, false);
	struct tally_aux_area area;
	struct tally_aux_bytes bytes;

	(void)state;
	tally_aux_area_init(&area, &pmu->page, pmu->area, AREA, false);
	assert_int_equal(tally_aux_area_peek(&area, &bytes), 0);
	assert_int_equal(pmu_write(pmu, 10000, 0), 10000);
	assert_int_equal(tally_aux_area_peek(&area, &bytes), 10000);
	assert_int_equal(bytes.offset, 0);
	assert_int_equal(bytes.first_size, 10000);
	check_bytes(&bytes, 0);
	/* What was not consumed is given again, with what came since; then nothing has room. */
	assert_int_equal(pmu_write(pmu, 10000, 0), 6384);
	assert_int_equal(pmu->pieces[1].flags, PERF_AUX_FLAG_TRUNCATED);
	assert_int_equal(tally_aux_area_peek(&area, &bytes), AREA);
	assert_int_equal(pmu_write(pmu, 1, 0), 0);
	tally_aux_area_consume(&area, 9000);
	assert_int_equal(pmu->page.aux_tail, 9000);
	/* Now it wraps. */
	assert_int_equal(pmu_write(pmu, 5000, 0), 5000);
	assert_int_equal(tally_aux_area_peek(&area, &bytes), AREA - 9000 + 5000);
	assert_int_equal(bytes.offset, 9000);
	assert_int_equal(bytes.first_size, AREA - 9000);
	assert_int_equal(bytes.second_size, 5000);
	check_bytes(&bytes, 9000);
	tally_aux_area_consume(&area, AREA - 9000 + 5000);
	assert_int_equal(tally_aux_area_peek(&area, &bytes), 0);
	tally_aux_area_done(&area);
	free(pmu);
}

/* A page that says more than one lap is unread is wrong: nothing of it is read. */
static void an_impossible_head_gives_nothing(void **state)
{
	struct pmu *pmu = pmu_new(false, false);
	struct tally_aux_area area;
	struct tally_aux_bytes bytes;

	(void)state;
	tally_aux_area_init(&area, &pmu->page, pmu->area, AREA, false);
	pmu->page.aux_head = AREA + 1;
	assert_int_equal(tally_aux_area_peek(&area, &bytes), 0);
	pmu->page.aux_head = 5;
	assert_int_equal(tally_aux_area_peek(&area, &bytes), 0);
	tally_aux_area_done(&area);
	free(pmu);
}

static void *kernel_main(void *context)
{
	struct pmu *pmu = context;
	unsigned random = 12345;

	while (pmu->made < pmu->todo && pmu->piece_count < PIECES - 2) {
		uint64_t size = 1 + (random >> 8) % 6000, wrote;
		static const uint64_t flags[] = {0, 0, PERF_AUX_FLAG_PARTIAL,
						 PERF_AUX_FLAG_COLLISION};

		random = random * 1103515245 + 12345;
		wrote = pmu_write(pmu, size, flags[random >> 16 & 3]);
		pmu->made += size;
		if (wrote < size) /* what reads is slow, or does not run at all */
			usleep(100);
	}
	return NULL;
}

/* Every byte that the kernel says it wrote arrives, at the offset that it says; what had no room is
 * marked. */
static void every_byte_arrives_while_it_is_written(void **state)
{
	struct pmu *pmu = pmu_new(false, false);
	struct tally_aux_area area;
	struct tally_aux_bytes bytes;
	uint64_t read = 0, said = 0, truncated = 0;
	bool last = false;

	(void)state;
	tally_aux_area_init(&area, &pmu->page, pmu->area, AREA, false);
	pmu->todo = 4 << 20;
	assert_int_equal(pthread_create(&pmu->thread, NULL, kernel_main, pmu), 0);
	for (;;) {
		size_t size = tally_aux_area_peek(&area, &bytes);

		if (size) {
			assert_int_equal(bytes.offset, read);
			assert_int_equal(bytes.first_size + bytes.second_size, size);
			check_bytes(&bytes, read);
			read += size;
			tally_aux_area_consume(&area, size);
		} else if (last) {
			break;
		} else if (!pthread_tryjoin_np(pmu->thread, NULL)) {
			last = true;
		} else {
			sched_yield();
		}
	}
	for (unsigned i = 0; i < pmu->piece_count; i++) {
		assert_int_equal(pmu->pieces[i].offset, said);
		said += pmu->pieces[i].size;
		truncated += (pmu->pieces[i].flags & PERF_AUX_FLAG_TRUNCATED) != 0;
	}
	assert_int_equal(read, said);
	assert_int_equal(read, pmu->head);
	assert_true(read > AREA);
	assert_true(pmu->made == read || truncated);
	tally_aux_area_done(&area);
	free(pmu);
}

/* --- areas that are overwritten --- */

static size_t snapshot(struct tally_aux_area *area, size_t most, struct tally_aux_bytes *bytes)
{
	size_t size = 0;

	assert_int_equal(tally_aux_area_snapshot(area, most, 1, bytes, &size), 0);
	assert_int_equal(bytes->first_size + bytes->second_size, size);
	return size;
}

/* The same for both kinds of aux_head. */
static void check_snapshots(bool place_only)
{
	struct pmu *pmu = pmu_new(true, place_only);
	struct tally_aux_area area;
	struct tally_aux_bytes bytes;
	uint64_t at;

	tally_aux_area_init(&area, &pmu->page, pmu->area, AREA, true);
	assert_int_equal(snapshot(&area, 0, &bytes), 0);
	/* Less than a lap: what was written, no zeros. */
	pmu_write(pmu, 6000, 0);
	assert_int_equal(snapshot(&area, 0, &bytes), 6000);
	assert_int_equal(bytes.offset, 0);
	check_bytes(&bytes, 0);
	/* Nothing new, nothing given. */
	assert_int_equal(snapshot(&area, 0, &bytes), 0);
	/* What came since. */
	pmu_write(pmu, 3000, 0);
	assert_int_equal(snapshot(&area, 0, &bytes), 3000);
	assert_int_equal(bytes.offset, 6000);
	check_bytes(&bytes, 6000);
	/* Past the end of the area, and less than a lap. */
	pmu_write(pmu, 9000, 0);
	assert_int_equal(snapshot(&area, 0, &bytes), 9000);
	assert_int_equal(bytes.offset, 9000);
	assert_int_equal(bytes.second_size, 18000 - AREA);
	check_bytes(&bytes, 9000);
	/* Many laps: the newest of them. */
	pmu_write(pmu, 5 * AREA + 321, 0);
	assert_int_equal(snapshot(&area, 0, &bytes), AREA);
	check_bytes(&bytes, pmu->head - AREA);
	/* Exactly one lap: the head is where it was. */
	at = pmu->head;
	pmu_write(pmu, AREA, 0);
	assert_int_equal(snapshot(&area, 0, &bytes), AREA);
	check_bytes(&bytes, at);
	/* A person wants less. */
	pmu_write(pmu, 3 * AREA + 5000, 0);
	assert_int_equal(snapshot(&area, 4096, &bytes), 4096);
	check_bytes(&bytes, pmu->head - 4096);
	/* Nearly a lap: the head is among the bytes that were kept for comparing. */
	pmu_write(pmu, AREA - 100, 0);
	assert_int_equal(snapshot(&area, 0, &bytes), AREA - 100);
	check_bytes(&bytes, pmu->head - (AREA - 100));
	/* Too near to know by a place: the whole area is never wrong. */
	pmu_write(pmu, AREA - 10, 0);
	assert_int_equal(snapshot(&area, 0, &bytes), place_only ? AREA : AREA - 10);
	check_bytes(&bytes, pmu->head - (place_only ? AREA : AREA - 10));
	tally_aux_area_done(&area);
	free(pmu);
}

static void snapshots_by_a_place(void **state)
{
	(void)state;
	check_snapshots(true);
}

static void snapshots_by_a_count(void **state)
{
	(void)state;
	check_snapshots(false);
}

/* Any sequence: a snapshot ends at the head, begins where the last one ended or a lap before, and
 * has the bytes that were written. */
static void many_snapshots_have_no_gaps(void **state)
{
	unsigned random = 99;

	(void)state;
	for (unsigned kind = 0; kind < 2; kind++) {
		struct pmu *pmu = pmu_new(true, kind);
		struct tally_aux_area area;
		uint64_t last = 0;

		tally_aux_area_init(&area, &pmu->page, pmu->area, AREA, true);
		for (unsigned i = 0; i < 500; i++) {
			struct tally_aux_bytes bytes;
			uint64_t fresh;
			size_t size;

			random = random * 1103515245 + 12345;
			pmu_write(pmu, (random >> 8) % (i % 3 ? 9000 : 3 * AREA), 0);
			fresh = pmu->head - last;
			size = snapshot(&area, 0, &bytes);
			check_bytes(&bytes, pmu->head - size);
			assert_true(size >= (fresh < AREA ? fresh : AREA));
			last = pmu->head;
		}
		tally_aux_area_done(&area);
		free(pmu);
	}
}

/* Intel BTS: entries of 24 bytes begin at the area's start, and the end has no whole one. */
static void entries_are_whole(void **state)
{
	struct pmu *pmu = pmu_new(true, true);
	struct tally_aux_area area;
	struct tally_aux_bytes bytes;
	size_t size = 0;

	(void)state;
	tally_aux_area_init(&area, &pmu->page, pmu->area, AREA, true);
	pmu_write(pmu, AREA + 2400, 0);
	assert_int_equal(tally_aux_area_snapshot(&area, 0, 24, &bytes, &size), 0);
	assert_int_equal(bytes.first, pmu->area + 2400);
	assert_int_equal(bytes.first_size % 24, 0);
	assert_int_equal(bytes.second_size, 2400);
	assert_int_equal(size, bytes.first_size + 2400);
	tally_aux_area_done(&area);
	free(pmu);
}

/* A real event without an area: the kernel's refusal has words. */
static void an_event_without_an_area_is_refused(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_PAGE_FAULTS);
	struct tally_ring_options options = {.size = sizeof(options), .pages = 2};
	struct tally_limits limits = {.size = sizeof(limits)};
	struct tally_ring *ring = NULL;
	struct tally_aux_area area;
	struct tally_error error;
	int fd;

	(void)state;
	attr.sample_period = 1;
	fd = must_open(&attr, -1);
	tally_limits_read(NULL, &limits);
	if (tally_ring_open(fd, &options, &limits, &ring, &error))
		fail_msg("%s", error.text);
	assert_int_equal(tally_aux_area_open(&area, ring, fd, 3, false, &limits, &error), -EINVAL);
	assert_non_null(strstr(error.text, "power of two"));
	assert_true(tally_aux_area_open(&area, ring, fd, 4, false, &limits, &error) < 0);
	assert_non_null(strstr(error.text, "its PMU has none"));
	assert_int_equal(tally_ring_page(ring)->aux_size, 0);
	tally_ring_close(ring);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(a_trace_is_read_to_its_end),
	    cmocka_unit_test(an_impossible_head_gives_nothing),
	    cmocka_unit_test(every_byte_arrives_while_it_is_written),
	    cmocka_unit_test(snapshots_by_a_place),
	    cmocka_unit_test(snapshots_by_a_count),
	    cmocka_unit_test(many_snapshots_have_no_gaps),
	    cmocka_unit_test(entries_are_whole),
	    cmocka_unit_test(an_event_without_an_area_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
