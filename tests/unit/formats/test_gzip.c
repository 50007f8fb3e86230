/* gzip: checksums are the known ones, also of bytes in parts; blocks of pieces are one stream. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <cmocka.h>
#include "base/deflate_blocks.h"
#include "formats/gzip.h"

/* Source: the check value of CRC-32 in the catalogue of parametrised CRC algorithms. */
static void crc_is_known(void **state)
{
	(void)state;
	assert_int_equal(tally_crc32(0, "123456789", 9), 0xcbf43926);
	assert_int_equal(tally_crc32(tally_crc32(0, "1234", 4), "56789", 5), 0xcbf43926);
	assert_int_equal(tally_crc32(5, "", 0), 5);
}

static void adler_is_known(void **state)
{
	(void)state;
	assert_int_equal(tally_adler32("Wikipedia", 9), 0x11e60398);
	assert_int_equal(tally_adler32("", 0), 1);
}

#define PIECES 300U

/* Lines of different lengths, some pieces empty. */
static int make_piece(void *context, unsigned worker, size_t piece, struct tally_buf *to)
{
	(void)context;
	(void)worker;
	for (size_t i = 0; i < piece * 7 % 11; i++)
		tally_buf_printf(to, "%zu of %zu\n", i, piece);
	return to->failed;
}

/* gzip itself reads what several threads made. */
static void pieces_are_one_stream(void **state)
{
	struct tally_buf expected = {0};
	struct tally_gzip *gzip;
	char path[] = "/tmp/test_deflate_XXXXXX", command[64], read[4096];
	int fd = mkstemp(path);
	FILE *to = fdopen(fd, "w"), *from;
	size_t at = 0, size;

	(void)state;
	assert_non_null(to);
	assert_int_equal(tally_gzip_new(to, &gzip), 0);
	assert_int_equal(tally_gzip_add(gzip, "begin\n", 6), 0);
	assert_int_equal(tally_gzip_run(gzip, 4, PIECES, make_piece, NULL), 0);
	assert_int_equal(tally_gzip_add(gzip, "end\n", 4), 0);
	assert_int_equal(tally_gzip_end(gzip), 0);
	assert_int_equal(fclose(to), 0);
	tally_buf_text(&expected, "begin\n");
	for (size_t i = 0; i < PIECES; i++)
		make_piece(NULL, 0, i, &expected);
	tally_buf_text(&expected, "end\n");
	snprintf(command, sizeof(command), "gzip -dc <%s", path);
	from = popen(command, "r");
	assert_non_null(from);
	while ((size = fread(read, 1, sizeof(read), from))) {
		assert_true(at + size <= expected.size);
		assert_memory_equal(read, expected.data + at, size);
		at += size;
	}
	assert_int_equal(pclose(from), 0);
	assert_int_equal(at, expected.size);
	remove(path);
	tally_buf_done(&expected);
}

static int refuse_piece(void *context, unsigned worker, size_t piece, struct tally_buf *to)
{
	(void)worker;
	tally_buf_text(to, "x");
	return piece == *(const size_t *)context ? -EBADMSG : 0;
}

static void a_failure_ends_all(void **state)
{
	const size_t bad[] = {0, 1, PIECES / 2, PIECES - 1};
	FILE *to = tmpfile();

	(void)state;
	assert_non_null(to);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct tally_gzip *gzip;
		size_t piece = bad[i];

		assert_int_equal(tally_gzip_new(to, &gzip), 0);
		assert_int_equal(tally_gzip_run(gzip, 4, PIECES, refuse_piece, &piece), -EBADMSG);
		tally_gzip_free(gzip);
	}
	fclose(to);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(crc_is_known),
	    cmocka_unit_test(adler_is_known),
	    cmocka_unit_test(pieces_are_one_stream),
	    cmocka_unit_test(a_failure_ends_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
