/* Decides samples. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "plugin/choice.h"

enum { UNKNOWN, HOLDS, FAILS }; /* UNKNOWN is 0, as what an array grows by */

static bool compare(enum choice_op op, uint64_t value, uint64_t with)
{
	switch (op) {
	case CHOICE_EQUAL:
		return value == with;
	case CHOICE_UNEQUAL:
		return value != with;
	case CHOICE_LESS:
		return value < with;
	case CHOICE_LESS_EQUAL:
		return value <= with;
	case CHOICE_GREATER:
		return value > with;
	default:
		return value >= with;
	}
}

/* Signed numbers in the order of unsigned ones. */
static uint64_t in_order(int64_t value)
{
	return (uint64_t)value ^ 1ULL << 63;
}

static bool compare_signed(enum choice_op op, int64_t value, int64_t with)
{
	return compare(op, in_order(value), in_order(with));
}

bool tally_choice_text_holds(const struct choice_test *test, const char *text, size_t length)
{
	regmatch_t part = {.rm_so = 0, .rm_eo = (regoff_t)length};
	bool equal;

	if (test->has_regex)
		return !regexec(&test->regex, text, 1, &part, REG_STARTEND) ==
		       (test->op != CHOICE_NO_MATCH);
	equal = strlen(test->value) == length && !memcmp(test->value, text, length);
	return equal == (test->op != CHOICE_UNEQUAL);
}

static bool string_holds(const struct choice_test *test, const char *text)
{
	return text && tally_choice_text_holds(test, text, strlen(text));
}

/* The place of a verdict; NULL: out of memory. */
static uint8_t *verdict_at(struct choice_known *known, uint32_t number)
{
	return array_reach(&known->verdicts, &known->room, number, 1024, 1)
		   ? &known->verdicts[number]
		   : NULL;
}

/* Kept by thread, which has one name: names themselves have numbers of any size. */
static int comm_holds(const struct tally_choice *choice, const struct choice_test *test,
		      struct choice_known *known, const struct tally_resolved *resolved)
{
	uint8_t *verdict = verdict_at(known, resolved->thread);

	if (!verdict)
		return -ENOMEM;
	if (*verdict == UNKNOWN)
		*verdict = string_holds(test, tally_session_string(choice->session, resolved->comm))
			       ? HOLDS
			       : FAILS;
	return *verdict == HOLDS;
}

/* A binary may be named by its base name or by its whole path. */
static bool dso_holds(const struct choice_test *test, const struct tally_frame *frame)
{
	bool opposite = test->op == CHOICE_UNEQUAL || test->op == CHOICE_NO_MATCH;

	if (!frame->image_path)
		return false;
	if (opposite)
		return string_holds(test, frame->image_name) &&
		       string_holds(test, frame->image_path);
	return string_holds(test, frame->image_name) || string_holds(test, frame->image_path);
}

static int frame_holds(const struct tally_choice *choice, const struct choice_test *test,
		       struct choice_known *known, uint32_t number)
{
	uint8_t *verdict = number ? verdict_at(known, number) : NULL;

	if (!verdict)
		return -ENOMEM;
	if (*verdict == UNKNOWN) {
		struct tally_frame frame = tally_session_frame(choice->session, number);
		bool holds = test->field == CHOICE_DSO ? dso_holds(test, &frame)
						       : string_holds(test, frame.symbol);

		*verdict = holds ? HOLDS : FAILS;
	}
	return *verdict == HOLDS;
}

/* Whether a word of the chain is the sampled address: the first address, in its mode. */
static bool chain_begins(const struct tally_resolved *resolved)
{
	const struct tally_sample *sample = &resolved->sample;
	uint64_t mark = resolved->cpumode == PERF_RECORD_MISC_KERNEL ? (uint64_t)PERF_CONTEXT_KERNEL
			: resolved->cpumode == PERF_RECORD_MISC_USER ? (uint64_t)PERF_CONTEXT_USER
								     : 0;

	return sample->callchain_nr > 1 && sample->callchain[0] == mark &&
	       sample->callchain[1] == sample->ip;
}

