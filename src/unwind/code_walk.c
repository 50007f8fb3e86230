#include "unwind/code_walk.h"

#include <errno.h>
#include <string.h>
#include "base/bytes.h"

/* Of a way: it is given up behind so many instructions, branches, and calls within each other. */
#define STEPS_MOST    96U
#define BRANCHES_MOST 8U
#define CALLS_MOST    2U
/* Code is read twice at most, so many bytes before and behind an address: each time costs as much
 * as all else. */
#define READS_MOST  2U
#define BYTES_ROUND 256U
#define PAGE        4096U

/* What an instruction is, by its opcode:
 * - . has no operands; x is not followed: it writes the stack pointer, leaves the function, or is
 *   rare
 * - r w n: ModRM; its register is written, its memory or register, none
 * - B D, b d, N: the same with an immediate of 8 bits or 32; i z: an immediate alone
 * - m M: a register in the opcode, and an immediate of 8 bits, or 32 or 64
 * - t T: ModRM, with an immediate where it tests; G: ModRM of inc, dec, call, jmp, push
 * - p o: push and pop of a register; P Q: push of an immediate
 * - j k: jumps of a condition; s J: jmp; c: call; R: ret
 *
 * Source: Intel's manual of the instructions, volume 2, appendix A. */
static const char one_byte[] = "wwrrizxxwwrrizxx"
			       "wwrrizxxwwrrizxx"
			       "wwrrizxxwwrrizxx"
			       "wwrrizxxnnnnizxx"
			       "xxxxxxxxxxxxxxxx"
			       "ppppppppoooooooo"
			       "xxxrxxxxQDPBxxxx"
			       "jjjjjjjjjjjjjjjj"
			       "bdxbnnxxwwrrxrxx"
			       ".xxxxxxx..xxxxxx"
			       "xxxx....iz......"
			       "mmmmmmmmMMMMMMMM"
			       "bbxRxxbdxxxxxxxx"
			       "wwwwxxxxnnnnnnnn"
			       "jjjjxxxxcJxsxxxx"
			       "xxxxx.tT..xx..wG";
static const char two_bytes[] = "xxxxxxxxxxxxxnxx"
				"nnnnnnnnnnnnnnwn"
				"xxxxxxxxnnnnrrnn"
				"x.xxxxxxxxxxxxxx"
				"rrrrrrrrrrrrrrrr"
				"rnnnnnnnnnnnnnnn"
				"nnnnnnnnnnnnnnnn"
				"NNNNnnn.xxxxnnwn"
				"kkkkkkkkkkkkkkkk"
				"wwwwwwwwwwwwwwww"
				"xxxnbwxxxxxwbwwr"
				"wwxwxxrrrxbwrrrr"
				"xxNwNBNxxxxxxxxx"
				"nnnnnnnrnnnnnnnn"
				"nnnnnnnnnnnnnnnn"
				"nnnnnnnnnnnnnnnx";

#define SP 4U /* by the instructions' numbers of registers */

struct insn {
	char what;
	uint8_t opcode, length;
	bool wide;        /* 64 bits */
	uint8_t reg, rm;  /* of ModRM; of an opcode with a register: rm */
	bool is_register; /* rm is one, not memory */
	bool is_relative; /* rm is memory at a distance from the code: ...(%rip) */
	int64_t value;    /* the immediate, or what is added to the address of the next one */
};

#define KEPT        (-1) /* a register is unchanged */
#define GONE        (-2)
#define PUSHED_MOST 8

/* A way through a function. */
struct way {
	uint64_t at;
	int64_t taken; /* bytes off the stack since the start */
	/* Of each register: where its value is at the end, above the stack pointer at the start;
	 * KEPT or GONE. */
	int64_t saved[16];
	struct {
		uint8_t number;
		int64_t saved;
	} pushed[PUSHED_MOST]; /* since the start, by the words that are on the stack */
};

struct walk {
	const struct unwind_state *state;
	unsigned steps, reads;
	uint64_t from; /* of the bytes at hand */
	size_t size;
	uint8_t bytes[2 * BYTES_ROUND];
};

static bool is_at_hand(const struct walk *walk, uint64_t at)
{
	return at >= walk->from && at - walk->from < walk->size;
}

/* Of what is mapped: mappings begin with a page. */
static void read_around(struct walk *walk, uint64_t at)
{
	uint64_t page = at & ~(uint64_t)(PAGE - 1);

	walk->from = at - BYTES_ROUND;
	walk->size = 2 * BYTES_ROUND;
	if (!tally_unwind_read_file(walk->state, walk->from, walk->bytes, walk->size))
		return;
	if (walk->from < page)
		walk->from = page;
	for (unsigned behind = BYTES_ROUND; behind; behind /= 2) {
		walk->size = at + behind - walk->from;
		if (!tally_unwind_read_file(walk->state, walk->from, walk->bytes, walk->size))
			return;
	}
	walk->size = 0;
}

