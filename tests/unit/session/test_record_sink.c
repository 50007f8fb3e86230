/* Records at their turn: against a plain model of what perf does with its queue, on made files. */
#include "scene.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "session/filter.h"
#include "source/order.h"
#include "session/record_sink.h"
#include "session/session.h"

#define TYPE (PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD)

/* Each record has a number: a sample its ip, a COMM its thread's and OTHER; a round has 0. */
#define OTHER (1ULL << 63)
struct said {
	uint64_t *numbers;
	size_t count;
};

struct model_record {
	uint64_t time, number;
};

/* What perf does, in the plainest way: `queue` is kept in order by insertion. */
struct model {
	struct model_record *queue;
	size_t queued, at; /* of `queue`, those before `at` were delivered */
	uint64_t youngest, limit;
	struct said order;
};

static void model_init(struct model *model, size_t records)
{
	*model = (struct model){0};
	model->queue = calloc(records + 1, sizeof(*model->queue));
	model->order.numbers = calloc(records + 1, sizeof(*model->order.numbers));
	assert_non_null(model->queue);
	assert_non_null(model->order.numbers);
}

static void model_done(struct model *model)
{
	free(model->queue);
	free(model->order.numbers);
}

static void model_say(struct model *model, uint64_t number)
{
	model->order.numbers[model->order.count++] = number;
}

static void model_record(struct model *model, uint64_t time, uint64_t number)
{
	size_t at = model->queued;

	if (!time || time == UINT64_MAX) {
		model_say(model, number);
		return;
	}
	if (at == model->at || time >= model->queue[at - 1].time)
		model->youngest = time;
	for (; at > model->at && model->queue[at - 1].time > time; at--)
		model->queue[at] = model->queue[at - 1];
	model->queue[at] = (struct model_record){time, number};
	model->queued++;
}

static void model_flush(struct model *model, uint64_t limit)
{
	while (model->at < model->queued && model->queue[model->at].time <= limit)
		model_say(model, model->queue[model->at++].number);
}

static void model_round(struct model *model)
{
	model_say(model, 0);
	if (model->at == model->queued)
		return;
	if (model->limit)
		model_flush(model, model->limit);
	model->limit = model->youngest;
}

/* --- what the session makes of it --- */

struct look {
	struct said slots[64];
	struct said all;
	unsigned slot_count;
	size_t room;
	uint64_t stop_at; /* this number ends it; 0: none */
	bool records;     /* they are taken */
	bool tokens;      /* takes some samples by tokens; how many: */
	_Atomic size_t by_token;
};

/* More than a batch of short samples has. */
#define SLOT_ROOM (4 * ORDER_BATCH_RECORDS)

static int say(struct look *look, unsigned slot, uint64_t number)
{
	struct said *said = &look->slots[slot];

	assert_true(slot < look->slot_count);
	assert_true(said->count < SLOT_ROOM);
	said->numbers[said->count++] = number;
	return look->stop_at && number == look->stop_at ? -EINTR : 0;
}

/* Two of three. */
static uint64_t on_token(void *context, const struct tally_record_batch *batch, uint32_t era,
			 uint64_t addr)
{
	struct look *look = context;

	(void)era;
	assert_true(batch->slot < look->slot_count);
	return addr % 3 ? addr : 0;
}

static int on_entry(struct look *look, unsigned slot, const struct tally_entry *entry)
{
	int result = 0;

	switch (entry->kind) {
	case TALLY_ENTRY_SAMPLE:
		assert_int_equal(entry->record.type, PERF_RECORD_SAMPLE);
		return say(look, slot, entry->at->sample.ip);
	case TALLY_ENTRY_RECORD:
		assert_true(look->records);
		return say(look, slot,
			   entry->record.type == PERF_RECORD_COMM ? OTHER | entry->at->sample.tid
								  : 0);
	case TALLY_ENTRY_TOKENS:
		look->by_token += entry->token_count;
		for (size_t i = 0; i < entry->token_count && !result; i++) {
			uint64_t number = entry->tokens[i] << 1 >> 1;

			assert_int_not_equal(number % 3, 0);
			result = say(look, slot, number);
		}
	}
	return result;
}

static int on_batch(void *context, struct tally_record_batch *batch)
{
	struct tally_entry entry;
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		result = on_entry(context, batch->slot, &entry);
		if (result)
			break;
	}
	return result;
}

