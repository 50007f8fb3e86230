/* How `tally record` gets records from the kernel to the disk: rings, AUX areas, who writes. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <tally/text.h>
#include "record_options.h"
#include "say.h"

#define AUX_SAMPLE_USUAL 4096 /* bytes, perf's */

/* "e", "4096", "e65536": at the end, and how much. */
static int take_snapshot(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_recorder_rings *rings = to;
	uint64_t bytes = 0;
	const char *number = value;

	rings->aux_snapshot = on;
	rings->aux_at_end = on && value && *value == 'e';
	rings->aux_newest = 0;
	if (rings->aux_at_end)
		number++;
	if (on && number && *number &&
	    (tally_text_u64(number, &bytes) || !bytes || bytes > SSIZE_MAX / 4))
		return cli_refuse(
		    error,
		    "'%s' is not how a snapshot is taken: give e (at the end, too), a "
		    "number of bytes, or both, as e65536",
		    value);
	rings->aux_newest = (size_t)bytes;
	return 0;
}

static int take_sample(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_recorder_rings *rings = to;
	uint64_t bytes = 0;

	if (on && value && (tally_text_u64(value, &bytes) || bytes > UINT_MAX))
		return cli_refuse(error, "'%s' is not a number of bytes", value);
	rings->aux_sample = !on ? 0 : bytes ? (uint32_t)bytes : AUX_SAMPLE_USUAL;
	return 0;
}

static int take_threads(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_recorder_rings *rings = to;

	(void)error; /* the library knows the CPUs */
	rings->threads = !on ? NULL : value ? value : "cpu";
	return 0;
}

static int take_affinity(void *to, const char *value, bool on, struct tally_error *error)
{
	static const char *const places[] = {"cpu", "node", "sys", NULL};
	struct tally_recorder_rings *rings = to;

	rings->affinity = on && strcmp(value, "sys") != 0 ? value : NULL;
	if (!rings->affinity || !strcmp(value, "cpu") || !strcmp(value, "node"))
		return 0;
	return cli_refuse_listed(error, value, strlen(value), "place to read rings", places);
}

static int take_behind(void *to, const char *value, bool on, struct tally_error *error)
{
	struct tally_recorder_rings *rings = to;
	uint64_t times = on;

	if (on && value && (tally_text_u64(value, &times) || !times || times > 4))
		return cli_refuse(error, "'%s' is not 1 to 4", value);
	rings->behind = (unsigned)times;
	return 0;
}

size_t record_ring_rows(struct record *record, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "From the kernel to the disk"},
	    {CLI_STRING, 'm', "mmap-pages", "SIZE[,AUX]",
	     "size of each CPU's ring and of its AUX area, in pages or as 512K, 4M (default: what "
	     "the limits allow)",
	     &record->ring},
	    {CLI_CALL, 'S', "snapshot", "HOW",
	     "overwrite AUX areas and take a snapshot on SIGUSR2; e: at the end, too; a number: "
	     "the "
	     "newest bytes only",
	     &record->rings, .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_snapshot},
	    {CLI_CALL, 0, "aux-sample", "BYTES",
	     "samples have the newest bytes of their group's trace (default: 4096)", &record->rings,
	     .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_sample},
	    {CLI_CALL, 0, "threads", "WHICH",
	     "several threads write a folder: one for each cpu (default), core, package, numa "
	     "node, "
	     "or by lists of CPUs, DRAINED/RUNS-ON:...",
	     &record->rings, .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_threads},
	    {CLI_CALL, 0, "affinity", "WHERE",
	     "read each ring at its cpu or memory node (default: sys, anywhere)", &record->rings,
	     .call = take_affinity},
	    {CLI_STRING, 0, "mmap-flush", "SIZE",
	     "let rings wait, for a second at most, until they have this much: bytes, or 16K, 1M",
	     &record->flush},
	    {CLI_CALL, 0, "aio", "N",
	     "another thread writes: N times the size of all rings may wait for the disk (1 to 4, "
	     "default: 1)",
	     &record->rings, .flags = CLI_OPTIONAL | CLI_ATTACHED, .call = take_behind},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

/* "512" of some unit, or bytes with B, K, M or G as in perf; *ret is in that unit, rounded up. */
static bool parse_size(const char *text, size_t length, size_t unit_bytes, size_t *ret)
{
	static const char units[] = "BKMG";
	const char *unit = length ? strchr(units, text[length - 1]) : NULL;
	char number[32];
	uint64_t value;

	if (!length || length >= sizeof(number))
		return false;
	memcpy(number, text, length);
	number[unit ? length - 1 : length] = 0;
	if (tally_text_u64(number, &value) || !value || value > UINT_MAX)
		return false;
	if (unit)
		value = ((value << (10 * (unit - units))) + unit_bytes - 1) / unit_bytes;
	*ret = (size_t)value;
	return value <= SIZE_MAX >> 16;
}

/* Pages; rounded up to a power of two later. */
static bool parse_pages(const char *text, size_t length, size_t *ret_pages)
{
	return parse_size(text, length, (size_t)sysconf(_SC_PAGESIZE), ret_pages);
}

static bool parse_rings(struct record *record, size_t *ret_pages)
{
	struct tally_recorder_rings *rings = &record->rings;
	const char *text = record->ring, *comma = strchr(text, ',');
	size_t length = comma ? (size_t)(comma - text) : strlen(text), pages = 1;

	/* ",64": an AUX area only */
	if ((!comma || length) && !parse_pages(text, length, ret_pages)) {
		cli_say(record->command,
			"'%.*s' is not a ring size: give a number of pages, or bytes as 512K or 4M",
			(int)length, text);
		return false;
	}
	if (!comma)
		return true;
	if (!parse_pages(comma + 1, strlen(comma + 1), &rings->aux_pages)) {
		cli_say(record->command,
			"'%s' is not the size of an AUX area: give a number of pages, or bytes as "
			"512K or 4M",
			comma + 1);
		return false;
	}
	while (pages < rings->aux_pages)
		pages *= 2;
	rings->aux_pages = pages;
	return true;
}

bool record_rings_take(struct record *record, struct tally_recorder_options *to)
{
	record->rings.size = sizeof(record->rings);
	to->rings = &record->rings;
	if (record->flush &&
	    !parse_size(record->flush, strlen(record->flush), 1, &record->rings.flush_least)) {
		cli_say(record->command, "'%s' is not a size: give bytes, or 16K, 1M",
			record->flush);
		return false;
	}
	return !record->ring || parse_rings(record, &to->ring_pages);
}

void record_say_traces(const struct record *record, const struct tally_recorder_result *result)
{
	if (result->aux_bytes && !record->quiet)
		cli_say(NULL, "%.1f MB of trace", (double)result->aux_bytes / 1e6);
	if (result->aux_cut)
		cli_say(
		    NULL,
		    "%llu time%s the trace had no room and a part is lost: use larger AUX areas "
		    "(-m ,16M), or trace less",
		    (unsigned long long)result->aux_cut, result->aux_cut == 1 ? "" : "s");
	if (result->aux_gaps)
		cli_say(NULL, "%llu part%s of the trace %s gaps, which the hardware reported",
			(unsigned long long)result->aux_gaps, result->aux_gaps == 1 ? "" : "s",
			result->aux_gaps == 1 ? "has" : "have");
}
