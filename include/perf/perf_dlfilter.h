/* Filters for perf script --dlfilter and for Tally: what such a shared object and its host know of
 * each other.  A filter that is compiled with this header runs in both, as it is.
 *
 * A filter defines any of start(), filter_event_early(), filter_event(), stop() and
 * filter_description(), and, to ask its host anything, one variable
 *
 *	struct perf_dlfilter_fns perf_dlfilter_fns;
 *
 * which the host fills before it calls.  Structs grow at their end only, and say their size: a
 * member is there when `size` reaches behind it.  See tally-dlfilter(7), perf-dlfilter(1).
 *
 * The name and the guard are those of perf's own header, so that either serves.  MIT licence;
 * written from the binary interface alone. */
#ifndef _LINUX_PERF_DLFILTER_H
#define _LINUX_PERF_DLFILTER_H

#include <linux/perf_event.h>
#include <linux/types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* This header has machine_pid and vcpu of samples (Linux 6.1). */
#define PERF_DLFILTER_HAS_MACHINE_PID

/* Bits of sample->flags: of branches that were decoded from a hardware trace, else none. */
enum {
	PERF_DLFILTER_FLAG_BRANCH = 0x0001,
	PERF_DLFILTER_FLAG_CALL = 0x0002,
	PERF_DLFILTER_FLAG_RETURN = 0x0004,
	PERF_DLFILTER_FLAG_CONDITIONAL = 0x0008,
	PERF_DLFILTER_FLAG_SYSCALLRET = 0x0010,
	PERF_DLFILTER_FLAG_ASYNC = 0x0020,
	PERF_DLFILTER_FLAG_INTERRUPT = 0x0040,
	PERF_DLFILTER_FLAG_TX_ABORT = 0x0080,
	PERF_DLFILTER_FLAG_TRACE_BEGIN = 0x0100,
	PERF_DLFILTER_FLAG_TRACE_END = 0x0200,
	PERF_DLFILTER_FLAG_IN_TX = 0x0400,
	PERF_DLFILTER_FLAG_VMENTRY = 0x0800,
	PERF_DLFILTER_FLAG_VMEXIT = 0x1000,
};

/* A sample.  Names are those of PERF_SAMPLE_* in <linux/perf_event.h>.  What the event did not
 * record is 0, but: pid, tid, cpu and vcpu are -1; time, id and stream_id have all bits set; period
 * is that of the attr.  Pointers hold until the callback returns. */
struct perf_dlfilter_sample {
	__u32 size; /* of the host's struct */
	__u16 ins_lat;
	__u16 p_stage_cyc;
	__u64 ip;
	__s32 pid;
	__s32 tid;
	__u64 time; /* ns */
	__u64 addr;
	__u64 id;
	__u64 stream_id;
	__u64 period;
	__u64 weight;
	__u64 transaction;
	__u64 insn_cnt; /* instructions and cycles since the sample before, from a hardware trace */
	__u64 cyc_cnt;
	__s32 cpu;
	__u32 flags; /* PERF_DLFILTER_FLAG_* */
	__u64 data_src;
	__u64 phys_addr;
	__u64 data_page_size;
	__u64 code_page_size;
	__u64 cgroup;
	__u8 cpumode;             /* PERF_RECORD_MISC_CPUMODE_MASK of misc */
	__u8 addr_correlates_sym; /* not 0: resolve_addr() has an answer */
	__u16 misc;
	__u32 raw_size;
	const void *raw_data; /* aligned to 4 bytes */
	__u64 brstack_nr;
	const struct perf_branch_entry *brstack;
	__u64 raw_callchain_nr;
	const __u64 *raw_callchain; /* with its PERF_CONTEXT_* marks */
	const char *event;          /* its name */
	__s32 machine_pid;          /* of a guest */
	__s32 vcpu;
};

/* Where an address leads. */
struct perf_dlfilter_al {
	__u32 size;      /* for resolve_address(): set by the filter before it asks */
	__u32 symoff;    /* from the symbol's start */
	const char *sym; /* NULL: none */
	__u64 addr;      /* in the terms of the DSO: an offset in the file of user space's */
	__u64 sym_start;
	__u64 sym_end;
	const char *dso;   /* NULL: nothing is mapped there */
	__u8 sym_binding;  /* STB_* of <elf.h> */
	__u8 is_64_bit;    /* means something where dso is not NULL */
	__u8 is_kernel_ip; /* by the address */
	__u32 buildid_size;
	__u8 *buildid;
	/* Of resolve_ip() alone: */
	__u8 filtered; /* not 0: the host's own options will drop the sample */
	const char *comm;
	void *priv; /* the host's */
};

/* What a filter may ask.  Each needs the ctx that the callback was given.  Only args() answers in
 * start() and stop(). */
struct perf_dlfilter_fns {
	const struct perf_dlfilter_al *(*resolve_ip)(void *ctx);
	const struct perf_dlfilter_al *(*resolve_addr)(void *ctx);
	char **(*args)(void *ctx, int *dlargc); /* those of --dlarg */
	__s32 (*resolve_address)(void *ctx, __u64 address, struct perf_dlfilter_al *al); /* 0, -1 */
	const __u8 *(*insn)(void *ctx, __u32 *length); /* the instruction at ip */
	const char *(*srcline)(void *ctx, __u32 *line_number);
	struct perf_event_attr *(*attr)(void *ctx);
	__s32 (*object_code)(void *ctx, __u64 ip, void *buf, __u32 len); /* bytes read, -1 */
	/* After resolve_address(), when this is not NULL (Linux 6.6). */
	void (*al_cleanup)(void *ctx, struct perf_dlfilter_al *al);
	void *(*reserved[119])(void *);
};

/* Once before all samples.  *data is given to the other callbacks.  Not 0 ends the command. */
int start(void **data, void *ctx);
/* For each sample in the order of time, behind the host's own filters or before them.  0 keeps it,
 * 1 drops it, below 0 ends the reading. */
int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx);
/* Once behind all. */
int stop(void *data, void *ctx);
/* A line about the filter, and perhaps more lines, for --list-dlfilters. */
const char *filter_description(const char **long_description);

#ifdef __cplusplus
}
#endif

#endif
