/* 13.32: definitions of the kernel's functions, names, and what becomes of tracefs's files: in a
 * made-up tree. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>
#include <tally/probe_event.h>

static const char readme[] =
    "  place (kretprobe): [<module>:]<symbol>[+<offset>]%return\n"
    "  uprobe_events\t\t- Create/append/remove/show the userspace dynamic events\n"
    "   place (uprobe): <path>:<offset>[%return][(ref_ctr_offset)]\n"
    "           +|-[u]<offset>(<fetcharg>), \\imm-value, \\\"imm-string\"\n"
    "     type: s8/16/32/64, u8/16/32/64, x8/16/32/64, char, string, symbol,\n";

static const char kallsyms[] = "ffffffff81000000 T _text\n"
			       "ffffffff81001000 T vfs_read\n"
			       "ffffffff81002000 t twin\n"
			       "ffffffff81003000 t twin\n"
			       "ffffffff81004000 D data\n"
			       "ffffffff81100000 T _etext\n"
			       "ffffffffc0001000 t disk_read\t[disk]\n";

struct tree {
	char folder[64];
	struct tally_probe_event_options options;
	char proc[96];
};

static void put(const struct tree *tree, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", tree->folder, name);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_int_equal(fputs(text, file) < 0, 0);
	fclose(file);
}

static void read_back(const struct tree *tree, const char *name, char *to, size_t room)
{
	char path[128];
	FILE *file;
	size_t size;

	snprintf(path, sizeof(path), "%s/%s", tree->folder, name);
	file = fopen(path, "r");
	assert_non_null(file);
	size = fread(to, 1, room - 1, file);
	to[size] = '\0';
	fclose(file);
}

static int set_up(void **state)
{
	struct tree *tree = calloc(1, sizeof(*tree));

	assert_non_null(tree);
	snprintf(tree->folder, sizeof(tree->folder), "/tmp/tally-probe-XXXXXX");
	assert_non_null(mkdtemp(tree->folder));
	snprintf(tree->proc, sizeof(tree->proc), "%s", tree->folder);
	tree->options.size = sizeof(tree->options);
	tree->options.tracefs = tree->folder;
	tree->options.procfs = tree->proc;
	put(tree, "README", readme);
	put(tree, "kallsyms", kallsyms);
	put(tree, "uprobe_events", "");
	put(tree, "kprobe_events", "");
	*state = tree;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = {"README", "kallsyms", "uprobe_events", "kprobe_events",
					    "error_log"};
	struct tree *tree = *state;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[128];

		snprintf(path, sizeof(path), "%s/%s", tree->folder, names[i]);
		unlink(path);
	}
	rmdir(tree->folder);
	free(tree);
	return 0;
}

static struct tally_probe_set *find(struct tree *tree, const char *text)
{
	struct tally_error error = {0};
	struct tally_probe_set *set = NULL;
	int result = tally_probe_set_open(text, &tree->options, &set, &error);

	if (result)
		fail_msg("%s: %s", text, error.text);
	return set;
}

static void assert_defined(struct tree *tree, const char *text, const char *definition)
{
	struct tally_probe_set *set = find(tree, text);

	assert_string_equal(tally_probe_set_at(set, 0)->definition, definition);
	tally_probe_set_close(set);
}

static int refused(struct tree *tree, const char *text, struct tally_error *error)
{
	struct tally_probe_set *set;

	return tally_probe_set_open(text, &tree->options, &set, error);
}

static void functions_of_the_kernel_are_offsets_from_its_text(void **state)
{
	struct tree *tree = *state;
	struct tally_error error = {0};

	assert_defined(tree, "vfs_read", "p:probe/vfs_read _text+4096");
	assert_defined(tree, "vfs_read+8 $arg1 r=%di:u",
		       "p:probe/vfs_read _text+4104 $arg1 r=%di:u64");
	assert_defined(tree, "vfs_read%return $retval:s32",
		       "r:probe/vfs_read__return _text+4096 $retval:s32");
	assert_defined(tree, "g:e=vfs_read $comm", "p:g/e _text+4096 $comm");
	tree->options.module = "disk";
	assert_defined(tree, "disk_read", "p:probe/disk_read disk:disk_read+0");
	tree->options.module = NULL;
	assert_int_equal(refused(tree, "disk_read", &error), -ENOENT);
	assert_non_null(strstr(error.text, "is in the module disk: add -m disk"));
	assert_int_equal(refused(tree, "vfs_raed", &error), -ENOENT);
	assert_non_null(strstr(error.text, "did you mean vfs_read?"));
	assert_int_equal(refused(tree, "data", &error), -ENOENT);
	tree->options.vmlinux = "/no/vmlinux";
	assert_int_equal(refused(tree, "vfs_read file", &error), -ENOENT);
	assert_non_null(strstr(error.text, "/no/vmlinux: No such file"));
	tree->options.module = "disk";
	assert_int_equal(refused(tree, "disk_read file", &error), -ENOTSUP);
}

/* A kernel that says so has one event at both; else they are two events. */
static void functions_of_one_name_are_one_event_or_two(void **state)
{
	struct tree *tree = *state;
	struct tally_probe_set *set = find(tree, "twin");

	assert_string_equal(tally_probe_set_at(set, 0)->definition, "p:probe/twin _text+8192");
	assert_string_equal(tally_probe_set_at(set, 1)->definition, "p:probe/twin _text+12288");
	assert_null(tally_probe_set_at(set, 2));
	tally_probe_set_close(set);
	put(tree, "README", "nothing\n");
	set = find(tree, "twin%return");
	assert_string_equal(tally_probe_set_at(set, 0)->definition, "r:probe/twin__return twin+0");
	assert_string_equal(tally_probe_set_at(set, 1)->event, "twin__return_1");
	tally_probe_set_close(set);
	tree->options.places_most = 1;
	assert_int_equal(refused(tree, "twin", NULL), -E2BIG);
}

