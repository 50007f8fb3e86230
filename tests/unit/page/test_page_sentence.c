/* What a page says of what limits: one case for each rule.  A recording takes a second, and a
 * sample stands for some milliseconds of a thread at its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "page/page_facts.h"
#include "page/page_program.h"

#define SECOND 1000000000ULL

enum { ON, OFF };

/* Milliseconds of a thread: on a CPU, or blocked, in a function of a program or (k) the kernel. */
struct part {
	uint32_t tid;
	uint8_t event;
	uint32_t ms;
	const char *function;
};

#define PARTS_MOST 8

struct known_sentence {
	uint32_t cpus;
	struct part parts[PARTS_MOST]; /* the last ones have no function */
	const char *expected;
};

static void add_thread(struct page_tables *tables, uint32_t tid)
{
	char comm[16];

	snprintf(comm, sizeof(comm), "t%u", tid);
	tables->threads[tables->thread_count++] =
	    (struct page_thread){.pid = tid,
				 .tid = tid,
				 .comm = (uint32_t)tally_page_string(tables, comm),
				 .last = SECOND / PAGE_UNIT};
}

/* One sample a millisecond, but of waits, which are one. */
static void add_part(struct page_tables *tables, const struct part *part)
{
	bool kernel = !strncmp(part->function, "k:", 2);
	uint32_t at = tables->sample_count, thread = 0;

	while (thread < tables->thread_count && tables->threads[thread].tid != part->tid)
		thread++;
	if (thread == tables->thread_count)
		add_thread(tables, part->tid);
	tables->functions[at] = (struct page_function){
	    .name = (uint32_t)tally_page_string(tables, part->function + (kernel ? 2 : 0)),
	    .kind = kernel ? PAGE_KIND_KERNEL : PAGE_KIND_USER};
	tables->nodes[at + 1] = (struct page_node){.parent = 0, .function = at};
	tables->samples[at] = (struct page_sample){.thread = thread,
						   .event = part->event,
						   .node = at + 1,
						   .weight = part->ms * (SECOND / 1000),
						   .count = part->event == OFF ? 1 : part->ms};
	tables->events[part->event].samples += tables->samples[at].count;
	tables->function_count = ++tables->sample_count;
	tables->node_count = at + 2;
}

static void expect(const struct known_sentence *known)
{
	struct page_function functions[PARTS_MOST];
	struct page_node nodes[PARTS_MOST + 1] = {{.parent = PAGE_NONE, .function = PAGE_NONE}};
	struct page_thread threads[PARTS_MOST];
	struct page_sample samples[PARTS_MOST];
	struct page_event events[2] = {
	    [ON] = {.kind = PAGE_EVENT_ON_CPU}, [OFF] = {.kind = PAGE_EVENT_OFF_CPU}};
	struct page_tables tables = {.functions = functions,
				     .nodes = nodes,
				     .threads = threads,
				     .samples = samples,
				     .events = events,
				     .node_count = 1};
	struct tally_buf text = {0};
	bool blocked = false;

	tables.start = SECOND;
	tables.end = 2 * SECOND;
	assert_int_equal(tally_page_string(&tables, ""), 0);
	events[ON].unit = events[OFF].unit = (uint32_t)tally_page_string(&tables, "ns");
	for (size_t i = 0; i < PARTS_MOST && known->parts[i].function; i++) {
		add_part(&tables, &known->parts[i]);
		blocked |= known->parts[i].event == OFF;
	}
	/* Without that event nothing is known of threads that wait for a CPU. */
	tables.event_count = blocked ? 2 : 1;
	tally_page_program_mark(&tables);
	assert_int_equal(tally_page_sentence(&tables, known->cpus, &text), 0);
	assert_string_equal(tally_buf_str(&text), known->expected);
	tally_buf_done(&text);
	tally_strings_done(&tables.strings);
}

