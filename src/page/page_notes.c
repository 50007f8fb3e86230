/* What a reader must know before he believes the page: what is missing, why, and what to do. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "page/page_facts.h"
#include "report/cut_chains.h"
#include "report/improbable.h"
#include "report/nameless.h"
#include "session/numbers.h"

struct note {
	struct tally_buf text, remedy;
};

static int put(struct note *note, struct page_words *words)
{
	struct json *json = &words->json;
	int result = note->text.failed ? note->text.failed : note->remedy.failed;

	if (!result) {
		json_object(json);
		json_key_string(json, "text", tally_buf_str(&note->text));
		json_key_string(json, "remedy", tally_buf_str(&note->remedy));
		json_object_end(json);
		tally_buf_add(&words->lines, note->text.data, note->text.size);
		tally_buf_text(&words->lines, note->remedy.size ? ": " : "");
		tally_buf_add(&words->lines, note->remedy.data, note->remedy.size);
		tally_buf_byte(&words->lines, '\n');
	}
	tally_buf_done(&note->text);
	tally_buf_done(&note->remedy);
	*note = (struct note){0};
	return result ? result : json->to->failed ? json->to->failed : words->lines.failed;
}

static void put_share(struct tally_buf *to, uint64_t part, uint64_t whole)
{
	uint64_t share = tally_cell_share(part, whole);

	tally_buf_printf(to, "%llu.%llu %%", (unsigned long long)(share / 100),
			 (unsigned long long)(share % 100 / 10));
}

static int put_image(const struct tally_session *session, const char *event,
		     const struct nameless_image *image, uint64_t total, struct page_words *words)
{
	struct note note = {0};

	put_share(&note.text, image->period, total);
	if (image->image == UINT32_MAX) {
		tally_buf_printf(&note.text,
				 " of %s is in the kernel, whose functions have no names", event);
		tally_buf_text(&note.remedy, image->facts.why ? image->facts.why : "");
		return put(&note, words);
	}
	tally_buf_printf(&note.text, " of %s is in functions of ", event);
	tally_cell_name(&note.text, image->facts.name);
	tally_buf_text(&note.text, " that have no names");
	if (image->package)
		tally_buf_printf(&note.remedy, "install the Debian package %s", image->package);
	else if (tally_session_image_is_made(session, image->image))
		tally_nameless_advise(session, &note.remedy);
	else
		tally_cell_name(&note.remedy, image->facts.why);
	return put(&note, words);
}

/* Names that the recording has, where others are missing. */
static int put_recorded(const struct tally_session *session, struct page_words *words)
{
	size_t left = tally_session_symbols_left(session);
	struct note note = {0};

	if (!left)
		return 0;
	tally_buf_printf(&note.text, "the recording has names of %zu file%s", left,
			 left == 1 ? "" : "s");
	tally_buf_text(&note.remedy, "make the page with --recorded-symbols");
	return put(&note, words);
}

/* What the functions without names spent themselves, by binary; *ret_some: there are such. */
static int put_nameless(const struct page_facts *facts, uint32_t event, struct page_words *words,
			bool *ret_some)
{
	const struct page_tables *tables = facts->tables;
	const struct page_source *source = facts->source;
	const char *name = tables->strings.text[tables->events[source->events[event]].name];
	uint64_t *own = calloc((size_t)tables->function_count + 1, sizeof(*own));
	struct nameless nameless = {
	    .total = profile_whole(&source->worker.sums[event], facts->options->relative)};
	int result;

	if (!own)
		return -ENOMEM;
	for (uint32_t i = 0; i < tables->sample_count; i++)
		if (page_facts_have(facts, event, &tables->samples[i]) && tables->samples[i].node)
			own[tables->nodes[tables->samples[i].node].function] +=
			    tables->samples[i].weight;
	for (uint32_t i = 0; i < tables->function_count; i++)
		if (own[i]) {
			struct tally_frame frame = tally_session_frame(
			    source->session, tables->functions[i].frames[source->number]);

			tally_nameless_add(&nameless, &frame, own[i]);
		}
	free(own);
	result = tally_nameless_choose(source->session, false, &nameless);
	for (size_t i = 0; i < nameless.count && !result; i++)
		result =
		    put_image(source->session, name, &nameless.images[i], nameless.total, words);
	*ret_some |= nameless.count > 0;
	tally_nameless_done(&nameless);
	return result;
}

