#include "fake_session.h"

#include <assert.h>
#include <errno.h>
#include "base/fail.h"
#include "resolve/frames.h"
#include "session/run.h"
#include "session/session_packages.h"
#include "resolve/locate.h"
#include "session/batch_sample.h"
#include "session/numbers.h"

/* Of the session that was made last. */
static struct tally_stacks stacks;
static struct stacks_numbers numbers;

void fake_session_init(struct tally_session *session)
{
	*session = (struct tally_session){.threads = 1};
	tally_stacks_done(&stacks);
	numbers = (struct stacks_numbers){0};
	assert(!tally_stacks_init(&stacks));
	session->data.event_count = 1;
	session->data.events[0].name = "cpu-clock";
	session->data.events[0].attr.sample_period = 1;
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

const struct tally_data_info *tally_data_info(const struct tally_data *data)
{
	return &data->info;
}

const char *tally_data_path(const struct tally_data *data)
{
	(void)data;
	return "fake.data";
}

struct tally_data *tally_session_data(const struct tally_session *session)
{
	return (struct tally_data *)&session->data;
}

const struct tally_session_counts *tally_session_counts(const struct tally_session *session)
{
	return &session->counts;
}

bool tally_session_sums_early(const struct tally_session *session, uint64_t fields)
{
	(void)fields;
	return session->sums_early;
}

struct tally_left_out tally_session_left_out(const struct tally_session *session, size_t event)
{
	(void)session, (void)event;
	return (struct tally_left_out){0};
}

void tally_session_stack_most(struct tally_session *session, uint32_t frames)
{
	session->stack_most = frames;
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
	struct tally_frame result = session->frames[frame];

	if (!result.function)
		result.address = result.place;
	return result;
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

bool tally_session_image_is_made(const struct tally_session *session, uint32_t image)
{
	(void)session, (void)image;
	return false;
}

bool tally_session_has_image(const struct tally_session *session, const char *name)
{
	(void)session, (void)name;
	return false;
}

size_t tally_session_symbols_left(const struct tally_session *session)
{
	(void)session;
	return 0;
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

/* Each sample is a thread of its own. */
int tally_session_thread(const struct tally_session *session, uint32_t number,
			 struct tally_thread *ret)
{
	const struct fake_sample *sample = &session->samples[number];

	ret->pid = sample->pid;
	ret->tid = sample->tid;
	ret->comm = session->strings[sample->comm];
	return 0;
}

bool tally_session_has_time(const struct tally_session *session, size_t event)
{
	return session->data.events[event].attr.sample_type & PERF_SAMPLE_TIME;
}

uint32_t tally_session_thread_comm(const struct tally_session *session, uint32_t thread)
{
	return session->samples[thread].comm;
}

const struct tally_stacks *tally_session_stacks(const struct tally_session *session)
{
	(void)session;
	return &stacks;
}

/* The stack of a sample's chain, its innermost frames when there is a limit.  0 or -ENOMEM. */
static int stack_of(struct tally_session *session, const struct fake_sample *sample, uint32_t *ret)
{
	uint32_t most = session->stack_most, frames[FAKE_DEPTH], nodes[FAKE_DEPTH] = {0};
	uint32_t depth = most && most < sample->depth ? most : sample->depth;

	for (uint32_t i = 0; i < depth; i++)
		frames[i] = (uint32_t)sample->chain[depth - 1 - i];
	*ret = 0;
	if (depth && tally_stacks_walk(&stacks, &numbers, 0, frames, depth, nodes))
		return -ENOMEM;
	if (depth)
		*ret = nodes[depth - 1];
	return 0;
}

/* The period of a sample, the attr's when it is not recorded. */
static uint64_t period_of(const struct tally_session *session, const struct fake_sample *sample)
{
	const struct tally_attr *attr = &session->data.events[sample->event].attr;

	if (attr->sample_type & PERF_SAMPLE_PERIOD)
		return sample->period;
	return attr->freq || !attr->sample_period ? 1 : attr->sample_period;
}

/* A batch of one row. */
static int give(struct tally_session *session, const struct tally_sink *sink, uint32_t number,
		const struct tally_rows_wanted *wanted)
{
	const struct fake_sample *sample = &session->samples[number];
	bool has_chain =
	    session->data.events[sample->event].attr.sample_type & PERF_SAMPLE_CALLCHAIN &&
	    sink->columns & TALLY_COLUMN_STACK;
	uint64_t ip = sample->ip ? sample->ip : sample->chain[0], offset = number * 64ULL;
	uint64_t period = period_of(session, sample);
	uint32_t stack = 0, samples = 1, cpu = UINT32_MAX;
	uint32_t frame = (uint32_t)ip;
	unsigned worker = (unsigned)(number * session->threads / session->sample_count);
	const struct tally_batch batch = {
	    .size = sizeof(batch),
	    .count = 1,
	    .event = &sample->event,
	    .time = &sample->time,
	    .cpu = &cpu,
	    .thread = &number,
	    .ip = &ip,
	    .frame = &frame,
	    .stack = &stack,
	    .period = &period,
	    .offset = &offset,
	    .samples = &samples,
	};

	if (wanted &&
	    !(frame < wanted->frame_count && wanted->frames[frame / 64] >> (frame % 64) & 1))
		return 0;
	if (session->data.events[sample->event].attr.sample_type & PERF_SAMPLE_CPU)
		cpu = sample->cpu;
	if (has_chain && stack_of(session, sample, &stack))
		return -ENOMEM;
	return sink->batch(sink->context, worker, &batch);
}

int tally_session_run_wanted(struct tally_session *session, const struct tally_sink *const *sinks,
			     size_t count, const struct tally_rows_wanted *wanted,
			     struct tally_error *error)
{
	int result = sinks[0]->begin(sinks[0]->context, session->threads);

	assert(count == 1);
	session->runs++;
	for (uint32_t i = 0; i < session->sample_count && !result; i++)
		result = give(session, sinks[0], i, wanted);
	return result ? tally_fail(error, result, -1, "out of memory") : 0;
}

void tally_session_each_left_out(const struct tally_session *session,
				 void (*visit)(void *context, const char *line), void *context)
{
	(void)session;
	(void)visit;
	(void)context;
}

/* Trees of these tests are of functions. */
bool tally_session_branch_end(const struct tally_session *session, uint32_t frame,
			      struct tally_branch_end *ret, uint32_t *ret_frame)
{
	(void)session;
	(void)ret;
	*ret_frame = frame;
	return false;
}

void tally_session_frame_placed(const struct tally_session *session, uint32_t frame,
				struct tally_frame_place *ret)
{
	(void)session;
	*ret = (struct tally_frame_place){.frame = frame};
}

int tally_session_frame_line(struct tally_session *session, uint32_t frame, uint32_t *ret)
{
	(void)session;
	(void)frame;
	*ret = 0;
	return 0;
}

int tally_session_call_source(struct tally_session *session, uint32_t frame, bool returned_to,
			      bool calls_inlined, uint32_t *ret_line, uint32_t *ret_file)
{
	(void)returned_to;
	(void)calls_inlined;
	(void)session;
	(void)frame;
	*ret_line = *ret_file = 0;
	return 0;
}

uint64_t tally_session_frame_size(const struct tally_session *session, uint32_t frame)
{
	(void)session;
	(void)frame;
	return UINT64_MAX;
}

uint64_t tally_session_frame_map_size(const struct tally_session *session, uint32_t frame)
{
	(void)session;
	(void)frame;
	return UINT64_MAX;
}

bool tally_session_places(const struct tally_session *session)
{
	(void)session;
	return false;
}

const char *tally_session_source(const struct tally_session *session, uint32_t number)
{
	(void)session;
	(void)number;
	return "";
}

/* What follows is for keys of whole samples, which no fake sample has. */
int tally_batch_sample(const struct tally_batch *batch, uint32_t row, struct tally_sample *ret)
{
	(void)batch;
	(void)row;
	(void)ret;
	return -EINVAL;
}

uint8_t tally_batch_cpumode(const struct tally_batch *batch, uint32_t row)
{
	(void)batch;
	(void)row;
	return 0;
}

uint32_t tally_batch_frame(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
			   uint64_t addr)
{
	(void)batch;
	(void)row;
	(void)cpumode;
	(void)addr;
	return 0;
}

int tally_batch_source(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
		       uint64_t addr, struct source_numbers *ret)
{
	(void)batch;
	(void)row;
	(void)cpumode;
	(void)addr;
	(void)ret;
	return -ENOMEM;
}

int tally_batch_location(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
			 uint64_t addr, struct tally_location *ret)
{
	(void)batch;
	(void)row;
	(void)cpumode;
	(void)addr;
	(void)ret;
	return -ENOMEM;
}

int tally_batch_locate(const struct tally_batch *batch, uint32_t row, uint8_t cpumode,
		       uint64_t addr, struct tally_located *ret)
{
	(void)batch;
	(void)row;
	(void)cpumode;
	(void)addr;
	(void)ret;
	return -ENOMEM;
}

struct tally_resolve_tables *tally_session_tables(struct tally_session *session)
{
	(void)session;
	return NULL;
}

int tally_session_stack(const struct tally_session *session, uint32_t number,
			struct tally_stack *ret)
{
	uint64_t node = number ? stacks_node(&stacks, number) : 0;

	(void)session;
	*ret = (struct tally_stack){.caller = (uint32_t)(node >> 32), .frame = (uint32_t)node};
	return node ? 0 : -ENOENT;
}

void tally_data_rewind(struct tally_data *data)
{
	(void)data;
}

int tally_data_next_record(struct tally_data *data, struct tally_record *ret,
			   struct tally_error *error)
{
	(void)data;
	(void)ret;
	(void)error;
	return 0;
}

int tally_data_event_of(const struct tally_data *data, const struct tally_record *record)
{
	(void)data;
	(void)record;
	return 0;
}

struct tally_block tally_data_feature(const struct tally_data *data, unsigned feature)
{
	(void)data;
	(void)feature;
	return (struct tally_block){.bytes = NULL};
}
