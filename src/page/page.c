/* A recording as one HTML file: samples are summed by one sink, become tables, and these the page.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/page.h>
#include "annotate/place_sums.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/pool.h"
#include "base/text.h"
#include "diff/diff_state.h"
#include "page/page_code.h"
#include "page/page_difference.h"
#include "page/page_facts.h"
#include "page/page_file.h"
#include "page/page_frame.h"
#include "page/page_moments.h"
#include "page/page_program.h"
#include "page/page_tables.h"
#include "profile/profile.h"
#include "profile/sink.h"
#include "session/run.h"

static int no_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "not enough memory for the page");
}

/* The samples as sums by thread, CPU, step of time and stack: a profile that is never made to
 * rows. */
static int read_sums(struct page_source *source, const struct tally_profile_options *options,
		     bool code, struct tally_error *error)
{
	struct tally_session *session = source->session;
	int result = tally_profile_prepare(session, (struct tally_profile_options *)options,
					   &source->plan, &source->sums, error);

	if (!result && code)
		result = tally_page_code_plan(source, options, error);
	if (result)
		return result;
	if (options->max_stack)
		tally_session_unwind_most(session, options->max_stack);
	tally_session_stack_most(session, options->max_stack);
	return tally_profile_sink_run(session, &source->plan, NULL, &source->worker, error);
}

static int take_source(struct page_tables *tables, struct page_source *source,
		       struct page_samples_taken *taken)
{
	struct page_functions functions;
	struct page_stacks stacks = {0};
	int result = tally_page_functions_init(&functions, tables, source);

	if (!result)
		result = tally_page_stacks_init(&stacks, &functions);
	if (!result)
		result = tally_page_events_make(tables, source);
	if (!result)
		result = tally_page_samples_take(taken, &stacks, source);
	tally_page_stacks_done(&stacks);
	tally_page_functions_done(&functions);
	return result;
}

/* Source and assembly are found while the samples are sorted: they share nothing. */
struct parts {
	struct page_tables *tables;
	struct page_samples_taken *taken;
	const struct page_source *sources;
	size_t count;
	struct tally_error *error;
};

static int make_part(void *context, unsigned worker, size_t part)
{
	const struct parts *parts = context;
	int result = 0;

	(void)worker;
	if (!part)
		return tally_page_samples_make(parts->taken);
	for (size_t i = 0; i < parts->count && !result; i++)
		result = tally_page_code_make(parts->tables, &parts->sources[i], parts->error);
	return result;
}

static int make_tables(struct page_tables *tables, struct page_source *sources, size_t count,
		       const struct tally_diff *diff, struct tally_error *error)
{
	struct parts parts = {tables, NULL, sources, count, error};
	int result = tally_page_samples_new(tables, sources, count, &parts.taken);

	tally_page_functions_plan(tables, sources, count);
	if (!result && diff)
		result = tally_page_difference_names(tables, diff);
	for (size_t i = 0; i < count && !result; i++)
		result = take_source(tables, &sources[i], parts.taken);
	if (!result)
		result =
		    tally_pool_run(tally_session_threads(sources[0].session), 2, make_part, &parts);
	if (!result && diff)
		result = tally_page_difference_rows(tables, diff, sources);
	for (size_t i = 0; i < count && !result; i++)
		result = tally_page_moments_make(tables, &sources[i], error);
	tally_page_samples_free(parts.taken);
	tally_page_program_mark(tables);
	return result;
}

static int write_page(const struct page_facts *facts, const struct tally_page_options *page,
		      FILE *to)
{
	const struct page_tables *tables = facts->tables;
	struct page_columns columns = {.count = 0};
	struct tally_buf summary = {0}, data = {0};
	struct page_words words = {.json.to = &summary};
	int result = tally_page_summary(facts, page->title, &words);

	tally_page_tables_columns(tables, &columns);
	if (!result)
		result = tally_page_columns_write(&columns, &data);
	tally_page_columns_done(&columns);
	if (!result) {
		errno = 0;
		fwrite(tally_page_before, 1, tally_page_before_size, to);
		fputs("<script type=\"application/json\" id=\"summary\">", to);
		tally_page_put_json(&summary, to);
		fputs("</script>\n<script type=\"text/plain\" id=\"data\">\n", to);
		tally_page_put_base64(&data, to);
		fputs("</script>", to);
		fwrite(tally_page_after, 1, tally_page_after_size, to);
	}
	if (!result && page->row)
		result = tally_page_rows(tables, page);
	if (!result && page->words)
		result = tally_buf_put_escaped(&words.lines, page->words);
	tally_buf_done(&words.lines);
	tally_buf_done(&summary);
	tally_buf_done(&data);
	return result;
}