static int on_take(void *context, unsigned slot)
{
	struct look *look = context;
	struct said *said = &look->slots[slot];

	assert_true(look->all.count + said->count <= look->room);
	memcpy(look->all.numbers + look->all.count, said->numbers,
	       said->count * sizeof(*said->numbers));
	look->all.count += said->count;
	said->count = 0;
	return 0;
}

static int visit(struct look *look, struct tally_session *session, size_t room, bool serial,
		 bool others)
{
	const struct tally_record_sink sink = {
	    .want = PERF_SAMPLE_IP,
	    .context = look,
	    .samples = true,
	    .records = others,
	    .batch = on_batch,
	    .take = on_take,
	    .token = look->tokens ? on_token : NULL,
	};

	look->records = others;
	look->slot_count = tally_session_slots(session);
	look->room = room;
	look->all.numbers = calloc(room + 1, sizeof(*look->all.numbers));
	assert_non_null(look->all.numbers);
	assert_true(look->slot_count <= 64);
	for (unsigned i = 0; i < look->slot_count; i++) {
		look->slots[i].numbers = calloc(SLOT_ROOM, sizeof(*look->slots[i].numbers));
		assert_non_null(look->slots[i].numbers);
	}
	return tally_session_run_in_order(session, &sink, serial, NULL);
}

static void look_done(struct look *look)
{
	for (unsigned i = 0; i < look->slot_count; i++)
		free(look->slots[i].numbers);
	free(look->all.numbers);
}

static void reopen(struct scene *scene, unsigned threads)
{
	const struct tally_session_options options = {.size = sizeof(options), .threads = threads};

	if (scene->writer) {
		scene_open(scene, threads);
		return;
	}
	tally_session_free(scene->session);
	assert_int_equal(tally_session_new(scene->data, &options, &scene->session, NULL), 0);
}

static size_t worth_a_token(const struct said *order)
{
	size_t count = 0;

	for (size_t i = 0; i < order->count; i++)
		count += order->numbers[i] % 3 != 0;
	return count;
}

/* What is delivered, by any number of threads; whether time alone gave the order. */
static bool deliver(struct scene *scene, const struct said *order, bool others)
{
	static const unsigned threads[] = {1, 2, 4, 2};
	bool by_time = true;

	for (size_t i = 0; i < 8; i++) {
		struct look look = {.tokens = i >= 4 && !others};

		reopen(scene, threads[i % 4]);
		by_time &= scene->session->source.runs != NULL;
		assert_int_equal(visit(&look, scene->session, order->count, i % 4 == 3, others), 0);
		assert_int_equal(look.all.count, order->count);
		assert_memory_equal(look.all.numbers, order->numbers,
				    order->count * sizeof(*order->numbers));
		/* Where order is by time, none is looked at twice. */
		assert_int_equal(look.by_token, look.tokens && by_time ? worth_a_token(order) : 0);
		look_done(&look);
	}
	return by_time;
}

/* The file as it was written is delivered as the model says, and so are its samples alone; whether
 * their times gave the order. */
static bool expect(struct scene *scene, const struct said *order)
{
	struct said samples = {.numbers = calloc(order->count + 1, sizeof(*samples.numbers))};
	bool by_time;

	assert_non_null(samples.numbers);
	for (size_t i = 0; i < order->count; i++)
		if (order->numbers[i] && !(order->numbers[i] & OTHER))
			samples.numbers[samples.count++] = order->numbers[i];
	deliver(scene, order, true);
	by_time = deliver(scene, &samples, false);
	free(samples.numbers);
	return by_time;
}

static void add_round(struct scene *scene)
{
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_FINISHED_ROUND};

	scene_add(scene, 0, &body);
}

/* A record of a test: 's' a sample, 'c' COMM, 'r' a round.  Numbers are counted from 1, rounds too.
 */
struct step {
	char kind;
	uint64_t time;
};

