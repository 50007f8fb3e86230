/* Runs a program one instruction at a time, and compares the call chain that is made of its
 * registers and stack at each with the true one: every call, return and signal was seen. x86-64
 * alone.
 *
 * Usage: truth_steps [-f] [-l N] [-n N] [-s N] PROGRAM [ARGUMENT]...
 * The program raises SIGSTOP where it is to be followed from; with -f it is followed from its first
 * instruction. Of instructions outside of the program's own file each Nth is compared (default:
 * 16). Prints how many chains were compared, equal, shorter than the truth, and wrong, how many
 * of the others have which cause, and where they were; -l: at most N such places. With -s the first
 * N unequal chains are printed, and the true ones. Status 1: a chain is unequal without a known
 * cause.
 *
 * The true chain: a call pushes a return address, which is gone once the stack pointer is above it;
 * a signal's handler stands on what it interrupted. Each stack is a mapping of its own. While
 * a stack is exchanged for another one (swapcontext, the end of an exception) the truth itself is
 * unknown for some instructions: these are counted apart. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tally/abi.h>
#include "callchain/chain.h"
#include "image/image.h"

#if defined(__x86_64__)

#define COPY_MOST    65528
#define MAPS_MOST    512
#define REGIONS_MOST 16
#define CALLS_MOST   8192
#define MISSES_MOST  4096

struct map {
	uint64_t start, end, offset;
	bool executable, own;
	struct tally_image *image;
};

struct call {
	uint64_t slot, address; /* where the return address is, and it */
	bool exact;             /* of code that a signal interrupted: no call */
};

struct region { /* a stack */
	uint64_t start, end;
	size_t count;
	struct call calls[CALLS_MOST];
};

enum outcome { EQUAL, SHORT, WRONG, UNKNOWN, OUTCOMES };

/* Why a chain is not equal; from OVERWRITTEN on the truth is unknown. */
enum cause { UNEXPLAINED, NO_RULES, OVERWRITTEN, EXCHANGING, CAUSES };
static const char *const cause_names[] = {
    [UNEXPLAINED] = "unexplained",
    [NO_RULES] = "code without call frame information",
    [OVERWRITTEN] = "a return address on the stack was overwritten",
    [EXCHANGING] = "code that puts registers of another frame in place",
};

struct miss {
	char where[96];
	unsigned long count;
	enum outcome outcome;
	enum cause cause;
};

static struct state {
	pid_t pid;
	const char *program;
	struct tally_image_store *store;
	struct tally_chain_images *images;
	struct tally_chain_maker *maker;
	struct map maps[MAPS_MOST];
	size_t map_count;
	uint64_t era;
	struct region regions[REGIONS_MOST];
	size_t region_count;
	struct region *current;
	uint8_t stack[COPY_MOST];
	size_t stack_size;
	unsigned long counts[OUTCOMES], causes[CAUSES], steps, every;
	struct miss misses[MISSES_MOST];
	size_t miss_count;
	unsigned long shown;
} all;

static void fail(const char *what)
{
	perror(what);
	exit(2);
}

static void read_maps(void)
{
	char path[64], line[512], name[400], rights[8];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/maps", all.pid);
	file = fopen(path, "re");
	if (!file)
		fail(path);
	all.map_count = 0;
	all.era++;
	while (fgets(line, sizeof(line), file) && all.map_count < MAPS_MOST) {
		struct map *map = &all.maps[all.map_count];
		unsigned long start, end, offset, inode;

		name[0] = 0;
		if (sscanf(line, "%lx-%lx %7s %lx %*s %lu %399[^\n]", &start, &end, rights, &offset,
			   &inode, name) < 5)
			continue;
		*map = (struct map){.start = start, .end = end, .offset = offset};
		map->executable = rights[2] == 'x';
		map->own = !strcmp(name, all.program);
		if (map->executable && *name) {
			const struct tally_image_key key = {
			    .path = name, .pid = (uint32_t)all.pid, .ino = inode};

			map->image = tally_image_get(all.store, &key);
		}
		all.map_count++;
	}
	fclose(file);
}