/* Whether a stack has a frame for which the test is true.  Goes to the first caller whose result is
 * known; then the results of all stacks on the way are known, too. */
static int frames_hold(struct tally_choice *choice, struct choice_worker *worker, size_t test,
		       uint32_t stack)
{
	struct choice_known *known = &worker->stacks[test];
	struct tally_stack at;
	uint8_t *verdict;
	int result = 0;

	for (uint32_t number = stack; number && !result; number = at.caller) {
		verdict = verdict_at(known, number);
		if (!verdict || tally_session_stack(choice->session, number, &at))
			return -ENOMEM;
		if (*verdict != UNKNOWN) {
			result = *verdict == HOLDS;
			break;
		}
		result = frame_holds(choice, &choice->tests[test], &worker->known[test], at.frame);
		if (result < 0)
			return result;
		*verdict = FAILS;
	}
	for (uint32_t number = stack; number && result; number = at.caller) {
		if (known->verdicts[number] == HOLDS ||
		    tally_session_stack(choice->session, number, &at))
			break;
		known->verdicts[number] = HOLDS;
		if (frame_holds(choice, &choice->tests[test], &worker->known[test], at.frame))
			break;
	}
	return result;
}

static int chain_holds(struct tally_choice *choice, struct choice_worker *worker, size_t test,
		       const struct tally_resolved *sample)
{
	uint32_t stack;
	int result;

	if (!worker->resolver)
		worker->resolver = tally_resolver_new(tally_session_tables(choice->session));
	if (!worker->resolver)
		return -ENOMEM;
	result = tally_resolver_stack(worker->resolver, sample, &stack);
	return result ? result : frames_hold(choice, worker, test, stack);
}

static int stack_holds(struct tally_choice *choice, struct choice_worker *worker, size_t test,
		       struct tally_resolver *resolver, const struct tally_resolved *sample)
{
	const struct tally_sample *fields = &sample->sample;
	int result = 0;

	if (fields->present & PERF_SAMPLE_CALLCHAIN && fields->callchain_nr)
		result = chain_holds(choice, worker, test, sample);
	if (result || !(fields->present & PERF_SAMPLE_IP) ||
	    (fields->present & PERF_SAMPLE_CALLCHAIN && !sample->unwound && chain_begins(sample)))
		return result;
	return frame_holds(choice, &choice->tests[test], &worker->known[test],
			   tally_resolver_frame(resolver, sample, sample->cpumode, fields->ip));
}

static uint64_t load(const uint8_t *at, uint32_t size, bool swapped)
{
	uint64_t value = 0;

	for (uint32_t i = 0; i < size; i++)
		value |= (uint64_t)at[swapped ? size - 1 - i : i] << (8 * i);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value = __builtin_bswap64(value) >> (64 - 8 * size);
#endif
	return value;
}

/* A tracepoint's text, which ends with a NUL or with its room. */
static bool trace_text_holds(const struct choice_test *test, const struct tally_sample *sample,
			     uint64_t offset, uint64_t length)
{
	const char *text = (const char *)sample->raw + offset;

	if (offset > sample->raw_size || length > sample->raw_size - offset)
		return false;
	return tally_choice_text_holds(test, text, strnlen(text, length));
}

