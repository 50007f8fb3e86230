/* Of a table that is renewed for days: names and files that nothing has any more are forgotten. */
#include <errno.h>
#include <stdlib.h>
#include "process/process_table.h"

/* Threads' names. Returns 0 or -ENOMEM. */
static int take_comms(const struct tally_process_table *from, struct tally_process_table *to,
		      uint32_t *ids)
{
	const struct tally_strings *names = &from->strings;

	for (size_t i = 0; i < from->comms.count; i++) {
		uint32_t id = from->comms.entries[i].value;
		int64_t taken = id;

		if (id < names->count)
			taken =
			    tally_strings_intern(&to->strings, names->text[id], names->length[id]);
		if (taken < 0)
			return -ENOMEM;
		ids[i] = (uint32_t)taken;
	}
	return 0;
}

/* The files of mappings, and their names. Returns 0 or -ENOMEM. */
static int take_files(const struct tally_process_table *from, struct tally_process_table *to,
		      const struct tally_mapped_file **files)
{
	const struct tally_strings *names = &from->strings;

	for (size_t i = 0; i < from->row_count; i++) {
		struct tally_mapped_file file = *from->rows[i].mapping.file;
		int64_t name = tally_strings_intern(&to->strings, names->text[file.filename],
						    names->length[file.filename]);

		file.filename = (uint32_t)name;
		files[i] = name < 0 ? NULL : tally_process_file_intern(to, &file);
		if (!files[i])
			return -ENOMEM;
	}
	return 0;
}

int tally_process_forget_names(struct tally_process_table *table)
{
	struct tally_process_table made = {.row_count = 0};
	uint32_t *ids = calloc(table->comms.count + 1, sizeof(*ids));
	const struct tally_mapped_file **files = calloc(table->row_count + 1, sizeof(*files));
	int result = ids && files ? take_comms(table, &made, ids) : -ENOMEM;

	if (!result)
		result = take_files(table, &made, files);
	if (result) {
		tally_process_names_done(&made);
	} else {
		for (size_t i = 0; i < table->comms.count; i++)
			table->comms.entries[i].value = ids[i];
		for (size_t i = 0; i < table->row_count; i++)
			table->rows[i].mapping.file = files[i];
		tally_process_names_done(table);
		table->strings = made.strings;
		table->files = made.files;
		table->file_arena = made.file_arena;
	}
	free(files);
	free(ids);
	return result;
}

size_t tally_process_name_count(const struct tally_process_table *table)
{
	return table->strings.count + chunks_count(&table->late);
}
