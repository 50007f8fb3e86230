#include "profile/sample_filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

void tally_filter_init(struct tally_filter *filter, const struct tally_session *session,
		       const struct tally_profile_options *options)
{
	*filter = (struct tally_filter){.session = session, .options = options};
}

void tally_filter_done(struct tally_filter *filter)
{
	free(filter->threads);
	free(filter->frames);
	*filter = (struct tally_filter){0};
}

static bool holds_name(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

bool tally_filter_holds(const uint32_t *numbers, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++)
		if (numbers[i] == number)
			return true;
	return false;
}

/* The place of a verdict, the array grown to hold it; NULL: out of memory. */
static uint8_t *verdict_at(uint8_t **verdicts, uint32_t *room, uint32_t number)
{
	return array_reach(verdicts, room, number, 1024, 1) ? &(*verdicts)[number] : NULL;
}

static bool holds_thread(const struct tally_filter *filter, uint32_t number)
{
	const struct tally_profile_options *options = filter->options;
	struct tally_thread thread = {.size = sizeof(thread)};

	tally_session_thread(filter->session, number, &thread);
	return (!options->pid_count ||
		tally_filter_holds(options->pids, options->pid_count, thread.pid)) &&
	       (!options->tid_count ||
		tally_filter_holds(options->tids, options->tid_count, thread.tid)) &&
	       (!options->comm_count ||
		holds_name(options->comms, options->comm_count, thread.comm));
}

int tally_filter_thread(struct tally_filter *filter, uint32_t number)
{
	uint8_t *verdict = verdict_at(&filter->threads, &filter->thread_room, number);

	if (!verdict)
		return -ENOMEM;
	if (*verdict == TALLY_VERDICT_UNKNOWN)
		*verdict = holds_thread(filter, number) ? TALLY_VERDICT_PASS : TALLY_VERDICT_FAIL;
	return *verdict == TALLY_VERDICT_PASS;
}

/* A function without a symbol is called as reports show it. */
static bool holds_function(const struct tally_profile_options *options,
			   const struct tally_frame *frame)
{
	size_t length;

	if (frame->symbol)
		return holds_name(options->symbols, options->symbol_count, frame->symbol);
	if (!frame->function || !frame->image_name)
		return false;
	length = strlen(frame->image_name);
	for (size_t i = 0; i < options->symbol_count; i++) {
		const char *name = options->symbols[i];
		char *end;

		if (!strncmp(name, frame->image_name, length) &&
		    !strncmp(name + length, "+0x", 3) &&
		    strtoull(name + length + 1, &end, 16) == frame->address && !*end)
			return true;
	}
	return false;
}

int tally_filter_frame(struct tally_filter *filter, uint32_t frame)
{
	const struct tally_profile_options *options = filter->options;
	uint8_t *verdict;

	if (!options->dso_count && !options->symbol_count && !options->symbol_part)
		return 1;
	verdict = verdict_at(&filter->frames, &filter->frame_room, frame);
	if (!verdict)
		return -ENOMEM;
	if (*verdict == TALLY_VERDICT_UNKNOWN) {
		struct tally_frame facts = tally_session_frame(filter->session, frame);
		bool pass = true;

		/* A binary may be named as reports show it or by its whole path, as in perf. */
		if (options->dso_count)
			pass = (facts.image_name &&
				holds_name(options->dsos, options->dso_count, facts.image_name)) ||
			       (facts.image_path &&
				holds_name(options->dsos, options->dso_count, facts.image_path));
		if (pass && options->symbol_count)
			pass = holds_function(options, &facts);
		if (pass && options->symbol_part)
			pass = facts.symbol && strstr(facts.symbol, options->symbol_part);
		*verdict = pass ? TALLY_VERDICT_PASS : TALLY_VERDICT_FAIL;
	}
	return *verdict == TALLY_VERDICT_PASS;
}