static bool trace_holds(const struct tally_choice *choice, const struct choice_test *test,
			const struct tally_resolved *resolved)
{
	const struct tally_sample *sample = &resolved->sample;
	const struct choice_trace *trace = &test->trace[resolved->event];
	uint64_t value, sign;

	if (!(sample->present & PERF_SAMPLE_RAW) || trace->kind == TRACE_NONE ||
	    trace->offset > sample->raw_size || trace->size > sample->raw_size - trace->offset)
		return false;
	if (trace->kind == TRACE_ARRAY)
		return trace_text_holds(test, sample, trace->offset, trace->size);
	value = load(sample->raw + trace->offset, trace->size, choice->swapped);
	if (trace->kind == TRACE_DATA_LOC)
		return trace_text_holds(test, sample, value & 0xffff, value >> 16);
	if (trace->kind == TRACE_REL_LOC)
		return trace_text_holds(test, sample, trace->offset + 4 + (value & 0xffff),
					value >> 16);
	if (!trace->is_signed)
		return compare(test->op, value, (uint64_t)trace->number);
	sign = trace->size && trace->size <= 8 ? 1ULL << (8 * trace->size - 1) : 0;
	return compare_signed(test->op, (int64_t)((value ^ sign) - sign), trace->number);
}

static uint64_t period_of(const struct tally_choice *choice, const struct tally_resolved *sample)
{
	if (sample->sample.present & PERF_SAMPLE_PERIOD)
		return sample->sample.period;
	return tally_data_event(tally_session_data(choice->session), sample->event)
	    ->attr.sample_period;
}

/* 1, 0, -ENOMEM. */
static int holds(struct tally_choice *choice, struct choice_worker *worker, uint16_t at,
		 struct tally_resolver *resolver, const struct tally_resolved *resolved)
{
	const struct choice_test *test = &choice->tests[at];
	const struct tally_sample *sample = &resolved->sample;
	uint64_t has = sample->present;

	switch (test->field) {
	case CHOICE_COMM:
		return comm_holds(choice, test, &worker->known[at], resolved);
	case CHOICE_PID:
		return has & PERF_SAMPLE_TID &&
		       compare_signed(test->op, (int32_t)sample->pid, (int64_t)test->number);
	case CHOICE_TID:
		return has & PERF_SAMPLE_TID &&
		       compare_signed(test->op, (int32_t)sample->tid, (int64_t)test->number);
	case CHOICE_CPU:
		return has & PERF_SAMPLE_CPU &&
		       compare_signed(test->op, (int32_t)sample->cpu, (int64_t)test->number);
	case CHOICE_TIME:
		return has & PERF_SAMPLE_TIME && compare(test->op, sample->time, test->number);
	case CHOICE_EVENT:
		return test->events[resolved->event];
	case CHOICE_PERIOD:
		return compare(test->op, period_of(choice, resolved), test->number);
	case CHOICE_IP:
		return has & PERF_SAMPLE_IP && compare(test->op, sample->ip, test->number);
	case CHOICE_ADDR:
		return has & PERF_SAMPLE_ADDR && compare(test->op, sample->addr, test->number);
	case CHOICE_WEIGHT:
		return has & (PERF_SAMPLE_WEIGHT | PERF_SAMPLE_WEIGHT_STRUCT) &&
		       compare(test->op,
			       has & PERF_SAMPLE_WEIGHT ? sample->weight : (uint32_t)sample->weight,
			       test->number);
	case CHOICE_SYM:
	case CHOICE_DSO:
		if (!(has & PERF_SAMPLE_IP))
			return 0;
		return frame_holds(
		    choice, test, &worker->known[at],
		    tally_resolver_frame(resolver, resolved, resolved->cpumode, sample->ip));
	case CHOICE_STACK:
		return stack_holds(choice, worker, at, resolver, resolved);
	case CHOICE_TRACE:
		return trace_holds(choice, test, resolved);
	}
	return 0;
}

int tally_choice_run(void *context, unsigned worker, struct tally_resolver *resolver,
		     const struct tally_resolved *sample)
{
	struct tally_choice *choice = context;
	uint16_t at = choice->first;

	while (at < CHOICE_FALSE) {
		int result = holds(choice, &choice->workers[worker], at, resolver, sample);

		if (result < 0)
			return result;
		at = result ? choice->tests[at].yes : choice->tests[at].no;
	}
	return at == CHOICE_TRUE;
}
