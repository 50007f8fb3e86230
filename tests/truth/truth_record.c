/* Compares the chains of a recording by `tally record -g` with the stacks that the recorded
 * program, shadow.cc, itself keeps in its memory: a copy of the stack that was taken with a sample
 * holds the list of calls of the same moment.
 *
 * Usage: truth_record [-v] CHAINS COPIES SYMBOLS
 * -v: prints the time of each wrong chain, too, as `tally script` prints it.
 * CHAINS and COPIES are what `tally record -g -o CHAINS --stacks-output COPIES` wrote; SYMBOLS is
 * what nm printed of the binary that has the functions "s_...".  Prints how many chains were
 * compared, equal, and wrong, and where the wrong ones were.
 *
 * A chain is equal when all calls of the list are in it, in their order and by their return
 * addresses; between them are only functions that have no place in the list, and the one that was
 * about to begin or end; what is outside of the outermost call is the same in all samples of a kind
 * of thread. Where a handler has a stack of its own, the copy does not have the one below: the
 * chain must be right up to there, and is counted apart. Also apart are the few moments at which
 * the runtime of exceptions exchanges the stack. Status 1: a chain is wrong without a known cause.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include <tally/data.h>
#include "shadow.h"

/* Why a chain is wrong. */
enum cause { UNEXPLAINED, EXCHANGING, HALF_RETURNED, CAUSES };
static const char *const cause_names[] = {
    [UNEXPLAINED] = "unexplained",
    [EXCHANGING] = "swapcontext() or setcontext(), between two stacks",
    [HALF_RETURNED] = "rt_sigreturn(), some registers are the interrupted code's already",
};
/* What handlers return to, up to behind its system call: mov $15,%rax; syscall, or mov x8,#139; svc
 * #0. */
#ifdef __aarch64__
#define RESTORER_SIZE 8
#else
#define RESTORER_SIZE 9
#endif

#define SYMBOLS_MOST 65536
#define TAILS_MOST   16
#define TAIL_MOST    8
#define MISSES_MOST  64

struct symbol {
	uint64_t at;
	char name[64]; /* to the first '.' */
	bool scene;
};

struct tail { /* beyond the outermost call of the list */
	uint64_t return_address, frames[TAIL_MOST], count;
};

static struct state {
	struct symbol symbols[SYMBOLS_MOST];
	size_t symbol_count;
	uint64_t anchor; /* of the symbols */
	struct tail tails[TAILS_MOST];
	size_t tail_count;
	struct {
		char text[160];
		unsigned long count;
	} misses[MISSES_MOST];
	size_t miss_count;
	unsigned long equal, apart, wrong, thrown, without, causes[CAUSES];
	bool verbose;
	uint64_t time; /* of the sample at hand */
} all;

static int by_address(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;

	return a->at < b->at ? -1 : a->at > b->at;
}

static void read_symbols(const char *path)
{
	FILE *file = fopen(path, "re");
	char line[1024], name[512], type;
	uint64_t at;

	if (!file) {
		perror(path);
		exit(2);
	}
	while (fgets(line, sizeof(line), file) && all.symbol_count < SYMBOLS_MOST) {
		struct symbol *symbol = &all.symbols[all.symbol_count];

		char *end;

		at = strtoul(line, &end, 16);
		if (sscanf(end, " %c %511s", &type, name) != 2 || !strchr("tTwWi", type))
			continue;
		name[strcspn(name, ".")] = 0;
		*symbol = (struct symbol){.at = at, .scene = !strncmp(name, "s_", 2)};
		snprintf(symbol->name, sizeof(symbol->name), "%.63s", name);
		if (!strcmp(name, "s_all"))
			all.anchor = at;
		all.symbol_count++;
	}
	fclose(file);
	qsort(all.symbols, all.symbol_count, sizeof(*all.symbols), by_address);
}

/* NULL: outside of the binary. */
static const struct symbol *symbol_of(const struct shadow *list, uint64_t address)
{
	const struct symbol *found = NULL;

	address += all.anchor - list->anchor;
	for (size_t i = 0; i < all.symbol_count && all.symbols[i].at <= address; i++)
		found = &all.symbols[i];
	return found && address < all.symbols[all.symbol_count - 1].at ? found : NULL;
}

