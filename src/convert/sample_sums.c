#include "convert/sample_sums.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"
#include "profile/profile.h"
#include "profile/sink.h"
#include "session/numbers.h"
#include "session/run.h"

void tally_sample_sums_done(struct sample_sums *sums)
{
	tally_stack_table_done(&sums->stacks);
	free(sums->contexts);
	free(sums->list);
	*sums = (struct sample_sums){0};
}

/* Keys of the profile that makes the sums.  The last one has no value; it asks for frames. */
struct keys {
	const char *names[5];
	unsigned count;
	int comm, pid, tid, cpu; /* index of each; below 0: it is not one */
};

static int add_key(struct keys *keys, bool wanted, const char *name)
{
	if (!wanted)
		return -1;
	keys->names[keys->count] = name;
	return (int)keys->count++;
}

static struct keys choose_keys(unsigned apart_by)
{
	struct keys keys = {.count = 0};

	keys.comm = add_key(&keys, apart_by & SUMS_BY_COMM, "comm");
	keys.pid = add_key(&keys, apart_by & SUMS_BY_THREAD, "tgid");
	keys.tid = add_key(&keys, apart_by & SUMS_BY_THREAD, "tid");
	keys.cpu = add_key(&keys, apart_by & SUMS_BY_CPU, "cpu");
	add_key(&keys, true, "symbol");
	return keys;
}

/* A context while they are sorted. */
struct sorted_context {
	struct sum_context facts;
	uint32_t number;
};

static int by_number(uint64_t left, uint64_t right)
{
	return left < right ? -1 : left > right;
}

static int by_facts(const struct sum_context *a, const struct sum_context *b)
{
	int order = by_number(a->event, b->event);

	if (!order && a->comm && b->comm)
		order = strcmp(a->comm, b->comm);
	if (!order)
		order = by_number(a->pid, b->pid);
	if (!order)
		order = by_number(a->tid, b->tid);
	return order ? order : by_number(a->cpu, b->cpu);
}

static int by_context(const void *left, const void *right)
{
	const struct sorted_context *a = left, *b = right;
	int order = by_facts(&a->facts, &b->facts);

	return order ? order : by_number(a->number, b->number);
}

static uint32_t value_of(const uint64_t *values, int key)
{
	return key < 0 || values[key] > UINT32_MAX ? UINT32_MAX : (uint32_t)values[key];
}

/* The contexts in their order; rank_of[] is that of each of the profile's. */
static int make_contexts(struct sample_sums *sums, const struct tally_session *session,
			 const struct keys *keys, const struct tally_contexts *from,
			 uint32_t *rank_of)
{
	struct sorted_context *list = calloc(from->count + 1ULL, sizeof(*list));

	sums->contexts = calloc(from->count + 1ULL, sizeof(*sums->contexts));
	if (!list || !sums->contexts) {
		free(list);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < from->count; i++) {
		const uint64_t *values = contexts_values(from, i);

		list[i] = (struct sorted_context){
		    .facts = {.event = from->list[i].event,
			      .pid = value_of(values, keys->pid),
			      .tid = value_of(values, keys->tid),
			      .cpu = value_of(values, keys->cpu),
			      .comm = keys->comm < 0 ? NULL
						     : tally_session_string(
							   session, (uint32_t)values[keys->comm])},
		    .number = i};
	}
	qsort(list, from->count, sizeof(*list), by_context);
	for (uint32_t i = 0; i < from->count; i++) {
		/* Names that are equal may be different strings. */
		if (!i || by_facts(&list[i].facts, &list[i - 1].facts))
			sums->contexts[sums->context_count++] = list[i].facts;
		rank_of[list[i].number] = sums->context_count - 1;
	}
	free(list);
	return 0;
}

/* Sorts by context, then by node, as two counting sorts, each of which keeps the order of the one
 * before. */
static int sort_sums(struct sample_sums *sums)
{
	uint32_t nodes = sums->stacks.node_count + 1, contexts = sums->context_count + 1;
	struct sample_sum *by_node = malloc((sums->count + 1ULL) * sizeof(*by_node));
	uint32_t *counts = table_new(nodes, sizeof(*counts));
	uint32_t *starts = table_new(contexts, sizeof(*starts));
	bool complete = by_node && counts && starts;

	for (uint32_t i = 0; complete && i < sums->count; i++) {
		counts[sums->list[i].node]++;
		starts[sums->list[i].context]++;
	}
	if (complete) {
		counts_to_starts(counts, nodes);
		counts_to_starts(starts, contexts);
		for (uint32_t i = 0; i < sums->count; i++)
			by_node[counts[sums->list[i].node]++] = sums->list[i];
		for (uint32_t i = 0; i < sums->count; i++)
			sums->list[starts[by_node[i].context]++] = by_node[i];
	}
	free(by_node);
	free(counts);
	free(starts);
	return complete ? 0 : -ENOMEM;
}