static int add(struct tree *tree, const char *text, struct tally_error *error)
{
	struct tally_probe_set *set = find(tree, text);
	int result = tally_probe_set_add(set, &tree->options, error);

	tally_probe_set_close(set);
	return result;
}

static void an_event_is_a_line_of_the_kernels_file(void **state)
{
	struct tree *tree = *state;
	struct tally_error error = {0};
	char text[512];

	assert_int_equal(add(tree, "vfs_read", &error), 0);
	read_back(tree, "kprobe_events", text, sizeof(text));
	assert_string_equal(text, "p:probe/vfs_read _text+4096\n");
	assert_int_equal(add(tree, "vfs_read", &error), -EEXIST);
	assert_non_null(strstr(error.text, "probe:vfs_read exists"));
	tree->options.force = true;
	assert_int_equal(add(tree, "vfs_read", &error), 0);
	tree->options.dry_run = true;
	assert_int_equal(add(tree, "other=vfs_read", &error), 0);
	read_back(tree, "kprobe_events", text, sizeof(text));
	assert_string_equal(text, "p:probe/vfs_read _text+4096\np:probe/vfs_read_1 _text+4096\n");
	/* the same name in another group is free */
	tree->options.dry_run = tree->options.force = false;
	assert_int_equal(add(tree, "mine:vfs_read=vfs_read", &error), 0);
}

static void print(struct tree *tree, const char *filter, int64_t expected, char *to, size_t room)
{
	struct tally_error error = {0};
	FILE *file = fmemopen(to, room, "w");

	assert_non_null(file);
	assert_int_equal(tally_probe_event_list(filter, &tree->options, file, &error), expected);
	fclose(file);
}

