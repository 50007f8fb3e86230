#include "session/run_visit.h"

#include "source/piece.h"
#include "wire/sample_read.h"

#define RUN_MOST 256U

struct run {
	struct tally_resolved first;
	uint64_t from, until; /* times in [from, until) are in it */
	uint32_t count;
	uint64_t ips[RUN_MOST], periods[RUN_MOST];
	uint8_t cpumodes[RUN_MOST];
};

static int show(const struct run_visit *visit, unsigned worker, struct tally_resolver *resolver,
		struct run *run)
{
	const struct tally_sample_run facts = {
	    .first = &run->first,
	    .count = run->count,
	    .ips = run->ips,
	    .periods = run->periods,
	    .cpumodes = run->cpumodes,
	};

	run->count = 0;
	return facts.count ? visit->show(visit->context, worker, resolver, &facts) : 0;
}

/* What is known of the first holds for all. */
static int begin(struct tally_resolver *resolver, struct run *run, uint64_t time)
{
	int result = resolver_join(resolver, &run->first, time);
	const struct resolver_task *task = resolver_task(resolver, run->first.sample.tid);

	run->from = task->from > resolver->kernel_from ? task->from : resolver->kernel_from;
	run->until = task->until < resolver->kernel_until ? task->until : resolver->kernel_until;
	return result;
}

int tally_run_visit_piece(const struct run_visit *visit, const struct source_piece *piece,
			  unsigned worker, struct tally_resolver *resolver)
{
	const struct tally_session *session = visit->session;
	struct run run = {.count = 0};
	struct tally_sample *sample = &run.first.sample;
	struct tally_record record;
	size_t at = 0;
	int result = 0;

	while (result >= 0 && piece_next_sample(piece, &at, &record)) {
		int event = source_event_of(&session->source, &resolver->ids, &record);
		const struct event_fields *fields = &visit->events[event < 0 ? 0 : event];
		const uint8_t *bytes = record.bytes;
		uint64_t time;
		uint32_t pid, tid;

		if (event < 0)
			continue;
		if (!sample_holds(fields->layout, &record)) {
			resolver->damaged++;
			continue;
		}
		pid = sample_pid(fields->layout, bytes);
		tid = sample_tid(fields->layout, bytes);
		if (visit->early && !early_visit_again(visit->early, pid, tid, record.offset))
			continue;
		if (session->source.by_offset)
			time = record.offset;
		else
			time = sample_word(fields->layout, bytes, TALLY_FIXED_TIME);
		if (!run.count || run.count == RUN_MOST || sample->tid != tid ||
		    sample->pid != pid || time < run.from || time >= run.until ||
		    run.first.event != (uint32_t)event) {
			result = show(visit, worker, resolver, &run);
			if (result < 0)
				break;
			sample->pid = pid;
			sample->tid = tid;
			sample->time = time;
			sample->present = fields->want & fields->layout->sample_type;
			run.first.event = (uint32_t)event;
			run.first.offset = record.offset;
			result = begin(resolver, &run, time);
		}
		run.ips[run.count] = fields->want & PERF_SAMPLE_IP
					 ? sample_word(fields->layout, bytes, TALLY_FIXED_IP)
					 : 0;
		run.periods[run.count] =
		    fields->want & PERF_SAMPLE_PERIOD
			? sample_word(fields->layout, bytes, TALLY_FIXED_PERIOD)
			: 0;
		run.cpumodes[run.count++] = record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	}
	return result < 0 ? result : show(visit, worker, resolver, &run);
}
