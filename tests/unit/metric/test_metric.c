/* Metrics of a small table on made-up machines: which events they need, in which groups, and what
 * their values are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/metric.h>
#include "metric/metric_machine.h"
#include "../event/made_sysfs.h"

static const char *folder_of_test;

struct machine {
	struct made_sysfs sysfs;
	struct tally_metrics_options options;
	char folders[4096];
};

static void put(struct machine *machine, const char *path, const char *text)
{
	assert_int_equal(made_sysfs_file(&machine->sysfs, path, text), 0);
}

#define CPU "../../../devices/system/cpu/"

/* One package, two cores of two threads; a memory controller with two channels. */
static void machine_init(struct machine *machine)
{
	static const char *const cores[] = {"0,2", "1,3", "0,2", "1,3"};

	*machine = (struct machine){.options = {.size = sizeof(machine->options)}};
	assert_int_equal(made_sysfs_init(&machine->sysfs), 0);
	put(machine, "cpu/type", "4");
	put(machine, "cpu/format/event", "config:0-7");
	put(machine, "cpu/format/umask", "config:8-15");
	put(machine, "cpu/events/slots", "event=0x00,umask=0x4");
	put(machine, "cpu/events/topdown-retiring", "event=0x00,umask=0x80");
	put(machine, "imc_0/type", "20");
	put(machine, "imc_0/cpumask", "0");
	put(machine, "imc_0/identifier", "v8.1");
	put(machine, "imc_0/format/event", "config:0-7");
	put(machine, "imc_0/events/reads", "event=0x4");
	put(machine, "imc_0/events/writes", "event=0x5");
	put(machine, "imc_1/type", "21");
	put(machine, "imc_1/cpumask", "0");
	put(machine, "imc_1/format/event", "config:0-7");
	put(machine, "imc_1/events/reads", "event=0x4");
	put(machine, "imc_1/events/writes", "event=0x5");
	put(machine, CPU "online", "0-3");
	put(machine, CPU "present", "0-7");
	for (int i = 0; i < 4; i++) {
		char path[200];

		snprintf(path, sizeof(path), CPU "cpu%d/topology/core_cpus_list", i);
		put(machine, path, cores[i]);
		snprintf(path, sizeof(path), CPU "cpu%d/topology/package_cpus_list", i);
		put(machine, path, "0-3");
	}
	put(machine, "../../../sys/kernel/nmi_watchdog", "0");
	snprintf(machine->folders, sizeof(machine->folders), "%s/../vendor/tables/metrics",
		 folder_of_test);
	machine->options.sysfs = machine->options.procfs = machine->sysfs.root;
	machine->options.events = machine->folders;
	machine->options.cpuid = "GenuineIntel-6-55-7";
}

static void machine_done(struct machine *machine)
{
	made_sysfs_done(&machine->sysfs);
}

static struct tally_metrics *choose(const struct machine *machine, const char *names)
{
	struct tally_metrics *metrics = NULL;
	struct tally_error error = {0};

	if (tally_metrics_new(names, &machine->options, &metrics, &error))
		fail_msg("%s: %s", names, error.text);
	return metrics;
}

static void needs(const struct machine *machine, const char *names, const char *events)
{
	struct tally_metrics *metrics = choose(machine, names);

	assert_string_equal(tally_metrics_events(metrics), events);
	tally_metrics_free(metrics);
}

static void refused(const struct machine *machine, const char *names, int code, const char *text,
		    int64_t position)
{
	struct tally_metrics *metrics = NULL;
	struct tally_error error = {0};

	assert_int_equal(tally_metrics_new(names, &machine->options, &metrics, &error), code);
	if (!strstr(error.text, text))
		fail_msg("%s: \"%s\" is not in \"%s\"", names, text, error.text);
	assert_int_equal(error.position, position);
}

