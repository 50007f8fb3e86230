/* The model of counts: values, spreads and derived values that were computed by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include <tally/stat.h>
#include "made_counts.h"

static const struct tally_stat_place one[] = {{-1, 100, -1, -1, -1, -1, -1, -1, "sh"}};

/* Two sockets with two cores each; their numbers do not follow the sockets. */
static const struct tally_stat_place cpus[] = {
    {0, -1, 0, 0, 0, 0, 0, 0, NULL},
    {1, -1, 1, 0, 0, 1, 0, 1, NULL},
    {2, -1, 0, 0, 0, 0, 1, 0, NULL},
    {3, -1, 1, 0, 0, 1, 1, 1, NULL},
};

static struct tally_stat *make(const struct tally_stat_event *events, size_t event_count,
			       const struct tally_stat_place *places, size_t place_count,
			       enum tally_stat_by by)
{
	struct tally_stat_options options = {
	    .size = sizeof(options),
	    .events = events,
	    .event_count = event_count,
	    .places = places,
	    .place_count = place_count,
	    .by = by,
	    .merge = true,
	};
	struct tally_stat *stat;

	assert_int_equal(tally_stat_new(&options, &stat, NULL), 0);
	return stat;
}

static struct tally_stat_value value_of(const struct tally_stat *stat, size_t event, size_t part)
{
	struct tally_stat_value value = {.size = sizeof(value)};

	assert_true(tally_stat_value(stat, event, part, &value));
	return value;
}

static void assert_close(double got, double expected)
{
	if (fabs(got - expected) > 1e-9 * fmax(1, fabs(expected)))
		fail_msg("%.12g, expected %.12g", got, expected);
}

static const struct tally_stat_times second = {1000000000, 600000000, 200000000};

static void clocks_are_shown_in_ms(void **state)
{
	const struct tally_stat_event events[] = {{SOFTWARE(TASK_CLOCK), "task-clock"}};
	struct tally_stat *stat = make(events, 1, one, 1, TALLY_STAT_GLOBAL);
	struct tally_count counts[] = {counted(1500000, 1500000, 1500000)};

	(void)state;
	tally_stat_finish(stat, counts, &second);
	assert_close(value_of(stat, 0, 0).value, 1.5);
	assert_string_equal(tally_stat_options(stat)->events[0].unit, "msec");
	assert_int_equal(value_of(stat, 0, 0).quality, TALLY_COUNT_COUNTED);
	tally_stat_free(stat);
}

static void nothing_read_is_no_value(void **state)
{
	const struct tally_stat_event events[] = {{SOFTWARE(TASK_CLOCK), "task-clock"}};
	struct tally_stat *stat = make(events, 1, one, 1, TALLY_STAT_GLOBAL);
	struct tally_stat_value value = {.size = sizeof(value)};

	(void)state;
	assert_false(tally_stat_value(stat, 0, 0, &value));
	tally_stat_free(stat);
}

static void each_place_is_scaled_on_its_own(void **state)
{
	const struct tally_stat_event events[] = {{HARDWARE(CPU_CYCLES), "cycles"}};
	struct tally_stat *stat = make(events, 1, cpus, 2, TALLY_STAT_GLOBAL);
	struct tally_count counts[] = {counted(100, 1000, 500), counted(300, 1000, 1000)};
	struct tally_stat_value value = {.size = sizeof(value)};

	(void)state;
	tally_stat_finish(stat, counts, &second);
	value = value_of(stat, 0, 0);
	assert_close(value.value, 500); /* 200 and 300; the sums together would be 533 */
	assert_int_equal(value.quality, TALLY_COUNT_SCALED);
	assert_close(value.enabled, 2000);
	assert_close(value.running, 1500);
	assert_int_equal(value.places, 2);
	tally_stat_free(stat);
}