static const struct map *map_at(uint64_t address)
{
	for (size_t i = 0; i < all.map_count; i++)
		if (address >= all.maps[i].start && address < all.maps[i].end)
			return &all.maps[i];
	return NULL;
}

static int image_at(void *context, uint64_t address, struct tally_image **ret, uint64_t *ret_place)
{
	const struct map *map = map_at(address);

	(void)context;
	if (!map || !map->executable)
		return -ENOENT;
	if (!map->image || tally_image_places_are_addresses(map->image))
		return -ENODATA;
	*ret = map->image;
	*ret_place = address - map->start + map->offset;
	return 0;
}

static size_t read_memory(uint64_t address, void *to, size_t size)
{
	const struct iovec local = {to, size}, remote = {(void *)(uintptr_t)address, size};
	ssize_t got = process_vm_readv(all.pid, &local, 1, &remote, 1, 0);

	return got < 0 ? 0 : (size_t)got;
}

/* --- the truth --- */

/* A stack that grows moves its start. */
static struct region *region_at(uint64_t sp)
{
	const struct map *map;

	for (size_t i = 0; i < all.region_count; i++)
		if (sp >= all.regions[i].start && sp < all.regions[i].end)
			return &all.regions[i];
	read_maps();
	map = map_at(sp);
	if (!map)
		return NULL;
	for (size_t i = 0; i < all.region_count; i++)
		if (all.regions[i].end == map->end) {
			all.regions[i].start = map->start;
			return &all.regions[i];
		}
	if (all.region_count == REGIONS_MOST) {
		fprintf(stderr, "truth_steps: too many stacks\n");
		exit(2);
	}
	all.regions[all.region_count].start = map->start;
	all.regions[all.region_count].end = map->end;
	return &all.regions[all.region_count++];
}

static void push_call(struct region *region, uint64_t slot, uint64_t address, bool exact)
{
	if (region->count == CALLS_MOST) {
		fprintf(stderr, "truth_steps: too many calls within each other\n");
		exit(2);
	}
	region->calls[region->count++] = (struct call){slot, address, exact};
}

/* Whether the instruction at an address is a call: its bytes, with prefixes. */
static bool is_call(const uint8_t *bytes)
{
	size_t at = 0;

	while (at < 4 && ((bytes[at] & 0xf0) == 0x40 || bytes[at] == 0xf2 || bytes[at] == 0x3e ||
			  bytes[at] == 0x66 || bytes[at] == 0x67))
		at++;
	return bytes[at] == 0xe8 || (bytes[at] == 0xff && (bytes[at + 1] >> 3 & 7) == 2);
}

/* What a step did: from registers before to after. */
static void follow(const struct user_regs_struct *before, const struct user_regs_struct *after,
		   bool signal)
{
	struct region *region = region_at(after->rsp);
	uint8_t bytes[8] = {0};
	uint64_t top = 0;

	if (!region)
		return;
	all.current = region;
	while (region->count && region->calls[region->count - 1].slot < after->rsp)
		region->count--;
	if (signal) {
		read_memory(after->rsp, &top, sizeof(top));
		push_call(region, before->rsp - 128, before->rip, true);
		push_call(region, after->rsp, top, false);
		return;
	}
	if (after->rsp != before->rsp - 8)
		return;
	read_memory(after->rsp, &top, sizeof(top));
	if (top <= before->rip || top > before->rip + 15)
		return;
	read_memory(before->rip, bytes, sizeof(bytes));
	if (is_call(bytes))
		push_call(region, after->rsp, top, false);
}

/* --- the chain --- */

static uint64_t true_frame(const struct region *region, uint64_t pc, size_t index)
{
	const struct call *call;

	if (!index)
		return pc;
	call = &region->calls[region->count - index];
	return call->exact ? call->address : call->address - 1;
}

/* Whether the return addresses are still where the calls put them: the runtime of C++ overwrites
 * one to go on at a landing pad, and longjmp() takes registers back one by one. */
static bool is_intact(const struct region *region, uint64_t sp)
{
	for (size_t i = 0; i < region->count; i++) {
		uint64_t at = region->calls[i].slot - sp, word;

		if (region->calls[i].exact || region->calls[i].slot < sp || at + 8 > all.stack_size)
			continue;
		memcpy(&word, all.stack + at, 8);
		if (word != region->calls[i].address)
			return false;
	}
	return true;
}