/* Equal ones, which are beside each other, become one. */
static void join_equal(struct sample_sums *sums)
{
	uint32_t to = 0;

	for (uint32_t i = 0; i < sums->count; i++) {
		struct sample_sum *last = to ? &sums->list[to - 1] : NULL;

		if (last && last->context == sums->list[i].context &&
		    last->node == sums->list[i].node) {
			last->period += sums->list[i].period;
			last->samples += sums->list[i].samples;
		} else {
			sums->list[to++] = sums->list[i];
		}
	}
	sums->count = to;
}

/* As recorded, a sample of an event with call chains is where its chain says, and nowhere without
 * one. */
static uint32_t frame_of(const struct convert *convert, uint32_t event,
			 const struct tally_call_sum *call)
{
	const struct tally_attr *attr = &tally_data_event(convert->data, event)->attr;

	return convert->format->as_recorded && attr->sample_type & PERF_SAMPLE_CALLCHAIN
		   ? 0
		   : call->frame;
}

/* Takes the worker's sums, which are gone then. */
static int take_calls(struct convert *convert, struct sample_sums *sums, const uint32_t *rank_of,
		      struct tally_call_sums *calls)
{
	int result = 0;

	sums->list = calloc(calls->count + 1ULL, sizeof(*sums->list));
	if (!sums->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < calls->count && !result; i++) {
		const struct tally_call_sum *call = &calls->list[i];
		uint32_t context = rank_of[call->context];
		uint32_t event = sums->contexts[context].event;
		int64_t pair;

		if (!tally_convert_has_event(convert, event))
			continue;
		pair = tally_stack_table_add(&sums->stacks, call->stack,
					     frame_of(convert, event, call));
		if (pair < 0)
			return (int)pair;
		convert->samples += call->samples;
		sums->list[sums->count++] = (struct sample_sum){.period = call->self,
								.samples = call->samples,
								.context = context,
								.node = (uint32_t)pair};
	}
	tally_call_sums_done(calls);
	result = tally_stack_table_make(&sums->stacks);
	for (uint32_t i = 0; i < sums->count && !result; i++)
		sums->list[i].node = tally_stack_table_node(&sums->stacks, sums->list[i].node);
	tally_stack_table_drop_pairs(&sums->stacks);
	if (!result)
		result = sort_sums(sums);
	if (!result)
		join_equal(sums);
	return result;
}

static int take(struct convert *convert, const struct keys *keys, struct profile_worker *worker,
		struct sample_sums *ret)
{
	uint32_t *rank_of = calloc(worker->contexts.count + 1ULL, sizeof(*rank_of));
	int result = rank_of ? 0 : -ENOMEM;

	if (!result)
		result = make_contexts(ret, convert->session, keys, &worker->contexts, rank_of);
	if (!result)
		result = take_calls(convert, ret, rank_of, &worker->calls);
	free(rank_of);
	return result;
}

int tally_sample_sums_make(struct convert *convert, unsigned apart_by, struct sample_sums *ret)
{
	const struct keys keys = choose_keys(apart_by);
	struct tally_profile_options options = convert->filter;
	struct profile_worker worker = {0};
	struct tally_profile *profile = NULL;
	struct profile_plan plan;
	int result;

	*ret = (struct sample_sums){
	    .stacks = {.session = convert->session, .as_recorded = convert->format->as_recorded}};
	options.keys = keys.names;
	options.key_count = keys.count;
	result = tally_profile_prepare(convert->session, &options, &plan, &profile, convert->error);
	if (result)
		return result;
	if (options.max_stack)
		tally_session_unwind_most(convert->session, options.max_stack);
	tally_session_stack_most(convert->session, options.max_stack);
	result = tally_profile_sink_run(convert->session, &plan, NULL, &worker, convert->error);
	if (!result)
		result = take(convert, &keys, &worker, ret);
	tally_profile_worker_done(&worker);
	tally_profile_plan_done(&plan);
	tally_profile_free(profile);
	return result;
}
