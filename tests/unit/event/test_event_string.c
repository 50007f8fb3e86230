/* Event strings: names as written, lists that grow, and what is said about wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <tally/event.h>
#include "made_tracefs.h"

static struct made_tracefs tracefs;
static struct tally_event_options options = {.size = sizeof(options), .tracefs = tracefs.root};

static struct tally_event_list parse(const char *text)
{
	struct tally_event_list list = {0};
	struct tally_error error = {0};

	if (tally_event_list_parse(text, &options, &list, &error))
		fail_msg("%s: %s", text, error.text);
	return list;
}

static void names_as_written(void **state)
{
	static const struct {
		const char *text;
		const char *names[4];
	} cases[] = {
	    {"cycles", {"cycles"}},
	    {"cpu-cycles:upp", {"cpu-cycles:upp"}},
	    {" cs , faults:u ", {"cs", "faults:u"}},
	    {"cycles//u", {"cycles//u"}},
	    {"l1d-read-miss:k", {"l1d-read-miss:k"}},
	    {"r01A8", {"r01A8"}},
	    {"4:0x12:u", {"4:0x12:u"}},
	    {"sched:sched_switch:k", {"sched:sched_switch:k"}},
	    {"sched:sched_*:u", {"sched:sched_switch:u", "sched:sched_waking:u"}},
	    {"*:sched_switch", {"sched:sched_switch"}},
	    {"sched:sched_[sx]witch", {"sched:sched_switch"}},
	    {"{cycles,instructions:k}:uS", {"cycles:u", "instructions:ku"}},
	    {"{cycles:u,cs}:u", {"cycles:u", "cs:u"}},
	    {"{cycles//u,sched:sched_switch}:p", {"cycles//up", "sched:sched_switch:p"}},
	    {"{cs,faults}:SW", {"cs", "faults"}},
	    {"mine{cs}", {"cs"}},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list = parse(cases[i].text);
		size_t count = 0;

		while (count < 4 && cases[i].names[count])
			count++;
		assert_int_equal(list.count, count);
		for (size_t j = 0; j < count; j++)
			assert_string_equal(list.events[j].name, cases[i].names[j]);
		tally_event_list_done(&list);
	}
}

static void modifiers_beside_the_attr(void **state)
{
	struct tally_event_list list = parse("cycles,cycles:u,cs:P,{cs,faults}:S,{cs:S,faults}:W");

	(void)state;
	assert_false(list.events[0].privilege_given);
	assert_true(list.events[1].privilege_given);
	assert_true(list.events[2].precise_max);
	assert_int_equal(list.events[2].attr.precise_ip, 0);
	assert_true(list.events[3].sample_read && list.events[4].sample_read);
	assert_true(list.events[5].sample_read && !list.events[6].sample_read);
	assert_true(list.events[5].weak && list.events[6].weak && !list.events[4].weak);
	tally_event_list_done(&list);
}

static void lists_grow(void **state)
{
	struct tally_event_list list = parse("cs,{faults,cycles}");

	(void)state;
	assert_int_equal(tally_event_list_append(&list, "{cs,r1},dummy", &options, NULL), 0);
	assert_int_equal(list.count, 6);
	for (size_t i = 0; i < 6; i++) {
		static const uint32_t leaders[] = {0, 1, 1, 3, 3, 5};

		assert_int_equal(list.events[i].leader, leaders[i]);
	}
	/* What is wrong leaves the list as it is. */
	assert_int_equal(tally_event_list_append(&list, "cs,nonsense", &options, NULL), -EINVAL);
	assert_int_equal(list.count, 6);
	assert_string_equal(list.events[5].name, "dummy");
	tally_event_list_done(&list);
	assert_int_equal(list.count, 0);
}

