/* Records of what already runs, from made-up procfs trees. */
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>
#include <cmocka.h>
#include <tally/abi.h>
#include "synth/synth.h"
#include "../collect/made_up_tree.h"

struct scene {
	char root[64];
	struct tally_layout layout;
	struct tally_build_ids ids;
	struct tally_synth synth;
	struct tally_buf records;
	size_t at;
};

static int set_up(void **state)
{
	struct scene *scene = calloc(1, sizeof(*scene));
	struct tally_attr attr = {.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID |
						 PERF_SAMPLE_TIME | PERF_SAMPLE_CPU,
				  .sample_id_all = 1};

	snprintf(scene->root, sizeof(scene->root), "/tmp/tally-synth-XXXXXX");
	assert_non_null(mkdtemp(scene->root));
	tally_layout_init(&scene->layout, &attr);
	tally_build_ids_init(&scene->ids);
	scene->synth = (struct tally_synth){
	    .root = scene->root, .layout = &scene->layout, .build_ids = &scene->ids};
	*state = scene;
	return 0;
}

static int forget(const char *path, const struct stat *status, int kind, struct FTW *place)
{
	(void)status;
	(void)kind;
	(void)place;
	return remove(path);
}

static int tear_down(void **state)
{
	struct scene *scene = *state;

	nftw(scene->root, forget, 16, FTW_DEPTH | FTW_PHYS);
	tally_build_ids_done(&scene->ids);
	tally_buf_done(&scene->records);
	free(scene);
	return 0;
}

/* The next record, which must be of this type; decoded strictly, with a trailer of zeros. */
static struct tally_body next(struct scene *scene, uint32_t type)
{
	struct tally_body body = {.size = sizeof(body)};
	struct tally_record record;
	struct perf_event_header header;

	assert_true(scene->records.size - scene->at >= sizeof(header));
	memcpy(&header, scene->records.data + scene->at, sizeof(header));
	record = (struct tally_record){.bytes = scene->records.data + scene->at,
				       .type = header.type,
				       .misc = header.misc,
				       .size = header.size};
	assert_int_equal(record.type, type);
	assert_int_equal(tally_record_decode(&scene->layout, &record, &body, NULL), 0);
	assert_int_equal(body.id.time, 0);
	assert_int_equal(body.id.identifier, 0);
	scene->at += header.size;
	return body;
}

static void assert_end(const struct scene *scene)
{
	assert_int_equal(scene->at, scene->records.size);
}

static void make_process(const struct scene *scene)
{
	tree_text(scene->root, "proc/20/task/20/stat", "20 (a) (b) R 3 20 20 0 -1\n");
	tree_text(scene->root, "proc/20/task/21/stat", "21 (worker) S 3 20 20 0 -1\n");
	tree_text(scene->root, "proc/20/maps",
		  "00400000-00401000 r--p 00000000 fe:01 77                 /bin/prog\n"
		  "00401000-00403000 r-xp 00001000 fe:01 77                 /bin/prog\n"
		  "7f0000000000-7f0000001000 rwxp 00000000 00:00 0 \n"
		  "7f0000002000-7f0000003000 r-xs 00002000 08:11 4294967299   /tmp/a b (deleted)\n"
		  "nonsense\n"
		  "7ffd0000-7ffd2000 r-xp 00000000 00:00 0                  [vdso]\n");
}

static void test_process(void **state)
{
	struct scene *scene = *state;
	struct tally_body body = {.size = sizeof(body)};

	make_process(scene);
	assert_int_equal(tally_synth_process(&scene->synth, 20, &scene->records), 0);
	body = next(scene, PERF_RECORD_FORK);
	assert_int_equal(body.task.pid, 20);
	assert_int_equal(body.task.ppid, 3);
	assert_int_equal(body.task.ptid, 3);
	body = next(scene, PERF_RECORD_COMM);
	assert_string_equal(body.comm.comm, "a) (b");
	assert_int_equal(body.comm.tid, 20);
	body = next(scene, PERF_RECORD_MMAP2); /* only what is executable */
	assert_int_equal(body.mmap2.addr, 0x401000);
	assert_int_equal(body.mmap2.len, 0x2000);
	assert_int_equal(body.mmap2.pgoff, 0x1000);
	assert_int_equal(body.mmap2.maj, 0xfe);
	assert_int_equal(body.mmap2.min, 1);
	assert_int_equal(body.mmap2.ino, 77);
	assert_int_equal(body.mmap2.prot, 5);
	assert_int_equal(body.mmap2.flags, 2);
	assert_string_equal(body.mmap2.filename, "/bin/prog");
	body = next(scene, PERF_RECORD_MMAP2);
	assert_string_equal(body.mmap2.filename, "//anon");
	assert_int_equal(body.mmap2.prot, 7);
	body = next(scene, PERF_RECORD_MMAP2);
	assert_string_equal(body.mmap2.filename, "/tmp/a b (deleted)");
	assert_int_equal(body.mmap2.ino, 4294967299);
	assert_int_equal(body.mmap2.flags, 1);
	body = next(scene, PERF_RECORD_MMAP2);
	assert_string_equal(body.mmap2.filename, "[vdso]");
	body = next(scene, PERF_RECORD_FORK);
	assert_int_equal(body.task.tid, 21);
	assert_int_equal(body.task.pid, 20);
	assert_int_equal(body.task.ppid, 20);
	body = next(scene, PERF_RECORD_COMM);
	assert_string_equal(body.comm.comm, "worker");
	assert_int_equal(body.comm.pid, 20);
	assert_int_equal(body.comm.tid, 21);
	assert_end(scene);
}

