#include "base/fail.h"

#include <stdarg.h>
#include <stdio.h>

int tally_fail(struct tally_error *error, int code, int64_t position, const char *format, ...)
{
	va_list args;

	if (!error)
		return code;
	error->code = code;
	error->position = position;
	va_start(args, format);
	vsnprintf(error->text, sizeof(error->text), format, args);
	va_end(args);
	return code;
}