static const char *scene_of(const struct shadow *list, uint64_t address)
{
	const struct symbol *symbol = symbol_of(list, address);

	return symbol && symbol->scene ? symbol->name : NULL;
}

static bool find_list(const struct tally_sample *sample, struct shadow *ret)
{
	uint64_t size = sample->user_stack_dyn_size;

	for (uint64_t at = 0; at + sizeof(*ret) <= size; at += 8) {
		uint64_t magic[2];

		memcpy(magic, sample->user_stack + at, sizeof(magic));
		if (magic[0] != SHADOW_MAGIC_0 || magic[1] != SHADOW_MAGIC_1)
			continue;
		memcpy(ret, sample->user_stack + at, sizeof(*ret));
		return ret->tid == sample->tid && ret->depth <= SHADOW_CALLS;
	}
	return false;
}

/* The frames between two calls of the list, [from, to): the outermost of the program's functions
 * among them is the one that made the inner call, and one more may be about to begin or end. */
static bool is_between(const struct shadow *list, const uint64_t *frames, uint64_t from,
		       uint64_t to, uint64_t function)
{
	const char *expected = scene_of(list, function), *outermost = NULL;
	unsigned others = 0;

	for (uint64_t i = from; i < to; i++) {
		const char *name = scene_of(list, frames[i]);

		if (!name)
			continue;
		others += outermost && strcmp(outermost, expected) != 0;
		outermost = name;
	}
	return outermost && !strcmp(outermost, expected) && others <= 1;
}

/* A stub that leads to another function is called by a function that has the same return address as
 * its own caller, when it calls itself. */
static bool is_stub_only(const struct shadow *list, const uint64_t *frames, uint64_t from,
			 uint64_t to)
{
	return to == from + 1 && !from && !scene_of(list, frames[from]);
}

static bool is_known_tail(uint64_t return_address, const uint64_t *frames, uint64_t count)
{
	struct tail made = {.return_address = return_address, .count = count};

	if (count > TAIL_MOST)
		return false;
	memcpy(made.frames, frames, count * sizeof(*frames));
	for (size_t i = 0; i < all.tail_count; i++)
		if (all.tails[i].return_address == return_address)
			return !memcmp(&all.tails[i], &made, sizeof(made));
	if (all.tail_count < TAILS_MOST)
		all.tails[all.tail_count++] = made;
	return true;
}

/* While an exception is on its way its runtime overwrites return addresses, and functions that have
 * left the list are entered again: what the true stack is then is a matter of taste. */
static bool is_thrown(const struct shadow *list, const uint64_t *frames, uint64_t count)
{
	for (uint64_t i = 0; i < count && i < 4; i++) {
		const char *name = scene_of(list, frames[i]);

		if (name)
			return i && (!strcmp(name, "s_thrower") || !strcmp(name, "s_catching"));
	}
	return false;
}

static enum cause cause_of(const struct shadow *list, const uint64_t *frames, uint64_t count)
{
	if (count && list->restorer && frames[0] == list->restorer + RESTORER_SIZE)
		return HALF_RETURNED;
	return count && list->exchanging && !scene_of(list, frames[0]) ? EXCHANGING : UNEXPLAINED;
}

static void miss(const struct shadow *list, const uint64_t *frames, uint64_t count, const char *why)
{
	char text[160];
	int length = snprintf(text, sizeof(text), "%s, after %" PRIu64 " frames: ", why, count);

	for (uint64_t i = 0; i < count && i < 4; i++) {
		const struct symbol *symbol = symbol_of(list, frames[i]);

		if (length > 0 && length < (int)sizeof(text))
			length +=
			    snprintf(text + length, sizeof(text) - (size_t)length,
				     "%s+%" PRIx64 " ", symbol ? symbol->name : "library",
				     symbol ? frames[i] + all.anchor - list->anchor - symbol->at
					    : frames[i] & 0xfff);
	}
	if (is_thrown(list, frames, count)) {
		all.thrown++;
		return;
	}
	all.wrong++;
	all.causes[cause_of(list, frames, count)]++;
	if (all.verbose)
		printf("at %" PRIu64 ".%09" PRIu64 ": %s\n", all.time / 1000000000,
		       all.time % 1000000000, text);
	for (size_t i = 0; i < all.miss_count; i++)
		if (!strcmp(all.misses[i].text, text)) {
			all.misses[i].count++;
			return;
		}
	if (all.miss_count == MISSES_MOST)
		return;
	memcpy(all.misses[all.miss_count].text, text, sizeof(text));
	all.misses[all.miss_count++].count = 1;
}