static void each_rule_has_its_sentence(void **state)
{
	static const struct known_sentence known[] = {
	    {4,
	     {{0}},
	     "There are no samples: the program used too little CPU time, or none that the event "
	     "counts."},
	    {1,
	     {{1, ON, 990, "f"}},
	     "One thread is busy all the time (t1, 1): what it does limits the whole."},
	    {4,
	     {{1, ON, 990, "f"}, {2, ON, 500, "f"}},
	     "One thread is busy all the time (t1, 1), all together use 1.5 of 4 CPUs: what it "
	     "does limits the whole."},
	    {4, {{1, ON, 18, "f"}}, "The CPUs are little used: 1.8 % of one CPU."},
	    {1, {{1, ON, 500, "f"}}, "One thread is busy 50 % of the time (t1, 1)."},
	    /* Of many short processes none has much, and the largest is not the limit. */
	    {4,
	     {{1, ON, 60, "f"},
	      {2, ON, 50, "f"},
	      {3, ON, 50, "f"},
	      {4, ON, 50, "f"},
	      {5, ON, 50, "f"},
	      {6, ON, 50, "f"}},
	     "0.3 of 4 CPUs are busy on average, most with t1 (19 %)."},
	    {4,
	     {{1, ON, 500, "f"}, {2, ON, 400, "f"}},
	     "About one CPU is busy, with 2 threads in turn, most with t1 (56 %): they do not run "
	     "at the same time."},
	    {8,
	     {{1, ON, 700, "f"}, {2, ON, 700, "f"}, {3, ON, 600, "f"}},
	     "2.0 of 8 CPUs are busy on average, most with t1 (35 %)."},
	    {2,
	     {{1, ON, 950, "f"}, {2, ON, 900, "f"}},
	     "Both CPUs are busy, most with t1 (51 %): more threads cannot help, less work can."},
	    /* Neither on a CPU nor blocked. */
	    {2,
	     {{1, ON, 350, "f"}, {1, OFF, 10, "f"}},
	     "Others take the CPUs: threads ran for 350 ms, and waited 640 ms for a CPU though "
	     "they could run."},
	    {2,
	     {{1, ON, 550, "f"}, {1, OFF, 10, "f"}},
	     "One thread is busy 55 % of the time (t1, 1). Others take the CPUs: "
	     "threads waited 440 ms though they could run."},
	    {2,
	     {{1, ON, 800, "f"}, {1, OFF, 30, "f"}},
	     "One thread is busy 80 % of the time (t1, 1). Others take the CPUs: "
	     "threads waited 170 ms though they could run."},
	    {2,
	     {{1, ON, 800, "f"}, {1, OFF, 60, "f"}},
	     "One thread is busy 80 % of the time (t1, 1)."},
	    /* More threads than CPUs wait for each other: others had no more than what is left. */
	    {2,
	     {{1, ON, 410, "f"},
	      {2, ON, 410, "f"},
	      {3, ON, 410, "f"},
	      {4, ON, 410, "f"},
	      {4, OFF, 1, "f"}},
	     "1.6 of 2 CPUs are busy on average, most with t1 (25 %). Others take the CPUs: "
	     "threads waited 360 ms though they could run."},
	    /* What threads wait for, if it is most of the time. */
	    {4,
	     {{1, ON, 100, "f"}, {1, OFF, 900, "pthread_mutex_lock"}},
	     "The CPUs are little used: 10 % of one CPU. Threads that are blocked wait for locks "
	     "(100 % of the time off CPU)."},
	    {4,
	     {{1, ON, 100, "f"}, {1, OFF, 600, "read"}, {1, OFF, 300, "f"}},
	     "The CPUs are little used: 10 % of one CPU. Threads that are blocked wait for files "
	     "and pipes (67 % of the time off CPU)."},
	    {4,
	     {{1, OFF, 1000, "clock_nanosleep"}},
	     "Almost no CPU time was used. Threads that are blocked wait for timers (sleep) (100 % "
	     "of the time off CPU)."},
	    /* A shell waits for its children, and a thread for one that is busy: that does not
	       limit. */
	    {4,
	     {{1, OFF, 1000, "wait4"}, {2, ON, 100, "f"}, {2, OFF, 900, "f"}},
	     "The CPUs are little used: 10 % of one CPU. Threads that are blocked wait for unknown "
	     "reasons (100 % of the time off CPU)."},
	    {4,
	     {{1, OFF, 1000, "pthread_join"}, {2, ON, 990, "f"}},
	     "One thread is busy all the time (t2, 2): what it does limits the whole."},
	    /* The kernel's part, and not of a program that waits nearly all the time. */
	    {1,
	     {{1, ON, 300, "f"}, {1, ON, 600, "k:__x64_sys_write"}, {1, ON, 90, "k:clear_page"}},
	     "One thread is busy all the time (t1, 1): what it does limits the whole. 70 % of the "
	     "CPU time is the kernel's, most for write (87 %)."},
	    {4,
	     {{1, ON, 100, "f"},
	      {1, ON, 90, "k:finish_task_switch.isra.0"},
	      {1, ON, 10, "k:exc_page_fault"}},
	     "The CPUs are little used: 20 % of one CPU. 50 % of the CPU time is the kernel's."},
	    /* Threads that stand by do not count, and few samples say nothing of the kernel. */
	    {4,
	     {{1, ON, 100, "f"}, {1, OFF, 900, "epoll_wait"}, {2, OFF, 1000, "pthread_cond_wait"}},
	     "The CPUs are little used: 10 % of one CPU. Threads that are blocked wait for input "
	     "or "
	     "events (100 % of the time off CPU)."},
	    {4,
	     {{1, ON, 400, "f"},
	      {1, OFF, 600, "epoll_wait"},
	      {2, ON, 30, "f"},
	      {2, OFF, 970, "pthread_cond_wait"},
	      {3, ON, 30, "f"},
	      {3, OFF, 970, "pthread_cond_wait"}},
	     "0.5 of 4 CPUs are busy on average, most with t1 (87 %). Threads that are blocked "
	     "wait for input or events (100 % of the time off CPU)."},
	    {4,
	     {{1, ON, 400, "f"},
	      {1, OFF, 600, "f"},
	      {2, ON, 30, "f"},
	      {2, OFF, 970, "pthread_mutex_lock"}},
	     "0.4 of 4 CPUs are busy on average, most with t1 (93 %). Threads that are blocked "
	     "wait for locks (62 % of the time off CPU)."},
	    {4, {{1, ON, 19, "k:__x64_sys_write"}}, "The CPUs are little used: 1.9 % of one CPU."},
	    {4, {{1, ON, 30, "k:clear_page"}}, "The CPUs are little used: 3.0 % of one CPU."},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		expect(&known[i]);
}

/* A thread that waits in a library is in the program's function that called it. */
static void waits_are_the_programs(void **state)
{
	struct page_function functions[3] = {{.image = 0}, {.image = 1}, {.image = 1}};
	struct page_image images[2] = {{0}, {0}};
	struct page_node nodes[] = {{.parent = PAGE_NONE, .function = PAGE_NONE},
				    {.parent = 0, .function = 0},
				    {.parent = 1, .function = 1},
				    {.parent = 2, .function = 2}};
	struct page_thread thread = {.pid = 1, .tid = 1, .last = SECOND / PAGE_UNIT};
	struct page_sample samples[] = {
	    {.node = 1, .event = ON, .weight = SECOND / 10, .count = 100},
	    {.node = 3, .event = OFF, .weight = SECOND / 10 * 9, .count = 1}};
	struct page_event events[2] = {[ON] = {.kind = PAGE_EVENT_ON_CPU, .samples = 100},
				       [OFF] = {.kind = PAGE_EVENT_OFF_CPU, .samples = 1}};
	struct page_tables tables = {.functions = functions,
				     .images = images,
				     .nodes = nodes,
				     .threads = &thread,
				     .samples = samples,
				     .events = events,
				     .image_count = 2,
				     .function_count = 3,
				     .node_count = 4,
				     .thread_count = 1,
				     .sample_count = 2,
				     .event_count = 2,
				     .end = SECOND};
	struct tally_buf text = {0};

	(void)state;
	assert_int_equal(tally_page_string(&tables, ""), 0);
	events[ON].unit = events[OFF].unit = (uint32_t)tally_page_string(&tables, "ns");
	images[0].name = (uint32_t)tally_page_string(&tables, "app");
	images[1].name = (uint32_t)tally_page_string(&tables, "libc.so.6");
	functions[0].name = (uint32_t)tally_page_string(&tables, "handle");
	functions[1].name = (uint32_t)tally_page_string(&tables, "outer");
	functions[2].name = (uint32_t)tally_page_string(&tables, "__lll_lock_wait");
	tally_page_program_mark(&tables);
	assert_int_equal(tally_page_sentence(&tables, 4, &text), 0);
	assert_string_equal(tally_buf_str(&text),
			    "The CPUs are little used: 10 % of one CPU. Threads that are blocked "
			    "wait for locks (100 % of the time off CPU), most in handle.");
	tally_buf_done(&text);
	tally_strings_done(&tables.strings);
}

static void few_samples_say_little(void **state)
{
	struct page_function function = {.name = 0};
	struct page_node nodes[] = {{.parent = PAGE_NONE, .function = PAGE_NONE}, {.function = 0}};
	struct page_thread thread = {.pid = 1, .tid = 1, .last = SECOND / PAGE_UNIT};
	struct page_sample sample = {.node = 1, .weight = SECOND / 2, .count = 5};
	struct page_event event = {.kind = PAGE_EVENT_ON_CPU, .samples = 5};
	struct page_tables tables = {.functions = &function,
				     .nodes = nodes,
				     .threads = &thread,
				     .samples = &sample,
				     .events = &event,
				     .function_count = 1,
				     .node_count = 2,
				     .thread_count = 1,
				     .sample_count = 1,
				     .event_count = 1,
				     .end = SECOND};
	struct tally_buf text = {0};

	(void)state;
	assert_int_equal(tally_page_string(&tables, ""), 0);
	event.unit = (uint32_t)tally_page_string(&tables, "ns");
	assert_int_equal(tally_page_sentence(&tables, 4, &text), 0);
	assert_string_equal(
	    tally_buf_str(&text),
	    "Only 5 samples: too few to say what limits; a higher frequency (-F) gives more.");
	tally_buf_done(&text);
	sample.count = 1;
	event.samples = 1;
	assert_int_equal(tally_page_sentence(&tables, 4, &text), 0);
	assert_string_equal(
	    tally_buf_str(&text),
	    "Only 1 sample: too few to say what limits; a higher frequency (-F) gives more.");
	tally_buf_done(&text);
	sample.count = 5;
	event.samples = 5;

	/* Cycles are no time, but so many samples were asked for in a second of CPU time. */
	text = (struct tally_buf){0};
	event.unit = (uint32_t)tally_page_string(&tables, "cycles");
	event.rate = 1000;
	sample.count = 990;
	assert_int_equal(tally_page_sentence(&tables, 1, &text), 0);
	assert_string_equal(
	    tally_buf_str(&text),
	    "One thread is busy all the time (, 1): what it does limits the whole.");
	tally_buf_done(&text);

	text = (struct tally_buf){0};
	event.rate = 0;
	assert_int_equal(tally_page_sentence(&tables, 1, &text), 0);
	assert_string_equal(tally_buf_str(&text), "");
	tally_buf_done(&text);
	tally_strings_done(&tables.strings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_rule_has_its_sentence),
	    cmocka_unit_test(few_samples_say_little),
	    cmocka_unit_test(waits_are_the_programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
