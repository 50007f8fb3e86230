/* Damage: counts and describes it, and decides where to go on after a place where no record is
 * possible. */
#include "file/data_file.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "file/extent.h"

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

/* The end of a recording that was cut or killed, which was reported already. */
void tally_file_lose_tail(struct tally_data *data, const struct file_region *region, uint64_t at)
{
	if (region->cut && data->damage.count)
		data->damage.lost_bytes += region->end - at;
	else
		tally_file_damage(data, at, region->end - at,
				  "%sthe last record, at byte %llu, is cut after %llu bytes",
				  region->name, file_region_place(region, at),
				  (unsigned long long)(region->end - at));
}

uint64_t tally_file_pass_bad(struct tally_data *data, struct file_region *region, uint64_t at)
{
	struct file_record_header header;
	char holes[64] = "";
	uint64_t next, unstored;

	tally_file_fit(region, data->swapped, at, &header);
	if (region->end - at < 8) {
		tally_file_lose_tail(data, region, at);
		return region->end;
	}
	/* A record of an odd size costs only itself; the records after it are not aligned. */
	if (tally_file_ends_at(data, region, at, at + header.size)) {
		next = at + header.size;
		region->odd_sizes |= header.size % 8 != 0;
	} else {
		next = tally_file_resync(data, region, at + 8);
	}
	/* A recording that was cut or killed ends in the middle of something. */
	if (next == region->end && region->cut && header.size >= 8 &&
	    header.extent > region->end - at && header.type && header.type < 128) {
		tally_file_lose_tail(data, region, at);
		return next;
	}
	unstored = tally_file_holes(data, region, at, next);
	if (unstored)
		snprintf(holes, sizeof(holes), ", of which %llu were never written (a hole)",
			 (unsigned long long)unstored);
	tally_file_damage(data, at, next - at,
			  "%sinvalid record at byte %llu (type %u, size %u): %llu bytes skipped%s",
			  region->name, file_region_place(region, at), header.type, header.size,
			  (unsigned long long)(next - at), holes);
	return next;
}

void tally_file_forget(const uint8_t *bytes, uint64_t from, uint64_t to)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t start = ((uintptr_t)bytes + from) & ~(page - 1);
	uintptr_t end = ((uintptr_t)bytes + to) & ~(page - 1);

	/* These pages are read from the file again when they are needed. */
	if (start < end)
		madvise((void *)start, end - start, MADV_DONTNEED);
}
