/* What stands in each record, once.
 * Sources: the comments of enum perf_event_type in perf_event.h for the kernel's records; the
 * perf.data format as perf 2.6.32 to 7.0 writes it for the tool's (types from 64 up). */
#include "wire/walk.h"

#include <stddef.h>

#define S(member_) offsetof(struct tally_sample, member_)
#define F(kind_, name_)                                             \
	{                                                           \
		0, #name_, kind_, 0, offsetof(struct REC, name_), 0 \
	}
#define FN(kind_, size_, name_, count_)                                                            \
	{                                                                                          \
		0, #name_, kind_, size_, offsetof(struct REC, name_), offsetof(struct REC, count_) \
	}
#define FS(kind_, size_, name_)                                         \
	{                                                               \
		0, #name_, kind_, size_, offsetof(struct REC, name_), 0 \
	}
#define PAD(size_)                           \
	{                                    \
		0, "", WIRE_PAD, size_, 0, 0 \
	}
#define ROWS(array)                                     \
	{                                               \
		array, sizeof(array) / sizeof(array[0]) \
	}

static const struct wire_row sample[] = {
    {PERF_SAMPLE_IDENTIFIER, "identifier", WIRE_U64, 0, S(identifier), 0},
    {PERF_SAMPLE_IP, "ip", WIRE_U64, 0, S(ip), 0},
    {PERF_SAMPLE_TID, "pid", WIRE_U32, 0, S(pid), 0},
    {PERF_SAMPLE_TID, "tid", WIRE_U32, 0, S(tid), 0},
    {PERF_SAMPLE_TIME, "time", WIRE_U64, 0, S(time), 0},
    {PERF_SAMPLE_ADDR, "addr", WIRE_U64, 0, S(addr), 0},
    {PERF_SAMPLE_ID, "id", WIRE_U64, 0, S(id), 0},
    {PERF_SAMPLE_STREAM_ID, "stream_id", WIRE_U64, 0, S(stream_id), 0},
    {PERF_SAMPLE_CPU, "cpu", WIRE_U32, 0, S(cpu), 0},
    {PERF_SAMPLE_CPU, "cpu_reserved", WIRE_U32, 0, S(cpu_reserved), 0},
    {PERF_SAMPLE_PERIOD, "period", WIRE_U64, 0, S(period), 0},
    {PERF_SAMPLE_READ, "read", WIRE_READ, 0, S(read), 0},
    {PERF_SAMPLE_CALLCHAIN, "callchain_nr", WIRE_U64, 0, S(callchain_nr), 0},
    {PERF_SAMPLE_CALLCHAIN, "callchain", WIRE_WORDS, 8, S(callchain), S(callchain_nr)},
    {PERF_SAMPLE_RAW, "raw", WIRE_RAW, 0, S(raw), S(raw_size)},
    {PERF_SAMPLE_BRANCH_STACK, "branches", WIRE_BRANCHES, 0, S(branches), S(branch_nr)},
    {PERF_SAMPLE_REGS_USER, "user_regs", WIRE_REGS, 0, S(user_regs), S(user_abi)},
    {PERF_SAMPLE_STACK_USER, "user_stack", WIRE_STACK, 0, S(user_stack), S(user_stack_size)},
    {PERF_SAMPLE_WEIGHT_TYPE, "weight", WIRE_WEIGHT, 0, S(weight), 0},
    {PERF_SAMPLE_DATA_SRC, "data_src", WIRE_U64, 0, S(data_src), 0},
    {PERF_SAMPLE_TRANSACTION, "transaction", WIRE_U64, 0, S(transaction), 0},
    {PERF_SAMPLE_REGS_INTR, "intr_regs", WIRE_REGS, 1, S(intr_regs), S(intr_abi)},
    {PERF_SAMPLE_PHYS_ADDR, "phys_addr", WIRE_U64, 0, S(phys_addr), 0},
    {PERF_SAMPLE_CGROUP, "cgroup", WIRE_U64, 0, S(cgroup), 0},
    {PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", WIRE_U64, 0, S(data_page_size), 0},
    {PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", WIRE_U64, 0, S(code_page_size), 0},
    {PERF_SAMPLE_AUX, "aux", WIRE_AUX, 0, S(aux), S(aux_size)},
};
const struct wire_rows tally_wire_sample_rows = ROWS(sample);

#define REC tally_sample_id
static const struct wire_row trailer[] = {
    {PERF_SAMPLE_TID, "pid", WIRE_U32, 0, offsetof(struct REC, pid), 0},
    {PERF_SAMPLE_TID, "tid", WIRE_U32, 0, offsetof(struct REC, tid), 0},
    {PERF_SAMPLE_TIME, "time", WIRE_U64, 0, offsetof(struct REC, time), 0},
    {PERF_SAMPLE_ID, "id", WIRE_U64, 0, offsetof(struct REC, id), 0},
    {PERF_SAMPLE_STREAM_ID, "stream_id", WIRE_U64, 0, offsetof(struct REC, stream_id), 0},
    {PERF_SAMPLE_CPU, "cpu", WIRE_U32, 0, offsetof(struct REC, cpu), 0},
    {PERF_SAMPLE_CPU, "cpu_reserved", WIRE_U32, 0, offsetof(struct REC, cpu_reserved), 0},
    {PERF_SAMPLE_IDENTIFIER, "identifier", WIRE_U64, 0, offsetof(struct REC, identifier), 0},
};
#undef REC
const struct wire_rows tally_wire_trailer_rows = ROWS(trailer);

#define REC tally_record_mmap
static const struct wire_row mmap[] = {F(WIRE_U32, pid),   F(WIRE_U32, tid),
				       F(WIRE_U64, addr),  F(WIRE_U64, len),
				       F(WIRE_U64, pgoff), FS(WIRE_STRING, 8, filename)};
#undef REC
#define REC tally_record_mmap2
static const struct wire_row mmap2[] = {
    F(WIRE_U32, pid),  F(WIRE_U32, tid),   F(WIRE_U64, addr),
    F(WIRE_U64, len),  F(WIRE_U64, pgoff), F(WIRE_MMAP2_ID, maj),
    F(WIRE_U32, prot), F(WIRE_U32, flags), FS(WIRE_STRING, 8, filename)};
static const struct wire_row bare_mmap2[] = {
    F(WIRE_U32, pid),   F(WIRE_U32, tid),      F(WIRE_U64, addr),           F(WIRE_U64, len),
    F(WIRE_U64, pgoff), F(WIRE_MMAP2_ID, maj), FS(WIRE_STRING, 8, filename)};
#undef REC
const struct wire_rows tally_wire_bare_mmap2_rows = ROWS(bare_mmap2);
#define REC tally_record_lost
static const struct wire_row lost[] = {F(WIRE_U64, id), F(WIRE_U64, lost)};
#undef REC
#define REC tally_record_comm
static const struct wire_row comm[] = {F(WIRE_U32, pid), F(WIRE_U32, tid),
				       FS(WIRE_STRING, 8, comm)};
#undef REC
#define REC tally_record_task
static const struct wire_row task[] = {F(WIRE_U32, pid), F(WIRE_U32, ppid), F(WIRE_U32, tid),
				       F(WIRE_U32, ptid), F(WIRE_U64, time)};
#undef REC
#define REC tally_record_throttle
static const struct wire_row throttle[] = {F(WIRE_U64, time), F(WIRE_U64, id),
					   F(WIRE_U64, stream_id)};
#undef REC
#define REC tally_record_read
static const struct wire_row read[] = {F(WIRE_U32, pid), F(WIRE_U32, tid), F(WIRE_READ, read)};
#undef REC
#define REC tally_record_aux
static const struct wire_row aux[] = {F(WIRE_U64, aux_offset), F(WIRE_U64, aux_size),
				      F(WIRE_U64, flags)};
#undef REC
#define REC tally_record_itrace_start
static const struct wire_row itrace_start[] = {F(WIRE_U32, pid), F(WIRE_U32, tid)};
#undef REC
#define REC tally_record_lost_samples
static const struct wire_row lost_samples[] = {F(WIRE_U64, lost)};
#undef REC
#define REC tally_record_switch_cpu_wide
static const struct wire_row switch_cpu_wide[] = {F(WIRE_U32, next_prev_pid),
						  F(WIRE_U32, next_prev_tid)};
#undef REC
#define REC tally_record_namespaces
static const struct wire_row namespaces[] = {F(WIRE_U32, pid), F(WIRE_U32, tid),
					     F(WIRE_U64, nr_namespaces),
					     FN(WIRE_WORDS, 16, link_info, nr_namespaces)};
#undef REC
#define REC tally_record_ksymbol
static const struct wire_row ksymbol[] = {F(WIRE_U64, addr), F(WIRE_U32, len),
					  F(WIRE_U16, ksym_type), F(WIRE_U16, flags),
					  FS(WIRE_STRING, 8, name)};
#undef REC
#define REC tally_record_bpf_event
static const struct wire_row bpf_event[] = {F(WIRE_U16, type), F(WIRE_U16, flags), F(WIRE_U32, id),
					    FS(WIRE_BYTES, 8, tag)};
#undef REC
#define REC tally_record_cgroup
static const struct wire_row cgroup[] = {F(WIRE_U64, id), FS(WIRE_STRING, 8, path)};
#undef REC
#define REC tally_record_text_poke
static const struct wire_row text_poke[] = {F(WIRE_U64, addr), F(WIRE_U16, old_len),
					    F(WIRE_U16, new_len), F(WIRE_POKE, bytes)};
#undef REC
#define REC tally_record_aux_output_hw_id
static const struct wire_row aux_output_hw_id[] = {F(WIRE_U64, hw_id)};
#undef REC
#define REC tally_record_callchain_deferred
static const struct wire_row callchain_deferred[] = {F(WIRE_U64, cookie), F(WIRE_U64, nr),
						     FN(WIRE_WORDS, 8, ips, nr)};
#undef REC

#define REC tally_record_header_attr
static const struct wire_row header_attr[] = {F(WIRE_ATTR, attr), FN(WIRE_IDS, 8, ids, id_count)};
#undef REC
#define REC tally_record_event_type
static const struct wire_row event_type[] = {F(WIRE_U64, id), FS(WIRE_STRING, 8, name)};
#undef REC
#define REC tally_record_tracing_data
static const struct wire_row tracing_data[] = {F(WIRE_U32, size)};
#undef REC
#define REC tally_record_build_id
static const struct wire_row build_id[] = {F(WIRE_U32, pid), F(WIRE_BUILD_ID, build_id),
					   FS(WIRE_STRING, 64, filename)};
#undef REC
#define REC tally_record_id_index
static const struct wire_row id_index[] = {F(WIRE_U64, nr), FN(WIRE_WORDS, 32, entries, nr),
					   FN(WIRE_GUESTS, 16, guests, nr)};
#undef REC
#define REC tally_record_auxtrace_info
static const struct wire_row auxtrace_info[] = {F(WIRE_U32, type), PAD(4),
						FN(WIRE_IDS, 8, priv, priv_count)};
#undef REC
#define REC tally_record_auxtrace
static const struct wire_row auxtrace[] = {F(WIRE_U64, size),
					   F(WIRE_U64, trace_offset),
					   F(WIRE_U64, reference),
					   F(WIRE_U32, idx),
					   F(WIRE_U32, tid),
					   F(WIRE_U32, cpu),
					   PAD(4)};
#undef REC
#define REC tally_record_auxtrace_error
static const struct wire_row auxtrace_error[] = {
    F(WIRE_U32, type),       F(WIRE_U32, code),        F(WIRE_U32, cpu), F(WIRE_U32, pid),
    F(WIRE_U32, tid),        F(WIRE_U32, fmt),         F(WIRE_U64, ip),  F(WIRE_FMT1, time),
    F(WIRE_ERROR_TEXT, msg), F(WIRE_FMT2, machine_pid)};
#undef REC
#define REC tally_record_thread_map
static const struct wire_row thread_map[] = {F(WIRE_U64, nr), FN(WIRE_NAMED, 24, entries, nr)};
#undef REC
#define REC tally_record_cpu_map
static const struct wire_row cpu_map[] = {F(WIRE_U16, type), F(WIRE_CPU_MAP, data)};
#undef REC
#define REC tally_record_stat_config
static const struct wire_row stat_config[] = {F(WIRE_U64, nr), FN(WIRE_WORDS, 16, entries, nr)};
#undef REC
#define REC tally_record_stat
static const struct wire_row stat[] = {F(WIRE_U64, id),      F(WIRE_U32, cpu),
				       F(WIRE_U32, thread),  F(WIRE_U64, value),
				       F(WIRE_U64, enabled), F(WIRE_U64, running)};
#undef REC
#define REC tally_record_stat_round
static const struct wire_row stat_round[] = {F(WIRE_U64, type), F(WIRE_U64, time)};
#undef REC
#define REC tally_record_event_update
static const struct wire_row event_update[] = {F(WIRE_U64, type), F(WIRE_U64, id),
					       FN(WIRE_UPDATE, 0, data, data_size)};
#undef REC
#define REC tally_record_time_conv
static const struct wire_row time_conv[] = {F(WIRE_U64, time_shift), F(WIRE_U64, time_mult),
					    F(WIRE_U64, time_zero), F(WIRE_TIME_TAIL, time_cycles)};
#undef REC
#define REC tally_record_feature
static const struct wire_row feature[] = {F(WIRE_U64, feat_id), FN(WIRE_REST, 0, data, data_size)};
#undef REC
#define REC tally_record_compressed
static const struct wire_row compressed[] = {FN(WIRE_REST, 0, data, data_size)};
static const struct wire_row compressed2[] = {FN(WIRE_SIZED, 0, data, data_size)};
#undef REC
#define REC tally_record_bpf_metadata
static const struct wire_row bpf_metadata[] = {FS(WIRE_TEXT, 512, prog_name), F(WIRE_U64, nr),
					       FN(WIRE_TEXTS, 320, entries, nr)};
#undef REC
/* Source: the counters of /proc/schedstat 15 to 17 as perf 7.0 keeps them: of a CPU six u32 (calls
 * of sched_yield() to wakeups of the own CPU), then u64 times; of a domain all are u32. */
#define REC tally_record_schedstat
static const struct wire_row schedstat_cpu[] = {F(WIRE_U64, timestamp), F(WIRE_U32, cpu),
						F(WIRE_U16, version), F(WIRE_U16, domain),
						FN(WIRE_COUNTERS, 6, counters, counters_size)};
static const struct wire_row schedstat_domain[] = {
    F(WIRE_U64, timestamp), F(WIRE_U32, cpu), F(WIRE_U16, version), F(WIRE_U16, domain),
    FN(WIRE_COUNTERS, UINT16_MAX, counters, counters_size)};
#undef REC
#define REC tally_record_bytes
static const struct wire_row bytes[] = {FN(WIRE_REST, 0, data, data_size)};
#undef REC

static const struct wire_rows by_type[] = {
    [PERF_RECORD_MMAP] = ROWS(mmap),
    [PERF_RECORD_LOST] = ROWS(lost),
    [PERF_RECORD_COMM] = ROWS(comm),
    [PERF_RECORD_EXIT] = ROWS(task),
    [PERF_RECORD_THROTTLE] = ROWS(throttle),
    [PERF_RECORD_UNTHROTTLE] = ROWS(throttle),
    [PERF_RECORD_FORK] = ROWS(task),
    [PERF_RECORD_READ] = ROWS(read),
    [PERF_RECORD_SAMPLE] = ROWS(sample),
    [PERF_RECORD_MMAP2] = ROWS(mmap2),
    [PERF_RECORD_AUX] = ROWS(aux),
    [PERF_RECORD_ITRACE_START] = ROWS(itrace_start),
    [PERF_RECORD_LOST_SAMPLES] = ROWS(lost_samples),
    [PERF_RECORD_SWITCH] = {bytes, 0},
    [PERF_RECORD_SWITCH_CPU_WIDE] = ROWS(switch_cpu_wide),
    [PERF_RECORD_NAMESPACES] = ROWS(namespaces),
    [PERF_RECORD_KSYMBOL] = ROWS(ksymbol),
    [PERF_RECORD_BPF_EVENT] = ROWS(bpf_event),
    [PERF_RECORD_CGROUP] = ROWS(cgroup),
    [PERF_RECORD_TEXT_POKE] = ROWS(text_poke),
    [PERF_RECORD_AUX_OUTPUT_HW_ID] = ROWS(aux_output_hw_id),
    [PERF_RECORD_CALLCHAIN_DEFERRED] = ROWS(callchain_deferred),
    [PERF_RECORD_HEADER_ATTR] = ROWS(header_attr),
    [PERF_RECORD_HEADER_EVENT_TYPE] = ROWS(event_type),
    [PERF_RECORD_HEADER_TRACING_DATA] = ROWS(tracing_data),
    [PERF_RECORD_HEADER_BUILD_ID] = ROWS(build_id),
    [PERF_RECORD_ID_INDEX] = ROWS(id_index),
    [PERF_RECORD_AUXTRACE_INFO] = ROWS(auxtrace_info),
    [PERF_RECORD_AUXTRACE] = ROWS(auxtrace),
    [PERF_RECORD_AUXTRACE_ERROR] = ROWS(auxtrace_error),
    [PERF_RECORD_THREAD_MAP] = ROWS(thread_map),
    [PERF_RECORD_CPU_MAP] = ROWS(cpu_map),
    [PERF_RECORD_STAT_CONFIG] = ROWS(stat_config),
    [PERF_RECORD_STAT] = ROWS(stat),
    [PERF_RECORD_STAT_ROUND] = ROWS(stat_round),
    [PERF_RECORD_EVENT_UPDATE] = ROWS(event_update),
    [PERF_RECORD_TIME_CONV] = ROWS(time_conv),
    [PERF_RECORD_HEADER_FEATURE] = ROWS(feature),
    [PERF_RECORD_COMPRESSED] = ROWS(compressed),
    [PERF_RECORD_COMPRESSED2] = ROWS(compressed2),
    [PERF_RECORD_BPF_METADATA] = ROWS(bpf_metadata),
    [PERF_RECORD_SCHEDSTAT_CPU] = ROWS(schedstat_cpu),
    [PERF_RECORD_SCHEDSTAT_DOMAIN] = ROWS(schedstat_domain),
};

struct wire_rows tally_wire_rows(uint32_t type)
{
	static const struct wire_rows rest = ROWS(bytes);

	if (type < sizeof(by_type) / sizeof(by_type[0]) && by_type[type].rows)
		return by_type[type];
	return rest;
}