static void test_gone(void **state)
{
	struct scene *scene = *state;

	assert_int_equal(tally_synth_process(&scene->synth, 99, &scene->records), 0);
	assert_int_equal(scene->records.size, 0);
}

static void test_many_in_order(void **state)
{
	struct scene *scene = *state;
	char path[64], text[64];

	for (int pid = 1; pid <= 300; pid++) {
		snprintf(path, sizeof(path), "proc/%d/task/%d/stat", pid, pid);
		snprintf(text, sizeof(text), "%d (p%d) S 1 1 1 0 -1\n", pid, pid);
		tree_text(scene->root, path, text);
	}
	tree_text(scene->root, "proc/uptime", "1 1\n");
	assert_int_equal(tally_synth_system(&scene->synth, &scene->records), 0);
	for (uint32_t pid = 1; pid <= 300; pid++) {
		assert_int_equal(next(scene, PERF_RECORD_FORK).task.pid, pid);
		assert_int_equal(next(scene, PERF_RECORD_COMM).comm.pid, pid);
	}
	assert_end(scene);
}

static void test_kernel(void **state)
{
	static const uint8_t note[] = {4,   0,   0,   0,  20, 0,  0,  0,  3,  0,  0,  0,
				       'G', 'N', 'U', 0,  1,  2,  3,  4,  5,  6,  7,  8,
				       9,   10,  11,  12, 13, 14, 15, 16, 17, 18, 19, 20};
	struct scene *scene = *state;
	struct tally_body body = {.size = sizeof(body)};

	tree_text(scene->root, "proc/kallsyms",
		  "0000000000000000 A fixed_percpu_data\n"
		  "ffffffff81000000 T _stext\n"
		  "ffffffff80fff000 T _text\n"
		  "ffffffff81000100 t _textual\n"
		  "ffffffff82000000 T _etext\n"
		  "ffffffffc0001000 t helper\t[ext9]\n");
	tree_text(scene->root, "proc/modules",
		  "ext9 40960 2 - Live 0xffffffffc0001000\n"
		  "hidden 4096 0 - Live 0x0000000000000000\n");
	tree_write(scene->root, "sys/module/ext9/notes/.note.gnu.build-id", note, sizeof(note));
	assert_int_equal(tally_synth_kernel(&scene->synth, &scene->records), 0);
	body = next(scene, PERF_RECORD_MMAP);
	assert_string_equal(body.mmap.filename, "[kernel.kallsyms]_text");
	assert_int_equal(body.mmap.pid, UINT32_MAX);
	assert_true(body.mmap.addr == 0xffffffff80fff000);
	assert_true(body.mmap.pgoff == 0xffffffff80fff000);
	assert_int_equal(body.mmap.len, 0x1001000);
	assert_int_equal(body.misc, PERF_RECORD_MISC_KERNEL);
	body = next(scene, PERF_RECORD_MMAP);
	assert_string_equal(body.mmap.filename, "[ext9]");
	assert_true(body.mmap.addr == 0xffffffffc0001000);
	assert_int_equal(body.mmap.len, 40960);
	assert_end(scene);
	assert_int_equal(scene->ids.count, 1); /* the module's build-id */
}

/* kptr_restrict: all addresses are 0, and nothing is recorded of the kernel. */
static void test_kernel_hidden(void **state)
{
	struct scene *scene = *state;

	tree_text(
	    scene->root, "proc/kallsyms",
	    "0000000000000000 T _stext\n0000000000000000 T _text\n0000000000000000 T _etext\n");
	assert_int_equal(tally_synth_kernel(&scene->synth, &scene->records), 0);
	assert_int_equal(scene->records.size, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(test_process, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_gone, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_many_in_order, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_kernel, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(test_kernel_hidden, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