static int put_chains(const struct page_facts *facts, uint32_t event, struct page_words *words)
{
	const struct page_tables *tables = facts->tables;
	const struct tally_data *data = tally_session_data(facts->source->session);
	const struct tally_attr *attr = &tally_data_event(data, event)->attr;
	struct tally_chain_ends ends;
	struct cut_chains cut;
	struct note note = {0};
	int result;

	/* The calls that a processor keeps are only a part of each chain anyway. */
	if (!(attr->sample_type & PERF_SAMPLE_CALLCHAIN) ||
	    attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK || facts->options->max_stack)
		return 0;
	result = tally_page_cut_chains(facts, event, &ends);
	if (result || tally_cell_share(ends.cut, ends.all) < CUT_CHAINS_LEAST)
		return result;
	cut = tally_cut_chains(data, event);
	if (cut.few)
		return 0;
	put_share(&note.text, ends.cut, ends.all);
	tally_buf_printf(&note.text,
			 " of the call chains of %s end before the start of their thread%s%s",
			 tables->strings.text[tables->events[facts->source->events[event]].name],
			 cut.where ? ", " : "", cut.where ? cut.where : "");
	tally_buf_text(&note.remedy, cut.remedy);
	return put(&note, words);
}

static int put_improbable(const struct page_facts *facts, uint32_t event, struct page_words *words)
{
	const struct page_tables *tables = facts->tables;
	const struct page_source *source = facts->source;
	const struct tally_data *data = tally_session_data(source->session);
	const struct tally_attr *attr = &tally_data_event(data, event)->attr;
	uint64_t total = profile_whole(&source->worker.sums[event], facts->options->relative);
	uint64_t periods = 0;
	struct note note = {0};

	if (total <= IMPROBABLE_ABOVE)
		return 0;
	for (uint32_t i = 0; i < tables->sample_count; i++) {
		const struct page_sample *sample = &tables->samples[i];

		if (page_facts_have(facts, event, sample) &&
		    report_improbable(attr, sample->weight, sample->count))
			periods += sample->weight;
	}
	if (tally_cell_share(periods, total) < IMPROBABLE_LEAST)
		return 0;
	put_share(&note.text, periods, total);
	tally_buf_printf(&note.text,
			 " of %s is " IMPROBABLE_WHAT ", by a fault of the kernel or damage",
			 tables->strings.text[tables->events[source->events[event]].name]);
	tally_buf_printf(&note.remedy, "--filter 'period <= %llu' leaves them out",
			 IMPROBABLE_ABOVE);
	return put(&note, words);
}

static int put_losses(const struct tally_session_counts *counts, struct page_words *words)
{
	struct note note = {0};
	int result = 0;

	if (counts->lost) {
		put_share(&note.text, counts->lost, counts->lost + counts->samples);
		tally_buf_printf(&note.text, " of what was sampled was lost: %llu",
				 (unsigned long long)counts->lost);
		tally_cell_noun(&note.text, counts->lost, "record");
		tally_buf_text(&note.remedy,
			       "record with larger rings (-m) or a lower frequency (-F)");
		result = put(&note, words);
	}
	if (counts->throttled && !result) {
		tally_buf_printf(&note.text, "The kernel throttled sampling %llu",
				 (unsigned long long)counts->throttled);
		tally_cell_noun(&note.text, counts->throttled, "time");
		tally_buf_text(&note.remedy, "record with a lower frequency (-F), or raise "
					     "kernel.perf_event_max_sample_rate");
		result = put(&note, words);
	}
	return result;
}

static int put_filtered(const struct page_facts *facts, struct page_words *words)
{
	struct note note = {0};
	uint64_t passed = 0, all = 0;

	for (uint32_t i = 0; i < facts->source->plan.event_count; i++) {
		passed += facts->source->worker.sums[i].passed;
		all += facts->source->worker.sums[i].samples;
	}
	if (passed == all)
		return 0;
	tally_buf_printf(&note.text, "Filters chose %llu of %llu", (unsigned long long)passed,
			 (unsigned long long)all);
	tally_cell_noun(&note.text, all, "sample");
	return put(&note, words);
}

static int put_many_nameless(const struct page_facts *facts, struct page_words *words)
{
	uint32_t count = facts->tables->nameless_count;
	struct note note = {0};

	if (!count)
		return 0;
	tally_buf_printf(&note.text,
			 "%u addresses have no function name: those of a binary are one function "
			 "here, [unknown]; tally report lists each",
			 count);
	return put(&note, words);
}

int tally_page_notes(const struct page_facts *facts, struct page_words *words)
{
	int result = put_losses(tally_session_counts(facts->source->session), words);
	bool nameless = false;

	if (!result)
		result = put_filtered(facts, words);
	if (!result)
		result = put_many_nameless(facts, words);
	for (uint32_t event = 0; event < facts->source->plan.event_count && !result; event++) {
		result = put_improbable(facts, event, words);
		if (!result)
			result = put_nameless(facts, event, words, &nameless);
		if (!result)
			result = put_chains(facts, event, words);
	}
	return result || !nameless ? result : put_recorded(facts->source->session, words);
}
