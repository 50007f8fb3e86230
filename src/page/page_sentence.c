/* One or two sentences about what limits: how busy threads and CPUs are, what part of that is the
 * kernel's and what for, what threads wait for, and where. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include "base/cell.h"
#include "page/page_entries.h"
#include "page/page_facts.h"
#include "page/page_program.h"
#include "page/page_waits.h"

#define NS 1000000000.0

/* Parts of the time, or of the CPU time, that are worth a word. */
#define BUSY        0.85
#define LITTLE      0.3
#define TAKEN       (1 - BUSY) /* also of what threads ran */
#define KERNEL      0.4
#define WAITS       0.5
#define WORTH_TIME  0.05
#define SAMPLES_FEW 20
#define ENTRY       0.2 /* of the kernel's time, that it was entered for */
/* Of the busiest thread's time: who has less only stands by; and whom others give work, from time
 * to time. */
#define IDLE   0.02
#define SERVES 0.1

/* Of a function, by its name. */
struct named {
	uint8_t wait; /* enum page_wait */
	bool entry;   /* the kernel is entered by it */
};

struct usage {
	const struct page_tables *tables;
	struct named *named; /* by function */
	double length;       /* s */
	double *threads;     /* by thread: s on a CPU */
	double *off;         /* by thread: s blocked */
	double *entries;     /* by function that the kernel is entered by: s on a CPU */
	/* By node: the innermost function from it to the root that is one of these, or none. */
	uint32_t *entry_of, *program_of;
	double all, kernel, blocked;
	double ready;             /* s that threads could have run, but did not; 0: not known */
	double taken;             /* of these, those that others had the CPUs, at most */
	double waits[PAGE_WAITS]; /* s off CPU */
	uint32_t cpus;
	bool known; /* CPU time is known */
	uint64_t samples;
};

/* Seconds that a sample stands for; below 0: unknown. */
static double seconds_of(const struct usage *usage, const struct page_sample *sample)
{
	const struct page_event *event = &usage->tables->events[sample->event];

	if (!strcmp(usage->tables->strings.text[event->unit], "ns"))
		return (double)sample->weight / NS;
	return event->rate ? (double)sample->count / (double)event->rate : -1;
}

/* The first event of that kind that has samples; PAGE_NONE: none has. */
static uint32_t event_of(const struct page_tables *tables, enum page_event_kind kind)
{
	for (uint32_t i = 0; i < tables->event_count; i++)
		if (tables->events[i].kind == kind && tables->events[i].samples)
			return i;
	return PAGE_NONE;
}

static enum page_wait wait_of(const struct usage *usage, uint32_t node)
{
	const struct page_node *nodes = usage->tables->nodes;

	for (; node; node = nodes[node].parent)
		if (usage->named[nodes[node].function].wait != PAGE_WAIT_UNKNOWN)
			return usage->named[nodes[node].function].wait;
	return PAGE_WAIT_UNKNOWN;
}

static void look_at_names(struct usage *usage)
{
	const struct page_tables *tables = usage->tables;

	for (uint32_t i = 0; i < tables->function_count; i++) {
		const struct page_function *function = &tables->functions[i];
		const char *name = tables->strings.text[function->name];
		struct named *named = &usage->named[i];

		named->wait = (uint8_t)tally_page_wait_of(name);
		if (function->kind == PAGE_KIND_KERNEL)
			named->entry = *tally_page_entry_of(name);
	}
}

/* Callers come before callees. */
static void find_places(struct usage *usage)
{
	const struct page_tables *tables = usage->tables;

	usage->entry_of[0] = PAGE_NONE;
	for (uint32_t i = 1; i < tables->node_count; i++) {
		uint32_t number = tables->nodes[i].function;

		usage->entry_of[i] =
		    usage->named[number].entry ? number : usage->entry_of[tables->nodes[i].parent];
	}
}

static void add_up(struct usage *usage)
{
	const struct page_tables *tables = usage->tables;
	uint32_t on = event_of(tables, PAGE_EVENT_ON_CPU),
		 off = event_of(tables, PAGE_EVENT_OFF_CPU);

	usage->known = on != PAGE_NONE;
	for (uint32_t i = 0; i < tables->sample_count; i++) {
		const struct page_sample *sample = &tables->samples[i];
		const struct page_thread *thread = &tables->threads[sample->thread];
		uint32_t function = tables->nodes[sample->node].function;
		double seconds;

		/* Thread 0 of each CPU is the idle one. */
		if (function == PAGE_NONE || !thread->tid ||
		    (sample->event != on && sample->event != off))
			continue;
		seconds = seconds_of(usage, sample);
		if (seconds < 0) {
			usage->known = false;
		} else if (sample->event == off) {
			usage->off[sample->thread] += seconds;
		} else {
			usage->all += seconds;
			usage->samples += sample->count;
			usage->threads[sample->thread] += seconds;
			if (tables->functions[function].kind != PAGE_KIND_KERNEL)
				continue;
			usage->kernel += seconds;
			if (usage->entry_of[sample->node] != PAGE_NONE)
				usage->entries[usage->entry_of[sample->node]] += seconds;
		}
	}
}