/* The model on what the file holds: the writer has rounds of its own. */
static void model_file(struct model *model, struct scene *scene, bool sorts)
{
	struct tally_record record;

	tally_data_rewind(scene->data);
	while (tally_data_next_record(scene->data, &record, NULL) > 0) {
		struct tally_body body = {.size = sizeof(body)};

		assert_int_equal(tally_record_decode(&scene->layouts[0], &record, &body, NULL), 0);
		if (record.type == PERF_RECORD_SAMPLE)
			model_record(model, sorts ? body.sample.time : 0, body.sample.ip);
		else if (record.type == PERF_RECORD_COMM)
			model_record(model, sorts ? body.id.time : 0, OTHER | body.comm.tid);
		else if (record.type == PERF_RECORD_FINISHED_ROUND)
			model_round(model);
		else
			model_say(model, 0);
	}
	model_flush(model, UINT64_MAX);
}

/* `expected` (ends with ~0): what comes, rounds left out. */
static bool play(const struct step *steps, size_t count, const uint64_t *expected)
{
	struct scene scene;
	struct model model;
	size_t at = 0;
	bool by_time;

	model_init(&model, count + 8);
	scene_begin(&scene, TYPE);
	for (size_t i = 0; i < count; i++) {
		uint64_t number = i + 1, time = steps[i].time;

		if (steps[i].kind == 'r')
			add_round(&scene);
		else if (steps[i].kind == 'c')
			scene_comm(&scene, time, 5, (uint32_t)number, "name", false);
		else
			scene_sample(&scene, number % 2, time, 5, 5, number, NULL, 0);
	}
	scene_open(&scene, 1);
	model_file(&model, &scene, true);
	for (size_t i = 0; expected && i < model.order.count; i++)
		if (model.order.numbers[i])
			assert_int_equal(model.order.numbers[i] & ~OTHER, expected[at++]);
	assert_true(!expected || expected[at] == UINT64_MAX);
	by_time = expect(&scene, &model.order);
	model_done(&model);
	scene_end(&scene);
	return by_time;
}

static void rounds_deliver_what_the_round_before_saw(void **state)
{
	/* 8 is late: its time is before what was delivered. */
	static const struct step steps[] = {{'s', 30}, {'s', 10}, {'r', 0},  {'s', 20}, {'s', 40},
					    {'r', 0},  {'s', 50}, {'s', 15}, {'r', 0},  {'s', 45}};
	static const uint64_t order[] = {2, 4, 1, 8, 5, 10, 7, UINT64_MAX};

	(void)state;
	play(steps, sizeof(steps) / sizeof(*steps), order);
}

static void equal_times_keep_the_order_of_the_file(void **state)
{
	static const struct step steps[] = {{'s', 9}, {'s', 5}, {'c', 5}, {'s', 9}, {'s', 5},
					    {'c', 9}, {'s', 7}, {'s', 5}, {'s', 9}};
	static const uint64_t order[] = {2, 3, 5, 8, 7, 1, 4, 6, 9, UINT64_MAX};

	(void)state;
	play(steps, sizeof(steps) / sizeof(*steps), order);
}

static void records_without_a_time_come_where_they_stand(void **state)
{
	static const struct step steps[] = {{'s', 30}, {'c', 0}, {'s', UINT64_MAX}, {'s', 20},
					    {'r', 0},  {'c', 0}, {'s', 0},          {'s', 40},
					    {'r', 0},  {'c', 0}};
	static const uint64_t order[] = {2, 3, 6, 7, 4, 1, 10, 8, UINT64_MAX};

	(void)state;
	play(steps, sizeof(steps) / sizeof(*steps), order);
}

static void rounds_that_find_nothing_change_nothing(void **state)
{
	static const struct step steps[] = {{'r', 0},  {'r', 0},  {'s', 30}, {'r', 0}, {'r', 0},
					    {'r', 0},  {'s', 10}, {'s', 5},  {'r', 0}, {'s', 40},
					    {'s', 20}, {'r', 0},  {'s', 1}};

	(void)state;
	play(steps, sizeof(steps) / sizeof(*steps), NULL);
}

/* The same for every run. */
static uint64_t chance(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return *seed >> 33;
}

static void any_mixture_is_delivered_as_perf_does(void **state)
{
	unsigned by_time = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		uint64_t random = seed, base = 1;
		size_t count = 50 + seed * 20;
		struct step *steps = calloc(count, sizeof(*steps));

		assert_non_null(steps);
		for (size_t i = 0; i < count; i++) {
			uint64_t what = chance(&random) % 100;

			steps[i].kind = what < 6 + seed % 3 ? 'r' : what < 20 ? 'c' : 's';
			base += chance(&random) % 7;
			steps[i].time = base > 40 && chance(&random) % 3
					    ? base - chance(&random) % (seed % 3 ? 40 : 10)
					    : base + 1;
			if (what > 96 && seed % 3)
				steps[i].time = what == 97 ? 0 : what == 98 ? UINT64_MAX : 1;
		}
		by_time += play(steps, count, NULL);
		free(steps);
	}
	/* Some are late, or without a time; some are not. */
	assert_in_range(by_time, 5, 55);
}

