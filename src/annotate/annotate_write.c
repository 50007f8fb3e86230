/* Which functions are written, in which views. */
#include <errno.h>
#include <string.h>
#include "annotate/annotate_text.h"
#include "base/cell.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "session/session.h"

struct writing {
	const struct tally_annotation *annotation;
	const struct tally_annotation_text *options;
	struct annotate_views views;
	struct source_lines sources;
	struct tally_buf text;
	struct json json;
	size_t written;
	FILE *to;
};

/* Writes what was made so far. */
static int flush(struct writing *writing)
{
	struct tally_buf *text = &writing->text;

	if (text->failed)
		return -ENOMEM;
	if (text->size && fwrite(text->data, 1, text->size, writing->to) != text->size)
		return errno ? -errno : -EIO;
	tally_buf_clear(text);
	return 0;
}

static void put_views(struct writing *writing, struct annotate_text *text, const char *why)
{
	size_t first = 0;

	for (size_t i = 0; i < writing->views.count; first = writing->views.ends[i++]) {
		text->view.events = writing->views.events + first;
		text->view.count = writing->views.ends[i] - first;
		if (!tally_annotate_view_samples(&text->view))
			continue;
		if (writing->written++)
			tally_buf_byte(text->to, '\n');
		if (why)
			tally_annotate_text_missing(&text->view, why, text->to);
		else if (writing->options->hot)
			tally_annotate_text_hot(text);
		else
			tally_annotate_text_listing(text);
	}
}

static int put(struct writing *writing, const struct annotated *function,
	       const struct tally_listing *listing, const char *why)
{
	struct annotate_text text = {
	    .view = {.annotation = writing->annotation,
		     .options = writing->options,
		     .function = function},
	    .listing = listing,
	    .sources = &writing->sources,
	    .to = &writing->text,
	};
	struct line_sums lines = {0};

	if (listing && tally_line_sums_make(listing, &lines))
		return -ENOMEM;
	text.lines = listing ? &lines : NULL;
	if (writing->options->json)
		tally_annotate_json_function(&text, why, &writing->json);
	else
		put_views(writing, &text, why);
	tally_line_sums_done(&lines);
	return flush(writing);
}

static int put_function(struct writing *writing, const struct annotated *function,
			struct tally_error *error)
{
	const struct tally_annotation_text *options = writing->options;
	struct tally_listing *listing = NULL;
	struct tally_error why = {0};
	int result =
	    tally_listing_make(writing->annotation, function, options->intel, &listing, &why);

	if (!result)
		result = put(writing, function, listing, NULL);
	else if (result == -ENOENT || result == -ENOTSUP) {
		result = options->skip_missing ? 0 : put(writing, function, NULL, why.text);
	} else if (error) {
		*error = why;
	}
	tally_listing_free(listing);
	return result;
}

/* Whether the function has the least share of some event; if functions or binaries were named, of
 * these functions' part of it, so that the limit does not hide the one that was asked for. */
static bool is_large(const struct tally_annotation *annotation, const struct annotated *function,
		     double limit)
{
	bool large = !annotation->named && function->share * 100 >= limit;

	for (size_t event = 0; annotation->named && event < annotation->event_count && !large;
	     event++) {
		uint64_t total = 0;

		for (size_t i = 0; i < annotation->function_count; i++)
			total += annotation->functions[i].periods[event];
		large = total && (double)function->periods[event] * 100 >= limit * (double)total;
	}
	return large;
}

static int put_functions(struct writing *writing, struct tally_error *error)
{
	const struct tally_annotation *annotation = writing->annotation;
	const struct tally_annotation_text *options = writing->options;
	size_t most = options->functions ? options->functions : SIZE_MAX, shown = 0;
	int result = 0;

	for (; shown < annotation->function_count && shown < most && !result; shown++) {
		const struct annotated *function = &annotation->functions[shown];

		if (!is_large(annotation, function, options->percent_limit)) {
			if (annotation->named)
				continue; /* they are sorted by their share of all samples */
			break;
		}
		result = put_function(writing, function, error);
	}
	if (!result && !options->json && !options->quiet && shown < annotation->function_count &&
	    shown) {
		size_t left = annotation->function_count - shown;

		tally_buf_printf(&writing->text,
				 "\n# %zu more function%s with samples, up to %.2f%%: --functions "
				 "0 lists all, and a name as argument lists that one\n",
				 left, left == 1 ? "" : "s",
				 annotation->functions[shown].share * 100);
	}
	return result;
}

static int write_all(struct writing *writing, struct tally_error *error)
{
	bool as_json = writing->options->json;
	int result;

	if (as_json) {
		json_object(&writing->json);
		json_key_u64(&writing->json, "version", 1);
		json_key(&writing->json, "events");
		tally_annotate_json_events(writing->annotation, &writing->json);
		json_key(&writing->json, "functions");
		json_array(&writing->json);
	}
	result = put_functions(writing, error);
	if (as_json) {
		json_array_end(&writing->json);
		json_object_end(&writing->json);
		tally_buf_byte(&writing->text, '\n');
	}
	return result ? result : flush(writing);
}

int tally_annotation_write(const struct tally_annotation *annotation,
			   const struct tally_annotation_text *options, FILE *to,
			   struct tally_error *error)
{
	struct tally_annotation_text wanted = {.size = sizeof(wanted)};
	struct writing writing = {.annotation = annotation, .options = &wanted, .to = to};
	const char *symfs = annotation->session->options.symfs;
	int result = tally_options_take(&wanted, sizeof(wanted), options);

	if (result)
		return tally_fail(error, result, -1, "an option is not known to this libtally");
	writing.json.to = &writing.text;
	writing.sources = (struct source_lines){
	    .files.before = annotation->session->options.symfs,
	    .prefix = wanted.prefix,
	    .prefix_strip = wanted.prefix_strip,
	    .none = annotation->session->tables.debug_dirs.places.recording && !wanted.prefix &&
		    !(symfs && *symfs),
	};
	result = tally_annotate_views_make(annotation, &wanted, &writing.views);
	if (!result)
		result = write_all(&writing, error);
	tally_annotate_views_done(&writing.views);
	tally_source_files_done(&writing.sources.files);
	tally_buf_done(&writing.text);
	if (result == -ENOMEM)
		return tally_fail(error, result, -1, "not enough memory for the listing");
	return result;
}