/* Whether a thread that ran for such a part of the busiest one's time only stands by: those of a
 * pool wait for work most of the time, and that does not limit. */
static bool stands_by(double part, enum page_wait wait)
{
	return part < (wait == PAGE_WAIT_CONDITION || wait == PAGE_WAIT_EVENT ? SERVES : IDLE);
}

/* What threads wait for, without those that stand by as long as others work. */
static void add_waits(struct usage *usage)
{
	const struct page_tables *tables = usage->tables;
	uint32_t off = event_of(tables, PAGE_EVENT_OFF_CPU);
	double most = 0;

	for (uint32_t i = 0; i < tables->thread_count; i++)
		most = usage->threads[i] > most ? usage->threads[i] : most;
	for (uint32_t i = 0; i < tables->sample_count && off != PAGE_NONE; i++) {
		const struct page_sample *sample = &tables->samples[i];
		double seconds = seconds_of(usage, sample);
		enum page_wait wait;

		if (sample->event != off || seconds < 0 || !tables->threads[sample->thread].tid ||
		    tables->nodes[sample->node].function == PAGE_NONE)
			continue;
		wait = wait_of(usage, sample->node);
		if (most > 0 && stands_by(usage->threads[sample->thread] / most, wait))
			continue;
		usage->waits[wait] += seconds;
		usage->blocked += seconds;
	}
}

/* A thread that was neither on a CPU nor blocked waited for a CPU.  Of threads that slept from
 * before their first sample, that is not known, and little enough. */
static void add_ready(struct usage *usage)
{
	const struct page_tables *tables = usage->tables;
	bool recorded = false;

	for (uint32_t i = 0; i < tables->event_count; i++)
		recorded |= tables->events[i].kind == PAGE_EVENT_OFF_CPU;
	for (uint32_t i = 0; i < tables->thread_count && recorded && usage->known; i++) {
		const struct page_thread *thread = &tables->threads[i];
		double life = (double)(thread->last - thread->first) * PAGE_UNIT / NS;
		double ready = life - usage->threads[i] - usage->off[i];

		if (thread->tid && thread->last > thread->first && ready > 0)
			usage->ready += ready;
	}
	usage->taken = MAX(MIN(usage->ready, usage->length * usage->cpus - usage->all), 0);
}

static uint32_t largest(const double *list, uint32_t count)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < count; i++)
		if (list[i] > list[most])
			most = i;
	return most;
}

static void put_percent(struct tally_buf *to, double part)
{
	if (part < 0.0005)
		tally_buf_text(to, "less than 0.1 %");
	else
		tally_buf_printf(to, part < 0.1 ? "%.1f %%" : "%.0f %%", part * 100);
}

static void put_thread(const struct usage *usage, uint32_t thread, struct tally_buf *to)
{
	tally_buf_text(to, " (");
	tally_cell_name(to, usage->tables->strings.text[usage->tables->threads[thread].comm]);
	tally_buf_printf(to, ", %u)", usage->tables->threads[thread].tid);
}

/* How many threads have a part of the CPU time that is worth a word. */
static uint32_t count_busy(const struct usage *usage)
{
	uint32_t count = 0;

	for (uint32_t i = 0; i < usage->tables->thread_count; i++)
		count += usage->threads[i] > usage->all * WORTH_TIME;
	return count;
}

/* The name with the largest share of the CPU time, and that share. */
static void put_most(const struct usage *usage, struct tally_buf *to)
{
	const struct page_tables *tables = usage->tables;
	double *sums = calloc(tables->strings.count, sizeof(*sums));
	uint32_t most;

	if (!sums) {
		to->failed = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < tables->thread_count; i++)
		sums[tables->threads[i].comm] += usage->threads[i];
	most = largest(sums, (uint32_t)tables->strings.count);
	tally_cell_name(to, tables->strings.text[most]);
	tally_buf_text(to, " (");
	put_percent(to, usage->all > 0 ? sums[most] / usage->all : 0);
	tally_buf_byte(to, ')');
	free(sums);
}

