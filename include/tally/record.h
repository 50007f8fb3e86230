/* Records: what the kernel writes to a ring and what perf.data files hold, decoded and encoded.
 *
 * A record is a header {u32 type, u16 misc, u16 size} and a body.  `struct tally_record` is a view
 * of one; the structs below it are decoded bodies.  Pointers in decoded structs point into the
 * record's bytes and live as long as those.  Everything here is in native byte order; records of
 * the other byte order are swapped first (tally_record_swap). Source of all layouts:
 * include/uapi/linux/perf_event.h (kernel records), the perf.data format as perf 2.6.32 to 7.0
 * writes it (types from 64 up). */
#ifndef TALLY_RECORD_H
#define TALLY_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/abi.h>
#include <tally/attr.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* Record types of the kernel that are newer than Linux 6.1; the others are in
 * <linux/perf_event.h>. */
#define PERF_RECORD_CALLCHAIN_DEFERRED 22 /* Linux 6.19 */

/* Record types that the perf tool writes (they are not the kernel's).  Source: the perf.data
 * format as written by perf 2.6.32 to 7.0 (tools/lib/perf/include/perf/event.h). */
enum tally_tool_record {
	PERF_RECORD_HEADER_ATTR = 64,
	PERF_RECORD_HEADER_EVENT_TYPE = 65, /* no longer written */
	PERF_RECORD_HEADER_TRACING_DATA = 66,
	PERF_RECORD_HEADER_BUILD_ID = 67,
	PERF_RECORD_FINISHED_ROUND = 68,
	PERF_RECORD_ID_INDEX = 69,
	PERF_RECORD_AUXTRACE_INFO = 70,
	PERF_RECORD_AUXTRACE = 71,
	PERF_RECORD_AUXTRACE_ERROR = 72,
	PERF_RECORD_THREAD_MAP = 73,
	PERF_RECORD_CPU_MAP = 74,
	PERF_RECORD_STAT_CONFIG = 75,
	PERF_RECORD_STAT = 76,
	PERF_RECORD_STAT_ROUND = 77,
	PERF_RECORD_EVENT_UPDATE = 78,
	PERF_RECORD_TIME_CONV = 79,
	PERF_RECORD_HEADER_FEATURE = 80,
	PERF_RECORD_COMPRESSED = 81,
	PERF_RECORD_FINISHED_INIT = 82,
	PERF_RECORD_COMPRESSED2 = 83,
	PERF_RECORD_BPF_METADATA = 84,
	PERF_RECORD_SCHEDSTAT_CPU = 85,
	PERF_RECORD_SCHEDSTAT_DOMAIN = 86,
};

/* misc of HEADER_BUILD_ID: its size byte says how long the id is; else it is 20 bytes. */
#define PERF_RECORD_MISC_BUILD_ID_SIZE (1 << 15)

/* Record types that simpleperf writes.  Source: the files themselves and simpleperf's record.h. */
enum tally_simpleperf_record {
	SIMPLE_PERF_RECORD_KERNEL_SYMBOL = 32769,
	SIMPLE_PERF_RECORD_DSO,
	SIMPLE_PERF_RECORD_SYMBOL,
	SIMPLE_PERF_RECORD_SPLIT,
	SIMPLE_PERF_RECORD_SPLIT_END,
	SIMPLE_PERF_RECORD_EVENT_ID,
	SIMPLE_PERF_RECORD_CALLCHAIN,
	SIMPLE_PERF_RECORD_UNWINDING_RESULT,
	SIMPLE_PERF_RECORD_TRACING_DATA,
	SIMPLE_PERF_RECORD_DEBUG,
};

struct tally_record {
	const uint8_t *bytes; /* the header is first; 8-byte aligned; borrowed */
	uint64_t offset;      /* of the record in its file or stream, for messages */
	uint32_t type;        /* PERF_RECORD_* */
	uint16_t misc;        /* PERF_RECORD_MISC_* */
	uint16_t size;        /* bytes, header included; at least 8 */
};