static void unscaled_counts_stay(void **state)
{
	const struct tally_stat_event events[] = {{HARDWARE(CPU_CYCLES), "cycles"}};
	struct tally_stat_options options = {
	    .size = sizeof(options),
	    .events = events,
	    .event_count = 1,
	    .places = one,
	    .place_count = 1,
	    .unscaled = true,
	};
	struct tally_count counts[] = {counted(100, 1000, 500)};
	struct tally_stat *stat;

	(void)state;
	assert_int_equal(tally_stat_new(&options, &stat, NULL), 0);
	tally_stat_finish(stat, counts, &second);
	assert_close(value_of(stat, 0, 0).value, 100);
	assert_int_equal(value_of(stat, 0, 0).quality, TALLY_COUNT_SCALED);
	tally_stat_free(stat);
}

static void parts_are_sums_of_their_places(void **state)
{
	const struct tally_stat_event events[] = {{SOFTWARE(PAGE_FAULTS), "faults"}};
	struct tally_count counts[] = {counted(1, 9, 9), counted(10, 9, 9), counted(100, 9, 9),
				       counted(1000, 9, 9)};
	static const struct {
		enum tally_stat_by by;
		size_t parts;
		double first, last;
	} cases[] = {
	    {TALLY_STAT_GLOBAL, 1, 1111, 1111}, {TALLY_STAT_CPU, 4, 1, 1000},
	    {TALLY_STAT_CORE, 4, 1, 1000},      {TALLY_STAT_SOCKET, 2, 101, 1010},
	    {TALLY_STAT_DIE, 2, 101, 1010},     {TALLY_STAT_CACHE, 2, 101, 1010},
	    {TALLY_STAT_CLUSTER, 2, 101, 1010}, {TALLY_STAT_NODE, 2, 101, 1010},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_stat *stat = make(events, 1, cpus, 4, cases[i].by);
		size_t parts;

		tally_stat_finish(stat, counts, &second);
		tally_stat_parts(stat, &parts);
		assert_int_equal(parts, cases[i].parts);
		assert_close(value_of(stat, 0, 0).value, cases[i].first);
		assert_close(value_of(stat, 0, parts - 1).value, cases[i].last);
		tally_stat_free(stat);
	}
}

static void a_part_without_the_event_has_no_value(void **state)
{
	const struct tally_stat_event events[] = {{.attr = {.type = 20}, .name = "uncore/x/"}};
	struct tally_count counts[4] = {counted(5, 9, 9)}; /* the others are ELSEWHERE */
	struct tally_stat *stat = make(events, 1, cpus, 4, TALLY_STAT_SOCKET);
	struct tally_stat_value value = {.size = sizeof(value)};

	(void)state;
	tally_stat_finish(stat, counts, &second);
	assert_close(value_of(stat, 0, 0).value, 5);
	assert_int_equal(value_of(stat, 0, 0).places, 1);
	assert_false(tally_stat_value(stat, 0, 1, &value));
	tally_stat_free(stat);
}

static void a_package_is_counted_once(void **state)
{
	const struct tally_stat_event events[] = {
	    {.attr = {.type = 20}, .name = "energy", .per_pkg = true}};
	struct tally_count counts[] = {counted(7, 9, 9), counted(70, 9, 9), counted(7, 9, 9),
				       counted(70, 9, 9)};
	struct tally_stat *stat = make(events, 1, cpus, 4, TALLY_STAT_GLOBAL);

	(void)state;
	tally_stat_finish(stat, counts, &second);
	assert_close(value_of(stat, 0, 0).value, 77);
	tally_stat_free(stat);
}

static void events_of_several_pmus_are_one(void **state)
{
	const struct tally_stat_event events[] = {
	    {.attr = {.type = 20}, .name = "reads", .pmu = "imc_0"},
	    {.attr = {.type = 21}, .name = "reads", .pmu = "imc_1"},
	    {.attr = {.type = 21}, .name = "writes", .pmu = "imc_1"},
	};
	struct tally_count counts[] = {counted(3, 9, 9), counted(4, 9, 9), counted(5, 9, 9)};
	struct tally_stat *stat = make(events, 3, one, 1, TALLY_STAT_GLOBAL);
	struct tally_stat_value value = {.size = sizeof(value)};

	(void)state;
	tally_stat_finish(stat, counts, &second);
	assert_close(value_of(stat, 0, 0).value, 7);
	assert_false(tally_stat_value(stat, 1, 0, &value));
	assert_close(value_of(stat, 2, 0).value, 5);
	tally_stat_free(stat);
}

