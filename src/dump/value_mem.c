/* Field data_src in words.  Source of the bits: union perf_mem_data_src of perf_event.h; of the
 * words: the output of perf 6.1. */
#include <string.h>
#include "dump/value_text.h"

#define MOST 99 /* bytes that perf's buffer has room for, with the number at its start */

/* A name for each bit, joined by " or "; how many there were. */
static unsigned add_bits(struct tally_buf *buf, uint64_t bits, const char *const *names,
			 unsigned count, unsigned before)
{
	for (unsigned i = 0; i < count; i++) {
		if (!(bits >> i & 1))
			continue;
		if (before++)
			tally_buf_text(buf, " or ");
		tally_buf_text(buf, names[i]);
	}
	return before;
}

static void add_op(struct tally_buf *buf, uint64_t op)
{
	static const char *const names[] = {"N/A", "LOAD", "STORE", "PFETCH", "EXEC"};

	tally_buf_text(buf, op ? names[__builtin_ctzll(op)] : "No");
}

static void add_hit_miss(struct tally_buf *buf, uint64_t bits)
{
	if (bits & PERF_MEM_LVL_HIT)
		tally_buf_text(buf, " hit");
	if (bits & PERF_MEM_LVL_MISS)
		tally_buf_text(buf, " miss");
}

static void add_level(struct tally_buf *buf, uint64_t level, bool remote, unsigned hops,
		      unsigned number)
{
	static const char *const levels[] = {"N/A",
					     "",
					     "",
					     "L1",
					     "LFB/MAB",
					     "L2",
					     "L3",
					     "Local RAM",
					     "Remote RAM (1 hop)",
					     "Remote RAM (2 hops)",
					     "Remote Cache (1 hop)",
					     "Remote Cache (2 hops)",
					     "I/O",
					     "Uncached"};
	static const char *const distances[] = {"core, same node", "node, same socket",
						"socket, same board", "board"};
	static const char *const numbers[16] = {
	    [9] = "CXL",  [10] = "I/O",  [11] = "Any cache", [12] = "LFB/MAB",
	    [13] = "RAM", [14] = "PMEM", [15] = "N/A"};
	size_t start = buf->size;
	unsigned printed = 0;

	if (remote)
		tally_buf_text(buf, "Remote ");
	if (hops) {
		if (hops <= sizeof(distances) / sizeof(distances[0]))
			tally_buf_text(buf, distances[hops - 1]);
		tally_buf_byte(buf, ' ');
	} else {
		printed = add_bits(buf, level & ~(uint64_t)(PERF_MEM_LVL_HIT | PERF_MEM_LVL_MISS),
				   levels, sizeof(levels) / sizeof(levels[0]), 0);
	}
	if (number) {
		if (printed)
			tally_buf_text(buf, " or ");
		if (numbers[number]) {
			tally_buf_text(buf, numbers[number]);
		} else {
			tally_buf_byte(buf, 'L');
			buf_dec(buf, number);
		}
	}
	if (buf->size == start)
		tally_buf_text(buf, "N/A");
	add_hit_miss(buf, level);
}

static void add_snoop(struct tally_buf *buf, uint64_t snoop, uint64_t more)
{
	static const char *const first[] = {"N/A", "None", "Hit", "Miss", "HitM"};
	static const char *const second[] = {"Fwd", "Peer"};
	unsigned printed = add_bits(buf, snoop, first, 5, 0);

	if (!add_bits(buf, more, second, 2, printed))
		tally_buf_text(buf, "N/A");
}

static void add_tlb(struct tally_buf *buf, uint64_t tlb)
{
	static const char *const names[] = {"N/A", "", "", "L1", "L2", "Walker", "Fault"};

	if (!add_bits(buf, tlb & ~(uint64_t)(PERF_MEM_TLB_HIT | PERF_MEM_TLB_MISS), names, 7, 0))
		tally_buf_text(buf, "N/A");
	add_hit_miss(buf, tlb);
}

static void add_blocked(struct tally_buf *buf, uint64_t blocked)
{
	if (!blocked || blocked & PERF_MEM_BLK_NA) {
		tally_buf_text(buf, " N/A");
		return;
	}
	if (blocked & PERF_MEM_BLK_DATA)
		tally_buf_text(buf, " Data");
	if (blocked & PERF_MEM_BLK_ADDR)
		tally_buf_text(buf, " Addr");
}

static unsigned bits(uint64_t word, unsigned shift, unsigned width)
{
	return (unsigned)(word >> shift & ((1u << width) - 1));
}

void tally_script_mem_part(struct tally_buf *buf, enum tally_mem_part part, uint64_t data_src)
{
	unsigned lock = bits(data_src, PERF_MEM_LOCK_SHIFT, 2);

	switch (part) {
	case TALLY_MEM_OP:
		add_op(buf, bits(data_src, PERF_MEM_OP_SHIFT, 5));
		break;
	case TALLY_MEM_LEVEL:
		add_level(buf, bits(data_src, PERF_MEM_LVL_SHIFT, 14),
			  bits(data_src, PERF_MEM_REMOTE_SHIFT, 1),
			  bits(data_src, PERF_MEM_HOPS_SHIFT, 3),
			  bits(data_src, PERF_MEM_LVLNUM_SHIFT, 4));
		break;
	case TALLY_MEM_SNOOP:
		add_snoop(buf, bits(data_src, PERF_MEM_SNOOP_SHIFT, 5),
			  bits(data_src, PERF_MEM_SNOOPX_SHIFT, 2));
		break;
	case TALLY_MEM_TLB:
		add_tlb(buf, bits(data_src, PERF_MEM_TLB_SHIFT, 7));
		break;
	case TALLY_MEM_LOCK:
		tally_buf_text(buf, lock & PERF_MEM_LOCK_NA       ? "N/A"
				    : lock & PERF_MEM_LOCK_LOCKED ? "Yes"
								  : "No");
		break;
	case TALLY_MEM_BLOCKED:
		add_blocked(buf, bits(data_src, PERF_MEM_BLK_SHIFT, 3));
		break;
	}
}

void tally_script_data_src(struct tally_buf *buf, uint64_t data_src, size_t *widest)
{
	static const char *const before[] = {" |OP ", "|LVL ", "|SNP ", "|TLB ", "|LCK ", "|BLK "};
	size_t start = buf->size, length;

	buf_hex_right(buf, data_src, 16);
	for (unsigned i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		tally_buf_text(buf, before[i]);
		tally_script_mem_part(buf, (enum tally_mem_part)i, data_src);
	}
	length = buf->size - start;
	if (length > MOST) {
		buf->size = start + MOST;
		length = MOST;
	}
	if (*widest < length)
		*widest = length;
	buf_pad(buf, ' ', *widest - length);
}
