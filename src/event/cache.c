/* Cache events: CACHE[-OP][-RESULT], op and result in either order or left out.
 *
 * config = cache | op << 8 | result << 16; source: PERF_TYPE_HW_CACHE in perf_event_open(2). */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include "abi/event_names.h"
#include "base/fail.h"
#include "event/family.h"

/* Of words with the same beginning, the longer is first. */
static const struct {
	bool is_result;
	unsigned value;
	const char *word;
} parts[] = {
    {false, PERF_COUNT_HW_CACHE_OP_READ, "loads"},
    {false, PERF_COUNT_HW_CACHE_OP_READ, "load"},
    {false, PERF_COUNT_HW_CACHE_OP_READ, "read"},
    {false, PERF_COUNT_HW_CACHE_OP_WRITE, "stores"},
    {false, PERF_COUNT_HW_CACHE_OP_WRITE, "store"},
    {false, PERF_COUNT_HW_CACHE_OP_WRITE, "write"},
    {false, PERF_COUNT_HW_CACHE_OP_PREFETCH, "prefetches"},
    {false, PERF_COUNT_HW_CACHE_OP_PREFETCH, "prefetch"},
    {false, PERF_COUNT_HW_CACHE_OP_PREFETCH, "speculative-read"},
    {false, PERF_COUNT_HW_CACHE_OP_PREFETCH, "speculative-load"},
    {true, PERF_COUNT_HW_CACHE_RESULT_ACCESS, "refs"},
    {true, PERF_COUNT_HW_CACHE_RESULT_ACCESS, "Reference"},
    {true, PERF_COUNT_HW_CACHE_RESULT_ACCESS, "ops"},
    {true, PERF_COUNT_HW_CACHE_RESULT_ACCESS, "access"},
    {true, PERF_COUNT_HW_CACHE_RESULT_MISS, "misses"},
    {true, PERF_COUNT_HW_CACHE_RESULT_MISS, "miss"},
};

/* Takes `word` from the front when a '-' or the end follows it. */
static bool take(const char **text, size_t *length, const char *word)
{
	size_t size = strlen(word);

	if (*length < size || memcmp(*text, word, size) || (*length > size && (*text)[size] != '-'))
		return false;
	*text += size;
	*length -= size;
	return true;
}

/* The parts behind the cache's name: at most two. Of two operations the first is valid, as in perf.
 */
static bool read_parts(const char *text, size_t length, int *operation, int *result)
{
	for (int count = 0; length; count++) {
		size_t i = 0;

		if (count == 2 || *text != '-')
			return false;
		text++;
		length--;
		while (i < sizeof(parts) / sizeof(parts[0]) && !take(&text, &length, parts[i].word))
			i++;
		if (i == sizeof(parts) / sizeof(parts[0]))
			return false;
		if (parts[i].is_result && *result < 0)
			*result = (int)parts[i].value;
		if (!parts[i].is_result && *operation < 0)
			*operation = (int)parts[i].value;
	}
	return true;
}

static bool may_count(uint64_t cache, uint64_t operation)
{
	return tally_abi_caches[cache].operations >> operation & 1;
}

static enum cache_answer find_in(unsigned cache, const char *text, size_t length,
				 struct tally_attr *ret)
{
	int operation = -1, result = -1;

	if (!read_parts(text, length, &operation, &result))
		return CACHE_NO;
	if (operation < 0)
		operation = PERF_COUNT_HW_CACHE_OP_READ;
	if (result < 0)
		result = PERF_COUNT_HW_CACHE_RESULT_ACCESS;
	if (!may_count(cache, (uint64_t)operation))
		return CACHE_IMPOSSIBLE;
	*ret = (struct tally_attr){
	    .type = PERF_TYPE_HW_CACHE,
	    .config = cache | (uint64_t)operation << 8 | (uint64_t)result << 16,
	};
	return CACHE_YES;
}

enum cache_answer tally_cache_find(const struct event_word *word, struct tally_attr *ret)
{
	enum cache_answer answer = CACHE_NO;

	for (unsigned cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++) {
		for (size_t i = 0; i < 6 && tally_abi_caches[cache].words[i] && answer == CACHE_NO;
		     i++) {
			const char *text = word->text;
			size_t length = word->length;

			if (take(&text, &length, tally_abi_caches[cache].words[i]))
				answer = find_in(cache, text, length, ret);
		}
	}
	return answer;
}

int tally_cache_format(uint64_t config, char *to, size_t room)
{
	uint64_t cache = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16;

	if (cache >= PERF_COUNT_HW_CACHE_MAX || operation >= PERF_COUNT_HW_CACHE_OP_MAX ||
	    result >= PERF_COUNT_HW_CACHE_RESULT_MAX || !may_count(cache, operation))
		return -1;
	return snprintf(to, room, "%s-%s", tally_abi_caches[cache].words[0],
			tally_abi_cache_counts[operation][result]);
}

static int find(const struct event_word *word, struct tally_attr *ret, struct tally_error *error)
{
	enum cache_answer answer = tally_cache_find(word, ret);

	if (answer == CACHE_IMPOSSIBLE)
		return tally_fail(error, -EINVAL, (int64_t)word->position,
				  "%.*s cannot be counted: instruction caches have loads and "
				  "prefetches only, iTLB and branch have loads only",
				  tally_word_shown(word), word->text);
	return answer == CACHE_YES;
}

static int format(const struct tally_attr *attr, const struct tally_event_options *options,
		  char *to, size_t room)
{
	(void)options;
	return attr->type == PERF_TYPE_HW_CACHE ? tally_cache_format(attr->config, to, room) : -1;
}

/* The combinations that a CPU may count, by cache, operation and result. */
static bool name_at(size_t index, char to[EVENT_NAME_ROOM])
{
	for (uint64_t cache = 0; cache < PERF_COUNT_HW_CACHE_MAX; cache++)
		for (uint64_t operation = 0; operation < PERF_COUNT_HW_CACHE_OP_MAX; operation++) {
			if (!may_count(cache, operation))
				continue;
			if (index < PERF_COUNT_HW_CACHE_RESULT_MAX)
				return tally_cache_format(cache | operation << 8 | index << 16, to,
							  EVENT_NAME_ROOM) > 0;
			index -= PERF_COUNT_HW_CACHE_RESULT_MAX;
		}
	return false;
}

const struct event_family tally_event_family_cache = {
    .find = find,
    .format = format,
    .name = name_at,
};
