/* Source: RFC 1952.  Pieces are compressed each by itself, which lets threads share the work; the
 * checksum, which takes little of the time, is made in order while they are written. */
#include "formats/gzip.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include "base/deflate_blocks.h"
#include "base/pool.h"

/* Fast: compressing takes less time than making what is compressed. */
#define LEVEL 1

struct tally_gzip {
	FILE *to;
	struct tally_buf packed; /* of tally_gzip_add() */
	uint32_t check, total;
};

/* What a thread works with. */
struct gzip_worker {
	struct tally_buf plain, packed;
};

struct gzip_run {
	struct tally_gzip *gzip;
	tally_gzip_make_fn make;
	void *context;
	struct gzip_worker *workers;
};

static int put(const struct tally_gzip *gzip, const void *bytes, size_t size)
{
	errno = 0;
	if (fwrite(bytes, 1, size, gzip->to) != size)
		return errno ? -errno : -EIO;
	return 0;
}

/* Writes the blocks of bytes. */
static int put_piece(struct tally_gzip *gzip, const struct tally_buf *packed, const void *plain,
		     size_t size)
{
	if (size)
		gzip->check = tally_crc32(gzip->check, plain, size);
	gzip->total += (uint32_t)size;
	return packed->failed ? packed->failed : put(gzip, packed->data, packed->size);
}

int tally_gzip_new(FILE *to, struct tally_gzip **ret)
{
	/* DEFLATE, no name, no time, fastest, made on Unix. */
	static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3};
	struct tally_gzip *gzip = calloc(1, sizeof(*gzip));
	int result;

	if (!gzip)
		return -ENOMEM;
	gzip->to = to;
	result = put(gzip, header, sizeof(header));
	if (result)
		free(gzip);
	else
		*ret = gzip;
	return result;
}

int tally_gzip_add(struct tally_gzip *gzip, const void *bytes, size_t size)
{
	if (!size)
		return 0;
	tally_buf_clear(&gzip->packed);
	tally_deflate_blocks(bytes, size, LEVEL, false, &gzip->packed);
	return put_piece(gzip, &gzip->packed, bytes, size);
}

static int run_piece(void *context, unsigned number, size_t piece)
{
	struct gzip_run *run = context;
	struct gzip_worker *worker = &run->workers[number];
	int result;

	tally_buf_clear(&worker->plain);
	tally_buf_clear(&worker->packed);
	result = run->make(run->context, number, piece, &worker->plain);
	if (!result)
		result = worker->plain.failed;
	if (!result)
		tally_deflate_blocks(worker->plain.data, worker->plain.size, LEVEL, false,
				     &worker->packed);
	return result;
}

static int take_piece(void *context, unsigned number, size_t piece)
{
	struct gzip_run *run = context;
	const struct gzip_worker *worker = &run->workers[number];

	(void)piece;
	return put_piece(run->gzip, &worker->packed, worker->plain.data, worker->plain.size);
}

int tally_gzip_run(struct tally_gzip *gzip, unsigned workers, size_t pieces,
		   tally_gzip_make_fn make, void *context)
{
	struct gzip_run run = {.gzip = gzip, .make = make, .context = context};
	int result;

	run.workers = calloc(workers, sizeof(*run.workers));
	if (!run.workers)
		return -ENOMEM;
	result = tally_pool_run_in_turn(workers, pieces, run_piece, take_piece, &run);
	for (unsigned i = 0; i < workers; i++) {
		tally_buf_done(&run.workers[i].plain);
		tally_buf_done(&run.workers[i].packed);
	}
	free(run.workers);
	return result;
}

int tally_gzip_end(struct tally_gzip *gzip)
{
	uint8_t numbers[8];
	int result;

	if (!gzip)
		return 0;
	tally_buf_clear(&gzip->packed);
	tally_deflate_blocks("", 0, LEVEL, true, &gzip->packed);
	result = put_piece(gzip, &gzip->packed, "", 0);
	for (unsigned i = 0; i < 4; i++) {
		numbers[i] = (uint8_t)(gzip->check >> (i * 8));
		numbers[4 + i] = (uint8_t)(gzip->total >> (i * 8));
	}
	if (!result)
		result = put(gzip, numbers, sizeof(numbers));
	tally_gzip_free(gzip);
	return result;
}

void tally_gzip_free(struct tally_gzip *gzip)
{
	if (!gzip)
		return;
	tally_buf_done(&gzip->packed);
	free(gzip);
}