/* Values of one read: a counter, or a group in one go (PERF_FORMAT_GROUP). */
struct tally_read {
	uint64_t read_format;
	uint64_t nr;                         /* values; 1 when not a group */
	uint64_t time_enabled, time_running; /* ns; 0 when read_format does not have them */
	uint64_t value, id, lost;            /* of the only counter, when not a group */
	const uint64_t *group; /* nr entries of {value, [id], [lost]}; NULL when not a group */
};

struct tally_branch {
	uint64_t from, to;
	uint64_t flags; /* perf_branch_entry's third word, bits as on little endian */
};

/* A decoded sample.  `present` says which members were decoded. */
struct tally_sample {
	size_t size;      /* sizeof of this struct, set by the caller once */
	uint64_t present; /* PERF_SAMPLE_* bits that were decoded */
	uint64_t identifier, ip;
	uint32_t pid, tid;
	uint64_t time; /* ns of the event's clock */
	uint64_t addr, id, stream_id;
	uint32_t cpu, cpu_reserved;
	uint64_t period;
	struct tally_read read;
	uint64_t callchain_nr;
	const uint64_t *callchain; /* PERF_CONTEXT_* marks included, innermost first */
	const uint8_t *raw;
	uint32_t raw_size; /* bytes */
	uint32_t
	    branch_flags_present; /* PERF_SAMPLE_BRANCH_* of the attr that shaped the next four */
	uint64_t branch_nr, branch_hw_idx;
	const struct tally_branch *branches;
	const uint64_t *branch_counters; /* branch_nr words, or NULL */
	uint64_t user_abi, user_regs_mask, intr_abi, intr_regs_mask;
	const uint64_t *user_regs, *intr_regs; /* a word for each bit of the mask, ascending */
	const uint8_t *user_stack;             /* where it is in the record, even if no byte is */
	uint64_t user_stack_size, user_stack_dyn_size; /* bytes dumped; bytes that are valid */
	uint64_t weight; /* PERF_SAMPLE_WEIGHT, or var1 of WEIGHT_STRUCT in the low 32 bits, ... */
	uint64_t data_src, transaction, phys_addr, cgroup, data_page_size, code_page_size;
	const uint8_t *aux;
	uint64_t aux_size; /* bytes */
};

/* Call chains that a recorder made of copies of stacks. Words of 64 bits only. */
struct tally_stack_counts {
	uint64_t count; /* chains; 0: none was made */
	uint64_t whole; /* that reach the entry of their thread */
	/* The others, by why they end before it: the stack goes on beyond its copy; no readable
	 * image describes the code; a frame has no valid caller; too many frames. */
	uint64_t copy_ended, unknown_code, lost, too_deep;
	/* Frames by how they were found: by the kernel (of itself), the sampled place, call frame
	 * information, frame pointers in the copy, the kernel's frame pointers beyond it. */
	uint64_t kernel_frames, leaf_frames, cfi_frames, frame_pointer_frames, spliced_frames;
	/* What was done when unwinding could not keep up. */
	uint64_t cut_copies;    /* made smaller */
	uint64_t spilled_bytes; /* waited in a temporary file */
	uint64_t dropped;       /* samples whose copy was given up; their chain is the kernel's */
	/* Chains that end with their copy, and go on with the callers that another sample of the
	 * thread has: how many, and such frames. */
	uint64_t joined, joined_frames;
	/* Of `lost`: in code without a file, which was made at run time and keeps no frame
	 * pointers. */
	uint64_t lost_made;
};

/* The trailer of records other than samples, with attr.sample_id_all. */
struct tally_sample_id {
	uint64_t present; /* PERF_SAMPLE_{TID,TIME,ID,STREAM_ID,CPU,IDENTIFIER} */
	uint32_t pid, tid;
	uint64_t time, id, stream_id;
	uint32_t cpu, cpu_reserved;
	uint64_t identifier;
};

