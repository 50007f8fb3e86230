/* Giving up what this kernel and these rights refuse, and no more than that. */
#include "kernel_test.h"

#include <limits.h>

static void nothing_to_give_up(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_CPU_CLOCK), before;
	struct tally_open_target target = this_thread();
	uint32_t given_up = 99;
	int fd;

	(void)state;
	attr.build_id = attr.ksymbol = attr.mmap = attr.mmap2 = 1;
	before = attr;
	close(must_open(&attr, -1));
	fd = tally_open_relaxed(&attr, &target, NULL, TALLY_RELAXED_ALL, &given_up, NULL);
	assert_true(fd >= 0);
	assert_int_equal(given_up, 0);
	before.size = attr.size;
	assert_int_equal(before.size, tally_attr_min_size(&before));
	assert_memory_equal(&attr, &before, sizeof(attr));
	close(fd);
}

/* One wish among many is refused: it alone goes. */
static void only_what_is_refused(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_CPU_CLOCK), asked;
	struct tally_open_target target = this_thread();
	struct tally_error error;
	uint32_t given_up = 99;
	int fd;

	(void)state;
	attr.build_id = attr.ksymbol = attr.mmap = attr.mmap2 = 1;
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_WEIGHT_STRUCT;
	attr.sample_period = 1000000;
	close(must_open(&attr, -1));
	attr.use_clockid = 1;
	attr.clockid = 12345;
	asked = attr;
	/* Not allowed to: refused, and nothing is touched. */
	assert_int_equal(tally_open_relaxed(&attr, &target, NULL,
					    TALLY_RELAXED_ALL & ~TALLY_RELAXED_CLOCKID, &given_up,
					    &error),
			 -EINVAL);
	assert_int_equal(error.code, -EINVAL);
	assert_non_null(strstr(error.text, "attr.clockid 12345"));
	assert_memory_equal(&attr, &asked, sizeof(attr));
	assert_int_equal(given_up, 99);
	fd = tally_open_relaxed(&attr, &target, NULL, TALLY_RELAXED_ALL, &given_up, &error);
	assert_true(fd >= 0);
	assert_int_equal(given_up, TALLY_RELAXED_CLOCKID);
	asked.use_clockid = 0;
	asked.clockid = 0;
	asked.size = attr.size;
	assert_memory_equal(&attr, &asked, sizeof(attr));
	close(fd);
}

/* A flag that came with Linux 6.19: kept where the kernel has it, given up where not. */
static void a_newer_flag(void **state)
{
	struct tally_attr attr = software(PERF_COUNT_SW_CPU_CLOCK), probe;
	struct tally_open_target target = this_thread();
	uint32_t given_up = 99;
	bool known;
	int fd;

	(void)state;
	close(must_open(&attr, -1));
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN;
	attr.sample_period = 1000000;
	attr.defer_callchain = 1;
	probe = attr;
	fd = tally_open(&probe, &target, NULL, NULL);
	known = fd >= 0;
	if (known)
		close(fd);
	fd = tally_open_relaxed(&attr, &target, NULL, TALLY_RELAXED_ALL, &given_up, NULL);
	assert_true(fd >= 0);
	assert_int_equal(given_up, known ? 0 : TALLY_RELAXED_DEFER_CALLCHAIN);
	assert_int_equal(attr.defer_callchain, known);
	close(fd);
}

/* A PMU outside the cores: which of the fields it refuses is found out by trying. */
static void fields_that_a_pmu_refuses(void **state)
{
	FILE *file = fopen("/sys/bus/event_source/devices/msr/type", "r");
	struct tally_attr attr = {.config = 0};
	struct tally_open_target target = this_thread();
	struct tally_error error;
	uint32_t given_up;
	int fd;

	(void)state;
	if (!file || fscanf(file, "%u", &attr.type) != 1)
		skip();
	fclose(file);
	fd = tally_open(&attr, &target, NULL, NULL);
	if (fd < 0)
		skip();
	close(fd);
	attr.exclude_kernel = 1;
	attr.exclude_idle = 1; /* not in tally_relaxed: nobody gives it up silently */
	assert_int_equal(
	    tally_open_relaxed(&attr, &target, NULL, TALLY_RELAXED_ALL, &given_up, &error),
	    -EINVAL);
	assert_non_null(strstr(error.text, "refuses attr.exclude_user, _kernel or _hv, "
					   "attr.exclude_idle; without that, it opens: "));
	assert_non_null(strstr(error.text, "leave the modifiers u, k and h out, leave the modifier "
					   "I out"));
	attr.exclude_kernel = attr.exclude_idle = 0;
	attr.sample_period = 1000;
	assert_int_equal(
	    tally_open_relaxed(&attr, &target, NULL, TALLY_RELAXED_ALL, &given_up, &error),
	    -EINVAL);
	assert_non_null(strstr(error.text, "refuses attr.sample_period (sampling);"));
}