static void name_of(uint64_t address, char *ret, size_t size)
{
	const struct map *map = map_at(address);
	struct tally_image *image = map ? map->image : NULL;
	int64_t symbol = -1;
	uint64_t place = 0;

	if (image) {
		place = address - map->start + map->offset;
		symbol = tally_image_find_symbol(image, place);
	}
	if (symbol >= 0)
		snprintf(ret, size, "%.60s (%.24s)", tally_image_symbol(image, symbol)->name,
			 tally_image_name(image));
	else
		snprintf(ret, size, "%#llx (%.24s)", (unsigned long long)place,
			 image ? tally_image_name(image) : "?");
}

/* Code that overwrites the registers which it saved, or takes back those of another frame. */
static bool is_exchanging(uint64_t address)
{
	static const char *const names[] = {"_Unwind_R", "_Unwind_F", "__longjmp", "__setcontext",
					    "__swapcontext"};
	char name[96];

	name_of(address, name, sizeof(name));
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(name, names[i], strlen(names[i])))
			return true;
	return false;
}

static bool has_rules(uint64_t address)
{
	const struct map *map = map_at(address);
	uint64_t place = map ? address - map->start + map->offset : 0, in_file;
	const struct tally_chain_image *image =
	    map && map->image ? tally_chain_images_get(all.images, map->image, place) : NULL;

	return image && image->cfi && !tally_frame_info_address(&image->info, place, &in_file) &&
	       tally_cfi_find(image->cfi, in_file) != &tally_cfi_none;
}

/* Of an unequal chain whose innermost frames, so many, are right. */
static enum cause cause_of(const struct region *region, const struct user_regs_struct *regs,
			   size_t same)
{
	if (!is_intact(region, regs->rsp))
		return OVERWRITTEN;
	if (is_exchanging(true_frame(region, regs->rip, 0)) ||
	    (region->count && is_exchanging(true_frame(region, regs->rip, 1))))
		return EXCHANGING;
	return same && !has_rules(true_frame(region, regs->rip, same - 1)) ? NO_RULES : UNEXPLAINED;
}

static enum outcome judge(const struct tally_chain *chain, const struct region *region,
			  const struct user_regs_struct *regs, enum cause *ret_cause)
{
	const uint64_t *frames = chain->words + chain->unwound;
	size_t count = chain->count - chain->unwound, expected = region->count + 1, same = 0;
	enum outcome outcome = EQUAL;

	while (same < count && same < expected &&
	       frames[same] == true_frame(region, regs->rip, same))
		same++;
	if (same < count && same < expected)
		outcome = WRONG;
	else if (count < expected)
		outcome = SHORT;
	else if (count > expected && region == all.regions)
		outcome =
		    WRONG; /* below a context's first function is what makecontext() put there */
	if (outcome == EQUAL)
		return EQUAL;
	*ret_cause = cause_of(region, regs, same);
	return *ret_cause >= OVERWRITTEN ? UNKNOWN : outcome;
}

static void note_miss(enum outcome outcome, enum cause cause, const struct tally_chain *chain,
		      const struct region *region, uint64_t pc)
{
	char where[96];
	size_t i = 0;

	name_of(pc, where, sizeof(where));
	all.causes[cause]++;
	while (i < all.miss_count &&
	       (all.misses[i].outcome != outcome || all.misses[i].cause != cause ||
		strcmp(all.misses[i].where, where) != 0))
		i++;
	if (i < MISSES_MOST) {
		memcpy(all.misses[i].where, where, sizeof(where));
		all.misses[i].outcome = outcome;
		all.misses[i].cause = cause;
		if (i == all.miss_count)
			all.miss_count++;
		if (!all.misses[i].count++ && all.shown && all.shown--) {
			for (size_t k = 0; k < region->count + 1 && k < 12; k++) {
				name_of(true_frame(region, pc, k), where, sizeof(where));
				fprintf(stderr, "  true %2zu %#llx %s\n", k,
					(unsigned long long)true_frame(region, pc, k), where);
			}
			for (size_t k = 0; k + chain->unwound < chain->count && k < 12; k++) {
				name_of(chain->words[chain->unwound + k], where, sizeof(where));
				fprintf(stderr, "  made %2zu %#llx %s (%u)\n", k,
					(unsigned long long)chain->words[chain->unwound + k], where,
					chain->frames[k]);
			}
			fprintf(stderr, "\n");
		}
	}
}