static void runs_have_a_mean_and_its_standard_error(void **state)
{
	const struct tally_stat_event events[] = {{SOFTWARE(PAGE_FAULTS), "faults"}};
	static const uint64_t runs[] = {2, 4, 4, 4, 5, 5, 7, 9}; /* mean 5, sum of squares 32 */
	struct tally_stat *stat = make(events, 1, one, 1, TALLY_STAT_GLOBAL);
	struct tally_stat_duration duration = {.size = sizeof(duration)};

	(void)state;
	for (size_t i = 0; i < 8; i++) {
		struct tally_count counts[] = {counted(runs[i], 10, 10)};
		struct tally_stat_times times = {runs[i] * 1000, 0, 0};

		tally_stat_begin(stat);
		tally_stat_finish(stat, counts, &times);
	}
	assert_int_equal(tally_stat_runs(stat), 8);
	assert_close(value_of(stat, 0, 0).value, 5);
	assert_close(value_of(stat, 0, 0).spread, sqrt(32.0 / 7 / 8));
	assert_int_equal(tally_stat_duration(stat, &duration), 0);
	assert_close(duration.elapsed, 5000);
	assert_close(duration.elapsed_spread, 1000 * sqrt(32.0 / 7 / 8));
	tally_stat_free(stat);
}

static void intervals_are_differences_and_the_end_is_the_whole(void **state)
{
	const struct tally_stat_event events[] = {{SOFTWARE(PAGE_FAULTS), "faults"}};
	struct tally_count first[] = {counted(10, 100, 100)}, then[] = {counted(13, 200, 200)};
	struct tally_stat *stat = make(events, 1, one, 1, TALLY_STAT_GLOBAL);

	(void)state;
	tally_stat_begin(stat);
	tally_stat_interval(stat, first, &second);
	assert_close(value_of(stat, 0, 0).value, 10);
	tally_stat_interval(stat, then, &second);
	assert_close(value_of(stat, 0, 0).value, 3);
	tally_stat_interval(stat, then, &second);
	assert_int_equal(value_of(stat, 0, 0).quality, TALLY_COUNT_IDLE);
	tally_stat_finish(stat, then, &second);
	assert_close(value_of(stat, 0, 0).value, 13);
	tally_stat_free(stat);
}

static void what_was_not_counted_says_so(void **state)
{
	const struct tally_stat_event events[] = {{HARDWARE(CPU_CYCLES), "cycles"},
						  {HARDWARE(INSTRUCTIONS), "instructions"}};
	struct tally_count counts[] = {{.quality = TALLY_COUNT_NOT_SUPPORTED, .missing = 1},
				       counted(0, 1000, 0)};
	struct tally_stat *stat = make(events, 2, one, 1, TALLY_STAT_GLOBAL);
	struct tally_stat_derived derived[4] = {{.size = sizeof(*derived)}};
	struct tally_stat_value value = {.size = sizeof(value)};

	(void)state;
	tally_stat_finish(stat, counts, &second);
	value = value_of(stat, 0, 0);
	assert_int_equal(value.quality, TALLY_COUNT_NOT_SUPPORTED);
	assert_false(tally_stat_counted(&value));
	value = value_of(stat, 1, 0);
	assert_int_equal(value.quality, TALLY_COUNT_NEVER_RAN);
	assert_false(tally_stat_counted(&value));
	assert_int_equal(tally_stat_derive(stat, 1, 0, derived, 4), 1);
	assert_false(derived[0].known);
	tally_stat_free(stat);
}

static struct tally_stat_derived derive(const struct tally_stat *stat, size_t event)
{
	struct tally_stat_derived derived[4] = {{.size = sizeof(*derived)}};

	assert_true(tally_stat_derive(stat, event, 0, derived, 4) >= 1);
	return derived[0];
}

