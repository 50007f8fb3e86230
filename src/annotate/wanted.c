#include "annotate/wanted.h"

#include <stdlib.h>
#include <string.h>

static bool is_named(const char *const *names, size_t count, const char *name)
{
	for (size_t i = 0; name && i < count; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

/* A C++ or Rust name may be given without its parameters. */
static bool is_symbol(const struct tally_annotation_options *options,
		      const struct tally_frame *frame)
{
	const char *name = frame->symbol;
	size_t length = name ? strcspn(name, "(") : 0, image;

	if (is_named(options->symbols, options->symbol_count, name))
		return true;
	for (size_t i = 0; i < options->symbol_count; i++) {
		const char *wanted = options->symbols[i];
		char *end;

		if (name && name[length] && length && strlen(wanted) == length &&
		    !strncmp(wanted, name, length))
			return true;
		/* a function without a symbol is called as reports show it */
		image = frame->image_name ? strlen(frame->image_name) : 0;
		if (!name && frame->function && !strncmp(wanted, frame->image_name, image) &&
		    !strncmp(wanted + image, "+0x", 3) &&
		    strtoull(wanted + image + 1, &end, 16) == frame->address && !*end)
			return true;
	}
	return false;
}

bool tally_annotation_wants(const struct tally_annotation_options *options,
			    const struct tally_frame *frame)
{
	if (options->dso_count && !is_named(options->dsos, options->dso_count, frame->image_name) &&
	    !is_named(options->dsos, options->dso_count, frame->image_path))
		return false;
	return !options->symbol_count || is_symbol(options, frame);
}
