#include "page/page_code.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tally/annotate.h>
#include "annotate/line_sums.h"
#include "annotate/listing.h"
#include "annotate/place_sums.h"
#include "base/pool.h"
#include "base/table.h"
#include "resolve/source_files.h"
#include "session/run.h"

#define FUNCTIONS_MOST 50U
#define ROUND          10U   /* functions that are listed at a time */
#define SHARE_LEAST    0.005 /* of an event's samples: smaller functions are left out */
#define ROWS_MOST      2000U /* instructions of a function: of longer ones what is around samples */
#define ROWS_AROUND    12U
#define LINES_AROUND   4U
#define LINES_MOST     500U /* of a function in one file, if all between its samples are kept */
#define TEXT_MOST      400U
#define SOURCE_MOST    20000U
/* Bytes of a function without a symbol: a larger one is a part of a binary in which nothing says
 * where functions begin, and its instructions would take more time than all else of the page. */
#define NAMELESS_MOST ((uint64_t)1 << 16)

struct making {
	struct page_tables *tables;
	const struct page_source *source;
	struct tally_source_files files;
	struct tally_map functions; /* image and place -> function + 1 */
	struct tally_map known;     /* file and line -> 1, of the source */
};

static uint64_t place_key(const struct tally_frame *frame)
{
	return hash_mix(hash_u64(frame->image), frame->place);
}

/* Lines of source that another recording brought are not added again. */
static int note_lines(struct making *making)
{
	for (uint32_t i = 0; i < making->tables->source_count; i++) {
		const struct page_text_line *line = &making->tables->sources[i];
		bool added;

		if (!tally_map_put(&making->known, page_two(line->file, line->number), &added))
			return -ENOMEM;
	}
	return 0;
}

static int note_functions(struct making *making)
{
	const struct page_tables *tables = making->tables;

	for (uint32_t i = 0; i < tables->function_count; i++) {
		uint32_t frame = tables->functions[i].frames[making->source->number];
		struct tally_frame facts = tally_session_frame(making->source->session, frame);
		uint64_t *number;
		bool added;

		if (!frame || facts.inlined || facts.image == UINT32_MAX)
			continue;
		number = tally_map_put(&making->functions, place_key(&facts), &added);
		if (!number)
			return -ENOMEM;
		if (added)
			*number = i + 1ULL;
	}
	return 0;
}

/* Whether a file's name is that of source code. */
static bool is_source(const char *path)
{
	static const char endings[][8] = {
	    "c",     "cc",  "cpp", "cxx", "c++", "h",   "hh",    "hpp", "hxx", "h++",  "inc",
	    "inl",   "ipp", "tcc", "rs",  "go",  "zig", "d",     "s",   "asm", "m",    "mm",
	    "f",     "for", "f90", "f95", "f03", "f08", "ada",   "adb", "ads", "java", "kt",
	    "scala", "js",  "ts",  "py",  "pyx", "rb",  "swift", "ml",  "mli", "hs",   "nim",
	    "v",     "cr",  "jl",  "cu",  "y",   "l",   "def",   "pas", "php",
	};
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	for (size_t i = 0; dot && dot != name && i < sizeof(endings) / sizeof(*endings); i++)
		if (!strcasecmp(dot + 1, endings[i]))
			return true;
	/* The C++ library's headers have no ending. */
	return !dot && strstr(path, "/include/c++/");
}

/* --- source --- */

static int add_line(struct making *making, uint32_t file, const char *path, uint32_t number)
{
	struct page_tables *tables = making->tables;
	const char *line;
	size_t length;
	uint32_t room;
	int64_t text;
	uint64_t *known;
	bool added;

	if (tables->source_count >= SOURCE_MOST)
		return 0;
	known = tally_map_put(&making->known, page_two(file, number), &added);
	if (!known)
		return -ENOMEM;
	if (!added || !tally_source_files_line(&making->files, path, number, &line, &length))
		return 0;
	text =
	    tally_strings_intern(&tables->strings, line, length < TEXT_MOST ? length : TEXT_MOST);
	room = array_room(tables->source_room, tables->source_count + 1, 256);
	if (text < 0 || (room != tables->source_room &&
			 !array_resize(&tables->sources, room, sizeof(*tables->sources))))
		return -ENOMEM;
	tables->source_room = room;
	tables->sources[tables->source_count++] =
	    (struct page_text_line){.file = file, .number = number, .text = (uint32_t)text};
	return 0;
}

static int add_lines(struct making *making, uint32_t file, const char *path, uint32_t from,
		     uint32_t to)
{
	int result = 0;

	for (uint32_t i = from; i <= to && !result; i++)
		result = add_line(making, file, path, i);
	return result;
}