static void counts_say_more_together(void **state)
{
	const struct tally_stat_event events[] = {
	    {SOFTWARE(TASK_CLOCK), "task-clock"},
	    {SOFTWARE(CONTEXT_SWITCHES), "context-switches"},
	    {HARDWARE(CPU_CYCLES), "cycles"},
	    {HARDWARE(INSTRUCTIONS), "instructions"},
	    {HARDWARE(BRANCH_INSTRUCTIONS), "branches"},
	    {HARDWARE(BRANCH_MISSES), "branch-misses"},
	    {{.type = PERF_TYPE_HW_CACHE, .config = 0}, "L1-dcache-loads"},
	    {{.type = PERF_TYPE_HW_CACHE, .config = 0x10000}, "L1-dcache-load-misses"},
	};
	struct tally_count counts[] = {
	    counted(500000000, 500000000, 500000000),
	    counted(250, 9, 9),
	    counted(1500000000, 9, 9),
	    counted(3000000000, 9, 9),
	    counted(1000, 9, 9),
	    counted(250, 9, 9),
	    counted(2000, 9, 9),
	    counted(140, 9, 9),
	};
	static const struct {
		double value;
		const char *unit, *suffix;
		enum tally_stat_grade grade;
	} expected[] = {
	    {0.5, "CPUs utilized", "", TALLY_STAT_PLAIN},
	    {500, "/sec", "", TALLY_STAT_PLAIN},
	    {3, "GHz", "", TALLY_STAT_PLAIN},
	    {2, "insn per cycle", "", TALLY_STAT_PLAIN},
	    {2, "K/sec", "", TALLY_STAT_PLAIN},
	    {25, "of all branches", "%", TALLY_STAT_BAD},
	    {4, "K/sec", "", TALLY_STAT_PLAIN},
	    {7, "of all L1-dcache accesses", "%", TALLY_STAT_NOTABLE},
	};
	struct tally_stat *stat = make(events, 8, one, 1, TALLY_STAT_GLOBAL);

	(void)state;
	tally_stat_finish(stat, counts, &second);
	for (size_t i = 0; i < 8; i++) {
		struct tally_stat_derived got = derive(stat, i);

		assert_true(got.known);
		assert_close(got.value, expected[i].value);
		assert_string_equal(got.unit, expected[i].unit);
		assert_string_equal(got.suffix, expected[i].suffix);
		assert_int_equal(got.grade, expected[i].grade);
	}
	tally_stat_free(stat);
}

static void user_space_is_compared_with_user_space(void **state)
{
	const struct tally_stat_event events[] = {
	    {HARDWARE(CPU_CYCLES), "cycles"},
	    {{.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .exclude_kernel = 1},
	     "cycles:u"},
	    {{.type = PERF_TYPE_HARDWARE,
	      .config = PERF_COUNT_HW_INSTRUCTIONS,
	      .exclude_kernel = 1},
	     "instructions:u"},
	};
	struct tally_count counts[] = {counted(1000, 9, 9), counted(200, 9, 9), counted(100, 9, 9)};
	struct tally_stat *stat = make(events, 3, one, 1, TALLY_STAT_GLOBAL);

	(void)state;
	tally_stat_finish(stat, counts, &second);
	assert_close(derive(stat, 2).value, 0.5);
	tally_stat_free(stat);
}

static void without_a_clock_there_are_no_rates(void **state)
{
	const struct tally_stat_event events[] = {{SOFTWARE(PAGE_FAULTS), "faults"}};
	struct tally_count counts[] = {counted(10, 9, 9)};
	struct tally_stat *stat = make(events, 1, one, 1, TALLY_STAT_GLOBAL);
	struct tally_stat_derived derived[4] = {{.size = sizeof(*derived)}};

	(void)state;
	tally_stat_finish(stat, counts, &second);
	assert_int_equal(tally_stat_derive(stat, 0, 0, derived, 4), 0);
	tally_stat_free(stat);
}

static void slots_are_shared_out(void **state)
{
	static const char *const names[] = {"topdown-total-slots", "topdown-slots-issued",
					    "topdown-slots-retired", "topdown-fetch-bubbles",
					    "topdown-recovery-bubbles"};
	static const uint64_t slots[] = {1000, 500, 400, 150, 50};
	/* (500 - 400 + 50) / 1000 bad, 400 retired, 150 of the front end; the rest is the back's.
	 */
	static const double percent[] = {-1, 30, 40, 15, 15};
	struct tally_stat_event events[5];
	struct tally_count counts[5];
	struct tally_stat *stat;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		events[i] = (struct tally_stat_event){.attr = {.type = 4}, .name = names[i]};
		counts[i] = counted(slots[i], 9, 9);
	}
	stat = make(events, 5, one, 1, TALLY_STAT_GLOBAL);
	tally_stat_finish(stat, counts, &second);
	for (size_t i = 1; i < 5; i++)
		assert_close(derive(stat, i).value, percent[i]);
	tally_stat_free(stat);
}