/* The fields of a sample whose place is the same in every sample of an event. */
enum tally_fixed {
	TALLY_FIXED_IDENTIFIER,
	TALLY_FIXED_IP,
	TALLY_FIXED_TID,
	TALLY_FIXED_TIME,
	TALLY_FIXED_ADDR,
	TALLY_FIXED_ID,
	TALLY_FIXED_STREAM_ID,
	TALLY_FIXED_CPU,
	TALLY_FIXED_PERIOD,
	TALLY_FIXED_COUNT
};

#define TALLY_LAYOUT_FIELDS 24

/* How samples and trailers of one event are laid out; made once from its attr, then read only. */
struct tally_layout {
	uint64_t sample_type, read_format, branch_sample_type;
	uint64_t sample_regs_user, sample_regs_intr;
	bool sample_id_all;
	/* Offset from the record's start of each fixed field, or -1 when the event does not have
	 * it. */
	int16_t at[TALLY_FIXED_COUNT];
	uint16_t variable_at; /* offset of the first field of varying size (READ, CALLCHAIN, ...) */
	/* Offset back from the record's END of each trailer field (positive), or -1. Only TID,
	 * TIME, ID, STREAM_ID, CPU, IDENTIFIER are ever there. */
	int16_t trailer_at[TALLY_FIXED_COUNT];
	uint16_t trailer_size; /* bytes; 0 without sample_id_all */
	/* For the decoder: PERF_SAMPLE_* that are read without a walk over the fields behind
	 * variable_at, and these fields by their places in the table of all sample fields. */
	uint64_t direct;
	uint8_t field_count, fields[TALLY_LAYOUT_FIELDS];
};

/* Computes the layout from sample_type, read_format and the other members of the attr that decide
 * where fields are. */
void tally_layout_init(struct tally_layout *layout, const struct tally_attr *attr);

struct tally_record_mmap {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	const char *filename; /* NUL-terminated within the record; untrusted */
};
struct tally_record_mmap2 {
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t maj, min; /* device, inode: when misc lacks PERF_RECORD_MISC_MMAP_BUILD_ID */
	uint64_t ino, ino_generation;
	uint8_t build_id_size; /* 0 to 20: when it has */
	uint8_t build_id[20];
	uint32_t prot, flags; /* PROT_*, MAP_* */
	const char *filename;
};
struct tally_record_lost {
	uint64_t id, lost;
};
struct tally_record_comm {
	uint32_t pid, tid;
	const char *comm;
};
struct tally_record_task { /* FORK and EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};
struct tally_record_throttle { /* THROTTLE and UNTHROTTLE */
	uint64_t time, id, stream_id;
};
struct tally_record_read {
	uint32_t pid, tid;
	struct tally_read read;
};
struct tally_record_aux {
	uint64_t aux_offset, aux_size, flags;
};
struct tally_record_itrace_start {
	uint32_t pid, tid;
};
struct tally_record_lost_samples {
	uint64_t lost;
};
struct tally_record_switch_cpu_wide {
	uint32_t next_prev_pid, next_prev_tid;
};
struct tally_namespace {
	uint64_t dev, ino;
};
struct tally_record_namespaces {
	uint32_t pid, tid;
	uint64_t nr_namespaces;
	const struct tally_namespace *link_info;
};
struct tally_record_ksymbol {
	uint64_t addr;
	uint32_t len;
	uint16_t ksym_type, flags;
	const char *name;
};
struct tally_record_bpf_event {
	uint16_t type, flags;
	uint32_t id;
	uint8_t tag[8];
};
struct tally_record_cgroup {
	uint64_t id;
	const char *path;
};
struct tally_record_text_poke {
	uint64_t addr;
	uint16_t old_len, new_len;
	const uint8_t *bytes; /* old_len bytes, then new_len bytes */
};
struct tally_record_aux_output_hw_id {
	uint64_t hw_id;
};
struct tally_record_callchain_deferred {
	uint64_t cookie, nr;
	const uint64_t *ips;
};