static void without_times_all_is_in_file_order(void **state)
{
	struct scene scene;
	struct model model;

	(void)state;
	model_init(&model, 100);
	scene_begin(&scene, 0);
	for (uint32_t i = 1; i < 100; i++) {
		if (i % 7)
			scene_sample(&scene, i % 2, 100 - i, 5, 5, i, NULL, 0);
		else
			scene_comm(&scene, 0, 5, i, "name", false);
	}
	scene_open(&scene, 1);
	model_file(&model, &scene, false);
	for (uint32_t i = 1; i < 100; i++)
		assert_int_equal(model.order.numbers[i - 1] & ~OTHER, i);
	assert_false(expect(&scene, &model.order));
	model_done(&model);
	scene_end(&scene);
}

static int by_time_and_number(const void *left, const void *right)
{
	const struct model_record *a = left, *b = right;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Flushes of rings: long ones, and one whose samples are few and far between. */
static void windows_of_time_are_in_order(void **state)
{
	enum { ROUNDS = 4, SAMPLES = 60000, COUNT = ROUNDS * SAMPLES };
	struct model_record *records = calloc(COUNT, sizeof(*records));
	struct said order = {.numbers = calloc(COUNT, sizeof(*order.numbers))};
	struct scene scene;

	(void)state;
	assert_non_null(records);
	assert_non_null(order.numbers);
	scene_begin(&scene, TYPE);
	for (uint64_t round = 0, i = 0; round < ROUNDS; round++) {
		for (uint64_t ring = 0; ring < 4; ring++) {
			for (uint64_t k = 0; k < SAMPLES; k++) {
				uint64_t time = (round * SAMPLES + k) / 2 + 1;

				if ((k % 64 ? k % 3 : 3) != ring)
					continue;
				records[i] = (struct model_record){time, i + 1};
				i++;
				scene_sample(&scene, i % 2, time, 5, 5, i, NULL, 0);
			}
		}
		add_round(&scene);
	}
	scene_open(&scene, 1);
	qsort(records, COUNT, sizeof(*records), by_time_and_number);
	for (size_t i = 0; i < COUNT; i++)
		order.numbers[order.count++] = records[i].number;
	assert_true(deliver(&scene, &order, false));
	free(records);
	free(order.numbers);
	scene_end(&scene);
}

/* How many records are no samples, by an order of these alone. */
static size_t others_of(struct scene *scene, struct order_batch *batch)
{
	struct order order;
	size_t seen = 0;

	tally_order_init(&order, &scene->session->source, false, true);
	while (!tally_order_next(&order, batch) && batch->count) {
		for (size_t i = 0; i < batch->count; i++) {
			struct tally_record record;

			assert_true(
			    order_record(&scene->session->source, batch->places[i], &record));
			assert_true(record.type != PERF_RECORD_SAMPLE);
		}
		seen += batch->count;
	}
	tally_order_done(&order);
	return seen;
}

/* Many records without a round, `jitter` out of order; what the queue took, in entries. */
static size_t long_round(size_t count, uint64_t jitter, bool reversed)
{
	struct scene scene;
	struct order order;
	struct order_batch batch;
	uint64_t random = 1, last = 0, room;
	size_t seen = 0, rings = 4;

	scene_begin(&scene, TYPE);
	for (size_t i = 1; i <= count; i++) {
		uint64_t time = reversed ? count + 1 - i : i + jitter - chance(&random) % jitter;

		/* Flushes of some rings. */
		if (!reversed && jitter > 1)
			time = i / 1000 / rings * 1000 * rings + i % 1000 * rings +
			       i / 1000 % rings + 1;
		if (i % 50000 == 0)
			scene_comm(&scene, 0, 5, (uint32_t)i, "name", false);
		else
			scene_sample(&scene, i % 2, time, 5, 5, i, NULL, 0);
	}
	scene_open(&scene, 2);
	tally_order_init(&order, &scene.session->source, true, true);
	order.rounds = false; /* the writer's */
	batch.places = calloc(ORDER_BATCH_RECORDS, sizeof(*batch.places));
	assert_non_null(batch.places);
	while (!tally_order_next(&order, &batch) && batch.count) {
		for (size_t i = 0; i < batch.count; i++, seen++) {
			struct tally_record record;
			struct tally_sample sample = {.size = sizeof(sample)};

			assert_true(order_record(&scene.session->source, batch.places[i], &record));
			if (record.type != PERF_RECORD_SAMPLE) {
				/* Without times: before all that was queued. */
				assert_true(last == 0);
				continue;
			}
			assert_true(tally_sample_decode(&scene.layouts[0], &record,
							PERF_SAMPLE_TIME, &sample, NULL) >= 0);
			assert_true(sample.time >= last);
			last = sample.time;
		}
	}
	assert_int_equal(seen, tally_session_counts(scene.session)->records);
	room = order.queue.room;
	tally_order_done(&order);
	assert_int_equal(others_of(&scene, &batch),
			 tally_session_counts(scene.session)->records - count + count / 50000);
	free(batch.places);
	scene_end(&scene);
	return room;
}

static void memory_does_not_grow_with_a_file_that_is_nearly_in_order(void **state)
{
	(void)state;
	/* One run, and runs of rings: what is looked at before it is looked ahead, rounded up. */
	assert_true(long_round(600000, 1, false) <= ORDER_LOOK_AHEAD * 2);
	assert_true(long_round(600000, 2, false) <= ORDER_LOOK_AHEAD * 2);
	/* Backwards every record stands before one that precedes it. */
	assert_true(long_round(400000, 1, true) <= 1U << 19);
}

static void a_run_ends_with_what_the_sink_returns(void **state)
{
	struct scene scene;

	(void)state;
	scene_begin(&scene, TYPE);
	for (uint64_t i = 1; i <= 20000; i++)
		scene_sample(&scene, 0, i, 5, 5, i, NULL, 0);
	for (unsigned threads = 1; threads <= 4; threads++) {
		struct look look = {.stop_at = 10000};

		reopen(&scene, threads);
		assert_int_equal(visit(&look, scene.session, 20000, false, true), -EINTR);
		assert_true(look.all.count < 10000);
		look_done(&look);
	}
	scene_end(&scene);
}

/* 14.1: a filter and a test stand before any sink: an entry says what they made of its sample.
 *
 * Early the filter drops every fifth sample, late every third; the test drops every seventh.  The
 * sink leaves out every eleventh by itself.  Text is the number, with 'e' or 'l' before it. */
struct asked {
	struct tally_buf text;
	size_t early, late, seen[3], texts, records;
	bool dropped; /* the sink takes them */
};

static int on_early(void *context, struct tally_filter_call *call)
{
	struct asked *asked = context;

	asked->early++;
	tally_buf_printf(&asked->text, "e%u ", (unsigned)call->sample->sample.ip);
	return call->sample->sample.ip % 5 ? TALLY_FILTER_KEEP : TALLY_FILTER_DROP;
}

static int on_late(void *context, struct tally_filter_call *call)
{
	struct asked *asked = context;

	asked->late++;
	assert_int_not_equal(call->sample->sample.ip % 11, 0);
	tally_buf_printf(&asked->text, "l%u ", (unsigned)call->sample->sample.ip);
	return call->sample->sample.ip % 3 ? TALLY_FILTER_KEEP : TALLY_FILTER_DROP;
}

static struct tally_buf *on_text(void *context)
{
	return &((struct asked *)context)->text;
}

static int passes_test(void *context, unsigned worker, struct tally_resolver *resolver,
		       const struct tally_resolved *sample)
{
	(void)context;
	(void)worker;
	(void)resolver;
	return sample->sample.ip % 7 != 0;
}

static bool skips(void *context, const struct tally_resolved *sample)
{
	(void)context;
	return sample->sample.ip % 11 == 0;
}

static int on_asked(void *context, struct tally_record_batch *batch)
{
	struct asked *asked = context;
	struct tally_entry entry;
	char early[32], both[64];
	int result;

	while ((result = tally_record_batch_next(batch, &entry)) > 0) {
		uint64_t ip = entry.at ? entry.at->sample.ip : 0;

		if (entry.kind == TALLY_ENTRY_RECORD) {
			asked->records++;
			continue;
		}
		asked->texts += entry.size != 0;
		asked->seen[entry.dropped]++;
		if (!entry.at) {
			assert_false(asked->dropped);
			assert_int_not_equal(entry.dropped, TALLY_KEPT);
			continue;
		}
		assert_int_equal(entry.dropped, !(ip % 5)    ? TALLY_DROPPED_EARLY
						: !(ip % 3)  ? TALLY_DROPPED
						: !(ip % 7)  ? TALLY_DROPPED
						: !(ip % 11) ? TALLY_DROPPED
							     : TALLY_KEPT);
		(void)snprintf(early, sizeof(early), "e%u ", (unsigned)ip);
		(void)snprintf(both, sizeof(both), "%sl%u ", early, (unsigned)ip);
		if (!(ip % 5) || !(ip % 11))
			(void)snprintf(both, sizeof(both), "%s", early);
		assert_int_equal(entry.early, strlen(early));
		assert_int_equal(entry.size, strlen(both));
		assert_memory_equal(entry.text, both, entry.size);
	}
	return result;
}

static void an_entry_says_what_the_filter_made_of_its_sample(void **state)
{
	enum { COUNT = 1155 };
	struct asked asked = {0};
	const struct tally_sample_filter filter = {
	    .context = &asked, .early = on_early, .late = on_late, .text = on_text};
	const struct tally_sample_test test = {.want = PERF_SAMPLE_IP, .passes = passes_test};
	struct tally_record_sink sink = {
	    .context = &asked,
	    .want = PERF_SAMPLE_IP,
	    .samples = true,
	    .text = true,
	    .batch = on_asked,
	    .own = {.skips = skips},
	};
	struct scene scene;

	(void)state;
	scene_begin(&scene, TYPE);
	for (uint64_t i = 1; i <= COUNT; i++)
		scene_sample(&scene, 0, i, 5, 5, i, NULL, 0);
	scene_open(&scene, 1);
	tally_session_set_filter(scene.session, &filter);
	tally_session_set_test(scene.session, &test);
	for (unsigned i = 0; i < 2; i++) {
		asked = (struct asked){.text = asked.text, .dropped = i};
		sink.dropped = i;
		assert_int_equal(tally_session_run_in_order(scene.session, &sink, true, NULL), 0);
		assert_int_equal(asked.early, COUNT);
		assert_int_equal(asked.late, COUNT / 5 / 11 * 4 * 10);
		/* A dropped sample comes for its text, too. */
		assert_int_equal(asked.texts, COUNT);
		assert_int_equal(asked.seen[TALLY_DROPPED_EARLY], COUNT / 5);
		assert_int_equal(asked.seen[TALLY_KEPT], 4 * 2 * 6 * 10);
		assert_int_equal(asked.seen[TALLY_DROPPED], COUNT - COUNT / 5 - 4 * 2 * 6 * 10);
	}
	/* A sink of other records asks nobody about samples. */
	asked = (struct asked){.text = asked.text};
	sink.samples = sink.text = false;
	sink.records = true;
	assert_int_equal(tally_session_run_in_order(scene.session, &sink, true, NULL), 0);
	assert_int_equal(asked.early, 0);
	assert_int_equal(asked.seen[TALLY_KEPT], 0);
	assert_int_equal(asked.records, tally_session_counts(scene.session)->records - COUNT);
	tally_buf_done(&asked.text);
	scene_end(&scene);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rounds_deliver_what_the_round_before_saw),
	    cmocka_unit_test(equal_times_keep_the_order_of_the_file),
	    cmocka_unit_test(records_without_a_time_come_where_they_stand),
	    cmocka_unit_test(rounds_that_find_nothing_change_nothing),
	    cmocka_unit_test(windows_of_time_are_in_order),
	    cmocka_unit_test(any_mixture_is_delivered_as_perf_does),
	    cmocka_unit_test(without_times_all_is_in_file_order),
	    cmocka_unit_test(memory_does_not_grow_with_a_file_that_is_nearly_in_order),
	    cmocka_unit_test(a_run_ends_with_what_the_sink_returns),
	    cmocka_unit_test(an_entry_says_what_the_filter_made_of_its_sample),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