/* Whether the difference is of functions. */
static bool is_by_function(const struct tally_diff *diff)
{
	return diff->key_count == 2 && !strcmp(diff->keys[0], "dso") &&
	       !strcmp(diff->keys[1], "symbol");
}

/* What the page needs of the profile's options, whatever the caller had in mind. */
static void choose(struct tally_profile_options *options, const struct page_tables *tables,
		   const char **keys)
{
	memcpy(keys, tally_page_keys, sizeof(tally_page_keys));
	options->keys = keys;
	options->key_count = PAGE_KEYS;
	/* Samples without a matching caller are found by what this key makes. */
	if (options->exclude_other)
		keys[options->key_count++] = "parent";
	options->callchains = options->children = true;
	options->tree_least = 0;
	options->time_quantum = tables->step;
	options->by_mode = false;
}

static void source_done(struct page_source *source)
{
	tally_profile_worker_done(&source->worker);
	if (source->sums)
		tally_profile_plan_done(&source->plan);
	tally_profile_free(source->sums);
	tally_place_sink_free(source->places);
	free(source->events);
}

static int write_sources(struct page_source *sources, size_t count, const struct tally_diff *diff,
			 const struct tally_profile_options *options,
			 const struct tally_page_options *page, const char *path,
			 uint64_t *ret_size, struct tally_error *error)
{
	struct tally_page_options own = {.size = sizeof(own)};
	struct tally_profile_options taken[PAGE_SOURCES_MOST];
	const char *keys[PAGE_KEYS + 1];
	struct page_tables tables;
	struct page_file file;
	int result = tally_options_take(&own, sizeof(own), page);

	if (result)
		return tally_fail(error, result, -1,
				  "page options of another libtally than this "
				  "one: use the library that the program was "
				  "built for");
	for (size_t i = 0; i < count && !result; i++)
		result = tally_profile_options_take(&taken[i], options, error);
	if (result)
		return result;
	result = tally_page_tables_init(&tables);
	tables.several = count > 1;
	tally_page_samples_plan(&tables, sources, count);
	for (size_t i = 0; i < count && !result; i++) {
		sources[i].number = (uint32_t)i;
		choose(&taken[i], &tables, keys);
		result = read_sums(&sources[i], &taken[i], !own.no_source, error);
	}
	if (!result)
		result = make_tables(&tables, sources, count, diff, error);
	/* What follows needs little of them, and the columns need memory. */
	for (size_t i = 0; i < count; i++) {
		tally_call_sums_done(&sources[i].worker.calls);
		tally_contexts_done(&sources[i].worker.contexts);
	}
	if (!result)
		result = tally_page_file_open(&file, path, own.to, error);
	if (!result) {
		const struct page_facts facts = {sources, count, sources, &taken[0], &tables, diff};

		result = write_page(&facts, &own, file.to);
		result = tally_page_file_close(&file, result, ret_size, error);
	}
	for (size_t i = 0; i < count; i++)
		source_done(&sources[i]);
	tally_page_tables_done(&tables);
	return result == -ENOMEM ? no_memory(error) : result;
}

int tally_page_write(struct tally_session *session, const struct tally_profile_options *options,
		     const struct tally_page_options *page, const char *path, uint64_t *ret_size,
		     struct tally_error *error)
{
	struct page_source source = {.session = session};

	return write_sources(&source, 1, NULL, options, page, path, ret_size, error);
}

int tally_page_write_diff(const struct tally_diff *diff,
			  const struct tally_profile_options *options,
			  const struct tally_page_options *page, const char *path,
			  uint64_t *ret_size, struct tally_error *error)
{
	struct page_source sources[PAGE_SOURCES_MOST] = {{.number = 0}};

	if (diff->recordings != PAGE_SOURCES_MOST || !is_by_function(diff))
		return tally_fail(error, -EINVAL, -1,
				  "a page compares two recordings, by the keys dso and symbol");
	for (size_t i = 0; i < PAGE_SOURCES_MOST; i++)
		sources[i].session = diff_session(diff, i);
	return write_sources(sources, PAGE_SOURCES_MOST, diff, options, page, path, ret_size,
			     error);
}