/* Without a PMU there is nothing to give up for: the first answer stands, with its explanation. */
static void no_pmu(void **state)
{
	struct tally_attr attr = {.type = PERF_TYPE_HARDWARE,
				  .config = PERF_COUNT_HW_CPU_CYCLES,
				  .exclude_kernel = 1,
				  .exclude_hv = 1,
				  .precise_ip = 3,
				  .sample_period = 100000,
				  .sample_type = PERF_SAMPLE_IP};
	struct tally_open_target target = this_thread();
	struct tally_error error;
	uint32_t given_up;
	int fd = tally_open_relaxed(&attr, &target, NULL, TALLY_RELAXED_ALL, &given_up, &error);

	(void)state;
	if (fd >= 0) {
		/* There is one: the next level up must not have been possible. */
		if (given_up & TALLY_RELAXED_PRECISE) {
			struct tally_attr more = attr;

			more.precise_ip = (attr.precise_ip + 1) & 3;
			assert_true(tally_open(&more, &target, NULL, NULL) < 0);
		}
		close(fd);
		return;
	}
	if (fd == -EACCES || fd == -ENOSYS || fd == -EPERM)
		skip();
	assert_true(fd == -ENOENT || fd == -EOPNOTSUPP || fd == -ENODEV);
	assert_int_equal(error.code, fd);
	assert_non_null(strstr(error.text, "cpu-clock"));
	assert_int_equal(attr.precise_ip, 3);
}

static int user_space_only(void)
{
	struct tally_attr attr = {.type = PERF_TYPE_SOFTWARE,
				  .config = PERF_COUNT_SW_CPU_CLOCK,
				  .namespaces = 1,
				  .mmap = 1,
				  .sample_period = 100000};
	struct tally_open_target target = this_thread();
	struct tally_limits limits = {.size = sizeof(limits)};
	struct tally_error error;
	uint32_t given_up;
	int fd;

	tally_limits_read(NULL, &limits);
	if (limits.paranoid != 2)
		return 77;
	/* A person wrote :k, say: then the kernel must not silently be left out. */
	fd = tally_open_relaxed(&attr, &target, &limits, TALLY_RELAXED_ALL & ~TALLY_RELAXED_KERNEL,
				&given_up, &error);
	if (fd != -EACCES || !strstr(error.text, "attr.exclude_kernel") || attr.exclude_kernel)
		return 1;
	fd = tally_open_relaxed(&attr, &target, &limits, TALLY_RELAXED_ALL, &given_up, &error);
	if (fd < 0)
		return 2;
	if (given_up != (TALLY_RELAXED_KERNEL | TALLY_RELAXED_NAMESPACES))
		return 3;
	if (!attr.exclude_kernel || attr.namespaces || attr.exclude_user || !attr.mmap)
		return 4;
	return 0;
}

static void nobody(void **state)
{
	int status = as_nobody(user_space_only);

	(void)state;
	if (status == 77) {
		print_message("skipped: kernel.perf_event_paranoid is not 2\n");
		skip();
	}
	assert_int_equal(status, 0);
}

static void all_have_names(void **state)
{
	(void)state;
	for (uint32_t bit = 1; bit & TALLY_RELAXED_ALL; bit <<= 1)
		assert_non_null(tally_relaxed_name(bit));
	assert_null(tally_relaxed_name(TALLY_RELAXED_ALL + 1));
	assert_null(tally_relaxed_name(0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_to_give_up),
	    cmocka_unit_test(only_what_is_refused),
	    cmocka_unit_test(a_newer_flag),
	    cmocka_unit_test(fields_that_a_pmu_refuses),
	    cmocka_unit_test(no_pmu),
	    cmocka_unit_test(nobody),
	    cmocka_unit_test(all_have_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
