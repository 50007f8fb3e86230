#include "plugin/choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"

static void free_workers(struct tally_choice *choice)
{
	for (unsigned i = 0; choice->workers && i < choice->worker_count; i++) {
		struct choice_worker *worker = &choice->workers[i];

		for (uint16_t k = 0; worker->known && k < choice->count; k++)
			free(worker->known[k].verdicts);
		for (uint16_t k = 0; worker->stacks && k < choice->count; k++)
			free(worker->stacks[k].verdicts);
		free(worker->known);
		free(worker->stacks);
		tally_resolver_free(worker->resolver);
	}
	free(choice->workers);
	choice->workers = NULL;
}

void tally_choice_free(struct tally_choice *choice)
{
	if (!choice)
		return;
	free_workers(choice);
	for (uint16_t i = 0; i < choice->count; i++)
		if (choice->tests[i].has_regex)
			regfree(&choice->tests[i].regex);
	free(choice->tests);
	tally_arena_done(&choice->arena);
	free(choice);
}

/* An event's name, with its modifiers or without: "cycles" is that of "cycles:u". */
static bool is_event(const struct choice_test *test, const struct tally_data_event *event)
{
	const char *colon = strrchr(event->name, ':');
	bool whole = tally_choice_text_holds(test, event->name, strlen(event->name)), part;

	if (!colon || event->attr.type == PERF_TYPE_TRACEPOINT)
		return whole;
	part = tally_choice_text_holds(test, event->name, (size_t)(colon - event->name));
	return test->op == CHOICE_UNEQUAL || test->op == CHOICE_NO_MATCH ? whole && part
									 : whole || part;
}

static int fit_events(struct tally_choice *choice, struct choice_test *test,
		      struct tally_data *data, struct tally_error *error)
{
	bool any = false;

	test->events = tally_arena_alloc(&choice->arena, choice->event_count + 1);
	if (!test->events)
		return -ENOMEM;
	for (size_t i = 0; i < choice->event_count; i++)
		any |= test->events[i] = is_event(test, tally_data_event(data, i));
	if (!any && test->op == CHOICE_EQUAL)
		return tally_fail(error, -EINVAL, test->value_column,
				  "this recording has no event '%s'; tally evlist lists its events",
				  test->value);
	return 0;
}

/* Whether any event records what the test asks for. */
static int check_field(const struct tally_choice *choice, const struct choice_test *test,
		       struct tally_data *data, struct tally_error *error)
{
	uint64_t want = tally_choice_want(test->field);
	const char *name = "?";

	if (test->field == CHOICE_PERIOD) /* the attr has it otherwise */
		return 0;
	for (size_t i = 0; i < choice->event_count; i++)
		if (!want || (tally_data_event(data, i)->attr.sample_type & want))
			return 0;
	for (size_t i = 0; tally_choice_name(i); i++) {
		enum choice_field field;
		enum choice_type type;

		if (tally_choice_field(tally_choice_name(i), &field, &type) &&
		    field == test->field) {
			name = tally_choice_name(i);
			break;
		}
	}
	return choice->event_count
		   ? tally_fail(error, -EINVAL, test->column,
				"no event of this recording records the %s of its samples", name)
		   : 0;
}

int tally_choice_fit(struct tally_choice *choice, struct tally_data *data,
		     struct tally_error *error)
{
	int result = 0;

	choice->event_count = tally_data_event_count(data);
	for (uint16_t i = 0; i < choice->count && !result; i++) {
		struct choice_test *test = &choice->tests[i];

		choice->hook.want |= tally_choice_want(test->field);
		if (test->field == CHOICE_TRACE)
			continue;
		result = check_field(choice, test, data, error);
		if (!result && test->field == CHOICE_EVENT)
			result = fit_events(choice, test, data, error);
	}
	if (!result)
		result = tally_choice_trace(choice, data, error);
	return result == -ENOMEM ? tally_fail(error, result, -1, "out of memory for the expression")
				 : result;
}

static bool names_what(const struct choice_test *test, enum tally_name_kind *ret)
{
	switch (test->field) {
	case CHOICE_COMM:
		*ret = TALLY_NAME_COMM;
		break;
	case CHOICE_DSO:
		*ret = TALLY_NAME_DSO;
		break;
	case CHOICE_SYM:
		*ret = TALLY_NAME_SYMBOL;
		break;
	case CHOICE_STACK:
		*ret = TALLY_NAME_STACK;
		break;
	case CHOICE_PID:
		*ret = TALLY_NAME_PID;
		break;
	case CHOICE_TID:
		*ret = TALLY_NAME_TID;
		break;
	default:
		return false;
	}
	return test->op == CHOICE_EQUAL || test->op == CHOICE_HAS;
}

void tally_choice_each_name(const struct tally_choice *choice, tally_choice_name_fn visit,
			    void *context)
{
	enum tally_name_kind kind;

	for (uint16_t i = 0; i < choice->count; i++)
		if (names_what(&choice->tests[i], &kind))
			visit(context, kind, choice->tests[i].value);
}

int tally_choice_use(struct tally_choice *choice, struct tally_session *session)
{
	free_workers(choice);
	choice->session = session;
	choice->worker_count = tally_session_threads(session) + 1;
	choice->workers = calloc(choice->worker_count, sizeof(*choice->workers));
	if (!choice->workers)
		return -ENOMEM;
	for (unsigned i = 0; i < choice->worker_count; i++) {
		choice->workers[i].known = calloc(choice->count, sizeof(*choice->workers[i].known));
		choice->workers[i].stacks =
		    calloc(choice->count, sizeof(*choice->workers[i].stacks));
		if (!choice->workers[i].known || !choice->workers[i].stacks)
			return -ENOMEM;
	}
	choice->hook.context = choice;
	choice->hook.passes = tally_choice_run;
	tally_session_set_test(session, &choice->hook);
	return 0;
}
