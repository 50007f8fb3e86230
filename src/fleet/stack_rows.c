#include "fleet/stack_rows.h"

#include <errno.h>

static const char *const names[STACK_FIELDS] = {"build_id", "image", "offset", "symbol",
						"file",     "line",  "start"};

void tally_stack_rows_done(struct stack_rows *rows)
{
	tally_parquet_values_done(&rows->ids);
	for (unsigned i = 0; i < STACK_FIELDS; i++)
		tally_parquet_values_done(&rows->of[i]);
}

static int refuse(int result, const char *why, const char **ret_why)
{
	*ret_why = why;
	return result;
}

static int read_fields(const struct parquet_reader *reader, uint32_t group, unsigned wanted,
		       unsigned optional, struct stack_rows *ret, const char **ret_why)
{
	bool first = true;
	int result = 0;

	for (unsigned i = 0; i < STACK_FIELDS && !result; i++) {
		int leaf = tally_parquet_find(reader, "frames", names[i]);

		if (!(wanted >> i & 1) || (leaf < 0 && optional >> i & 1))
			continue;
		if (leaf < 0 || reader->leaves[leaf].repetition_most != 1 ||
		    stack_rows_text_field((enum stack_field)i) !=
			(reader->leaves[leaf].stored == PARQUET_STORED_BYTES))
			return refuse(-ENOTSUP,
				      "frames are not a list of structures with the fields of "
				      "tally-export(1)",
				      ret_why);
		ret->definition_most[i] = reader->leaves[leaf].definition_most;
		result = tally_parquet_column(reader, group, leaf, &ret->of[i], ret_why);
		if (!result && !first && ret->of[i].count != ret->places)
			return refuse(-EBADMSG, "its frames are damaged", ret_why);
		ret->places = ret->of[i].count;
		first = false;
	}
	return result;
}

/* Each row begins a list, and there is one list for each row. */
static int check_rows(const struct stack_rows *rows, const char **ret_why)
{
	for (unsigned i = 0; i < STACK_FIELDS; i++) {
		const struct parquet_values *values = &rows->of[i];
		uint32_t lists = 0;

		for (uint32_t place = 0; place < values->count; place++)
			lists += !values->repetition[place];
		if (values->count && (lists != rows->rows || values->repetition[0]))
			return refuse(-EBADMSG, "it does not have a list for each row", ret_why);
	}
	return 0;
}

int tally_stack_rows_read(const struct parquet_reader *reader, uint32_t group, unsigned wanted,
			  unsigned optional, struct stack_rows *ret, const char **ret_why)
{
	int leaf = tally_parquet_find(reader, "stack_id", "stack_id"), result;

	*ret = (struct stack_rows){.places = 0};
	*ret_why = "out of memory";
	if (leaf < 0 || reader->leaves[leaf].stored == PARQUET_STORED_BYTES ||
	    reader->leaves[leaf].repetition_most)
		return refuse(-ENOTSUP, "it has no column stack_id of numbers", ret_why);
	result = tally_parquet_column(reader, group, leaf, &ret->ids, ret_why);
	ret->rows = ret->ids.count;
	if (!result)
		result = read_fields(reader, group, wanted, optional, ret, ret_why);
	return result ? result : check_rows(ret, ret_why);
}

bool tally_stack_rows_is_frame(const struct stack_rows *rows, uint32_t place)
{
	for (unsigned i = 0; i < STACK_FIELDS; i++)
		if (stack_rows_has(rows, (enum stack_field)i, place))
			return true;
	return false;
}

uint32_t tally_stack_rows_end(const struct stack_rows *rows, uint32_t place)
{
	unsigned field = 0;
	uint32_t end = place + 1;

	while (field + 1 < STACK_FIELDS && !rows->of[field].count)
		field++;
	while (end < rows->places && rows->of[field].repetition[end])
		end++;
	return end;
}
