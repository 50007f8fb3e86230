/* The TRACING_DATA blob of a made-up tracefs, byte for byte. */
#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "record/tracing_data.h"
#include "../collect/made_up_tree.h"

static int forget(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

static int set_up(void **state)
{
	char *root = strdup("/tmp/tally-tracefs-XXXXXX");

	assert_non_null(mkdtemp(root));
	tree_text(root, "events/header_page", "PAGE");
	tree_text(root, "events/header_event", "EV");
	tree_text(root, "events/sys/one/id", "41\n");
	tree_text(root, "events/sys/one/format", "F1");
	tree_text(root, "events/sys/two/id", "42\n");
	tree_text(root, "events/sys/two/format", "FF2");
	tree_text(root, "events/any/three/id", "43\n");
	tree_text(root, "events/any/three/format", "F");
	tree_text(root, "printk_formats", "0x1 : x\n");
	*state = root;
	return 0;
}

static int tear_down(void **state)
{
	nftw(*state, forget, 16, FTW_DEPTH | FTW_PHYS);
	free(*state);
	return 0;
}

static void test_blob(void **state)
{
	/* "renamed" leads nowhere by its name: it is found by its id.  Twice is once. */
	struct tally_planned events[] = {
	    {.attr = {.type = PERF_TYPE_TRACEPOINT, .config = 42}, .name = "sys:two:u"},
	    {.attr = {.type = PERF_TYPE_SOFTWARE}, .name = "cpu-clock"},
	    {.attr = {.type = PERF_TYPE_TRACEPOINT, .config = 43}, .name = "renamed"},
	    {.attr = {.type = PERF_TYPE_TRACEPOINT, .config = 41}, .name = "sys:one"},
	    {.attr = {.type = PERF_TYPE_TRACEPOINT, .config = 42}, .name = "sys:two"},
	};
	struct tally_plan plan = {.events = events, .count = 5};
	struct tally_buf blob = {0}, wanted = {0};
	struct tally_error error;

	assert_int_equal(tally_tracing_data_make(&plan, *state, "", &blob, &error), 0);
	tally_buf_add(&wanted, "\x17\x08\x44tracing0.6", 14); /* with the version's NUL */
	tally_buf_byte(&wanted, __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	tally_buf_byte(&wanted, sizeof(long));
	tally_buf_u32(&wanted, (uint32_t)sysconf(_SC_PAGESIZE));
	tally_buf_add(&wanted, "header_page", 12);
	tally_buf_u64(&wanted, 4);
	tally_buf_text(&wanted, "PAGE");
	tally_buf_add(&wanted, "header_event", 13);
	tally_buf_u64(&wanted, 2);
	tally_buf_text(&wanted, "EV");
	tally_buf_u32(&wanted, 0);
	tally_buf_u32(&wanted, 2);
	tally_buf_add(&wanted, "any", 4);
	tally_buf_u32(&wanted, 1);
	tally_buf_u64(&wanted, 1);
	tally_buf_text(&wanted, "F");
	tally_buf_add(&wanted, "sys", 4);
	tally_buf_u32(&wanted, 2);
	tally_buf_u64(&wanted, 2);
	tally_buf_text(&wanted, "F1");
	tally_buf_u64(&wanted, 3);
	tally_buf_text(&wanted, "FF2");
	tally_buf_u32(&wanted, 0);
	tally_buf_u32(&wanted, 8);
	tally_buf_text(&wanted, "0x1 : x\n");
	tally_buf_u64(&wanted, 0);
	assert_int_equal(blob.size, wanted.size);
	assert_memory_equal(blob.data, wanted.data, wanted.size);
	tally_buf_done(&blob);
	tally_buf_done(&wanted);
}

static void test_none_and_unknown(void **state)
{
	struct tally_planned events[] = {
	    {.attr = {.type = PERF_TYPE_SOFTWARE, .config = 44}, .name = "x"},
	};
	struct tally_plan plan = {.events = events, .count = 1};
	struct tally_buf blob = {0};
	struct tally_error error;

	assert_int_equal(tally_tracing_data_make(&plan, *state, "", &blob, &error), 0);
	assert_int_equal(blob.size, 0);
	events[0].attr.type = PERF_TYPE_TRACEPOINT;
	assert_int_equal(tally_tracing_data_make(&plan, *state, "", &blob, &error), -ENOENT);
	assert_non_null(strstr(error.text, "44"));
	assert_int_equal(tally_tracing_data_make(&plan, NULL, *state, &blob, &error), -ENOENT);
	assert_non_null(strstr(error.text, "mount -t tracefs"));
	assert_null(blob.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_blob, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_none_and_unknown, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
