/* Counter sets on a processor that counts exactly: `counts CYCLES`, the cycles that an instruction
 * takes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <tally/counter.h>
#include <tally/fd.h>
#include <tally/open.h>
#include <tally/region.h>
#include <unistd.h>
#include "loop.h"
#include "tap.h"

#define MOST 32

static const struct tally_event_options plain = {.size = sizeof(plain)};

/* Opens a set for this thread, or says why not; NULL then. */
static struct tally_counters *open_set(const char *events, bool strict, int *ret)
{
	struct tally_counters_options options = {.size = sizeof(options), .strict = strict};
	struct tally_event_list list = {0};
	struct tally_counters *set = NULL;
	struct tally_error error = {0};

	*ret = tally_event_list_parse(events, &plain, &list, &error);
	if (*ret) {
		printf("# %s: %s\n", events, error.text);
		return NULL;
	}
	options.events = &list;
	*ret = tally_counters_open(&options, &set, &error);
	tally_event_list_done(&list);
	return *ret ? NULL : set;
}

/* "BEGIN,EVENT,EVENT...END"; in static memory, until the next. */
static const char *repeated(const char *begin, const char *event, int times, const char *end)
{
	static char text[1024];
	int length = snprintf(text, sizeof(text), "%s", begin);

	for (int i = 0; i < times; i++)
		length += snprintf(text + length, sizeof(text) - (size_t)length, ",%s", event);
	snprintf(text + length, sizeof(text) - (size_t)length, "%s", end);
	return text;
}

/* Counts of a set around that many rounds. */
static void measure(struct tally_counters *set, uint64_t rounds, struct tally_count *counts)
{
	tally_counters_reset(set);
	tally_counters_enable(set);
	loop(rounds);
	tally_counters_disable(set);
	tally_counters_read(set, counts);
}

static uint64_t exact(const struct tally_count *count)
{
	uint64_t value;

	return tally_count_exact(count, &value) ? 0 : value;
}

static void test_exact(uint64_t cost)
{
	struct tally_count once[2], twice[2];
	int result;
	struct tally_counters *set = open_set("{instructions:u,cycles:u}", true, &result);
	uint64_t instructions, cycles;

	if (!set) {
		tap(false, "a group of instructions and cycles opens", "%s", strerror(-result));
		return;
	}
	measure(set, 100000, once);
	measure(set, 300000, twice);
	instructions = exact(&twice[0]) - exact(&once[0]);
	cycles = exact(&twice[1]) - exact(&once[1]);
	tap(instructions == 200000 * LOOP_INSTRUCTIONS,
	    "200,000 rounds more are 400,000 instructions more", "%llu",
	    (unsigned long long)instructions);
	tap(cycles == instructions * cost, "cycles are instructions times what one takes",
	    "%llu for %llu", (unsigned long long)cycles, (unsigned long long)instructions);
	tally_counters_close(set);
}

static void test_split(void)
{
	struct tally_count counts[3];
	int result;
	struct tally_counters *set =
	    open_set("{instructions,instructions:u,instructions:k}", true, &result);

	if (!set) {
		tap(false, "a group with modifiers opens", "%s", strerror(-result));
		return;
	}
	tally_counters_enable(set);
	loop(1000);
	for (int i = 0; i < 100; i++)
		getppid();
	tally_counters_disable(set);
	tally_counters_read(set, counts);
	tap(exact(&counts[0]) == exact(&counts[1]) + exact(&counts[2]) && exact(&counts[2]) > 1000,
	    "instructions are those of the user and those of the kernel", "%llu, %llu, %llu",
	    (unsigned long long)counts[0].raw, (unsigned long long)counts[1].raw,
	    (unsigned long long)counts[2].raw);
	tally_counters_close(set);
}

static void test_group_size(void)
{
	struct tally_count counts[MOST];
	int result, six, seven;
	struct tally_counters *set;

	set = open_set(repeated("{cycles:u", "instructions:u", 6, "}"), true, &six);
	if (set) {
		measure(set, 1000, counts);
		for (int i = 2; i < 7; i++)
			result = exact(&counts[i]) == exact(&counts[1]) ? 0 : -1;
	} else {
		result = six;
	}
	tap(!six && !result && exact(&counts[1]) >= 2000,
	    "six counters and the cycle counter are a group", "%d", result);
	tally_counters_close(set);
	set = open_set(repeated("{cycles:u", "instructions:u", 7, "}"), true, &seven);
	tap(seven == -EINVAL, "a group of one more is refused", "%d", seven);
	tally_counters_close(set);
}

static void test_multiplexing(void)
{
	struct tally_count counts[16];
	const uint64_t rounds = 400000000;
	struct tally_counters *set;
	unsigned good = 0, scaled = 0;
	double worst = 0;
	int result;

	set = open_set(repeated("instructions:u", "instructions:u", 15, ""), true, &result);
	if (!set) {
		tap(false, "16 events take turns", "%s", strerror(-result));
		return;
	}
	measure(set, rounds, counts);
	for (int i = 0; i < 16; i++) {
		uint64_t estimate = 0, none;
		double off;

		scaled += tally_count_estimate(&counts[i], &estimate) == TALLY_COUNT_SCALED &&
			  tally_count_exact(&counts[i], &none) == -EAGAIN;
		off = fabs((double)estimate / (double)(rounds * LOOP_INSTRUCTIONS) - 1);
		worst = off > worst ? off : worst;
		good += off < 0.001;
	}
	tap(scaled == 16, "16 events of 6 counters are marked as scaled", "%u", scaled);
	tap(good == 16, "scaled counts are within 0.1 % of the truth",
	    "%u are; %.3f %% off at most", good, worst * 100);
	tally_counters_close(set);
}

