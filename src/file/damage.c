#include "file/data_file.h"

#include <stdarg.h>
#include <stdio.h>

void tally_file_damage(struct tally_data *data, uint64_t offset, uint64_t lost, const char *format,
		       ...)
{
	struct tally_data_damage *damage = &data->damage;
	va_list args;

	damage->lost_bytes += lost;
	if (damage->count++)
		return;
	damage->first_at = offset;
	va_start(args, format);
	vsnprintf(damage->text, sizeof(damage->text), format, args);
	va_end(args);
}

const struct tally_data_damage *tally_data_damage(const struct tally_data *data)
{
	return &data->damage;
}