static void make_chain(const struct user_regs_struct *regs, struct tally_chain *ret)
{
	const uint64_t values[] = {regs->rax, regs->rbx, regs->rcx, regs->rdx, regs->rsi, regs->rdi,
				   regs->rbp, regs->rsp, regs->rip, regs->r8,  regs->r9,  regs->r10,
				   regs->r11, regs->r12, regs->r13, regs->r14, regs->r15};
	const uint64_t recorded[] = {PERF_CONTEXT_USER, regs->rip};
	const struct tally_chain_space space = {.number = all.era, .image_at = image_at};
	struct tally_sample sample = {.present = TALLY_CHAIN_FIELDS,
				      .callchain_nr = 2,
				      .callchain = recorded,
				      .user_abi = 2,
				      .user_regs_mask = 0xff01ff,
				      .user_regs = values,
				      .user_stack = all.stack};
	size_t size = all.current->end - regs->rsp;

	all.stack_size = read_memory(regs->rsp, all.stack, size < COPY_MOST ? size : COPY_MOST);
	sample.user_stack_size = sample.user_stack_dyn_size = all.stack_size;
	if (tally_chain_make(all.maker, &sample, TALLY_UNWIND_X86_64, &space, true, ret) != 1) {
		fprintf(stderr, "truth_steps: no chain\n");
		exit(2);
	}
}

static void compare(const struct user_regs_struct *regs)
{
	struct tally_chain chain;
	enum outcome outcome;
	enum cause cause;

	make_chain(regs, &chain);
	outcome = judge(&chain, all.current, regs, &cause);
	all.counts[outcome]++;
	if (outcome != EQUAL)
		note_miss(outcome, cause, &chain, all.current, regs->rip);
}

/* Runs a system call that changes mappings; the next look-up reads them again. */
static bool changes_maps(const struct user_regs_struct *regs)
{
	uint8_t bytes[2] = {0};

	read_memory(regs->rip, bytes, 2);
	return bytes[0] == 0x0f && bytes[1] == 0x05 &&
	       (regs->rax == 9 || regs->rax == 10 || regs->rax == 11 || regs->rax == 12 ||
		regs->rax == 25);
}

/* The calls that led to where the program stopped, as they are unwound: a whole chain whose return
 * addresses are on the stack in this order. What is called from here on is known. */
static void begin_with(const struct user_regs_struct *regs)
{
	struct tally_chain chain;
	uint64_t at = 0;

	make_chain(regs, &chain);
	if (chain.end != TALLY_CHAIN_WHOLE) {
		fprintf(stderr, "truth_steps: the chain of the start is not whole\n");
		exit(2);
	}
	for (uint64_t i = chain.unwound + 1; i < chain.count; i++) {
		uint64_t word = 0;

		while (at + 8 <= all.stack_size && word != chain.words[i] + 1) {
			memcpy(&word, all.stack + at, 8);
			at += 8;
		}
		all.current->calls[chain.count - 1 - i] =
		    (struct call){regs->rsp + at - 8, chain.words[i] + 1, false};
	}
	all.current->count = chain.count - chain.unwound - 1;
}