static void events_are_listed_by_their_places(void **state)
{
	struct tree *tree = *state;
	char text[512] = "";

	put(tree, "kprobe_events",
	    "p:probe/b _text+4100 arg1=%di\nr4:probe/a vfs_read arg1=$retval\n"
	    "p:other/c disk:disk_read+4\nbroken\np:x\n");
	put(tree, "uprobe_events", "p:gone/d /tmp/no-such-file:0x1234 n=%ax:s32\n");
	print(tree, NULL, 4, text, sizeof(text));
	assert_string_equal(text,
			    "  other:c              (on disk_read+4 in disk)\n"
			    "  probe:b              (on vfs_read+4 with arg1)\n"
			    "  probe:a              (on vfs_read%return with arg1)\n"
			    "  gone:d               (on 0x1234 in /tmp/no-such-file with n)\n");
	print(tree, "probe:* & !*a", 1, text, sizeof(text));
	assert_string_equal(text, "  probe:b              (on vfs_read+4 with arg1)\n");
	print(tree, "none", 0, text, sizeof(text));
}

static void removing_writes_a_line_for_each_event(void **state)
{
	struct tree *tree = *state;
	struct tally_error error = {0};
	char text[512], said[256] = "";
	FILE *file = fmemopen(said, sizeof(said), "w");

	assert_non_null(file);
	put(tree, "kprobe_events", "p:probe/b _text+4100\n");
	put(tree, "uprobe_events",
	    "p:g/two /bin/x:0x1\np:g/two /bin/x:0x2\np:g/three /bin/x:0x3\n");
	assert_int_equal(tally_probe_event_remove("g:*", &tree->options, file, &error), 2);
	fclose(file);
	assert_string_equal(said, "Removed event: g:three\nRemoved event: g:two\n");
	read_back(tree, "uprobe_events", text, sizeof(text));
	assert_non_null(strstr(text, "0x3\n-:g/three\n-:g/two\n"));
	read_back(tree, "kprobe_events", text, sizeof(text));
	assert_string_equal(text, "p:probe/b _text+4100\n");
	assert_int_equal(tally_probe_event_remove("nothing", &tree->options, NULL, &error), 0);
	assert_int_equal(tally_probe_event_remove("a &", &tree->options, NULL, &error), -EINVAL);
}

static void what_is_missing_is_named(void **state)
{
	struct tree *tree = *state;
	struct tally_error error = {0};
	char path[128];

	put(tree, "kallsyms", "0000000000000000 T _text\n0000000000000000 T vfs_read\n");
	assert_int_equal(refused(tree, "vfs_read", &error), -EACCES);
	assert_non_null(strstr(error.text, "kptr_restrict"));
	put(tree, "kallsyms", kallsyms);
	snprintf(path, sizeof(path), "%s/kprobe_events", tree->folder);
	unlink(path);
	assert_int_equal(add(tree, "vfs_read", &error), -ENOTSUP);
	assert_non_null(strstr(error.text, "CONFIG_KPROBE_EVENTS"));
	snprintf(path, sizeof(path), "%s/uprobe_events", tree->folder);
	unlink(path);
	assert_int_equal(add(tree, "vfs_read", &error), -ENOENT);
	assert_non_null(strstr(error.text, "tracefs is not mounted"));
}

static void options_of_a_later_version_are_refused(void **state)
{
	struct tree *tree = *state;
	struct {
		struct tally_probe_event_options known;
		long more; /* no padding behind it */
	} later = {.known = tree->options, .more = 1};
	struct tally_probe_set *set;

	later.known.size = sizeof(later);
	assert_int_equal(tally_probe_set_open("vfs_read", &later.known, &set, NULL), -E2BIG);
	later.more = 0;
	assert_int_equal(tally_probe_set_open("vfs_read", &later.known, &set, NULL), 0);
	tally_probe_set_close(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(functions_of_the_kernel_are_offsets_from_its_text,
					    set_up, tear_down),
	    cmocka_unit_test_setup_teardown(functions_of_one_name_are_one_event_or_two, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(an_event_is_a_line_of_the_kernels_file, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(events_are_listed_by_their_places, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(removing_writes_a_line_for_each_event, set_up,
					    tear_down),
	    cmocka_unit_test_setup_teardown(what_is_missing_is_named, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(options_of_a_later_version_are_refused, set_up,
					    tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