static uint32_t before(uint32_t line)
{
	return line > LINES_AROUND ? line - LINES_AROUND : 1;
}

/* The lines of a file that have samples, and those between them. */
static int add_file(struct making *making, const struct line_sums *sums, const char *path,
		    uint32_t file)
{
	uint32_t first = UINT32_MAX, last = 0;
	int result = 0;

	for (size_t i = 0; i < sums->count; i++) {
		const struct line_sum *line = &sums->lines[i];

		if (!line->file || !line->line || strcmp(line->file, path) != 0)
			continue;
		first = line->line < first ? line->line : first;
		last = line->line > last ? line->line : last;
	}
	if (last >= UINT32_MAX - LINES_AROUND)
		return 0;
	if (last - first <= LINES_MOST)
		return add_lines(making, file, path, before(first), last + LINES_AROUND);
	for (size_t i = 0; i < sums->count && !result; i++) {
		const struct line_sum *line = &sums->lines[i];

		if (line->file && line->line && !strcmp(line->file, path))
			result = add_lines(making, file, path, before(line->line),
					   line->line + LINES_AROUND);
	}
	return result;
}

static int add_line_sum(struct making *making, uint32_t function, uint32_t file,
			const struct line_sum *line)
{
	struct page_tables *tables = making->tables;

	for (uint32_t event = 0; event < making->source->plan.event_count; event++) {
		uint32_t room = array_room(tables->line_room, tables->line_count + 1, 256);

		if (!line->periods[event])
			continue;
		if (room != tables->line_room &&
		    !array_resize(&tables->lines, room, sizeof(*tables->lines)))
			return -ENOMEM;
		tables->line_room = room;
		tables->lines[tables->line_count++] =
		    (struct page_line){.recording = making->source->number,
				       .function = function,
				       .file = file,
				       .number = line->line,
				       .event = making->source->events[event],
				       .self = line->periods[event]};
	}
	return 0;
}

static int take_lines(struct making *making, const struct tally_listing *listing, uint32_t function)
{
	struct line_sums sums;
	int result = tally_line_sums_make(listing, &sums);

	for (size_t i = 0; i < sums.count && !result; i++) {
		const struct line_sum *line = &sums.lines[i];
		int64_t file;

		if (!line->file || !line->line)
			continue;
		file = tally_page_string(making->tables, line->file);
		result = file < 0 ? -ENOMEM : add_line_sum(making, function, (uint32_t)file, line);
		if (!result && is_source(line->file))
			result = add_file(making, &sums, line->file, (uint32_t)file);
	}
	tally_line_sums_done(&sums);
	return result;
}

/* --- assembly --- */

static int add_row(struct making *making, const struct listing_row *row, uint32_t function)
{
	struct page_tables *tables = making->tables;
	struct tally_buf text = {0};
	uint32_t room = array_room(tables->code_room, tables->code_count + 1, 1024);
	int64_t number, file = tally_page_string(tables, row->file);

	tally_buf_text(&text, row->mnemonic ? row->mnemonic : "");
	if (row->operands && *row->operands)
		tally_buf_printf(&text, " %s", row->operands);
	if (text.size > TEXT_MOST)
		text.size = TEXT_MOST;
	number = text.failed
		     ? -ENOMEM
		     : tally_strings_intern(&tables->strings, tally_buf_str(&text), text.size);
	tally_buf_done(&text);
	if (number < 0 || file < 0 ||
	    (room != tables->code_room &&
	     !array_resize(&tables->codes, room, sizeof(*tables->codes))))
		return -ENOMEM;
	tables->code_room = room;
	tables->codes[tables->code_count++] =
	    (struct page_code){.recording = making->source->number,
			       .function = function,
			       .offset = row->offset,
			       .text = (uint32_t)number,
			       .file = (uint32_t)file,
			       .number = row->line};
	for (uint32_t event = 0; row->periods && event < making->source->plan.event_count;
	     event++) {
		room = array_room(tables->code_sample_room, tables->code_sample_count + 1, 256);
		if (!row->periods[event])
			continue;
		if (room != tables->code_sample_room &&
		    !array_resize(&tables->code_samples, room, sizeof(*tables->code_samples)))
			return -ENOMEM;
		tables->code_sample_room = room;
		tables->code_samples[tables->code_sample_count++] =
		    (struct page_code_sample){.code = tables->code_count - 1,
					      .event = making->source->events[event],
					      .self = row->periods[event]};
	}
	return 0;
}

static bool has_samples(const struct making *making, const struct listing_row *row)
{
	for (uint32_t event = 0; row->samples && event < making->source->plan.event_count; event++)
		if (row->samples[event])
			return true;
	return false;
}