/* Returns how many bytes of the code there are at an address. */
static size_t bytes_at(struct walk *walk, uint64_t at, const uint8_t **ret)
{
	if (!is_at_hand(walk, at) && walk->reads++ < READS_MOST)
		read_around(walk, at);
	if (!is_at_hand(walk, at))
		return 0;
	*ret = walk->bytes + (at - walk->from);
	return walk->size - (at - walk->from);
}

static unsigned immediate_size(char what, const struct insn *insn, bool narrow)
{
	unsigned size = narrow && !insn->wide ? 2 : 4;

	if (strchr("ibBNmPjs", what) || (what == 't' && insn->reg < 2))
		return 1;
	if (what == 'M' && insn->wide)
		return 8;
	if (strchr("kJc", what))
		return 4;
	return strchr("zdDMQ", what) || (what == 'T' && insn->reg < 2) ? size : 0;
}

/* Reads ModRM and what belongs to it. Returns its bytes; 0: they are not there. */
static size_t read_modrm(const uint8_t *at, size_t size, uint8_t rex, struct insn *insn)
{
	size_t used = 1;
	uint8_t mod;

	if (size < 2)
		return 0;
	mod = *at >> 6;
	insn->reg = (*at >> 3 & 7) | (rex << 1 & 8);
	insn->rm = *at & 7;
	insn->is_register = mod == 3;
	insn->is_relative = !mod && insn->rm == 5;
	if (mod != 3 && insn->rm == 4) {
		used++;
		if (!mod && (at[1] & 7) == 5)
			used += 4;
	}
	insn->rm |= rex << 3 & 8;
	return used + (mod == 1 ? 1 : mod == 2 || insn->is_relative ? 4 : 0);
}

static int64_t immediate(const uint8_t *at, unsigned size)
{
	return size == 1 ? (int8_t)*at : size == 4 ? (int32_t)load_u32(at) : 0;
}

static bool read_insn(struct walk *walk, uint64_t address, struct insn *ret)
{
	static const uint8_t prefixes[] = {0x26, 0x2e, 0x36, 0x3e, 0x64, 0x65,
					   0x66, 0x67, 0xf0, 0xf2, 0xf3};
	const uint8_t *bytes = NULL;
	size_t size = bytes_at(walk, address, &bytes), at = 0, used;
	uint8_t rex = 0;
	bool narrow = false;
	unsigned behind;

	*ret = (struct insn){.what = 'x'};
	while (at < size && memchr(prefixes, bytes[at], sizeof(prefixes)))
		narrow |= bytes[at++] == 0x66;
	if (at < size && bytes[at] >> 4 == 4)
		rex = bytes[at++];
	if (at + 1 < size && bytes[at] == 0x0f)
		ret->what = two_bytes[bytes[++at]];
	else if (at < size)
		ret->what = one_byte[bytes[at]];
	if (ret->what == 'x')
		return false;
	ret->opcode = bytes[at++];
	ret->wide = rex & 8;
	ret->rm = (ret->opcode & 7) | (rex << 3 & 8);
	if (strchr("rwnbdBDNtTG", ret->what)) {
		used = read_modrm(bytes + at, size - at, rex, ret);
		if (!used)
			return false;
		at += used;
	}
	behind = immediate_size(ret->what, ret, narrow);
	if (at + behind > size)
		return false;
	ret->value = immediate(bytes + at, behind);
	ret->length = (uint8_t)(at + behind);
	return !narrow || !strchr("poPQcRJsjk", ret->what);
}

/* The first of the entries of a table of stubs: push ...(%rip); jmp *...(%rip), the next word. What
 * it jumps to takes both words that were pushed. Source: the x86-64 psABI, 5.2. */
static bool is_first_stub(const struct walk *walk, uint64_t at)
{
	uint8_t code[12];

	return !tally_unwind_read_file(walk->state, at - 6, code, sizeof(code)) &&
	       load_u16(code) == 0x35ff && load_u32(code + 8) == load_u32(code + 2) + 2;
}

/* A register has another value from here on. */
static bool write_register(struct way *way, unsigned number)
{
	way->saved[number] = GONE;
	return number != SP;
}

/* Over a word that was there at the start, as a return address: false. */
static bool push(struct way *way, uint8_t number)
{
	int64_t slot = -way->taken / 8;

	if (slot >= 0 && slot < PUSHED_MOST) {
		way->pushed[slot].number = number;
		way->pushed[slot].saved = way->saved[number];
	}
	way->taken -= 8;
	return way->taken < 0;
}

static bool pop(struct way *way, uint8_t number)
{
	int64_t slot = -way->taken / 8 - 1;

	if (way->taken >= 0)
		way->saved[number] = way->taken;
	else
		way->saved[number] =
		    slot >= 0 && slot < PUSHED_MOST && way->pushed[slot].number == number
			? way->pushed[slot].saved
			: GONE;
	way->taken += 8;
	return number != SP;
}

