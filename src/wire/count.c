#include <tally/count.h>

#include <errno.h>

enum tally_count_quality tally_count_judge(uint64_t raw, uint64_t enabled, uint64_t running)
{
	/* The kernel does not always report the times of the top cgroup. */
	if (!enabled)
		return raw ? TALLY_COUNT_PARTIAL : TALLY_COUNT_IDLE;
	if (!running)
		return TALLY_COUNT_NEVER_RAN;
	return running < enabled ? TALLY_COUNT_SCALED : TALLY_COUNT_COUNTED;
}

/* It was open at its place, so its times are valid. */
static int was_open(enum tally_count_quality quality)
{
	return quality >= TALLY_COUNT_NEVER_RAN;
}

int tally_count_exact(const struct tally_count *count, uint64_t *ret)
{
	switch (count->quality) {
	case TALLY_COUNT_COUNTED:
	case TALLY_COUNT_IDLE:
		*ret = count->raw;
		return 0;
	case TALLY_COUNT_SCALED:
	case TALLY_COUNT_PARTIAL:
	case TALLY_COUNT_NEVER_RAN:
		return -EAGAIN;
	default:
		return -ENODATA;
	}
}

enum tally_count_quality tally_count_estimate(const struct tally_count *count, uint64_t *ret)
{
	unsigned __int128 product;
	uint64_t running = count->time_running;

	if (count->quality < TALLY_COUNT_PARTIAL)
		return count->quality;
	if (!running || running >= count->time_enabled) {
		*ret = count->raw;
		return count->quality;
	}
	product = (unsigned __int128)count->raw * count->time_enabled + running / 2;
	product /= running;
	*ret = product > UINT64_MAX ? UINT64_MAX : (uint64_t)product;
	return count->quality;
}

double tally_count_share(const struct tally_count *count)
{
	if (count->quality < TALLY_COUNT_PARTIAL)
		return 0;
	if (count->time_running < count->time_enabled)
		return (double)count->time_running / (double)count->time_enabled;
	return 1;
}

void tally_count_add(struct tally_count *to, const struct tally_count *from)
{
	to->id = 0;
	to->missing += from->missing;
	if (!was_open(from->quality)) {
		if (from->quality > TALLY_COUNT_GONE && !from->missing)
			to->missing++;
		if (!was_open(to->quality) && from->quality > to->quality)
			to->quality = from->quality;
		else if (was_open(to->quality) && to->missing)
			to->quality = TALLY_COUNT_PARTIAL;
		return;
	}
	to->raw += from->raw;
	to->time_enabled += from->time_enabled;
	to->time_running += from->time_running;
	to->lost += from->lost;
	to->places += from->places;
	to->quality = tally_count_judge(to->raw, to->time_enabled, to->time_running);
	if (to->missing)
		to->quality = TALLY_COUNT_PARTIAL;
}

struct tally_count tally_count_since(const struct tally_count *now,
				     const struct tally_count *before)
{
	struct tally_count since = *now;

	if (!was_open(now->quality) || !was_open(before->quality))
		return since;
	since.raw -= before->raw;
	since.time_enabled -= before->time_enabled;
	since.time_running -= before->time_running;
	since.lost -= before->lost;
	if (since.quality != TALLY_COUNT_PARTIAL)
		since.quality =
		    tally_count_judge(since.raw, since.time_enabled, since.time_running);
	return since;
}

const char *tally_count_quality_name(enum tally_count_quality quality)
{
	static const char names[][24] = {
	    [TALLY_COUNT_ELSEWHERE] = "elsewhere",
	    [TALLY_COUNT_GONE] = "gone",
	    [TALLY_COUNT_NOT_SUPPORTED] = "not supported",
	    [TALLY_COUNT_NOT_PERMITTED] = "not permitted",
	    [TALLY_COUNT_PINNED_ERROR] = "pinned, in error state",
	    [TALLY_COUNT_NEVER_RAN] = "never ran",
	    [TALLY_COUNT_PARTIAL] = "partial",
	    [TALLY_COUNT_SCALED] = "scaled",
	    [TALLY_COUNT_IDLE] = "idle",
	    [TALLY_COUNT_COUNTED] = "counted",
	};

	return (unsigned)quality < sizeof(names) / sizeof(names[0]) ? names[quality] : NULL;
}
