/* Symbols that the recording itself has of an image. */
#include <errno.h>
#include <stdio.h>
#include "image/image_state.h"

int tally_image_load_recorded(struct tally_image *image)
{
	const struct tally_image_options *options = &image->store->options;
	struct tally_image_origin origin = {.path = image->path,
					    .start = image->start,
					    .offset = image->offset,
					    .addresses = tally_image_places_are_addresses(image)};
	struct tally_symbol_list list = {0};
	int64_t count = 0;
	bool some = false;
	int error;

	if (options->add_recorded && !options->no_symbols)
		count = options->add_recorded(options->recorded, &origin, &list, &some);
	if (some && !image->left_out &&
	    asprintf(&image->left_out,
		     "%s: some of the names that the recording has are left out: too many",
		     image->path) < 0)
		image->left_out = NULL;
	error = count < 0 ? (int)count : count ? tally_symbol_list_sort(&list) : -ENOENT;
	if (!error) {
		tally_symbol_list_finish(&list, NULL);
		image->budget.left = elf_allowed(list.text.size); /* for demangled names */
		error = tally_symbol_table_take(&image->own, &list);
	}
	tally_symbol_list_done(&list);
	return error;
}