static int run(bool from_start)
{
	struct user_regs_struct before, after;
	int status, signal = 0;
	bool remap;

	do {
		if (!from_start && (ptrace(PTRACE_CONT, all.pid, NULL, NULL) ||
				    waitpid(all.pid, &status, 0) < 0 || !WIFSTOPPED(status)))
			fail("the program did not stop");
	} while (!from_start && WSTOPSIG(status) != SIGSTOP);
	read_maps();
	if (ptrace(PTRACE_GETREGS, all.pid, NULL, &before))
		fail("PTRACE_GETREGS");
	all.current = region_at(before.rsp);
	if (!all.current)
		return 2;
	if (!from_start)
		begin_with(&before);
	for (;;) {
		const struct map *map = map_at(before.rip);

		if (all.current && map &&
		    ((map->own && (all.every != 0)) ||
		     all.steps % (all.every ? all.every : 1) == 0))
			compare(&before);
		remap = changes_maps(&before);
		if (ptrace(PTRACE_SINGLESTEP, all.pid, NULL, (void *)(uintptr_t)signal))
			fail("PTRACE_SINGLESTEP");
		if (waitpid(all.pid, &status, 0) < 0)
			fail("waitpid");
		if (WIFEXITED(status))
			return WEXITSTATUS(status);
		if (WIFSIGNALED(status))
			return 128 + WTERMSIG(status);
		if (remap)
			read_maps();
		if (ptrace(PTRACE_GETREGS, all.pid, NULL, &after))
			fail("PTRACE_GETREGS");
		all.steps++;
		/* SIGSTOP has no handler. */
		follow(&before, &after, signal && after.rsp + 128 < before.rsp);
		before = after;
		signal = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
	}
}

static int by_count(const void *one, const void *other)
{
	const struct miss *a = one, *b = other;

	return a->count > b->count ? -1 : a->count < b->count;
}

int main(int argc, char **argv)
{
	static const char *const names[] = {"equal", "short", "wrong", "unknown"};
	const struct tally_image_options options = {.size = sizeof(options), .cache_dir = ""};
	static char program[4096];
	int option, status;
	unsigned long judged, listed = MISSES_MOST;
	bool from_start = false;

	all.every = 16;
	while ((option = getopt(argc, argv, "+fl:n:s:")) > 0) {
		if (option == 'n')
			all.every = strtoul(optarg, NULL, 10);
		else if (option == 'l')
			listed = strtoul(optarg, NULL, 10);
		else if (option == 's')
			all.shown = strtoul(optarg, NULL, 10);
		else if (option == 'f')
			from_start = true;
		else
			return 2;
	}
	if (optind >= argc || !realpath(argv[optind], program))
		return 2;
	all.program = program;
	if (tally_image_store_new(&options, &all.store) || tally_chain_images_new(&all.images) ||
	    tally_chain_maker_new(all.images, CALLS_MOST, &all.maker))
		return 2;
	all.pid = fork();
	if (!all.pid) {
		personality(ADDR_NO_RANDOMIZE);
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execv(program, argv + optind);
		_exit(127);
	}
	if (waitpid(all.pid, &status, 0) < 0 || !WIFSTOPPED(status)) {
		fprintf(stderr, "truth_steps: the program cannot be traced\n");
		return 77;
	}
	status = run(from_start);
	judged = all.counts[EQUAL] + all.counts[SHORT] + all.counts[WRONG];
	printf("%lu instructions, %lu chains: %lu equal, %lu short, %lu wrong; of %lu the truth is "
	       "unknown; %.3f %%\n",
	       all.steps, judged, all.counts[EQUAL], all.counts[SHORT], all.counts[WRONG],
	       all.counts[UNKNOWN],
	       judged ? 100.0 * (double)all.counts[EQUAL] / (double)judged : 0.0);
	for (size_t i = 0; i < CAUSES; i++)
		if (all.causes[i])
			printf("  %lu: %s\n", all.causes[i], cause_names[i]);
	qsort(all.misses, all.miss_count, sizeof(*all.misses), by_count);
	for (size_t i = 0; i < all.miss_count && i < listed; i++)
		printf("  %lu %s in %s\n", all.misses[i].count, names[all.misses[i].outcome],
		       all.misses[i].where);
	tally_chain_maker_free(all.maker);
	tally_chain_images_free(all.images);
	tally_image_store_free(all.store);
	if (status)
		printf("  the program ended with %d\n", status);
	return status ? 2 : all.causes[UNEXPLAINED] > 0;
}

#else
int main(void)
{
	fprintf(stderr, "truth_steps: x86-64 alone\n");
	return 77;
}
#endif