static void put_busy(const struct usage *usage, struct tally_buf *to)
{
	double used = usage->all / usage->length;
	uint32_t most = largest(usage->threads, usage->tables->thread_count);
	double first = usage->threads[most] / usage->length;
	uint32_t busy = count_busy(usage);

	if (used > LITTLE && usage->samples < SAMPLES_FEW) {
		tally_buf_printf(to, "Only %llu sample%s", (unsigned long long)usage->samples,
				 usage->samples == 1 ? "" : "s");
		tally_buf_text(to,
			       ": too few to say what limits; a higher frequency (-F) gives more.");
	} else if (usage->cpus > 1 && used > BUSY * usage->cpus) {
		if (usage->cpus == 2)
			tally_buf_text(to, "Both CPUs are busy, most with ");
		else
			tally_buf_printf(to, "All %u CPUs are busy, most with ", usage->cpus);
		put_most(usage, to);
		tally_buf_text(to, ": more threads cannot help, less work can.");
	} else if (usage->taken > usage->all && usage->taken > usage->length * LITTLE) {
		tally_buf_text(to, "Others take the CPUs: threads ran for ");
		tally_page_put_amount(to, usage->all * NS, true);
		tally_buf_text(to, ", and waited ");
		tally_page_put_amount(to, usage->ready * NS, true);
		tally_buf_text(to, " for a CPU though they could run.");
	} else if (first > BUSY) {
		tally_buf_text(to, "One thread is busy all the time");
		put_thread(usage, most, to);
		if (used > first + LITTLE)
			tally_buf_printf(to, ", all together use %.1f of %u CPUs", used,
					 usage->cpus);
		tally_buf_text(to, ": what it does limits the whole.");
	} else if (used > BUSY && used < 2 - BUSY && busy > 1) {
		tally_buf_printf(to, "About one CPU is busy, with %u threads in turn, most with ",
				 usage->tables->thread_count);
		put_most(usage, to);
		tally_buf_text(to, ": they do not run at the same time.");
	} else if (used > LITTLE && first > used * (1 - WORTH_TIME)) {
		tally_buf_text(to, "One thread is busy ");
		put_percent(to, first);
		tally_buf_text(to, " of the time");
		put_thread(usage, most, to);
		tally_buf_byte(to, '.');
	} else if (used > LITTLE) {
		if (usage->cpus == 1)
			tally_buf_printf(to, "%.1f CPUs are busy on average, most with ", used);
		else
			tally_buf_printf(to, "%.1f of %u CPUs are busy on average, most with ",
					 used, usage->cpus);
		put_most(usage, to);
		tally_buf_byte(to, '.');
	} else {
		tally_buf_text(to, "The CPUs are little used: ");
		put_percent(to, used);
		tally_buf_text(to, " of one CPU.");
	}
}

/* Where that is not the whole sentence already. */
static void put_taken(const struct usage *usage, struct tally_buf *to)
{
	if (usage->taken < MAX(usage->length, usage->all) * TAKEN || usage->taken > usage->all)
		return;
	tally_buf_text(to, " Others take the CPUs: threads waited ");
	tally_page_put_amount(to, usage->taken * NS, true);
	tally_buf_text(to, " though they could run.");
}

/* The program's function that has most of these waits, if it has half of them. */
static void put_waiting(const struct usage *usage, enum page_wait wait, struct tally_buf *to)
{
	const struct page_tables *tables = usage->tables;
	uint32_t off = event_of(tables, PAGE_EVENT_OFF_CPU), most;
	double *sums = calloc((size_t)tables->function_count + 1, sizeof(*sums));

	if (!sums) {
		to->failed = -ENOMEM;
		return;
	}
	for (uint32_t i = 0; i < tables->sample_count; i++) {
		const struct page_sample *sample = &tables->samples[i];
		uint32_t function = usage->program_of[sample->node];

		if (sample->event == off && function != PAGE_NONE &&
		    wait_of(usage, sample->node) == wait)
			sums[function] += seconds_of(usage, sample);
	}
	most = largest(sums, tables->function_count);
	if (sums[most] > usage->waits[wait] * WAITS) {
		tally_buf_text(to, ", most in ");
		tally_cell_name(to, tables->strings.text[tables->functions[most].name]);
	}
	free(sums);
}

