#include "collect/notice.h"

#include <stdarg.h>
#include <stdio.h>

void tally_notice_send(const struct tally_notice *notice, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (!notice->tell)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	notice->tell(notice->context, text);
}
