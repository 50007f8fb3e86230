/* The text that `tally script` prints for single values, for records other than samples, and with
 * -D: the same bytes as `perf script` of perf 6.1.
 *
 * All functions append to a buffer, allocate nothing else and keep no state, so several threads may
 * call them at once, each on its buffer.  A failed allocation sets buf->failed.  Text from a file
 * is escaped as by tally_text_add_escaped(), which is the only difference from perf: names with
 * control bytes or broken UTF-8.  Source of all layouts: the output of perf 6.1. */
#ifndef TALLY_DUMP_VALUE_TEXT_H
#define TALLY_DUMP_VALUE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/data.h>
#include <tally/record.h>
#include "abi/register_names.h"
#include "base/buf.h"
#include "base/digits.h"

/* --- registers --- */

/* The name of register `number` (a bit of sample_regs_*); "unknown" when there is none. */
const char *tally_script_reg_name(enum tally_register_arch arch, unsigned number);

/* Fields iregs and uregs: " ABI:2    AX:0x1     BX:0x2 ", nothing when the sample has none (regs is
 * NULL or abi is 0).  `regs` has a word for each bit of `mask`, ascending. */
void tally_script_regs(struct tally_buf *buf, enum tally_register_arch arch, uint64_t abi,
		       uint64_t mask, const uint64_t *regs);

/* --- memory --- */

/* The parts of data_src in words, in the order in which the field has them. */
enum tally_mem_part {
	TALLY_MEM_OP,      /* "LOAD" */
	TALLY_MEM_LEVEL,   /* "L1 hit" */
	TALLY_MEM_SNOOP,   /* "None" */
	TALLY_MEM_TLB,     /* "L1 or L2 hit" */
	TALLY_MEM_LOCK,    /* "No" */
	TALLY_MEM_BLOCKED, /* " N/A" */
};
void tally_script_mem_part(struct tally_buf *buf, enum tally_mem_part part, uint64_t data_src);

/* Field data_src: "%16x |OP LOAD|LVL ...", cut to 99 bytes as perf does, then padded with blanks to
 * *widest bytes; *widest grows with what was written.  perf pads to the widest that it has shown so
 * far: one *widest, starting with 0, over all samples in order, gives the same. */
void tally_script_data_src(struct tally_buf *buf, uint64_t data_src, size_t *widest);

/* Fields data_page_size and code_page_size: " 4K", " 2M", " N/A". */
void tally_script_page_size(struct tally_buf *buf, uint64_t bytes);

/* Fields weight, ins_lat, retire_lat, phys_addr: right-aligned in 16. */
static inline uint64_t tally_script_weight_value(const struct tally_sample *sample)
{
	return sample->present & PERF_SAMPLE_WEIGHT_STRUCT ? (uint32_t)sample->weight
							   : sample->weight;
}

static inline uint16_t tally_script_ins_lat_value(const struct tally_sample *sample)
{
	return sample->present & PERF_SAMPLE_WEIGHT_STRUCT ? (uint16_t)(sample->weight >> 32) : 0;
}

static inline uint16_t tally_script_retire_lat_value(const struct tally_sample *sample)
{
	return sample->present & PERF_SAMPLE_WEIGHT_STRUCT ? (uint16_t)(sample->weight >> 48) : 0;
}

static inline void tally_script_weight(struct tally_buf *buf, const struct tally_sample *sample)
{
	buf_dec_right(buf, tally_script_weight_value(sample), 16);
}

static inline void tally_script_ins_lat(struct tally_buf *buf, const struct tally_sample *sample)
{
	buf_dec_right(buf, tally_script_ins_lat_value(sample), 16);
}

static inline void tally_script_retire_lat(struct tally_buf *buf, const struct tally_sample *sample)
{
	buf_dec_right(buf, tally_script_retire_lat_value(sample), 16);
}

/* Field cgroup: " PATH"; NULL: " unknown".  (perf 6.1 has no such field; newer ones print this.) */
void tally_script_cgroup(struct tally_buf *buf, const char *path);

