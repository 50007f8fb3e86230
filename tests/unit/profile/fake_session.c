#include "fake_session.h"

#include <errno.h>
#include "session/moves.h"
#include "session/session_packages.h"
#include "session/thread_start.h"

void fake_session_init(struct tally_session *session)
{
	*session = (struct tally_session){.threads = 1};
	session->data.event_count = 1;
	session->data.events[0].name = "cpu-clock";
	session->data.events[0].attr.sample_type =
	    PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN;
}

size_t tally_data_event_count(const struct tally_data *data)
{
	return data->event_count;
}

const struct tally_data_event *tally_data_event(const struct tally_data *data, size_t index)
{
	return &data->events[index];
}

struct tally_data *tally_session_data(const struct tally_session *session)
{
	return (struct tally_data *)&session->data;
}

const struct tally_session_counts *tally_session_counts(const struct tally_session *session)
{
	return &session->counts;
}

bool tally_session_lumps(const struct tally_session *session, uint64_t want)
{
	return session->lumps && !(want & PERF_SAMPLE_CALLCHAIN);
}

void tally_session_unwind_most(struct tally_session *session, uint32_t frames)
{
	session->unwind_most = frames;
}

unsigned tally_session_threads(const struct tally_session *session)
{
	return session->threads;
}

const char *tally_session_string(const struct tally_session *session, uint32_t number)
{
	return session->strings[number];
}

struct tally_frame tally_session_frame(const struct tally_session *session, uint32_t frame)
{
	return session->frames[frame];
}

void tally_session_frame_ahead(const struct tally_session *session, uint32_t frame)
{
	(void)session, (void)frame;
}

uint32_t tally_session_frame_count(const struct tally_session *session)
{
	return session->frame_count;
}

void tally_session_each_missing(const struct tally_session *session, tally_missing_fn visit,
				void *context)
{
	(void)session;
	visit(context, "/usr/bin/\x1b[2Jx", "stripped");
}

bool tally_session_image_facts(const struct tally_session *session, uint32_t image,
			       struct tally_image_facts *ret)
{
	(void)session, (void)image, (void)ret;
	return false;
}

const char *tally_session_why_no_kernel(const struct tally_session *session)
{
	(void)session;
	return NULL;
}

int tally_session_symbol_packages(const struct tally_session *session, const char *const *paths,
				  size_t count, char **ret)
{
	(void)session, (void)paths, (void)count, (void)ret;
	return 0;
}

enum tally_thread_start tally_session_thread_start(const struct tally_session *session,
						   uint32_t frame)
{
	return session->frames[frame].symbol ? TALLY_START_YES : TALLY_START_NO;
}

uint32_t tally_resolver_frame(struct tally_resolver *resolver, const struct tally_resolved *sample,
			      uint8_t cpumode, uint64_t addr)
{
	(void)resolver;
	(void)sample;
	(void)cpumode;
	return (uint32_t)addr;
}

void tally_resolver_near(struct tally_resolver *resolver, const struct tally_resolved *sample,
			 uint8_t cpumode, uint64_t addr, struct tally_near_span *ret)
{
	*ret = (struct tally_near_span){.from = addr, .size = 1, .cpumode = cpumode};
	ret->era = cpumode == PERF_RECORD_MISC_KERNEL ? sample->kernel_era : sample->era;
	ret->place.place = addr;
	/* Some have to be asked for once more. */
	ret->frame =
	    addr % 3 ? tally_resolver_frame(resolver, sample, cpumode, addr) : TALLY_NEAR_NAMELESS;
}

int tally_resolver_nameless(struct tally_resolver *resolver, const struct tally_image_place *places,
			    uint32_t count, uint32_t *ret)
{
	(void)resolver;
	for (uint32_t i = 0; i < count; i++)
		ret[i] = (uint32_t)places[i].place;
	return 0;
}

int tally_resolver_chain(struct tally_resolver *resolver, const struct tally_resolved *sample,
			 struct tally_chain_frames *ret)
{
	uint32_t depth = (uint32_t)sample->sample.callchain_nr, same = 0;
	bool alike = true;

