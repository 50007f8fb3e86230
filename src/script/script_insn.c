/* Instructions: insn, insnlen of the sampled place, brstackinsn of all that ran between the
 * branches of a branch stack.  The text, and the rules for damage, are perf 6.1's. */
#include <errno.h>
#include <stddef.h>
#include <string.h>
#include "script/script_state.h"
#include "resolve/instructions.h"
#include "resolve/lines.h"

/* A longer block is invalid.  Source: perf's MAXBB. */
#define BLOCK_MOST 16384U
/* The range in which a branch that is missing before the sample is searched for. */
#define SCAN_MOST 128U

#define FLAG_MISPREDICTED 1U /* Source: struct perf_branch_entry of perf_event.h */
#define FLAG_PREDICTED    2U
#define FLAG_IN_TX        4U
#define FLAG_ABORT        8U
#define FLAG_CYCLES(word) ((word) >> 4 & 0xffffU)

struct listing {
	const struct script_out *out;
	bool lengths, lines, sources;
	bool is_64_bit;      /* of the code that was read last, */
	uint8_t mode;        /* and its mode */
	bool has_symbol;     /* one was printed, */
	uint64_t start, end; /* and its extent */
	uint64_t cycles;
	size_t size;
	uint8_t code[BLOCK_MOST];
};

static bool is_kernel(uint64_t addr)
{
	return addr >> 63;
}

static uint8_t mode_of(uint64_t addr)
{
	return is_kernel(addr) ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
}

static size_t length_of(const struct script *script, struct tally_resolver *resolver,
			bool is_64_bit, const uint8_t *bytes, size_t size)
{
	if (script->arch != TALLY_REGISTER_ARCH_X86)
		return 0;
	return tally_resolver_insn_length(resolver, is_64_bit, bytes, size);
}

static void put_bytes(struct tally_buf *to, const uint8_t *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		tally_buf_printf(to, "%02x ", bytes[i]);
}

/* The instruction at an offset in the code; its length, 0: it is none. */
static size_t put_instruction(struct listing *listing, size_t offset)
{
	const uint8_t *bytes = listing->code + offset;
	size_t length = length_of(listing->out->script, listing->out->resolver, listing->is_64_bit,
				  bytes, listing->size - offset);

	if (!length) {
		tally_buf_text(listing->out->to, "<bad>");
		return 0;
	}
	tally_buf_text(listing->out->to, "insn: ");
	put_bytes(listing->out->to, bytes, length);
	return length;
}

static void put_address(struct listing *listing, uint64_t addr)
{
	tally_buf_printf(listing->out->to, "\t%016llx\t", (unsigned long long)addr);
}

static void put_source(struct listing *listing, uint64_t addr)
{
	if (listing->sources && tally_script_source_put(listing->out, listing->mode, addr))
		listing->out->to->failed = true;
}

static size_t put_line(struct listing *listing, uint64_t addr, size_t offset)
{
	size_t length;

	put_address(listing, addr);
	length = put_instruction(listing, offset);
	if (listing->lengths)
		tally_buf_printf(listing->out->to, "\tilen: %zu", length);
	tally_buf_byte(listing->out->to, '\n');
	put_source(listing, addr);
	return length;
}

/* A branch, with what is known of it; `count` is the number of instructions up to it. */
static void put_jump(struct listing *listing, uint64_t addr, size_t offset, uint64_t flags,
		     unsigned count)
{
	struct tally_buf *to = listing->out->to;
	unsigned cycles = FLAG_CYCLES(flags);
	size_t before, length;

	put_address(listing, addr);
	before = to->size;
	length = put_instruction(listing, offset);
	for (size_t width = to->size - before; width < 30; width++)
		tally_buf_byte(to, ' ');
	tally_buf_byte(to, '\t');
	if (listing->lengths)
		tally_buf_printf(to, "ilen: %zu\t", length);
	tally_buf_printf(to, "#%s%s%s%s", flags & FLAG_PREDICTED ? " PRED" : "",
			 flags & FLAG_MISPREDICTED ? " MISPRED" : "",
			 flags & FLAG_IN_TX ? " INTX" : "", flags & FLAG_ABORT ? " ABORT" : "");
	if (cycles) {
		listing->cycles += cycles;
		tally_buf_printf(to, " %u cycles [%llu]", cycles,
				 (unsigned long long)listing->cycles);
		if (count)
			tally_buf_printf(to, " %.2f IPC", (double)count / (double)cycles);
	}
	tally_buf_byte(to, '\n');
	put_source(listing, addr);
}