/* --- records of the perf tool --- */
struct tally_record_header_attr {
	struct tally_attr attr; /* attr.size says how much of it the file had */
	uint64_t id_count;
	const uint64_t *ids;
};
struct tally_record_event_type {
	uint64_t id;
	const char *name;
};
struct tally_record_tracing_data {
	uint32_t size; /* bytes that follow the record, outside header.size, padded to 8 */
};
struct tally_record_build_id {
	uint32_t pid;
	uint8_t build_id_size;
	uint8_t build_id[20];
	const char *filename;
};
struct tally_id_index_entry {
	uint64_t id, idx, cpu, tid;
};
struct tally_record_id_index {
	uint64_t nr;
	const struct tally_id_index_entry *entries;
	const uint64_t *guests; /* nr pairs {machine_pid, vcpu}, or NULL */
};
struct tally_record_auxtrace_info {
	uint32_t type;
	uint64_t priv_count;
	const uint64_t *priv;
};
struct tally_record_auxtrace {
	uint64_t size, trace_offset, reference;
	uint32_t idx, tid, cpu;
};
struct tally_record_auxtrace_error {
	uint32_t type, code, cpu, pid, tid, fmt;
	uint64_t ip, time;
	const char *msg;
	uint32_t machine_pid, vcpu;
};
struct tally_thread_map_entry {
	uint64_t pid;
	char comm[16];
};
struct tally_record_thread_map {
	uint64_t nr;
	const struct tally_thread_map_entry *entries;
};
struct tally_record_cpu_map {
	uint16_t type;      /* 0: list, 1: mask, 2: range */
	uint16_t nr;        /* entries of the list, or words of the mask */
	uint16_t long_size; /* of a mask: 4 or 8 */
	bool any_cpu;
	uint16_t start_cpu, end_cpu; /* of a range */
	const uint8_t *data;         /* u16 each, or words of long_size; NULL for a range */
};
struct tally_stat_config_entry {
	uint64_t tag, value;
};
struct tally_record_stat_config {
	uint64_t nr;
	const struct tally_stat_config_entry *entries;
};
struct tally_record_stat {
	uint64_t id;
	uint32_t cpu, thread;
	uint64_t value, enabled, running;
};
struct tally_record_stat_round {
	uint64_t type, time;
};
struct tally_record_event_update {
	uint64_t type, id; /* 0 unit, 1 scale, 2 name, 3 cpus */
	const uint8_t *data;
	size_t data_size;
};
struct tally_record_time_conv {
	uint64_t time_shift, time_mult, time_zero;
	uint64_t time_cycles, time_mask; /* from Linux 5.10; has_cycles says */
	uint8_t cap_user_time_zero, cap_user_time_short;
	bool has_cycles;
};
struct tally_record_feature {
	uint64_t feat_id;
	const uint8_t *data;
	size_t data_size;
};
struct tally_record_compressed { /* 81 and 83 */
	const uint8_t *data;
	size_t data_size;
};
struct tally_bpf_metadata_entry {
	char key[64], value[256];
};
struct tally_record_bpf_metadata {
	const char *prog_name;
	uint64_t nr;
	const struct tally_bpf_metadata_entry *entries;
};
struct tally_record_schedstat { /* 85 and 86 */
	uint64_t timestamp;
	uint32_t cpu;
	uint16_t version, domain;
	const uint8_t *counters;
	size_t counters_size;
};
struct tally_record_bytes { /* types without a struct: the body unchanged */
	const uint8_t *data;
	size_t data_size;
};