	for (uint32_t i = 0; i < depth; i++) {
		uint32_t frame = (uint32_t)sample->sample.callchain[depth - 1 - i];

		alike = alike && i < resolver->depth && resolver->last[i] == frame;
		same += alike;
		resolver->last[i] = frame;
	}
	resolver->depth = depth;
	*ret = (struct tally_chain_frames){
	    .frames = resolver->last, .count = depth, .same = same, .inlined_in = 0};
	if (depth && resolver->inlined_in)
		ret->inlined_in = resolver->inlined_in[resolver->last[depth - 1]];
	return 0;
}

/* No sample of this session reads counters. */
int tally_moves_each(struct tally_map *counters, const struct tally_data *data,
		     const struct tally_read *read, tally_move_fn each, void *context)
{
	(void)counters, (void)data, (void)read, (void)each, (void)context;
	return -EINVAL;
}

static struct tally_resolved resolved_of(const struct tally_session *session, size_t number,
					 uint64_t want)
{
	const struct fake_sample *from = &session->samples[number];
	struct tally_resolved sample = {
	    .event = from->event, .comm = from->comm, .era = 1, .offset = number * 64};

	sample.sample.present = session->data.events[from->event].attr.sample_type & want;
	sample.sample.ip = from->ip ? from->ip : from->chain[0];
	sample.sample.pid = from->pid;
	sample.sample.tid = from->tid;
	sample.sample.cpu = from->cpu;
	sample.sample.period = from->period;
	if (sample.sample.present & PERF_SAMPLE_CALLCHAIN) {
		sample.sample.callchain = from->chain;
		sample.sample.callchain_nr = from->depth;
	}
	return sample;
}

/* Shows as many as one run holds, from that sample on; *ret_count: so many were there. */
static int show_run(struct tally_session *session, const struct tally_sample_visitor *visitor,
		    struct tally_resolver *resolver, size_t number, size_t *ret_count)
{
	struct tally_resolved first = resolved_of(session, number, visitor->want);
	uint64_t ips[5], periods[5];
	uint8_t cpumodes[5];
	struct tally_sample_run run = {
	    .first = &first, .ips = ips, .periods = periods, .cpumodes = cpumodes};

	while (run.count < 5 && number + run.count < session->sample_count) {
		struct tally_resolved next =
		    resolved_of(session, number + run.count, visitor->want);

		if (next.event != first.event || next.sample.tid != first.sample.tid ||
		    next.comm != first.comm)
			break;
		ips[run.count] = next.sample.ip;
		periods[run.count] = next.sample.period;
		cpumodes[run.count++] =
		    number % 3 ? PERF_RECORD_MISC_USER : PERF_RECORD_MISC_KERNEL;
	}
	*ret_count = run.count;
	return visitor->run(visitor->context, 0, resolver, &run);
}

int tally_session_visit(struct tally_session *session, const struct tally_sample_visitor *visitor,
			struct tally_error *error)
{
	struct tally_resolver resolvers[8] = {0};
	int result = 0;
	size_t count;

	for (size_t i = 0; i < sizeof(resolvers) / sizeof(*resolvers); i++)
		resolvers[i].inlined_in = session->inlined_in;

	(void)error;
	session->visits++;
	if (session->threads > sizeof(resolvers) / sizeof(*resolvers))
		return -EINVAL;
	for (size_t i = 0; i < session->sample_count && !result; i += count) {
		unsigned worker = (unsigned)(i * session->threads / session->sample_count);
		struct tally_resolved sample = resolved_of(session, i, visitor->want);

		count = 1;
		if (session->runs && visitor->run) {
			result = show_run(session, visitor, &resolvers[0], i, &count);
			continue;
		}
		/* Of some samples only, as a session does. */
		for (unsigned stage = 0; stage < 2 && visitor->ahead && i % 5; stage++)
			visitor->ahead(visitor->context, worker, &sample, stage);
		result = visitor->visit(visitor->context, worker, &resolvers[worker], &sample);
	}
	for (unsigned worker = 0; !result && visitor->finish && worker < session->threads; worker++)
		result = visitor->finish(visitor->context, worker, &resolvers[worker]);
	return result;
}

void tally_session_each_left_out(const struct tally_session *session,
				 void (*visit)(void *context, const char *line), void *context)
{
	(void)session;
	(void)visit;
	(void)context;
}
