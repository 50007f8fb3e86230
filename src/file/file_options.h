/* The options of opening a file, for reading or writing, by the rule of base/option_struct.h. */
#ifndef TALLY_FILE_FILE_OPTIONS_H
#define TALLY_FILE_FILE_OPTIONS_H

#include "base/fail.h"
#include "base/option_struct.h"

static inline int tally_file_options(void *to, size_t known, const void *from, const char *path,
				     struct tally_error *error)
{
	int code = tally_options_take(to, known, from);

	return code ? tally_fail(error, code, -1,
				 "%s: an option was given that this libtally does not know; "
				 "use a newer one",
				 path)
		    : 0;
}

#endif