static double double_of_first(void *context, size_t metric, const double *values,
			      int *ret_threshold)
{
	(void)context;
	assert_int_equal(metric, 0);
	*ret_threshold = 1;
	return 2 * values[0] + values[1];
}

static void metrics_are_shown_beside_their_event(void **state)
{
	const struct tally_stat_event events[] = {
	    {.attr = {.type = 20}, .name = "x", .scale = 0.5, .unit = "MiB"},
	    {SOFTWARE(PAGE_FAULTS), "faults"},
	};
	const struct tally_stat_metric metric = {"twice", NULL, 1};
	struct tally_stat_options options = {
	    .size = sizeof(options),
	    .events = events,
	    .event_count = 2,
	    .places = one,
	    .place_count = 1,
	    .metrics = &metric,
	    .metric_count = 1,
	    .metric_value = double_of_first,
	};
	struct tally_count counts[] = {counted(10, 9, 9), counted(3, 9, 9)};
	struct tally_stat *stat;

	(void)state;
	assert_int_equal(tally_stat_new(&options, &stat, NULL), 0);
	tally_stat_finish(stat, counts, &second);
	assert_close(value_of(stat, 0, 0).value, 5);
	assert_close(derive(stat, 1).value, 23); /* of what was counted, not of MiB */
	assert_string_equal(derive(stat, 1).unit, "twice");
	assert_int_equal(derive(stat, 1).grade, TALLY_STAT_BAD);
	assert_int_equal(derive(stat, 1).threshold, 1);
	tally_stat_free(stat);
}

/* CPUs 0 and 2, and 1 and 3, are a core: what counts cores is shown once, or for each CPU. */
static void a_cores_count_is_its_cpus(void **state)
{
	static const struct tally_stat_place threads[] = {
	    {0, -1, 0, 0, 0, 0, 5, 0, NULL},
	    {1, -1, 0, 0, 0, 0, 6, 0, NULL},
	    {2, -1, 0, 0, 0, 0, 5, 0, NULL},
	    {3, -1, 1, 0, 0, 1, 6, 1, NULL}, /* another socket's core of the same number */
	};
	const struct tally_stat_event events[] = {
	    {SOFTWARE(PAGE_FAULTS), "of cores", .percore = true},
	    {SOFTWARE(PAGE_FAULTS), "of CPUs"}};
	const struct tally_count counts[] = {
	    counted(1, 9, 9), counted(10, 9, 9), counted(100, 9, 9), counted(1000, 9, 9),
	    counted(1, 9, 9), counted(10, 9, 9), counted(100, 9, 9), counted(1000, 9, 9)};
	const double each[] = {101, 10, 101, 1000}, alone[] = {1, 10, 100, 1000};

	(void)state;
	for (int twice = 0; twice < 2; twice++) {
		struct tally_stat_options options = {.size = sizeof(options),
						     .events = events,
						     .event_count = 2,
						     .places = threads,
						     .place_count = 4,
						     .by = TALLY_STAT_CPU,
						     .percore_each = twice};
		struct tally_stat_value value = {.size = sizeof(value)};
		struct tally_stat *stat;

		assert_int_equal(tally_stat_new(&options, &stat, NULL), 0);
		tally_stat_finish(stat, counts, &second);
		for (size_t part = 0; part < 4; part++) {
			assert_close(value_of(stat, 1, part).value, alone[part]);
			if (part == 2 && !twice)
				assert_false(tally_stat_value(stat, 0, part, &value));
			else
				assert_close(value_of(stat, 0, part).value, each[part]);
		}
		tally_stat_free(stat);
	}
}