static void wrong_ones(void **state)
{
	static const struct {
		const char *text;
		int code;
		int64_t column;
		const char *says;
	} cases[] = {
	    {"", -EINVAL, 0, "not the end"},
	    {"cs,", -EINVAL, 3, "not the end"},
	    {"cs,,cs", -EINVAL, 3, "before ','"},
	    {"cycels", -EINVAL, 0, "did you mean cycles?"},
	    {"cs, INSTRUCTIONS", -EINVAL, 4, "did you mean instructions?"},
	    {"LLC-load-mises", -EINVAL, 0, "did you mean LLC-load-misses?"},
	    {"cycels:u", -EINVAL, 0, "did you mean cycles?"},
	    {"cs:x", -EINVAL, 3, "unknown modifier 'x'"},
	    {"cs:uku", -EINVAL, 5, "modifier u is given twice"},
	    {"cs:upppp", -EINVAL, 7, "at most three times"},
	    {"{cs:pp,faults}:pp", -EINVAL, 15, "cs:pp would be precise to level 4"},
	    {"cs:u:k", -EINVAL, 4, "behind one colon"},
	    {"cs faults", -EINVAL, 3, "expected , or the end"},
	    {"{cs", -EINVAL, 3, "expected , or the group's }"},
	    {"{cs,{faults}}", -EINVAL, 4, "before '{'"},
	    {"{cs{faults}}", -EINVAL, 3, "inside another group"},
	    {"{}", -EINVAL, 1, "before '}'"},
	    {"{cs}:", -EINVAL, 5, "expected modifiers"},
	    {"cs}", -EINVAL, 2, "expected , or the end"},
	    {"iTLB-stores", -EINVAL, 0, "cannot be counted"},
	    {"r12345678123456781", -EINVAL, 0, "at most 16 hex digits"},
	    {"1:", -EINVAL, 2, "expected attr.config"},
	    {"1:0x", -EINVAL, 2, "expected attr.config"},
	    {"4294967296:1", -EINVAL, 0, "attr.type has 32 bits"},
	    {"cs/perod=1/", -EINVAL, 3, "unknown term perod"},
	    {"cs/period=1", -EINVAL, 11, "the second /"},
	    {"cs/period=1/:u", -EINVAL, 12, "without a colon"},
	    {"cs/period=x/", -EINVAL, 10, "takes a number"},
	    {"cs/period=/", -EINVAL, 10, "the value of period"},
	    {"cs/time=2/", -EINVAL, 8, "at most 1"},
	    {"cs/period=1,,/", -EINVAL, 12, "expected a term"},
	    {"cs/name='a/", -EINVAL, 8, "a second '"},
	    {"nopmu/x=1/", -EINVAL, 0, "unknown PMU nopmu"},
	    {"mem:x", -EINVAL, 4, "an address"},
	    {"mem:0x10:rr", -EINVAL, 9, "each once"},
	    {"sched:", -EINVAL, 6, "expected a tracepoint's name"},
	    {"sched:sched_swich", -ENOENT, 6, "did you mean sched:sched_switch?"},
	    {"shed:sched_switch", -ENOENT, 0, "did you mean sched:...?"},
	    {"sched:nothing*", -ENOENT, 0, "no tracepoint matches"},
	    {"..:events", -EINVAL, 0, "expected a tracepoint"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list = {.count = 77};
		struct tally_error error = {0};
		int result = tally_event_list_parse(cases[i].text, &options, &list, &error);

		if (result != cases[i].code || error.code != result ||
		    error.position != cases[i].column || !strstr(error.text, cases[i].says))
			fail_msg("%s: %d at %lld: %s", cases[i].text, result,
				 (long long)error.position, error.text);
		assert_int_equal(list.count, 77); /* untouched */
		assert_int_equal(tally_event_list_parse(cases[i].text, &options, &list, NULL),
				 cases[i].code);
	}
}

static void tracefs_not_there(void **state)
{
	struct tally_event_options none = {
	    .size = sizeof(none), .sysfs = "/nonexistent", .tracefs = "/nonexistent"};
	struct tally_event_list list;
	struct tally_error error;

	(void)state;
	assert_int_equal(tally_event_list_parse("sched:sched_switch", &none, &list, &error),
			 -EACCES);
	assert_non_null(strstr(error.text, "mount -t tracefs nodev /sys/kernel/tracing"));
	/* Still, what looks like a generic event with modifiers is called that. */
	assert_int_equal(tally_event_list_parse("cycels:u", &none, &list, &error), -EINVAL);
	assert_non_null(strstr(error.text, "did you mean cycles?"));
}

/* The message for a user who may not read tracefs says how to. */
static void tracefs_closed(void **state)
{
	int status;
	pid_t child;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(chmod(tracefs.root, 0700), 0);
	child = fork();
	if (!child) {
		struct tally_event_list list;
		struct tally_error error;

		if (setgid(65534) || setuid(65534))
			_exit(2);
		_exit(tally_event_list_parse("sched:sched_switch", &options, &list, &error) ==
				  -EACCES &&
			      strstr(error.text, "remount,mode=750,gid=$(id -g)")
			  ? 0
			  : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* This machine's own tracefs, where it may be read. */
static void real_tracefs(void **state)
{
	struct tally_event_list list;
	FILE *file = fopen("/sys/kernel/tracing/events/sched/sched_switch/id", "r");
	char name[64];
	int id;

	(void)state;
	if (!file) {
		print_message("skipped: tracefs is not mounted, or not ours to read\n");
		skip();
	}
	assert_int_equal(fscanf(file, "%d", &id), 1);
	fclose(file);
	assert_int_equal(tally_event_list_parse("sched:sched_switch", NULL, &list, NULL), 0);
	assert_int_equal(list.events[0].attr.type, PERF_TYPE_TRACEPOINT);
	assert_int_equal(list.events[0].attr.config, id);
	tally_event_format(&list.events[0].attr, NULL, name, sizeof(name));
	assert_string_equal(name, "sched:sched_switch");
	tally_event_list_done(&list);
	/* All there is, each with an id of its own and in order. */
	assert_int_equal(tally_event_list_parse("sched:*", NULL, &list, NULL), 0);
	assert_true(list.count > 10);
	for (size_t i = 1; i < list.count; i++) {
		assert_true(strcmp(list.events[i - 1].name, list.events[i].name) < 0);
		assert_int_not_equal(list.events[i - 1].attr.config, list.events[i].attr.config);
	}
	tally_event_list_done(&list);
}

static void options_tail(void **state)
{
	struct {
		struct tally_event_options known;
		uint64_t newer;
	} later = {.known = {.size = sizeof(later), .tracefs = tracefs.root}};
	struct tally_event_list list;
	char name[32];

	(void)state;
	assert_int_equal(tally_event_list_parse("cs", &later.known, &list, NULL), 0);
	assert_int_equal(tally_event_format(&list.events[0].attr, &later.known, name, 32), 16);
	tally_event_list_done(&list);
	later.newer = 1;
	assert_int_equal(tally_event_list_parse("cs", &later.known, &list, NULL), -E2BIG);
}

/* name -> attr -> name -> the same attr, for canonical names the same name. */
static void formats_back(void **state)
{
	static const struct {
		const char *text, *formatted;
	} cases[] = {
	    {"cpu-cycles", "cycles"},
	    {"instructions:u", "instructions:u"},
	    {"cycles:kpp", "cycles:kpp"},
	    {"cycles:uh", "cycles:uh"},
	    {"cs", "context-switches"},
	    {"cgroup-switches", "cgroup-switches"},
	    {"l1d-miss", "L1-dcache-load-misses"},
	    {"LLC-write", "LLC-stores"},
	    {"dTLB-speculative-read-misses:u", "dTLB-prefetch-misses:u"},
	    {"r01A8:k", "r1a8:k"},
	    {"3:0xff", "3:0xff"},
	    {"77:1:DeI", "77:0x1:IDe"},
	    {"2:999999", "2:0xf423f"},
	    {"sched:sched_switch:G", "sched:sched_switch:G"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tally_event_list list = parse(cases[i].text), again;
		char name[128];
		int length = tally_event_format(&list.events[0].attr, &options, name, sizeof(name));

		assert_string_equal(name, cases[i].formatted);
		assert_int_equal(length, strlen(cases[i].formatted));
		again = parse(name);
		assert_memory_equal(&again.events[0].attr, &list.events[0].attr,
				    sizeof(struct tally_attr));
		/* As snprintf: cut, terminated, and the whole length returned. */
		assert_int_equal(tally_event_format(&list.events[0].attr, &options, name, 3),
				 length);
		assert_int_equal(strlen(name), 2);
		assert_int_equal(tally_event_format(&list.events[0].attr, &options, NULL, 0),
				 length);
		tally_event_list_done(&list);
		tally_event_list_done(&again);
	}
}

static void formats_every_cache_event(void **state)
{
	int known = 0;

	(void)state;
	for (uint64_t config = 0; config < 0x40000; config++) {
		struct tally_attr attr = {.type = PERF_TYPE_HW_CACHE, .config = config};
		struct tally_event_list list;
		char name[64];

		tally_event_format(&attr, &options, name, sizeof(name));
		if (name[0] == '3')
			continue;
		known++;
		list = parse(name);
		assert_int_equal(list.events[0].attr.type, PERF_TYPE_HW_CACHE);
		assert_int_equal(list.events[0].attr.config, config);
		tally_event_list_done(&list);
	}
	/* L1D, LLC, dTLB and node know 3 operations, L1I 2, iTLB and branch 1; two results each. */
	assert_int_equal(known, (4 * 3 + 2 + 2) * 2);
}

/* Each attr that a string can give has a string that gives it. */
static void random_attrs_come_back(void **state)
{
	static const char *const modifiers[] = {"",   "u",  "k",   "uk", "H",   "G",
						"GH", "pp", "uGH", "kp", "uDI", "He"};
	static const char *const actions[] = {"", ",aux-action=start-paused", ",aux-action=pause",
					      ",aux-action=start-paused,aux-action=resume"};
	uint64_t seed = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 20000; i++) {
		struct tally_event_list list, again;
		char text[300], name[300], terms[160] = "";
		uint32_t type;

		seed ^= seed << 13;
		seed ^= seed >> 7;
		seed ^= seed << 17;
		type = (uint32_t)(seed >> 60) == 2 ? 1 : (uint32_t)(seed >> 60);
		if (seed & 1)
			snprintf(terms, sizeof(terms),
				 "/config1=%u,%s=%u,config3=%u,aux-sample-size=%u%s/",
				 (unsigned)(seed >> 8 & 0xff), seed & 2 ? "freq" : "period",
				 (unsigned)(seed >> 16 & 0xff), (unsigned)(seed >> 24 & 1),
				 (unsigned)(seed >> 25 & 1), actions[seed >> 26 & 3]);
		if (type == 5)
			snprintf(text, sizeof(text), "mem:%u/%u:%s:%s", (unsigned)seed & 0xffff,
				 1u << (seed >> 30 & 3), seed & 4 ? "w" : "x",
				 modifiers[(seed >> 40) % 12]);
		else
			snprintf(text, sizeof(text), "%u:%llu%s:%s", type,
				 (unsigned long long)(seed >> 32 & 0x3ff), terms,
				 modifiers[(seed >> 40) % 12]);
		list = parse(text);
		assert_true(tally_event_format(&list.events[0].attr, &options, name, sizeof(name)) <
			    (int)sizeof(name));
		again = parse(name);
		assert_memory_equal(&again.events[0].attr, &list.events[0].attr,
				    sizeof(struct tally_attr));
		tally_event_list_done(&list);
		tally_event_list_done(&again);
	}
}

static int set_up(void **state)
{
	(void)state;
	/* without PMUs, so that none has a name for a type of these tests */
	options.sysfs = tracefs.root;
	if (made_tracefs_init(&tracefs))
		return -1;
	made_tracefs_id(&tracefs, "sched", "sched_switch");
	made_tracefs_id(&tracefs, "sched", "sched_waking");
	made_tracefs_id(&tracefs, "irq", "softirq_entry");
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	made_tracefs_done(&tracefs);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_as_written),
	    cmocka_unit_test(modifiers_beside_the_attr),
	    cmocka_unit_test(lists_grow),
	    cmocka_unit_test(wrong_ones),
	    cmocka_unit_test(tracefs_not_there),
	    cmocka_unit_test(tracefs_closed),
	    cmocka_unit_test(real_tracefs),
	    cmocka_unit_test(options_tail),
	    cmocka_unit_test(formats_back),
	    cmocka_unit_test(formats_every_cache_event),
	    cmocka_unit_test(random_attrs_come_back),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