static void found_by_name_and_group(void **state)
{
	struct machine machine;
	struct tally_metrics *metrics;

	(void)state;
	machine_init(&machine);
	needs(&machine, "IPC", "{instructions,cycles}:W");
	needs(&machine, "ipc", "{instructions,cycles}:W");
	needs(&machine, "IPC,IPC", "{instructions,cycles}:W");
	needs(&machine, " IPC:u ", "{instructions:u,cycles:u}:W");
	needs(&machine, "pipeline", "{instructions,cycles,branches}:W");
	needs(&machine, "of_the_system", "{cycles}:W");
	metrics = choose(&machine, "summary");
	assert_string_equal(tally_metrics_at(metrics, 0)->name, "IPC");
	assert_string_equal(tally_metrics_at(metrics, 0)->brief, "Instructions per cycle");
	assert_string_equal(tally_metrics_at(metrics, 1)->name, "branch_share");
	assert_null(tally_metrics_at(metrics, 2));
	tally_metrics_free(metrics);
	refused(&machine, "IPC,CPU", -ENOENT, "did you mean", 4);
	refused(&machine, "Pipelin", -ENOENT, "did you mean Pipeline?", 0);
	refused(&machine, "IPC,", -EINVAL, "expected a metric's name", 4);
	refused(&machine, "IPC:q", -EINVAL, "expected modifiers", 4);
	refused(&machine, "of_another", -ENOENT, "unknown metric or group", 0);
	machine_done(&machine);
}

static void events_are_grouped_as_they_are_divided(void **state)
{
	struct machine machine;

	(void)state;
	machine_init(&machine);
	/* A metric that another one names brings its events; one whose events are there shares. */
	needs(&machine, "IPC,branch_share", "{instructions,cycles}:W,{branches,instructions}:W");
	needs(&machine, "CPI,IPC", "{instructions,cycles,branches}:W");
	/* What the tool measures stands in no group, and once. */
	needs(&machine, "MIPS,bandwidth",
	      "{imc/reads,period=0/,imc/writes/}:W,{instructions}:W,"
	      "duration_time");
	/* The leader of Intel's topdown events. */
	needs(&machine, "topdown", "{slots,topdown-retiring,cycles}:W");
	needs(&machine, "constant", "duration_time");
	/* By this group its events stand alone. */
	needs(&machine, "Parts", "{cycles,branches}:W");
	needs(&machine, "Loose", "cycles,branches");
	machine.options.no_group = true;
	needs(&machine, "CPI,branch_share", "instructions,cycles,branches");
	machine.options.no_group = false;
	machine.options.no_merge = true;
	needs(&machine, "IPC,CPI", "{instructions,cycles,branches}:W,{instructions,cycles}:W");
	machine.options.no_merge = false;
	machine.options.no_threshold = true;
	needs(&machine, "CPI", "{instructions,cycles}:W");
	machine_done(&machine);
}

static void constraints_look_at_the_machine(void **state)
{
	struct machine machine;
	struct tally_metrics *metrics;

	(void)state;
	machine_init(&machine);
	needs(&machine, "threads", "cycles"); /* SMT is on */
	needs(&machine, "guarded", "{branch-misses,branches}:W");
	put(&machine, CPU "smt/active", "0");
	put(&machine, "../../../sys/kernel/nmi_watchdog", "1");
	needs(&machine, "threads", "{cycles}:W");
	metrics = choose(&machine, "guarded");
	assert_string_equal(tally_metrics_events(metrics), "branch-misses,branches");
	assert_non_null(strstr(tally_metrics_at(metrics, 0)->note, "NMI watchdog"));
	tally_metrics_free(metrics);
	machine_done(&machine);
}

static void refused_by_name_and_reported_in_a_group(void **state)
{
	struct machine machine;
	struct tally_metrics *metrics;

	(void)state;
	machine_init(&machine);
	refused(&machine, "round_a", -EINVAL, "round_a of the tables names itself", -1);
	refused(&machine, "IPC,round_b", -EINVAL, "names itself through round_a", -1);
	refused(&machine, "selfish", -EINVAL, "selfish of the tables names itself", -1);
	refused(&machine, "wrong", -EINVAL, "a value expected at column 8: cycles +", -1);
	refused(&machine, "never", -EINVAL, "never needs faults_of_mars", -1);
	refused(&machine, "round", -EINVAL, "names itself through round_c",
		-1); /* all of the group */
	metrics = choose(&machine, "odd");
	assert_string_equal(tally_metrics_events(metrics), "{cycles}:W");
	assert_non_null(strstr(tally_metrics_at(metrics, 0)->note, "faults_of_mars"));
	assert_null(tally_metrics_at(metrics, 1)->note);
	tally_metrics_free(metrics);
	machine_done(&machine);
}