/* Interrupts of the firmware: what aperf counts beyond the cycles. */
static void the_firmwares_share(void **state)
{
	const struct tally_stat_event events[] = {{.attr = {.type = 9}, .name = "msr/aperf/"},
						  {.attr = {.type = 9}, .name = "msr/smi/"},
						  {HARDWARE(CPU_CYCLES), "cycles"}};
	struct tally_count counts[] = {counted(1000, 9, 9), counted(3, 9, 9), counted(800, 9, 9)};
	struct tally_stat_derived derived[4] = {{.size = sizeof(*derived)}};
	struct tally_stat *stat;

	(void)state;
	stat = make(events, 3, one, 1, TALLY_STAT_GLOBAL);
	tally_stat_finish(stat, counts, &second);
	assert_int_equal(tally_stat_derive(stat, 1, 0, derived, 4), 2);
	assert_close(derived[0].value, 20);
	assert_string_equal(derived[0].unit, "SMI cycles%");
	assert_int_equal(derived[0].grade, TALLY_STAT_BAD);
	assert_close(derived[1].value, 3);
	assert_string_equal(derived[1].unit, "SMI#");
	tally_stat_free(stat);
}

/* Source: the usual tables of Student's t, two-sided. */
static void students_t_is_that_of_tables(void **state)
{
	static const struct {
		double confidence, degrees, t;
	} table[] = {
	    {0.95, 1, 12.7062047},  {0.95, 2, 4.30265273},  {0.95, 5, 2.57058184},
	    {0.95, 10, 2.22813885}, {0.95, 30, 2.04227246}, {0.95, 1000, 1.96233906},
	    {0.99, 10, 3.16927267}, {0.90, 4, 2.13184679},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (fabs(tally_stat_student(table[i].confidence, table[i].degrees) - table[i].t) >
		    1e-7)
			fail_msg("%g degrees", table[i].degrees);
}

static struct tally_stat_difference welch_of(const struct tally_stat_mean *first,
					     const struct tally_stat_mean *other, double confidence)
{
	struct tally_stat_difference difference = {.size = sizeof(difference)};

	assert_int_equal(tally_stat_welch(first, other, confidence, &difference), 0);
	return difference;
}

static struct tally_stat_ratio ratio_of(const struct tally_stat_mean *first,
					const struct tally_stat_mean *other, double confidence)
{
	struct tally_stat_ratio ratio = {.size = sizeof(ratio)};

	assert_int_equal(tally_stat_ratio(first, other, confidence, &ratio), 0);
	return ratio;
}

static void means_differ_or_it_is_unknown(void **state)
{
	/* Variances 4 and 9 of 10 and 20 runs: degrees of freedom (0.4 + 0.45)^2 / (0.16 / 9 +
	 * 0.2025 / 19) = 25.3959, t 2.05785. */
	struct tally_stat_mean first = {100, sqrt(0.4), 10}, far = {103, sqrt(0.45), 20};
	struct tally_stat_mean similar = {101, sqrt(0.45), 20}, once = {120, 0, 1};
	struct tally_stat_mean exact = {7, 0, 5}, other = {8, 0, 5};
	struct tally_stat_difference got = welch_of(&first, &far, 0.95);

	(void)state;
	assert_true(got.known && got.distinct);
	assert_close(got.difference, 3);
	assert_true(fabs(got.low - (3 - 2.05785 * sqrt(0.85))) < 1e-4);
	assert_true(fabs(got.high - (3 + 2.05785 * sqrt(0.85))) < 1e-4);
	got = welch_of(&first, &similar, 0.95);
	assert_true(got.known && !got.distinct);
	got = welch_of(&first, &once, 0.95);
	assert_false(got.known || got.distinct);
	got = welch_of(&exact, &other, 0.95);
	assert_true(got.distinct);
	assert_close(got.low, 1);
	assert_false(welch_of(&exact, &exact, 0.95).distinct);
}

/* 13.3.  Worked out by mpmath (Python), its incomplete beta function and searches of its own. */
static void ratios_of_means_are_those_worked_out_elsewhere(void **state)
{
	static const struct {
		struct tally_stat_mean first, second;
		double ratio, low, high;
		size_t more;
	} known[] = {
	    {{100, 0.632455532033676, 10},
	     {103, 0.670820393249937, 20},
	     1.03,
	     1.01091803002,
	     1.049442159,
	     0},
	    {{10, 3, 3}, {3.568, 1, 3}, 0.3568, 0.113889706328, 1.11780286476, 2},
	    {{10, 1, 5}, {9, 0.5, 5}, 0.9, 0.682126301048, 1.18746337556, 43},
	    {{2, 0.01, 4}, {2.01, 0.02, 6}, 1.005, 0.978948061631, 1.03174523714, 217},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		struct tally_stat_ratio got = ratio_of(&known[i].first, &known[i].second, 0.95);

		assert_true(got.known);
		assert_true(got.distinct == !known[i].more);
		assert_close(got.ratio, known[i].ratio);
		assert_close(got.low, known[i].low);
		assert_close(got.high, known[i].high);
		assert_int_equal(got.more_runs, known[i].more);
	}
}

/* 13.3. */
static void no_limit_of_a_ratio_passes_zero(void **state)
{
	struct tally_stat_mean first = {10, 4, 2}, other = {4, 3, 2}, none = {0, 0, 5};
	struct tally_stat_mean exact = {7, 0, 5}, same = {7, 0, 5};
	struct tally_stat_difference difference = welch_of(&first, &other, 0.95);
	struct tally_stat_ratio there = ratio_of(&first, &other, 0.95);
	struct tally_stat_ratio back = ratio_of(&other, &first, 0.95);

	(void)state;
	assert_true(difference.low < -first.mean); /* more than 100 % less */
	assert_true(there.low > 0 && !there.distinct);
	/* It does not matter which is the first. */
	assert_close(back.low * there.high, 1);
	assert_close(back.high * there.low, 1);
	assert_false(ratio_of(&first, &none, 0.95).known);
	assert_false(ratio_of(&none, &first, 0.95).known);
	there = ratio_of(&exact, &same, 0.95);
	assert_true(there.known && !there.distinct && there.more_runs == SIZE_MAX);
	other.runs = 1;
	assert_false(ratio_of(&first, &other, 0.95).known);
}

static void options_that_cannot_be_are_refused(void **state)
{
	struct tally_stat_options none = {.size = sizeof(none)};
	struct {
		struct tally_stat_options known;
		uint64_t unknown;
	} newer = {.known = {.size = sizeof(newer), .places = one, .place_count = 1}, .unknown = 1};
	struct tally_stat *stat;

	(void)state;
	assert_int_equal(tally_stat_new(&none, &stat, NULL), -EINVAL);
	assert_int_equal(tally_stat_new(&newer.known, &stat, NULL), -E2BIG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(clocks_are_shown_in_ms),
	    cmocka_unit_test(nothing_read_is_no_value),
	    cmocka_unit_test(each_place_is_scaled_on_its_own),
	    cmocka_unit_test(unscaled_counts_stay),
	    cmocka_unit_test(parts_are_sums_of_their_places),
	    cmocka_unit_test(a_part_without_the_event_has_no_value),
	    cmocka_unit_test(a_package_is_counted_once),
	    cmocka_unit_test(events_of_several_pmus_are_one),
	    cmocka_unit_test(runs_have_a_mean_and_its_standard_error),
	    cmocka_unit_test(intervals_are_differences_and_the_end_is_the_whole),
	    cmocka_unit_test(what_was_not_counted_says_so),
	    cmocka_unit_test(counts_say_more_together),
	    cmocka_unit_test(user_space_is_compared_with_user_space),
	    cmocka_unit_test(without_a_clock_there_are_no_rates),
	    cmocka_unit_test(slots_are_shared_out),
	    cmocka_unit_test(metrics_are_shown_beside_their_event),
	    cmocka_unit_test(a_cores_count_is_its_cpus),
	    cmocka_unit_test(the_firmwares_share),
	    cmocka_unit_test(students_t_is_that_of_tables),
	    cmocka_unit_test(means_differ_or_it_is_unknown),
	    cmocka_unit_test(ratios_of_means_are_those_worked_out_elsewhere),
	    cmocka_unit_test(no_limit_of_a_ratio_passes_zero),
	    cmocka_unit_test(options_that_cannot_be_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