/* Any decoded record; `type` picks the member. */
struct tally_body {
	size_t size; /* sizeof of this struct, set by the caller once */
	uint32_t type;
	uint16_t misc;
	struct tally_sample_id id; /* the trailer, for kernel records other than SAMPLE */
	union {
		struct tally_sample sample;
		struct tally_record_mmap mmap;
		struct tally_record_mmap2 mmap2;
		struct tally_record_lost lost;
		struct tally_record_comm comm;
		struct tally_record_task task;
		struct tally_record_throttle throttle;
		struct tally_record_read read;
		struct tally_record_aux aux;
		struct tally_record_itrace_start itrace_start;
		struct tally_record_lost_samples lost_samples;
		struct tally_record_switch_cpu_wide switch_cpu_wide;
		struct tally_record_namespaces namespaces;
		struct tally_record_ksymbol ksymbol;
		struct tally_record_bpf_event bpf_event;
		struct tally_record_cgroup cgroup;
		struct tally_record_text_poke text_poke;
		struct tally_record_aux_output_hw_id aux_output_hw_id;
		struct tally_record_callchain_deferred callchain_deferred;
		struct tally_record_header_attr header_attr;
		struct tally_record_event_type event_type;
		struct tally_record_tracing_data tracing_data;
		struct tally_record_build_id build_id;
		struct tally_record_id_index id_index;
		struct tally_record_auxtrace_info auxtrace_info;
		struct tally_record_auxtrace auxtrace;
		struct tally_record_auxtrace_error auxtrace_error;
		struct tally_record_thread_map thread_map;
		struct tally_record_cpu_map cpu_map;
		struct tally_record_stat_config stat_config;
		struct tally_record_stat stat;
		struct tally_record_stat_round stat_round;
		struct tally_record_event_update event_update;
		struct tally_record_time_conv time_conv;
		struct tally_record_feature feature;
		struct tally_record_compressed compressed;
		struct tally_record_bpf_metadata bpf_metadata;
		struct tally_record_schedstat schedstat;
		struct tally_record_bytes bytes;
	};
};

/* Decodes the fields of `want` (PERF_SAMPLE_* bits) that the event has, in the record's order, and
 * stops after the last one.  -EBADMSG when the record ends before a field does. */
int tally_sample_decode(const struct tally_layout *layout, const struct tally_record *record,
			uint64_t want, struct tally_sample *ret, struct tally_error *error);

/* Decodes the trailer of a kernel record other than a sample.  -EBADMSG: it does not fit. */
int tally_sample_id_decode(const struct tally_layout *layout, const struct tally_record *record,
			   struct tally_sample_id *ret, struct tally_error *error);

/* Decodes any record.  Unknown types give `bytes`.  -EBADMSG when a field passes the end; the
 * error's position is the record's offset plus the field's. */
int tally_record_decode(const struct tally_layout *layout, const struct tally_record *record,
			struct tally_body *ret, struct tally_error *error);

/* Bytes that tally_record_encode() will write (header and padding included), or -EOVERFLOW when
 * over 65,535. */
int tally_record_size(const struct tally_layout *layout, const struct tally_body *body);

/* Writes the record to `to` (native byte order); returns its size, or -ENOSPC, -EOVERFLOW. */
int tally_record_encode(const struct tally_layout *layout, const struct tally_body *body, void *to,
			size_t room);

/* Swaps a record between byte orders in place; `to_native` says which way the bytes go now.
 * -EBADMSG when it is too short for what its type says. */
int tally_record_swap(const struct tally_layout *layout, void *bytes, size_t size, bool to_native,
		      struct tally_error *error);

/* A record as text, one NAME=VALUE a line, for people and for comparing: its type and misc, its
 * fields, and those of its trailer behind "sample_id.".  Text from the record is escaped, so that
 * no terminal acts on it.  The names are those of the structs above and may become more.  *ret is
 * the caller's to free().  -EBADMSG as tally_record_decode(), -ENOMEM. */
int tally_record_dump(const struct tally_layout *layout, const struct tally_record *record,
		      char **ret, struct tally_error *error);

/* The name of a type: "SAMPLE", "MMAP2", ...; NULL: unknown. */
const char *tally_record_type_name(uint32_t type);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
