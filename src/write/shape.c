/* Source of the shapes: the perf.data format as perf 2.6.32 to 7.0 reads it. */
#include "write/shape.h"

#include <string.h>
#include "file/feature.h"

const char *tally_file_shape(unsigned feature)
{
	static const char shapes[FEATURE_COUNT][16] = {
	    [FEATURE_HOSTNAME] = "s",
	    [FEATURE_OSRELEASE] = "s",
	    [FEATURE_VERSION] = "s",
	    [FEATURE_ARCH] = "s",
	    [FEATURE_NRCPUS] = "44",
	    [FEATURE_CPUDESC] = "s",
	    [FEATURE_CPUID] = "s",
	    [FEATURE_TOTAL_MEM] = "8",
	    [FEATURE_CMDLINE] = "[s]",
	    [FEATURE_CPU_TOPOLOGY] = "[s][s]?c?[s]d",
	    [FEATURE_NUMA_TOPOLOGY] = "[488s]",
	    [FEATURE_BRANCH_STACK] = "",
	    [FEATURE_PMU_MAPPINGS] = "[4s]",
	    [FEATURE_GROUP_DESC] = "[s44]",
	    [FEATURE_STAT] = "",
	    [FEATURE_CACHE] = "4[4444sss]",
	    [FEATURE_SAMPLE_TIME] = "88",
	    [FEATURE_MEM_TOPOLOGY] = "88(88w)",
	    [FEATURE_CLOCKID] = "8",
	    [FEATURE_CPU_PMU_CAPS] = "[ss]",
	    [FEATURE_CLOCK_DATA] = "4488",
	    [FEATURE_HYBRID_TOPOLOGY] = "[ss]",
	    [FEATURE_PMU_CAPS] = "[[ss]s]",
	};

	return feature < FEATURE_COUNT ? shapes[feature] : NULL;
}

struct walk {
	struct file_cursor at;
	uint32_t cpus;
	struct tally_buf *to;
};

static uint32_t take_u32(struct walk *walk)
{
	uint32_t value = cursor_u32(&walk->at);

	if (walk->to)
		tally_buf_u32(walk->to, value);
	return value;
}

static uint64_t take_u64(struct walk *walk)
{
	uint64_t value = cursor_u64(&walk->at);

	if (walk->to)
		tally_buf_u64(walk->to, value);
	return value;
}

static void take_string(struct walk *walk)
{
	uint32_t size = take_u32(walk);
	const uint8_t *text = cursor_bytes(&walk->at, size);

	/* Readers use it unchanged, so it must have a NUL. */
	if (text && size && !memchr(text, 0, size))
		walk->at.failed = true;
	if (text && walk->to)
		tally_buf_add(walk->to, text, size);
}

static void take_words(struct walk *walk)
{
	uint64_t bits = take_u64(walk), words = bits / 64 + (bits % 64 != 0);

	if (words > cursor_left(&walk->at) / 8)
		walk->at.failed = true;
	for (uint64_t i = 0; i < words && !walk->at.failed; i++)
		take_u64(walk);
}

static void take_cpus(struct walk *walk, unsigned each)
{
	for (uint64_t i = 0; i < (uint64_t)walk->cpus * each && !walk->at.failed; i++)
		take_u32(walk);
}

/* The character after the bracket that closes the one before `shape`. */
static const char *closed(const char *shape)
{
	for (unsigned depth = 1; depth; shape++) {
		depth += *shape == '[' || *shape == '(';
		depth -= *shape == ']' || *shape == ')';
	}
	return shape;
}

/* Walks one value, or up to the end of a group.  Depth of recursion: that of the tables above. */
static void walk_shape(struct walk *walk, const char *shape)
{
	for (; *shape && *shape != ']' && *shape != ')' && !walk->at.failed; shape++) {
		uint64_t count;

		switch (*shape) {
		case '4':
			take_u32(walk);
			break;
		case '8':
			take_u64(walk);
			break;
		case 's':
			take_string(walk);
			break;
		case 'w':
			take_words(walk);
			break;
		case 'c':
		case 'd':
			take_cpus(walk, *shape == 'c' ? 2 : 1);
			break;
		case '?':
			if (!cursor_left(&walk->at))
				return;
			break;
		default: /* a group: each element needs bytes, so the count has a limit */
			count = *shape == '[' ? take_u32(walk) : take_u64(walk);
			for (uint64_t i = 0; i < count && !walk->at.failed; i++)
				walk_shape(walk, shape + 1);
			shape = closed(shape + 1) - 1;
		}
	}
}

bool tally_file_shape_walk(const char *shape, struct file_cursor payload, uint32_t cpus,
			   struct tally_buf *to)
{
	struct walk walk = {.at = payload, .cpus = cpus, .to = to};

	walk_shape(&walk, shape);
	return !walk.at.failed && (!to || !to->failed);
}