static void a_kind_of_core_counts_its_own(void **state)
{
	struct machine machine;
	struct tally_event_list list = {0};
	struct tally_metrics *metrics;

	(void)state;
	machine_init(&machine);
	put(&machine, "cpu_core/type", "4");
	put(&machine, "cpu_core/cpus", "0-1");
	put(&machine, "cpu_atom/type", "10");
	put(&machine, "cpu_atom/cpus", "2-3");
	metrics = choose(&machine, "counted_on_big");
	assert_string_equal(tally_metrics_events(metrics),
			    "{cpu_core/cycles/,cpu_core/instructions/}:W");
	assert_int_equal(tally_metrics_append(metrics, &list), 0);
	assert_int_equal(list.count, 2);
	for (size_t i = 0; i < list.count; i++) {
		assert_string_equal(list.events[i].pmu, "cpu_core");
		assert_int_equal(list.events[i].attr.config >> 32, 4);
	}
	tally_metrics_free(metrics);
	tally_event_list_done(&list);
	machine_done(&machine);
}

static void groups_of_several_pmus_fall_apart(void **state)
{
	static const struct {
		const char *name;
		uint32_t leader;
	} wanted[] = {{"cpu-clock", 0},           {"imc/reads,period=0/", 1}, {"imc/writes/", 1},
		      {"imc/reads,period=0/", 3}, {"imc/writes/", 3},         {"duration_time", 5}};
	struct machine machine;
	struct tally_event_list list = {0};
	struct tally_metrics *metrics;

	(void)state;
	machine_init(&machine);
	metrics = choose(&machine, "bandwidth");
	assert_int_equal(tally_metrics_event(metrics, 0, 0), -1); /* not appended */
	assert_int_equal(tally_event_list_append(&list, "cpu-clock", NULL, NULL), 0);
	assert_int_equal(tally_metrics_append(metrics, &list), 0);
	assert_int_equal(tally_metrics_append(metrics, &list), -EALREADY);
	assert_int_equal(list.count, sizeof(wanted) / sizeof(wanted[0]));
	for (size_t i = 0; i < list.count; i++) {
		assert_string_equal(list.events[i].name, wanted[i].name);
		assert_int_equal(list.events[i].leader, wanted[i].leader);
		assert_int_equal(list.events[i].weak, i > 0 && i < 5);
	}
	assert_string_equal(list.events[1].pmu, "imc_0");
	assert_string_equal(list.events[2].pmu, "imc_0");
	assert_string_equal(list.events[4].pmu, "imc_1");
	assert_int_equal(tally_metrics_event(metrics, 0, 0), 1);
	assert_int_equal(tally_metrics_event(metrics, 0, 1), 2);
	assert_int_equal(tally_metrics_event(metrics, 0, 2), 5);
	assert_int_equal(tally_metrics_event(metrics, 0, 3), -1);
	tally_metrics_free(metrics);
	tally_event_list_done(&list);
	machine_done(&machine);
}

struct counts {
	const struct tally_event_list *list;
	double clock;
};

/* Every event's count is made up from its name. */
static double count_of(void *to, size_t event)
{
	static const struct {
		const char *name;
		double count;
	} known[] = {{"instructions", 3000}, {"cycles", 6000},       {"branches", 600},
		     {"imc/writes/", 100},   {"duration_time", 2e9}, {"imc/reads/", 50},
		     {"branch-misses", 12}};
	const struct counts *counts = to;

	if (!strcmp(counts->list->events[event].name, "imc/reads,period=0/"))
		return counts->list->events[event].attr.type; /* 20 and 21: instances are added */
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(counts->list->events[event].name, known[i].name))
			return known[i].count;
	return NAN;
}

static void value_is(const struct machine *machine, const char *name, double value, int threshold)
{
	struct tally_metrics *metrics = choose(machine, name);
	struct tally_event_list list = {0};
	struct counts counts = {.list = &list};
	struct tally_metric_value got = {.size = sizeof(got)};

	assert_int_equal(tally_metrics_value(metrics, 0, count_of, &counts, &got), 0);
	assert_true(isnan(got.value));
	assert_int_equal(tally_metrics_append(metrics, &list), 0);
	tally_metrics_value(metrics, 0, count_of, &counts, &got);
	if (!(fabs(got.value - value) < 1e-9) && !(isnan(value) && isnan(got.value)))
		fail_msg("%s: %g", name, got.value);
	assert_int_equal(got.threshold, threshold);
	tally_metrics_value(metrics, 1, count_of, &counts, &got);
	assert_true(isnan(got.value));
	tally_metrics_free(metrics);
	tally_event_list_done(&list);
}