/* What an instruction writes; false: it is not known to leave the stack pointer alone. */
static bool apply(const struct insn *insn, struct way *way)
{
	bool is_sum = strchr("bd", insn->what) && insn->is_register && insn->rm == SP &&
		      (insn->opcode == 0x83 || insn->opcode == 0x81) && insn->wide;

	if (is_sum && (insn->reg & 7) % 5 == 0) { /* add and sub */
		way->taken += insn->reg & 7 ? -insn->value : insn->value;
		return true;
	}
	if (insn->what == 'p')
		return push(way, insn->rm);
	if (strchr("PQ", insn->what) || (insn->what == 'G' && (insn->reg & 7) == 6))
		return push(way, SP);
	if (insn->what == 'o')
		return pop(way, insn->rm);
	if (strchr("rBD", insn->what))
		return write_register(way, insn->reg);
	if (strchr("mM", insn->what) || (strchr("wbdtTG", insn->what) && insn->is_register))
		return write_register(way, insn->rm);
	return true;
}

enum result { FAILED, JUMPED_AWAY, RETURNED };

static enum result walk_from(struct walk *walk, struct way *way, unsigned calls);

/* Whether a function returns with the stack as it was: behind a call of it its caller goes on. */
static bool can_return(struct walk *walk, uint64_t address, unsigned calls)
{
	struct way way = {.at = address};

	return calls < CALLS_MOST && walk_from(walk, &way, calls + 1) == RETURNED && !way.taken;
}

/* One instruction; FAILED: the way goes on where *more is true. */
static enum result walk_one(struct walk *walk, struct way *way, struct way *branches,
			    unsigned *branch_count, unsigned calls, bool *more)
{
	struct insn insn;
	uint64_t at = way->at, target;

	*more = false;
	if (!read_insn(walk, at, &insn))
		return FAILED;
	way->at += insn.length;
	target = way->at + (uint64_t)insn.value;
	switch (insn.what) {
	case 'R':
		return RETURNED;
	case 'J':
	case 's':
		way->at = target;
		break;
	case 'j':
	case 'k':
		if (*branch_count < BRANCHES_MOST) {
			branches[*branch_count] = *way;
			branches[(*branch_count)++].at = target;
		}
		break;
	case 'c':
		if (!is_at_hand(walk, target) || !can_return(walk, target, calls))
			return FAILED;
		break;
	case 'G':
		if ((insn.reg & 7) == 4 && insn.is_relative) {
			way->taken += is_first_stub(walk, at) ? 16 : 0;
			return JUMPED_AWAY;
		}
		if ((insn.reg & 7) != 6 && (insn.reg & 7) > 1)
			return FAILED;
		/* fall through */
	default:
		if (!apply(&insn, way))
			return FAILED;
	}
	*more = true;
	return FAILED;
}

/* The first way that leads to an end: all that do take the same off the stack. */
static enum result walk_from(struct walk *walk, struct way *way, unsigned calls)
{
	struct way branches[BRANCHES_MOST];
	unsigned branch_count = 0;
	enum result result;
	bool more;

	for (;;) {
		do {
			if (!walk->steps)
				return FAILED;
			walk->steps--;
			result = walk_one(walk, way, branches, &branch_count, calls, &more);
		} while (more);
		if (result || !branch_count)
			return result;
		*way = branches[--branch_count];
	}
}

int tally_unwind_by_code(struct unwind_state *state, bool behind_call, struct unwind_place *ret)
{
	/* DWARF's numbers by the instructions'. Source: the psABI, 3.6.2. */
	static const uint8_t columns[] = {0, 2, 1, 3, 7, 6, 4, 5};
	struct walk walk = {.state = state, .steps = STEPS_MOST};
	struct way way = {.at = state->pc};

	for (unsigned i = 0; i < 16; i++)
		way.saved[i] = KEPT;
	/* From a function's start no way takes anything off the stack: so code that a function
	 * begins with is no code behind a call that does not return. */
	if (state->machine->pc != 16 || !walk_from(&walk, &way, 0) || way.taken < 8 * behind_call)
		return -ENODATA;
	for (unsigned i = 0; i < 16; i++) {
		struct unwind_place *place = &state->places[i < 8 ? columns[i] : i];

		if (way.saved[i] == GONE)
			place->where = WHERE_LOST;
		else if (way.saved[i] != KEPT)
			*place = (struct unwind_place){WHERE_MEMORY,
						       state->cfa + (uint64_t)way.saved[i]};
	}
	*ret = (struct unwind_place){WHERE_MEMORY, state->cfa + (uint64_t)way.taken};
	state->cfa += (uint64_t)way.taken + 8;
	return 0;
}