static void test_pinned(void)
{
	struct tally_count counts[16];
	struct tally_counters *set;
	unsigned ran = 0, failed = 0;
	int result;

	set = open_set(repeated("instructions:uD", "instructions:uD", 15, ""), true, &result);
	if (!set) {
		tap(false, "16 pinned events open", "%s", strerror(-result));
		return;
	}
	measure(set, 1000, counts);
	for (int i = 0; i < 16; i++) {
		ran += counts[i].quality == TALLY_COUNT_COUNTED;
		failed += counts[i].quality == TALLY_COUNT_PINNED_ERROR;
	}
	tap(ran == 6 && failed == 10, "of 16 pinned events 6 count and 10 are in error",
	    "%u and %u", ran, failed);
	tally_counters_close(set);
}

static void test_inherit(void)
{
	struct tally_count counts[1];
	int result;
	struct tally_counters *set = open_set("instructions:u", true, &result);
	pid_t child;

	if (!set) {
		tap(false, "an inherited event opens", "%s", strerror(-result));
		return;
	}
	tally_counters_enable(set);
	child = fork();
	if (!child) {
		loop(1000000);
		_exit(0);
	}
	waitpid(child, NULL, 0);
	tally_counters_disable(set);
	tally_counters_read(set, counts);
	tap(exact(counts) > 2000000 && exact(counts) < 2100000,
	    "a child's instructions are its parent's", "%llu", (unsigned long long)counts->raw);
	tally_counters_close(set);
}

static volatile sig_atomic_t overflows, hangups;

static void on_overflow(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	overflows++;
	hangups += info->si_code == POLL_HUP;
}

static void test_refresh(void)
{
	struct tally_attr attr = {.type = PERF_TYPE_HARDWARE,
				  .config = PERF_COUNT_HW_CPU_CYCLES,
				  .sample_period = 100000,
				  .disabled = 1,
				  .exclude_kernel = 1,
				  .exclude_hv = 1};
	const struct tally_open_target self = {.cpu = -1, .group_fd = -1};
	struct sigaction action = {.sa_sigaction = on_overflow, .sa_flags = SA_SIGINFO};
	struct tally_error error = {0};
	int fd = tally_open(&attr, &self, NULL, &error);

	attr.wakeup_events = 1;
	if (fd < 0) {
		tap(false, "cycles open for overflows", "%s", error.text);
		return;
	}
	sigaction(SIGIO, &action, NULL);
	fcntl(fd, F_SETFL, O_ASYNC | O_NONBLOCK);
	fcntl(fd, F_SETSIG, SIGIO);
	fcntl(fd, F_SETOWN, getpid());
	tally_fd_refresh(fd, 3);
	for (int i = 0; i < 20; i++) {
		loop(100000);
		getppid();
	}
	tap(overflows == 3 && hangups == 1,
	    "a refresh of 3 gives 3 signals, the last of them a hangup", "%d, %d", (int)overflows,
	    (int)hangups);
	close(fd);
}

/* Regions of known work, by reads that need no system call, and by read(2): the same counts. */
static void test_regions(bool no_rdpmc)
{
	struct tally_event_list list = {0};
	struct tally_regions_options options = {
	    .size = sizeof(options), .events = &list, .no_rdpmc = no_rdpmc};
	struct tally_regions *regions;
	struct tally_region_result result = {.size = sizeof(result)};
	struct tally_count small[1], large[1];
	struct tally_error error = {0};
	int few, many, failed;

	failed =
	    tally_event_list_parse("armv8_pmuv3/inst_retired,rdpmc=1/u", &plain, &list, &error);
	if (!failed)
		failed = tally_regions_open(&options, &regions, &error);
	if (failed) {
		tap(false, "regions open", "%s", error.text);
		return;
	}
	few = tally_region(regions, "few");
	many = tally_region(regions, "many");
	for (int i = 0; i < 10; i++) {
		tally_region_begin(regions, few);
		loop(1000);
		tally_region_end(regions, few);
		tally_region_begin(regions, many);
		loop(61000); /* as many instructions to load it as 1000 takes */
		tally_region_end(regions, many);
	}
	tap(tally_regions_direct(regions) == !no_rdpmc,
	    no_rdpmc ? "regions read by read(2)" : "regions read counters from user space", "%d",
	    tally_regions_direct(regions));
	tally_region_result(regions, few, SIZE_MAX, &result, small, NULL);
	tally_region_result(regions, many, SIZE_MAX, &result, large, NULL);
	tap(exact(large) - exact(small) == 10 * 60000 * LOOP_INSTRUCTIONS && result.calls == 10,
	    "10 regions of 60,000 rounds more are exact", "%llu, %llu",
	    (unsigned long long)small->raw, (unsigned long long)large->raw);
	tally_regions_close(regions);
	tally_event_list_done(&list);
}

int main(int argc, char **argv)
{
	uint64_t cost = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;

	test_exact(cost);
	test_split();
	test_group_size();
	test_multiplexing();
	test_pinned();
	test_inherit();
	test_refresh();
	test_regions(false);
	test_regions(true);
	return tap_failures != 0;
}
