/* Any string as what `tally probe` takes: a place with arguments, lines to show, and a filter of
 * names. It is accepted, or an error says where it is wrong; what is accepted can be formatted, and
 * asked. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/name_filter.h"
#include "place/probe_spec.h"
#include "probe/trace_files.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(int result, const struct tally_error *error, size_t length)
{
	if (result && result != -ENOMEM &&
	    (error->code != result || !error->text[0] || error->position < 0 ||
	     error->position > (int64_t)length))
		abort();
}

static void parse_place(const char *text)
{
	struct tally_error error = {0};
	struct probe_spec spec;
	struct tally_buf place = {0};
	int result = tally_probe_spec_parse(text, &spec, &error);

	check(result, &error, strlen(text));
	if (result)
		return;
	if (!spec.marker && !spec.point.function && !spec.point.file)
		abort();
	for (size_t i = 0; i < spec.argument_count; i++) {
		const struct probe_argument *argument = &spec.arguments[i];

		if (!argument->variable[0] || argument->column > strlen(text) ||
		    (argument->step_count && !argument->name))
			abort();
	}
	tally_probe_point_format(&spec.point, &place);
	(void)tally_probe_wants_debug(&spec);
	tally_buf_done(&place);
	tally_probe_spec_done(&spec);
}

static void parse_lines(const char *text)
{
	struct tally_error error = {0};
	struct probe_range range;
	int result = tally_probe_range_parse(text, &range, &error);

	check(result, &error, strlen(text));
	if (result)
		return;
	if ((!range.function && !range.file) || range.first < 0 || range.last < range.first)
		abort();
	tally_probe_range_done(&range);
}

static void parse_filter(const char *text)
{
	struct tally_error error = {0};
	struct name_filter *filter;
	int result = tally_name_filter_new(text, &filter, &error);

	check(result, &error, strlen(text));
	if (result)
		return;
	(void)tally_name_filter_takes(filter, "work");
	tally_name_filter_free(filter);
	(void)tally_line_matches("sum += n2;", text);
}

static void cut_line(char *text)
{
	struct trace_line line;

	if (tally_trace_line_cut(text, &line) && (!line.group || !line.event || !*line.place))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	parse_place(text);
	parse_lines(text);
	parse_filter(text);
	cut_line(text);
	free(text);
	return 0;
}