static void compare(const struct tally_sample *chain, const struct tally_sample *copy)
{
	const uint64_t *frames = chain->callchain;
	uint64_t count = 0, from = 0, least;
	struct shadow list;
	uint64_t at;

	while (from < chain->callchain_nr && frames[from] != PERF_CONTEXT_USER)
		from++;
	if (!copy->user_stack || !find_list(copy, &list) || !list.depth ||
	    from == chain->callchain_nr) {
		all.without++;
		return;
	}
	frames += from + 1;
	count = chain->callchain_nr - from - 1;
	from = at = 0;
	least = list.other_stack;
	/* Before its first statement a function is not in the list. */
	if (list.depth == least) {
		all.without++;
		return;
	}
	for (uint64_t i = list.depth; i-- > least;) {
		while (at < count && (frames[at] + 1 != list.calls[i].return_address ||
				      is_stub_only(&list, frames, from, at)))
			at++;
		if (at == count) {
			miss(&list, frames, count, "a call is missing");
			return;
		}
		if (!is_between(&list, frames, from, at, list.calls[i].function)) {
			miss(&list, frames, count, "other functions are between two calls");
			return;
		}
		from = at;
		at++;
	}
	if (least) {
		all.apart++;
		return;
	}
	if (!is_known_tail(list.calls[0].return_address, frames + from, count - from))
		miss(&list, frames, count, "it does not end where others do");
	else
		all.equal++;
}

static bool next_sample(struct tally_data *data, struct tally_sample *ret)
{
	struct tally_record record;
	struct tally_error error = {0};
	int result;

	while ((result = tally_data_next_record(data, &record, &error)) > 0) {
		if (record.type != PERF_RECORD_SAMPLE)
			continue;
		ret->size = sizeof(*ret);
		if (!tally_sample_decode(&tally_data_event(data, 0)->layout, &record, UINT64_MAX,
					 ret, &error))
			return true;
	}
	if (result < 0)
		fprintf(stderr, "%s\n", error.text);
	return false;
}

int main(int argc, char **argv)
{
	struct tally_data *data[2];
	struct tally_error error;
	struct tally_sample chain, copy;
	unsigned long judged;

	if (argc > 1 && !strcmp(argv[1], "-v")) {
		all.verbose = true;
		argv++;
		argc--;
	}
	if (argc != 4)
		return 2;
	read_symbols(argv[3]);
	for (int i = 0; i < 2; i++)
		if (tally_data_open(argv[1 + i], NULL, &data[i], &error)) {
			fprintf(stderr, "%s\n", error.text);
			return 2;
		}
	while (next_sample(data[0], &chain) && next_sample(data[1], &copy)) {
		if (chain.time != copy.time || chain.tid != copy.tid) {
			fprintf(stderr, "the recordings differ in their samples\n");
			return 2;
		}
		all.time = chain.time;
		compare(&chain, &copy);
	}
	judged = all.equal + all.apart + all.wrong;
	printf("%lu chains: %lu equal, %lu equal up to a stack that was left, %lu wrong; unknown "
	       "truth: "
	       "%lu while an exception is on its way, %lu without a list; %.3f %%\n",
	       judged, all.equal, all.apart, all.wrong, all.thrown, all.without,
	       judged ? 100.0 * (double)(all.equal + all.apart) / (double)judged : 0.0);
	for (size_t i = 0; i < CAUSES; i++)
		if (all.causes[i])
			printf("  %lu: %s\n", all.causes[i], cause_names[i]);
	for (size_t i = 0; i < all.miss_count; i++)
		printf("  %lu %s\n", all.misses[i].count, all.misses[i].text);
	for (int i = 0; i < 2; i++)
		tally_data_close(data[i]);
	return all.causes[UNEXPLAINED] > 0;
}