/* The symbol that an address is in, unless it was printed last. */
static int put_symbol(struct listing *listing, uint64_t addr)
{
	struct tally_buf *to = listing->out->to;
	struct tally_located at;
	struct tally_location location;
	size_t before;
	int result = tally_resolver_perf_location(listing->out->resolver, listing->out->at,
						  listing->mode, addr, false, &location);
	int64_t offset;

	if (result || (listing->has_symbol && location.place >= listing->start &&
		       location.place < listing->end))
		return result;
	if (!location.mapped || !location.symbol)
		return 0;
	offset = (int64_t)(location.place - location.symbol_start);
	if (location.place >= location.symbol_end)
		offset -= (int64_t)location.map_start;
	tally_buf_byte(to, '\t');
	tally_script_name_put(listing->out->script, to, location.symbol);
	if ((int32_t)offset)
		tally_buf_printf(to, "%+d", (int32_t)offset);
	tally_buf_byte(to, ':');
	if (listing->lines) {
		tally_buf_byte(to, '\t');
		before = to->size;
		result = tally_resolver_locate(listing->out->resolver, listing->out->at,
					       listing->mode, addr, &at);
		if (!result)
			result = tally_resolver_srcline(
			    listing->out->resolver, &at,
			    listing->out->script->options.full_source_path, to);
		if (to->size == before)
			to->size--;
	}
	tally_buf_byte(to, '\n');
	listing->has_symbol = true;
	listing->start = location.symbol_start;
	listing->end = location.symbol_end;
	return result;
}

/* Reads the code of a block, and a longest instruction behind it.  1; 0: it cannot be read, -ENXIO:
 * it goes from the kernel to user space or back, -ENOMEM. */
static int read_block(struct listing *listing, uint64_t start, uint64_t end)
{
	struct tally_location location;
	int result;

	listing->size = 0;
	if (!start || !end)
		return 0;
	listing->mode = mode_of(start);
	if (is_kernel(start) != is_kernel(end))
		return -ENXIO;
	if (end - start > BLOCK_MOST - INSN_MOST)
		return 0;
	result = tally_resolver_perf_location(listing->out->resolver, listing->out->at,
					      listing->mode, start, false, &location);
	if (result)
		return result;
	listing->size = tally_resolver_code(&location, listing->code, end - start + INSN_MOST,
					    &listing->is_64_bit);
	return listing->size > 0;
}

/* All instructions from where a branch led up to the next branch. */
static int put_block(struct listing *listing, uint64_t start, uint64_t end, uint64_t flags)
{
	unsigned count = 0;
	size_t offset = 0;

	while (offset < listing->size) {
		size_t length;
		int result = put_symbol(listing, start + offset);

		if (result)
			return result;
		if (start + offset == end) {
			put_jump(listing, end, offset, flags, count + 1);
			break;
		}
		length = put_line(listing, start + offset, offset);
		if (!length)
			break;
		count++;
		offset += length;
	}
	if (offset != end - start)
		tally_buf_text(listing->out->to, "\tmismatch of LBR data and executable\n");
	return 0;
}

/* Source: the opcode map of the Intel SDM, volume 2, appendix A. */
static bool is_branch(const uint8_t *bytes, size_t length, bool is_64_bit)
{
	size_t at = 0;
	uint8_t next;

	while (at < length &&
	       (bytes[at] == 0x66 || bytes[at] == 0x67 || bytes[at] == 0xf0 || bytes[at] == 0xf2 ||
		bytes[at] == 0xf3 || (bytes[at] & 0xe7) == 0x26 || (bytes[at] & 0xfe) == 0x64))
		at++;
	if (is_64_bit && at < length && (bytes[at] & 0xf0) == 0x40)
		at++;
	if (at == length)
		return false;
	next = at + 1 < length ? bytes[at + 1] : 0;
	switch (bytes[at]) {
	case 0x0f:
		if (next == 0x01) /* vmlaunch, vmresume */
			return at + 2 < length && (bytes[at + 2] == 0xc2 || bytes[at + 2] == 0xc3);
		return next == 0x05 || next == 0x07 || next == 0x34 || next == 0x35 ||
		       (next & 0xf0) == 0x80;
	case 0xc2:
	case 0xc3: /* near returns */
	case 0xca:
	case 0xcb: /* far ones */
	case 0xcc:
	case 0xcd:
	case 0xce: /* interrupts */
	case 0xcf:
	case 0x9a:
	case 0xe0:
	case 0xe1:
	case 0xe2:
	case 0xe3:
	case 0xe8:
	case 0xe9:
	case 0xea:
	case 0xeb:
		return true;
	case 0xff: /* calls and jumps through memory or registers */
		return (next >> 3 & 7) >= 2 && (next >> 3 & 7) <= 5;
	default:
		return (bytes[at] & 0xf0) == 0x70;
	}
}