/* --- the rest of a sample's line --- */

/* Field misc: letters of the record's misc, at least six bytes wide, a blank at the end. */
void tally_script_misc(struct tally_buf *buf, uint32_t record_type, uint16_t misc);

/* Bits of the field flags.  Source: enum of tools/perf/util/event.h. */
enum {
	TALLY_IP_BRANCH = 1 << 0,
	TALLY_IP_CALL = 1 << 1,
	TALLY_IP_RETURN = 1 << 2,
	TALLY_IP_CONDITIONAL = 1 << 3,
	TALLY_IP_SYSCALLRET = 1 << 4,
	TALLY_IP_ASYNC = 1 << 5,
	TALLY_IP_INTERRUPT = 1 << 6,
	TALLY_IP_TX_ABORT = 1 << 7,
	TALLY_IP_TRACE_BEGIN = 1 << 8,
	TALLY_IP_TRACE_END = 1 << 9,
	TALLY_IP_IN_TX = 1 << 10,
	TALLY_IP_VMENTRY = 1 << 11,
	TALLY_IP_VMEXIT = 1 << 12,
	TALLY_IP_INTR_DISABLE = 1 << 13,
	TALLY_IP_INTR_TOGGLE = 1 << 14,
};

/* Field flags: "  NAME           ", 24 bytes.  Only decoded traces have flags; 0 of samples. */
void tally_script_flags(struct tally_buf *buf, uint32_t flags);

/* "COND", "CALL", ... of perf_branch_entry's third word; "" when it has no type. */
const char *tally_script_branch_type(uint64_t flags);

/* "/P/-/-/CYCLES/TYPE ", as brstack, brstacksym and brstackoff end each branch. */
void tally_script_branch_flags(struct tally_buf *buf, uint64_t flags);

/* Field bpf-output: the bytes in lines of eight, and the string if they are one.  `raw` may be NULL
 * when size is 0. */
void tally_script_bpf_output(struct tally_buf *buf, const uint8_t *raw, size_t size);

/* --- records that are no samples --- */

/* "PERF_RECORD_COMM exec: ls:123/123\n" and the like: what --show-*-events print behind the prefix
 * that samples have too.  Types without text of their own are "PERF_RECORD_NAME\n".  `symbol`: the
 * place of a TEXT_POKE as "name+0x10", NULL when unknown or of other types. */
void tally_script_record(struct tally_buf *buf, const struct tally_body *body, const char *symbol);

/* The same without "PERF_RECORD_NAME". */
void tally_script_record_tail(struct tally_buf *buf, const struct tally_body *body,
			      const char *symbol);

/* perf's name of a record type, "MMAP2", "ATTR"; newer types than perf 6.1's have theirs; "INVALID"
 * for others. */
const char *tally_script_record_name(uint32_t type);

/* --- the dump of -D --- */

/* What the dump of every record needs; made once, then read only. */
struct tally_script_dump {
	const struct tally_data *data;
	const char *path; /* as in perf: the file's path, "pipe" for a stream */
	enum tally_register_arch arch;
	uint64_t sample_type; /* of all events together */
	bool sample_id_all;
	uint64_t offset_bias; /* subtracted from offsets: perf counts those of a stream from its
				 first record */
};

/* Borrows `data`. */
void tally_script_dump_init(struct tally_script_dump *dump, const struct tally_data *data);

/* One record: a blank line, where it is, its bytes, and its fields as perf prints them.  `event` is
 * the index of its event, below 0 when none is known.  What perf prints next of a sample is
 * tally_script_dump_place() and then the sample's own line. */
void tally_script_dump_record(struct tally_buf *buf, const struct tally_script_dump *dump,
			      const struct tally_record *record, int event);

/* " ... thread: COMM:TID\n ...... dso: PATH\n".  `dso` is the image's path, NULL when no mapping
 * holds the address; `hypervisor`: the sample is of no mode whose maps are known. */
void tally_script_dump_place(struct tally_buf *buf, const char *comm, uint32_t tid, const char *dso,
			     bool hypervisor);

#endif
