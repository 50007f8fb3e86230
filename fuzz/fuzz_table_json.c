/* Any bytes as a vendor table's file: events are made of it, and their terms and expressions read.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "metric/expression.h"
#include "vendor/table_inner.h"
#include "event/term.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reading {
	struct table_source source;
	bool native;
};

static int take(void *to, const struct table_field *fields, size_t count)
{
	struct reading *reading = to;
	struct tally_table_event event;
	int result;

	reading->source.native = reading->native;
	result = tally_table_entry_make(&reading->source, fields, count, &event);
	return result > 0 ? tally_table_add(reading->source.table, &event) : result;
}

static void ask(const struct tally_table *table)
{
	const struct tally_table_event *event;

	for (size_t i = 0; (event = tally_table_at(table, i)); i++) {
		struct tally_expression *expression;
		struct event_terms terms;
		size_t at = 0;

		if (!event->name && !event->metric)
			abort();
		if (event->name && !tally_table_find(table, event->name, strlen(event->name)))
			abort();
		if (event->metric &&
		    !tally_table_metric(table, event->metric, strlen(event->metric)))
			abort();
		if (event->name && event->terms)
			(void)tally_terms_parse(event->terms, &at, &terms, NULL);
		(void)tally_table_event_fits(event, "uncore_imc_0");
		if (event->expression &&
		    !tally_expression_parse(event->expression, 0, &expression, NULL))
			tally_expression_free(expression);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_table table = {0};
	struct reading reading = {.source = {.table = &table, .topic = "fuzz"}};
	struct tally_error error = {.position = -1};
	/* Exactly as long as the input, so that the sanitizer sees a read behind it. */
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	if (tally_table_json_read(text, size, take, &reading, &reading.native, &error) &&
	    error.position > (int64_t)size)
		abort();
	free(text);
	ask(&table);
	tally_table_done(&table);
	return 0;
}