/* Waiting for children is what a shell does; the children are recorded, too. */
static void put_waits(const struct usage *usage, struct tally_buf *to)
{
	double waits[PAGE_WAITS], all = usage->blocked - usage->waits[PAGE_WAIT_CHILD];
	uint32_t most;

	if (usage->all > usage->length * BUSY && usage->cpus <= 1)
		return;
	memcpy(waits, usage->waits, sizeof(waits));
	waits[PAGE_WAIT_CHILD] = 0;
	most = largest(waits, PAGE_WAITS);
	/* Who waits for threads that are busy is not what limits. */
	if (most == PAGE_WAIT_CONDITION && usage->all + usage->ready > usage->length * WAITS)
		return;
	if (all < usage->length * LITTLE || all < usage->ready || waits[most] < all * WAITS ||
	    usage->all > usage->length * BUSY * usage->cpus)
		return;
	tally_buf_text(to, " Threads that are blocked wait for ");
	tally_buf_text(to, tally_page_wait_names[most]);
	tally_buf_text(to, " (");
	put_percent(to, waits[most] / all);
	tally_buf_text(to, " of the time off CPU)");
	if (most != PAGE_WAIT_UNKNOWN)
		put_waiting(usage, most, to);
	tally_buf_byte(to, '.');
}

/* System calls, page faults or interrupts that have most of the kernel's time. */
static void put_entry(const struct usage *usage, struct tally_buf *to)
{
	const struct page_tables *tables = usage->tables;
	double *sums = calloc((size_t)tables->function_count + 1, sizeof(*sums));
	uint32_t most;

	if (!sums) {
		to->failed = -ENOMEM;
		return;
	}
	/* Several functions may be one entry; the first of them has the sum. */
	for (uint32_t i = 0; i < tables->function_count; i++) {
		const char *name = tables->strings.text[tables->functions[i].name];
		uint32_t first = 0;

		if (usage->entries[i] <= 0)
			continue;
		while (first < i &&
		       (sums[first] <= 0 ||
			strcmp(tally_page_entry_of(
				   tables->strings.text[tables->functions[first].name]),
			       tally_page_entry_of(name)) != 0))
			first++;
		sums[first] += usage->entries[i];
	}
	most = largest(sums, tables->function_count);
	if (sums[most] > usage->kernel * ENTRY) {
		tally_buf_text(to, ", most for ");
		tally_cell_name(
		    to, tally_page_entry_of(tables->strings.text[tables->functions[most].name]));
		tally_buf_text(to, " (");
		put_percent(to, sums[most] / usage->kernel);
		tally_buf_byte(to, ')');
	}
	free(sums);
}

static void put_kernel(const struct usage *usage, struct tally_buf *to)
{
	/* Of a program that waits nearly all the time, that is no limit. */
	if (usage->kernel < usage->all * KERNEL || usage->all <= usage->length * WORTH_TIME ||
	    usage->samples < SAMPLES_FEW)
		return;
	tally_buf_byte(to, ' ');
	put_percent(to, usage->kernel / usage->all);
	tally_buf_text(to, " of the CPU time is the kernel's");
	put_entry(usage, to);
	tally_buf_byte(to, '.');
}

int tally_page_sentence(const struct page_tables *tables, uint32_t cpus, struct tally_buf *to)
{
	struct usage usage = {
	    .tables = tables,
	    .length = (double)(tables->end - tables->start) / NS,
	    .threads = calloc((size_t)tables->thread_count + 1, sizeof(*usage.threads)),
	    .off = calloc((size_t)tables->thread_count + 1, sizeof(*usage.off)),
	    .entries = calloc((size_t)tables->function_count + 1, sizeof(*usage.entries)),
	    .named = calloc((size_t)tables->function_count + 1, sizeof(*usage.named)),
	    .entry_of = calloc((size_t)tables->node_count + 1, sizeof(*usage.entry_of)),
	    .program_of = tally_page_program_callers(tables, PAGE_PROGRAM),
	    .cpus = cpus ? cpus : 1,
	};
	int result = usage.threads && usage.off && usage.entries && usage.named && usage.entry_of &&
			     usage.program_of
			 ? 0
			 : -ENOMEM;

	if (!result) {
		look_at_names(&usage);
		find_places(&usage);
		add_up(&usage);
		add_waits(&usage);
		add_ready(&usage);
		if (!tables->sample_count)
			tally_buf_text(to, "There are no samples: the program used too little CPU "
					   "time, or none that the event counts.");
		else if (usage.known && usage.length > 0 && usage.all > 0)
			put_busy(&usage, to);
		if (usage.known && usage.length > 0 && usage.samples >= SAMPLES_FEW)
			put_taken(&usage, to);
		if (tables->sample_count && !usage.known && usage.blocked > 0)
			tally_buf_text(to, "Almost no CPU time was used.");
		if (usage.length > 0)
			put_waits(&usage, to);
		put_kernel(&usage, to);
	}
	free(usage.threads);
	free(usage.off);
	free(usage.entries);
	free(usage.named);
	free(usage.entry_of);
	free(usage.program_of);
	return result ? result : to->failed;
}