/* From where the last branch led up to the sample. A branch may be missing there, as the processor
 * was late: then up to that. */
static int put_final_block(struct listing *listing, uint64_t start, uint64_t ip)
{
	uint64_t end = ip < start ? start + SCAN_MOST : ip;
	int result = read_block(listing, start, end), failed;
	size_t offset = 0;

	if (result == -ENOMEM)
		return result;
	failed = put_symbol(listing, start);
	if (failed)
		return failed;
	if (result <= 0) {
		result = read_block(listing, ip, ip);
		if (result > 0)
			(void)put_line(listing, ip, 0);
		return result == -ENOMEM ? result : 0;
	}
	while (offset <= end - start && offset < listing->size) {
		size_t length = put_line(listing, start + offset, offset);

		if (!length)
			break;
		if (start + offset != ip &&
		    is_branch(listing->code + offset, length, listing->is_64_bit)) {
			tally_buf_text(listing->out->to, "\t... not reaching sample ...\n");
			break;
		}
		offset += length;
	}
	return 0;
}

static int put_branches(struct listing *listing)
{
	const struct tally_sample *sample = &listing->out->at->sample;
	const struct tally_branch *branches = sample->branches;
	uint64_t at = sample->branch_nr - 1;
	int result;

	tally_buf_byte(listing->out->to, '\n');
	/* Where the oldest branch came from is one instruction. */
	result = read_block(listing, branches[at].from, branches[at].from);
	if (result > 0) {
		result = put_symbol(listing, branches[at].from);
		put_jump(listing, branches[at].from, 0, branches[at].flags, 0);
	}
	while (at-- > 0 && result != -ENOMEM) {
		uint64_t start = branches[at + 1].to;

		result = read_block(listing, start, branches[at].from);
		/* One way between kernel and user space may be filtered. */
		if (result == -ENXIO && at > 0) {
			at--;
			result = read_block(listing, start, branches[at].from);
		}
		if (result > 0)
			result = put_block(listing, start, branches[at].from, branches[at].flags);
	}
	if (result == -ENOMEM || branches[0].from == sample->ip || branches[0].flags & FLAG_ABORT)
		return result == -ENOMEM ? result : 0;
	return put_final_block(listing, branches[0].to, sample->ip);
}

static int put_sampled(const struct script_out *out, uint64_t fields)
{
	struct tally_buf *to = out->to;
	uint64_t ip = out->at->sample.ip;
	uint8_t bytes[INSN_MOST + 1];
	size_t size = 0, length = 0;
	struct tally_location location;
	bool is_64_bit;
	int result = 0;

	if (ip && out->at->sample.present & PERF_SAMPLE_IP) {
		result = tally_resolver_perf_location(out->resolver, out->at, mode_of(ip), ip,
						      false, &location);
		if (result)
			return result;
		size = tally_resolver_code(&location, bytes, sizeof(bytes), &is_64_bit);
	}
	if (size)
		length = length_of(out->script, out->resolver, is_64_bit, bytes, size);
	if (fields & SCRIPT_FIELD(INSNLEN))
		tally_buf_printf(to, " ilen: %zu", length);
	if (fields & SCRIPT_FIELD(INSN) && length) {
		tally_buf_text(to, " insn:");
		for (size_t i = 0; i < length; i++)
			tally_buf_printf(to, " %02x", bytes[i]);
	}
	return 0;
}

int tally_script_insn_put(const struct script_out *out, uint64_t fields)
{
	const struct tally_resolved *sample = out->at;
	const uint64_t branches = SCRIPT_FIELD(BRSTACKINSN) | SCRIPT_FIELD(BRSTACKINSNLEN);
	int result = put_sampled(out, fields);

	if (!result && fields & branches && sample->sample.present & PERF_SAMPLE_BRANCH_STACK &&
	    sample->sample.branch_nr) {
		struct listing listing;

		/* Not all of it: its code is large. */
		memset(&listing, 0, offsetof(struct listing, code));
		listing.out = out;
		listing.lengths = fields & SCRIPT_FIELD(BRSTACKINSNLEN);
		listing.lines = fields & SCRIPT_FIELD(SRCLINE);
		listing.sources = fields & SCRIPT_FIELD(SRCCODE);
		result = put_branches(&listing);
	}
	return result ? result : out->to->failed;
}
