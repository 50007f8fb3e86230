/* Writes that a thread does later: all of them, in order, of any size; and what a failure does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "write/write_behind.h"

/* What the thread was asked to write. */
struct disk {
	pthread_mutex_t lock;
	pthread_cond_t moved;
	uint64_t bytes, count;
	unsigned seed; /* of the next byte */
	bool stuck, waits;
	uint64_t fail_at; /* this write fails; 0: none */
};

static int write_some(void *context, unsigned op, const void *bytes, size_t size,
		      struct tally_error *error)
{
	struct disk *disk = context;
	const uint8_t *at = bytes;

	pthread_mutex_lock(&disk->lock);
	disk->waits = disk->stuck;
	pthread_cond_signal(&disk->moved);
	while (disk->stuck)
		pthread_cond_wait(&disk->moved, &disk->lock);
	disk->count++;
	assert_int_equal(op, 1 + disk->count % 3);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(at[i], (uint8_t)disk->seed++);
	disk->bytes += size;
	pthread_mutex_unlock(&disk->lock);
	if (disk->count == disk->fail_at)
		return tally_fail(error, -ENOSPC, 77, "no space");
	return 0;
}

static struct disk *disk_new(void)
{
	struct disk *disk = calloc(1, sizeof(*disk));

	assert_non_null(disk);
	pthread_mutex_init(&disk->lock, NULL);
	pthread_cond_init(&disk->moved, NULL);
	return disk;
}

static void set_stuck(struct disk *disk, bool stuck)
{
	pthread_mutex_lock(&disk->lock);
	disk->stuck = stuck;
	pthread_cond_signal(&disk->moved);
	pthread_mutex_unlock(&disk->lock);
}

/* Puts `size` bytes in two parts. */
static int put(struct tally_write_behind *behind, uint64_t number, unsigned *seed, size_t size,
	       struct tally_error *error)
{
	uint8_t *bytes = malloc(size + 1);
	struct iovec iov[2] = {{bytes, size / 3}, {bytes + size / 3, size - size / 3}};
	int code;

	assert_non_null(bytes);
	for (size_t i = 0; i < size; i++)
		bytes[i] = (uint8_t)(*seed)++;
	code = tally_write_behind_put(behind, 1 + (unsigned)(number % 3), iov, 2, error);
	free(bytes);
	return code;
}

static void all_arrives_in_order(void **state)
{
	struct disk *disk = disk_new();
	struct tally_write_behind *behind = NULL;
	struct tally_error error;
	unsigned seed = 0, random = 1;
	uint64_t bytes = 0;

	(void)state;
	assert_int_equal(tally_write_behind_new(65536, write_some, disk, &behind), 0);
	for (uint64_t i = 1; i <= 20000; i++) {
		/* Now and then more than the buffer has. */
		size_t size = i % 1000 == 0 ? 100000 : (random >> 8) % (i % 7 ? 300 : 20000);

		random = random * 1103515245 + 12345;
		assert_int_equal(put(behind, i, &seed, size, &error), 0);
		bytes += size;
	}
	assert_int_equal(tally_write_behind_finish(behind, &error), 0);
	assert_int_equal(disk->count, 20000);
	assert_int_equal(disk->bytes, bytes);
	free(disk);
}

/* Who puts does not wait while the disk is stuck, as long as there is room. */
static void a_stuck_disk_is_not_waited_for(void **state)
{
	struct disk *disk = disk_new();
	struct tally_write_behind *behind = NULL;
	struct tally_error error;
	unsigned seed = 0;

	(void)state;
	set_stuck(disk, true);
	assert_int_equal(tally_write_behind_new(1 << 20, write_some, disk, &behind), 0);
	for (uint64_t i = 1; i <= 100; i++)
		assert_int_equal(put(behind, i, &seed, 10000, &error), 0);
	pthread_mutex_lock(&disk->lock);
	while (!disk->waits)
		pthread_cond_wait(&disk->moved, &disk->lock);
	assert_int_equal(disk->count, 0);
	pthread_mutex_unlock(&disk->lock);
	set_stuck(disk, false);
	assert_int_equal(tally_write_behind_finish(behind, &error), 0);
	assert_int_equal(disk->bytes, 1000000);
	free(disk);
}

static void a_failure_is_reported_and_ends_the_writes(void **state)
{
	struct disk *disk = disk_new();
	struct tally_write_behind *behind = NULL;
	struct tally_error error = {0};
	unsigned seed = 0;
	uint64_t i = 0;
	int code = 0;

	(void)state;
	disk->fail_at = 3;
	assert_int_equal(tally_write_behind_new(65536, write_some, disk, &behind), 0);
	while (!code && ++i < 1000000)
		code = put(behind, i, &seed, 100, &error);
	assert_int_equal(code, -ENOSPC);
	assert_string_equal(error.text, "no space");
	assert_int_equal(error.position, 77);
	error = (struct tally_error){0};
	assert_int_equal(tally_write_behind_finish(behind, &error), -ENOSPC);
	assert_string_equal(error.text, "no space");
	assert_int_equal(disk->count, 3);
	assert_int_equal(tally_write_behind_finish(NULL, &error), 0);
	free(disk);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(all_arrives_in_order),
	    cmocka_unit_test(a_stuck_disk_is_not_waited_for),
	    cmocka_unit_test(a_failure_is_reported_and_ends_the_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