static int take_code(struct making *making, const struct tally_listing *listing, uint32_t function)
{
	size_t wanted = 0; /* rows up to this one are near one with samples */
	int result = 0;

	for (size_t i = 0; i < listing->count && !result; i++) {
		size_t ahead = i + ROWS_AROUND;

		if (listing->count > ROWS_MOST) {
			if (ahead < listing->count && has_samples(making, &listing->rows[ahead]))
				wanted = ahead + ROWS_AROUND + 1;
			if (i >= wanted && !has_samples(making, &listing->rows[i]))
				continue;
		}
		result = add_row(making, &listing->rows[i], function);
	}
	return result;
}

/* The function of the tables that an annotated one is; NULL: none. */
static const uint64_t *function_of(const struct making *making, const struct annotated *annotated)
{
	struct tally_frame frame = tally_session_frame(making->source->session, annotated->frame);

	return tally_map_find(&making->functions, place_key(&frame));
}

static int take_listing(struct making *making, const struct tally_listing *listing)
{
	uint32_t function = (uint32_t)*function_of(making, listing->function) - 1;
	int result = take_lines(making, listing, function);

	return result ? result : take_code(making, listing, function);
}

/* Functions whose listings are made at the same time: as their lines and instructions take most of
 * the time, and share nothing but what has locks. */
struct round {
	const struct making *making;
	const struct tally_annotation *annotation;
	size_t first;
	struct tally_listing *listings[ROUND]; /* NULL: none */
};

static bool is_large(const struct making *making, const struct annotated *function)
{
	return function->end - function->start > NAMELESS_MOST &&
	       !tally_session_frame(making->source->session, function->frame).symbol;
}

static int make_listing(void *context, unsigned worker, size_t piece)
{
	struct round *listed = context;
	const struct annotated *function = &listed->annotation->functions[listed->first + piece];
	struct tally_error ignored = {0};

	(void)worker;
	if (!function_of(listed->making, function) || is_large(listed->making, function))
		return 0;
	return tally_listing_make(listed->annotation, function, false, &listed->listings[piece],
				  &ignored) == -ENOMEM
		   ? -ENOMEM
		   : 0;
}

static int take_round(struct making *making, const struct tally_annotation *annotation,
		      size_t first, size_t count)
{
	struct round listed = {.making = making, .annotation = annotation, .first = first};
	int result = tally_pool_run(tally_session_threads(making->source->session), count,
				    make_listing, &listed);

	for (size_t i = 0; i < count; i++) {
		if (listed.listings[i] && !result)
			result = take_listing(making, listed.listings[i]);
		tally_listing_free(listed.listings[i]);
	}
	return result;
}

static int take_functions(struct making *making, const struct tally_annotation *annotation)
{
	size_t count = 0;
	int result = 0;

	while (count < annotation->function_count && count < FUNCTIONS_MOST &&
	       annotation->functions[count].share >= SHARE_LEAST)
		count++;
	for (size_t i = 0; i < count && !result; i += ROUND)
		result = take_round(making, annotation, i, count - i < ROUND ? count - i : ROUND);
	return result;
}

/* Whether options choose samples that an annotation has, too. */
static bool is_filtered(const struct tally_profile_options *options)
{
	return options->comm_count || options->dso_count || options->symbol_count ||
	       options->pid_count || options->tid_count || options->exclude_other ||
	       options->latency || options->kind != TALLY_PROFILE_SAMPLES;
}

int tally_page_code_plan(struct page_source *source, const struct tally_profile_options *options,
			 struct tally_error *error)
{
	int result;

	if (is_filtered(options))
		return 0;
	source->annotates = (struct tally_annotation_options){
	    .size = sizeof(source->annotates),
	    .time = options->time,
	    .cpus = options->cpus,
	    .cpu_count = options->cpu_count,
	};
	result = tally_place_sink_new(source->session, &source->annotates, &source->places, error);
	if (!result)
		source->plan.beside = tally_place_sink(source->places);
	return result;
}

int tally_page_code_make(struct page_tables *tables, const struct page_source *source,
			 struct tally_error *error)
{
	struct making *making;
	struct tally_annotation *annotation = NULL;
	struct place_sums sums;
	int result;

	if (!source->places || !tables->function_count)
		return 0;
	making = calloc(1, sizeof(*making));
	if (!making)
		return -ENOMEM;
	making->tables = tables;
	making->source = source;
	result = note_functions(making);
	if (!result)
		result = note_lines(making);
	if (!result)
		result = tally_place_sink_sums(source->places, &sums);
	if (!result)
		result = tally_annotation_of_sums(source->session, &source->annotates, &sums,
						  &annotation, error);
	if (!result)
		result = take_functions(making, annotation);
	tally_annotation_free(annotation);
	tally_source_files_done(&making->files);
	tally_map_done(&making->functions);
	tally_map_done(&making->known);
	free(making);
	return result;
}
