#include "file/data_file.h"

#include <stdarg.h>
#include <stdio.h>

void tally_file_damage(struct tally_data *data, uint64_t offset, uint64_t lost, const char *format,
		       ...)
{
	struct tally_data_damage *damage = &data->damage;
	va_list args;

	damage->lost_bytes += lost;
	if (damage->count++ && offset >= damage->first_at)
		return;
	damage->first_at = offset;
	va_start(args, format);
	vsnprintf(damage->text, sizeof(damage->text), format, args);
	va_end(args);
}

void tally_file_feature_damage(struct tally_data *data, unsigned feature, uint64_t offset,
			       const char *what)
{
	data->damage.features++;
	tally_file_damage(data, offset, 0, "feature %u at byte %llu %s", feature,
			  (unsigned long long)offset, what);
}

const struct tally_data_damage *tally_data_damage(const struct tally_data *data)
{
	return &data->damage;
}