static void values(void **state)
{
	struct machine machine;

	(void)state;
	machine_init(&machine);
	value_is(&machine, "IPC", 0.5, -1);
	/* 2, in percent; its threshold asks for the bare value, which is not over 2 */
	value_is(&machine, "CPI", 200, 0);
	value_is(&machine, "branch_share", 0.2, -1);
	value_is(&machine, "MIPS", 0.0015, -1); /* durations are seconds */
	/* (20 + 21 + 100 + 100) * 64 / 2 counters / 2 s, in millions */
	value_is(&machine, "bandwidth", 241 * 64 / 2. / 2 * 1e-6, -1);
	value_is(&machine, "mixed", 100 / 6000., -1);
	value_is(&machine, "threads", 3000, -1);
	value_is(&machine, "perhaps", 6000, -1);
	value_is(&machine, "constant", 2, -1);
	value_is(&machine, "guarded", 0.02, -1); /* its threshold's event is nowhere */
	value_is(&machine, "topdown", NAN, -1);  /* not counted */
	machine.options.no_threshold = true;
	value_is(&machine, "CPI", 200, -1);
	machine_done(&machine);
}

static struct metric_machine asked(const struct machine *machine)
{
	return (struct metric_machine){.sysfs = machine->sysfs.root, .procfs = machine->sysfs.root};
}

static void literal_is(struct metric_machine machine, enum tally_expression_literal literal,
		       double value)
{
	double got = tally_metric_machine_literal(&machine, literal);

	if (!(fabs(got - value) < 1e-9) && !(isnan(value) && isnan(got)))
		fail_msg("%s: %g", tally_expression_literal_name(literal), got);
}

static void literals_of_the_machine(void **state)
{
	struct machine machine;
	struct metric_machine all, wide;

	(void)state;
	machine_init(&machine);
	all = asked(&machine);
	literal_is(all, EXPR_SMT_ON, 1);
	literal_is(all, EXPR_NUM_CPUS, 8);
	literal_is(all, EXPR_NUM_CPUS_ONLINE, 4);
	literal_is(all, EXPR_NUM_CORES, 2);
	literal_is(all, EXPR_NUM_DIES, 1);
	literal_is(all, EXPR_NUM_PACKAGES, 1);
	literal_is(all, EXPR_CORE_WIDE, 0); /* a command is counted */
	literal_is(all, EXPR_SLOTS, NAN);
	literal_is(all, EXPR_HAS_PMEM, 0);
	literal_is(all, EXPR_SYSTEM_TSC_FREQ, NAN);
	wide = all;
	wide.system_wide = true;
	literal_is(wide, EXPR_CORE_WIDE, 1);
	wide.cpus = "0,2";
	literal_is(wide, EXPR_CORE_WIDE, 1);
	wide.cpus = "0-1";
	literal_is(wide, EXPR_CORE_WIDE, 0);
	put(&machine, CPU "smt/active", "0");
	literal_is(wide, EXPR_CORE_WIDE, 1); /* no threads that could be left out */
	literal_is(all, EXPR_SMT_ON, 0);
	put(&machine, CPU "cpu3/topology/die_cpus_list", "3");
	put(&machine, CPU "cpu0/topology/die_cpus_list", "0-2");
	put(&machine, "armv8_pmuv3_0/caps/slots", "0x00000008");
	put(&machine, "../../../firmware/acpi/tables/NFIT", "");
	put(&machine, "../../../cpuinfo",
	    "processor\t: 0\nmodel name\t: Some(R) CPU @ 2.25GHz\ncpu MHz\t\t: 1\n");
	literal_is(all, EXPR_NUM_DIES, 2);
	literal_is(all, EXPR_SLOTS, 8);
	literal_is(all, EXPR_HAS_PMEM, 1);
	literal_is(all, EXPR_SYSTEM_TSC_FREQ, 2.25e9);
	machine_done(&machine);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(found_by_name_and_group),
	    cmocka_unit_test(events_are_grouped_as_they_are_divided),
	    cmocka_unit_test(constraints_look_at_the_machine),
	    cmocka_unit_test(refused_by_name_and_reported_in_a_group),
	    cmocka_unit_test(a_kind_of_core_counts_its_own),
	    cmocka_unit_test(groups_of_several_pmus_fall_apart),
	    cmocka_unit_test(values),
	    cmocka_unit_test(literals_of_the_machine),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: %s FOLDER\n", argv[0]);
		return 1;
	}
	folder_of_test = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
