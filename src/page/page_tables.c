#include "page/page_tables.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/table.h"

int64_t tally_page_string(struct page_tables *tables, const char *text)
{
	return text ? tally_strings_intern(&tables->strings, text, strlen(text)) : 0;
}

int tally_page_tables_init(struct page_tables *tables)
{
	*tables = (struct page_tables){0};
	if (tally_page_string(tables, "") < 0 ||
	    !array_resize(&tables->nodes, 1024, sizeof(*tables->nodes)))
		return -ENOMEM;
	tables->node_room = 1024;
	tables->nodes[tables->node_count++] =
	    (struct page_node){.parent = PAGE_NONE, .function = PAGE_NONE};
	return 0;
}

void tally_page_tables_done(struct page_tables *tables)
{
	tally_strings_done(&tables->strings);
	free(tables->images);
	free(tables->functions);
	free(tables->nodes);
	free(tables->events);
	free(tables->threads);
	free(tables->samples);
	free(tables->differences);
	free(tables->runs);
	free(tables->markers);
	free(tables->lines);
	free(tables->sources);
	free(tables->codes);
	free(tables->code_samples);
	tally_map_done(&tables->known_images);
	tally_map_done(&tables->known_functions);
	tally_map_done(&tables->known_nodes);
	tally_map_done(&tables->renamed);
	*tables = (struct page_tables){0};
}

void tally_page_tables_columns(const struct page_tables *tables, struct page_columns *ret)
{
#define COLUMN(table, member, type, order)                           \
	tally_page_columns_add(ret, #table "." #member, type, order, \
			       PAGE_VALUES(tables->table##s, member, tables->table##_count))
	tally_page_columns_texts(ret, "string.text", &tables->strings);
	COLUMN(image, name, PAGE_U32, PAGE_RISING);
	COLUMN(image, path, PAGE_U32, PAGE_RISING);
	COLUMN(image, build_id, PAGE_U32, PAGE_ANY);
	COLUMN(image, kind, PAGE_U8, PAGE_ANY);
	COLUMN(function, name, PAGE_U32, PAGE_RISING);
	COLUMN(function, image, PAGE_U32, PAGE_ANY);
	COLUMN(function, kind, PAGE_U8, PAGE_ANY);
	COLUMN(function, inlined, PAGE_U8, PAGE_ANY);
	COLUMN(function, program, PAGE_U8, PAGE_ANY);
	COLUMN(function, file, PAGE_U32, PAGE_ANY);
	COLUMN(function, line, PAGE_U32, PAGE_ANY);
	COLUMN(node, parent, PAGE_U32, PAGE_RISING);
	COLUMN(node, function, PAGE_U32, PAGE_ANY);
	COLUMN(node, inlined, PAGE_U8, PAGE_ANY);
	COLUMN(node, hidden, PAGE_U8, PAGE_ANY);
	COLUMN(thread, pid, PAGE_U32, PAGE_RISING);
	COLUMN(thread, tid, PAGE_U32, PAGE_RISING);
	COLUMN(thread, comm, PAGE_U32, PAGE_ANY);
	COLUMN(thread, recording, PAGE_U32, PAGE_ANY);
	COLUMN(thread, first, PAGE_F64, PAGE_RISING);
	COLUMN(thread, last, PAGE_F64, PAGE_RISING);
	COLUMN(event, name, PAGE_U32, PAGE_ANY);
	COLUMN(event, unit, PAGE_U32, PAGE_ANY);
	COLUMN(event, kind, PAGE_U8, PAGE_ANY);
	COLUMN(sample, time, PAGE_F64, PAGE_RUNS);
	COLUMN(sample, thread, PAGE_U32, PAGE_RUNS);
	COLUMN(sample, cpu, PAGE_U32, PAGE_RUNS);
	COLUMN(sample, event, PAGE_U32, PAGE_RUNS);
	COLUMN(sample, node, PAGE_U32, PAGE_RISING);
	tally_page_columns_product(ret, "sample.weight", PAGE_F64,
				   PAGE_VALUES(tables->samples, weight, tables->sample_count),
				   "sample.count",
				   PAGE_VALUES(tables->samples, count, tables->sample_count));
	COLUMN(sample, count, PAGE_U32, PAGE_COUNTS);
	COLUMN(run, thread, PAGE_U32, PAGE_ANY);
	COLUMN(run, cpu, PAGE_U32, PAGE_ANY);
	COLUMN(run, start, PAGE_F64, PAGE_RISING);
	COLUMN(run, end, PAGE_F64, PAGE_RISING);
	COLUMN(run, preempted, PAGE_U8, PAGE_ANY);
	COLUMN(marker, time, PAGE_F64, PAGE_RISING);
	COLUMN(marker, thread, PAGE_U32, PAGE_ANY);
	COLUMN(marker, name, PAGE_U32, PAGE_ANY);
	COLUMN(marker, text, PAGE_U32, PAGE_RISING);
	COLUMN(marker, kind, PAGE_U8, PAGE_ANY);
	COLUMN(line, recording, PAGE_U32, PAGE_ANY);
	COLUMN(line, function, PAGE_U32, PAGE_RISING);
	COLUMN(line, file, PAGE_U32, PAGE_ANY);
	COLUMN(line, number, PAGE_U32, PAGE_RISING);
	COLUMN(line, event, PAGE_U32, PAGE_ANY);
	COLUMN(line, self, PAGE_F64, PAGE_ANY);
	COLUMN(source, file, PAGE_U32, PAGE_ANY);
	COLUMN(source, number, PAGE_U32, PAGE_RISING);
	COLUMN(source, text, PAGE_U32, PAGE_RISING);
	COLUMN(code, recording, PAGE_U32, PAGE_ANY);
	COLUMN(code, function, PAGE_U32, PAGE_RISING);
	COLUMN(code, offset, PAGE_U32, PAGE_RISING);
	COLUMN(code, text, PAGE_U32, PAGE_RISING);
	COLUMN(code, file, PAGE_U32, PAGE_ANY);
	COLUMN(code, number, PAGE_U32, PAGE_RISING);
	COLUMN(code_sample, code, PAGE_U32, PAGE_RISING);
	COLUMN(code_sample, event, PAGE_U32, PAGE_ANY);
	COLUMN(code_sample, self, PAGE_F64, PAGE_ANY);
	COLUMN(difference, event, PAGE_U32, PAGE_ANY);
	COLUMN(difference, function, PAGE_U32, PAGE_ANY);
	COLUMN(difference, status, PAGE_U8, PAGE_ANY);
	COLUMN(difference, significant, PAGE_U8, PAGE_ANY);
	COLUMN(difference, p, PAGE_U32, PAGE_ANY);
	COLUMN(difference, name, PAGE_U32, PAGE_ANY);
#undef COLUMN
}
