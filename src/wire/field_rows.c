/* All record types and their fields, once.
 * Sources: the comments of enum perf_event_type in perf_event.h for the kernel's records; the
 * perf.data format as perf 2.6.32 to 7.0 writes it for the tool's (types from 64 up). */
#include "wire/kind.h"

#include <stddef.h>

#define S(member_) offsetof(struct tally_sample, member_)
#define F(kind_, name_)                                                           \
	{                                                                         \
		0, #name_, &tally_wire_##kind_, 0, offsetof(struct REC, name_), 0 \
	}
#define FN(kind_, size_, name_, count_)                                             \
	{                                                                           \
		0, #name_, &tally_wire_##kind_, size_, offsetof(struct REC, name_), \
		    offsetof(struct REC, count_)                                    \
	}
#define FS(kind_, size_, name_)                                                       \
	{                                                                             \
		0, #name_, &tally_wire_##kind_, size_, offsetof(struct REC, name_), 0 \
	}
#define PAD(size_)                                  \
	{                                           \
		0, "", &tally_wire_pad, size_, 0, 0 \
	}
#define ROWS(array)                                     \
	{                                               \
		array, sizeof(array) / sizeof(array[0]) \
	}

static const struct wire_row sample[] = {
    {PERF_SAMPLE_IDENTIFIER, "identifier", &tally_wire_u64, 0, S(identifier), 0},
    {PERF_SAMPLE_IP, "ip", &tally_wire_u64, 0, S(ip), 0},
    {PERF_SAMPLE_TID, "pid", &tally_wire_u32, 0, S(pid), 0},
    {PERF_SAMPLE_TID, "tid", &tally_wire_u32, 0, S(tid), 0},
    {PERF_SAMPLE_TIME, "time", &tally_wire_u64, 0, S(time), 0},
    {PERF_SAMPLE_ADDR, "addr", &tally_wire_u64, 0, S(addr), 0},
    {PERF_SAMPLE_ID, "id", &tally_wire_u64, 0, S(id), 0},
    {PERF_SAMPLE_STREAM_ID, "stream_id", &tally_wire_u64, 0, S(stream_id), 0},
    {PERF_SAMPLE_CPU, "cpu", &tally_wire_u32, 0, S(cpu), 0},
    {PERF_SAMPLE_CPU, "cpu_reserved", &tally_wire_u32, 0, S(cpu_reserved), 0},
    {PERF_SAMPLE_PERIOD, "period", &tally_wire_u64, 0, S(period), 0},
    {PERF_SAMPLE_READ, "read", &tally_wire_read, 0, S(read), 0},
    {PERF_SAMPLE_CALLCHAIN, "callchain_nr", &tally_wire_u64, 0, S(callchain_nr), 0},
    {PERF_SAMPLE_CALLCHAIN, "callchain", &tally_wire_words, 8, S(callchain), S(callchain_nr)},
    {PERF_SAMPLE_RAW, "raw", &tally_wire_raw, 0, S(raw), S(raw_size)},
    {PERF_SAMPLE_BRANCH_STACK, "branches", &tally_wire_branches, 0, S(branches), S(branch_nr)},
    {PERF_SAMPLE_REGS_USER, "user_regs", &tally_wire_user_regs, 0, S(user_regs), 0},
    {PERF_SAMPLE_STACK_USER, "user_stack", &tally_wire_stack, 0, S(user_stack), S(user_stack_size)},
    {PERF_SAMPLE_WEIGHT_TYPE, "weight", &tally_wire_u64, 0, S(weight), 0},
    {PERF_SAMPLE_DATA_SRC, "data_src", &tally_wire_u64, 0, S(data_src), 0},
    {PERF_SAMPLE_TRANSACTION, "transaction", &tally_wire_u64, 0, S(transaction), 0},
    {PERF_SAMPLE_REGS_INTR, "intr_regs", &tally_wire_intr_regs, 0, S(intr_regs), 0},
    {PERF_SAMPLE_PHYS_ADDR, "phys_addr", &tally_wire_u64, 0, S(phys_addr), 0},
    {PERF_SAMPLE_CGROUP, "cgroup", &tally_wire_u64, 0, S(cgroup), 0},
    {PERF_SAMPLE_DATA_PAGE_SIZE, "data_page_size", &tally_wire_u64, 0, S(data_page_size), 0},
    {PERF_SAMPLE_CODE_PAGE_SIZE, "code_page_size", &tally_wire_u64, 0, S(code_page_size), 0},
    {PERF_SAMPLE_AUX, "aux", &tally_wire_aux, 0, S(aux), S(aux_size)},
};
const struct wire_rows tally_wire_sample_rows = ROWS(sample);

#define REC tally_sample_id
static const struct wire_row trailer[] = {
    {PERF_SAMPLE_TID, "pid", &tally_wire_u32, 0, offsetof(struct REC, pid), 0},
    {PERF_SAMPLE_TID, "tid", &tally_wire_u32, 0, offsetof(struct REC, tid), 0},
    {PERF_SAMPLE_TIME, "time", &tally_wire_u64, 0, offsetof(struct REC, time), 0},
    {PERF_SAMPLE_ID, "id", &tally_wire_u64, 0, offsetof(struct REC, id), 0},
    {PERF_SAMPLE_STREAM_ID, "stream_id", &tally_wire_u64, 0, offsetof(struct REC, stream_id), 0},
    {PERF_SAMPLE_CPU, "cpu", &tally_wire_u32, 0, offsetof(struct REC, cpu), 0},
    {PERF_SAMPLE_CPU, "cpu_reserved", &tally_wire_u32, 0, offsetof(struct REC, cpu_reserved), 0},
    {PERF_SAMPLE_IDENTIFIER, "identifier", &tally_wire_u64, 0, offsetof(struct REC, identifier), 0},
};
#undef REC
const struct wire_rows tally_wire_trailer_rows = ROWS(trailer);

#define REC tally_record_mmap
static const struct wire_row mmap[] = {F(u32, pid), F(u32, tid),   F(u64, addr),
				       F(u64, len), F(u64, pgoff), FS(string, 8, filename)};
#undef REC
#define REC tally_record_mmap2
static const struct wire_row mmap2[] = {F(u32, pid),  F(u32, tid),   F(u64, addr),
					F(u64, len),  F(u64, pgoff), F(mmap2_id, maj),
					F(u32, prot), F(u32, flags), FS(string, 8, filename)};
static const struct wire_row bare_mmap2[] = {
    F(u32, pid),   F(u32, tid),      F(u64, addr),           F(u64, len),
    F(u64, pgoff), F(mmap2_id, maj), FS(string, 8, filename)};
#undef REC
const struct wire_rows tally_wire_bare_mmap2_rows = ROWS(bare_mmap2);
#define REC tally_record_lost
static const struct wire_row lost[] = {F(u64, id), F(u64, lost)};
#undef REC
#define REC tally_record_comm
static const struct wire_row comm[] = {F(u32, pid), F(u32, tid), FS(string, 8, comm)};
#undef REC
#define REC tally_record_task
static const struct wire_row task[] = {F(u32, pid), F(u32, ppid), F(u32, tid), F(u32, ptid),
				       F(u64, time)};
#undef REC
#define REC tally_record_throttle
static const struct wire_row throttle[] = {F(u64, time), F(u64, id), F(u64, stream_id)};
#undef REC
#define REC tally_record_read
static const struct wire_row read[] = {F(u32, pid), F(u32, tid), F(read, read)};
#undef REC
#define REC tally_record_aux
static const struct wire_row aux[] = {F(u64, aux_offset), F(u64, aux_size), F(u64, flags)};
#undef REC
#define REC tally_record_itrace_start
static const struct wire_row itrace_start[] = {F(u32, pid), F(u32, tid)};
#undef REC
#define REC tally_record_lost_samples
static const struct wire_row lost_samples[] = {F(u64, lost)};
#undef REC
#define REC tally_record_switch_cpu_wide
static const struct wire_row switch_cpu_wide[] = {F(u32, next_prev_pid), F(u32, next_prev_tid)};
#undef REC
#define REC tally_record_namespaces
static const struct wire_row namespaces[] = {F(u32, pid), F(u32, tid), F(u64, nr_namespaces),
					     FN(words, 16, link_info, nr_namespaces)};
#undef REC
#define REC tally_record_ksymbol
static const struct wire_row ksymbol[] = {F(u64, addr), F(u32, len), F(u16, ksym_type),
					  F(u16, flags), FS(string, 8, name)};
#undef REC
#define REC tally_record_bpf_event
static const struct wire_row bpf_event[] = {F(u16, type), F(u16, flags), F(u32, id),
					    FS(bytes, 8, tag)};
#undef REC
#define REC tally_record_cgroup
static const struct wire_row cgroup[] = {F(u64, id), FS(string, 8, path)};
#undef REC
#define REC tally_record_text_poke
static const struct wire_row text_poke[] = {F(u64, addr), F(u16, old_len), F(u16, new_len),
					    F(poke, bytes)};
#undef REC
#define REC tally_record_aux_output_hw_id
static const struct wire_row aux_output_hw_id[] = {F(u64, hw_id)};
#undef REC
#define REC tally_record_callchain_deferred
static const struct wire_row callchain_deferred[] = {F(u64, cookie), F(u64, nr),
						     FN(words, 8, ips, nr)};
#undef REC

#define REC tally_record_header_attr
static const struct wire_row header_attr[] = {F(attr, attr), FN(ids, 8, ids, id_count)};
#undef REC
#define REC tally_record_event_type
static const struct wire_row event_type[] = {F(u64, id), FS(string, 8, name)};
#undef REC
#define REC tally_record_tracing_data
static const struct wire_row tracing_data[] = {F(u32, size)};
#undef REC
#define REC tally_record_build_id
static const struct wire_row build_id[] = {F(u32, pid), F(build_id, build_id),
					   FS(string, 64, filename)};
#undef REC
#define REC tally_record_id_index
static const struct wire_row id_index[] = {F(u64, nr), FN(words, 32, entries, nr),
					   FN(guests, 16, guests, nr)};
#undef REC
#define REC tally_record_auxtrace_info
static const struct wire_row auxtrace_info[] = {F(u32, type), PAD(4), FN(ids, 8, priv, priv_count)};
#undef REC
#define REC tally_record_auxtrace
static const struct wire_row auxtrace[] = {F(u64, size), F(u64, trace_offset), F(u64, reference),
					   F(u32, idx),  F(u32, tid),          F(u32, cpu),
					   PAD(4)};
#undef REC
#define REC tally_record_auxtrace_error
static const struct wire_row auxtrace_error[] = {F(u32, type),       F(u32, code),
						 F(u32, cpu),        F(u32, pid),
						 F(u32, tid),        F(u32, fmt),
						 F(u64, ip),         F(error_time, time),
						 F(error_text, msg), F(error_guest, machine_pid)};
#undef REC
#define REC tally_record_thread_map
static const struct wire_row thread_map[] = {F(u64, nr), FN(threads, 24, entries, nr)};
#undef REC
#define REC tally_record_cpu_map
static const struct wire_row cpu_map[] = {F(u16, type), F(cpu_map, data)};
#undef REC
#define REC tally_record_stat_config
static const struct wire_row stat_config[] = {F(u64, nr), FN(words, 16, entries, nr)};
#undef REC
#define REC tally_record_stat
static const struct wire_row stat[] = {F(u64, id),    F(u32, cpu),     F(u32, thread),
				       F(u64, value), F(u64, enabled), F(u64, running)};
#undef REC
#define REC tally_record_stat_round
static const struct wire_row stat_round[] = {F(u64, type), F(u64, time)};
#undef REC
#define REC tally_record_event_update
static const struct wire_row event_update[] = {F(u64, type), F(u64, id),
					       FN(update, 0, data, data_size)};
#undef REC
#define REC tally_record_time_conv
static const struct wire_row time_conv[] = {F(u64, time_shift), F(u64, time_mult),
					    F(u64, time_zero), F(time_tail, time_cycles)};
#undef REC
#define REC tally_record_feature
static const struct wire_row feature[] = {F(u64, feat_id), FN(rest, 0, data, data_size)};
#undef REC
#define REC tally_record_compressed
static const struct wire_row compressed[] = {FN(rest, 0, data, data_size)};
static const struct wire_row compressed2[] = {FN(sized, 0, data, data_size)};
#undef REC
#define REC tally_record_bpf_metadata
static const struct wire_row bpf_metadata[] = {FS(text, 512, prog_name), F(u64, nr),
					       FN(metadata, 320, entries, nr)};
#undef REC
/* Source: the counters of /proc/schedstat 15 to 17 as perf 7.0 keeps them: of a CPU six u32 (calls
 * of sched_yield() to wakeups of the own CPU), then u64 times; of a domain all are u32. */
#define REC tally_record_schedstat
static const struct wire_row schedstat_cpu[] = {F(u64, timestamp), F(u32, cpu), F(u16, version),
						F(u16, domain),
						FN(counters, 6, counters, counters_size)};
static const struct wire_row schedstat_domain[] = {
    F(u64, timestamp), F(u32, cpu), F(u16, version), F(u16, domain),
    FN(counters, UINT16_MAX, counters, counters_size)};
#undef REC
#define REC tally_record_bytes
static const struct wire_row bytes[] = {FN(rest, 0, data, data_size)};
#undef REC

/* --- the record types --- */

struct record_type {
	const char *name;
	struct wire_rows rows;
};

/* A record type is one row; behind it the kernel or tool that brought it. */
static const struct record_type types[] = {
    [PERF_RECORD_MMAP] = {"MMAP", ROWS(mmap)},                                  /* Linux 2.6.31 */
    [PERF_RECORD_LOST] = {"LOST", ROWS(lost)},                                  /* Linux 2.6.31 */
    [PERF_RECORD_COMM] = {"COMM", ROWS(comm)},                                  /* Linux 2.6.31 */
    [PERF_RECORD_EXIT] = {"EXIT", ROWS(task)},                                  /* Linux 2.6.31 */
    [PERF_RECORD_THROTTLE] = {"THROTTLE", ROWS(throttle)},                      /* Linux 2.6.31 */
    [PERF_RECORD_UNTHROTTLE] = {"UNTHROTTLE", ROWS(throttle)},                  /* Linux 2.6.31 */
    [PERF_RECORD_FORK] = {"FORK", ROWS(task)},                                  /* Linux 2.6.31 */
    [PERF_RECORD_READ] = {"READ", ROWS(read)},                                  /* Linux 2.6.31 */
    [PERF_RECORD_SAMPLE] = {"SAMPLE", ROWS(sample)},                            /* Linux 2.6.31 */
    [PERF_RECORD_MMAP2] = {"MMAP2", ROWS(mmap2)},                               /* Linux 3.12 */
    [PERF_RECORD_AUX] = {"AUX", ROWS(aux)},                                     /* Linux 4.1 */
    [PERF_RECORD_ITRACE_START] = {"ITRACE_START", ROWS(itrace_start)},          /* Linux 4.1 */
    [PERF_RECORD_LOST_SAMPLES] = {"LOST_SAMPLES", ROWS(lost_samples)},          /* Linux 4.2 */
    [PERF_RECORD_SWITCH] = {"SWITCH", {bytes, 0}},                              /* Linux 4.3 */
    [PERF_RECORD_SWITCH_CPU_WIDE] = {"SWITCH_CPU_WIDE", ROWS(switch_cpu_wide)}, /* Linux 4.3 */
    [PERF_RECORD_NAMESPACES] = {"NAMESPACES", ROWS(namespaces)},                /* Linux 4.12 */
    [PERF_RECORD_KSYMBOL] = {"KSYMBOL", ROWS(ksymbol)},                         /* Linux 5.1 */
    [PERF_RECORD_BPF_EVENT] = {"BPF_EVENT", ROWS(bpf_event)},                   /* Linux 5.1 */
    [PERF_RECORD_CGROUP] = {"CGROUP", ROWS(cgroup)},                            /* Linux 5.7 */
    [PERF_RECORD_TEXT_POKE] = {"TEXT_POKE", ROWS(text_poke)},                   /* Linux 5.9 */
    [PERF_RECORD_AUX_OUTPUT_HW_ID] = {"AUX_OUTPUT_HW_ID", ROWS(aux_output_hw_id)}, /* Linux 5.16 */
    [PERF_RECORD_CALLCHAIN_DEFERRED] = {"CALLCHAIN_DEFERRED",
					ROWS(callchain_deferred)},  /* Linux 6.19 */
    [PERF_RECORD_HEADER_ATTR] = {"HEADER_ATTR", ROWS(header_attr)}, /* perf */
    [PERF_RECORD_HEADER_EVENT_TYPE] = {"EVENT_TYPE",
				       ROWS(event_type)}, /* perf, no longer written */
    [PERF_RECORD_HEADER_TRACING_DATA] = {"TRACING_DATA", ROWS(tracing_data)},      /* perf */
    [PERF_RECORD_HEADER_BUILD_ID] = {"BUILD_ID", ROWS(build_id)},                  /* perf */
    [PERF_RECORD_FINISHED_ROUND] = {"FINISHED_ROUND", ROWS(bytes)},                /* perf */
    [PERF_RECORD_ID_INDEX] = {"ID_INDEX", ROWS(id_index)},                         /* perf */
    [PERF_RECORD_AUXTRACE_INFO] = {"AUXTRACE_INFO", ROWS(auxtrace_info)},          /* perf */
    [PERF_RECORD_AUXTRACE] = {"AUXTRACE", ROWS(auxtrace)},                         /* perf */
    [PERF_RECORD_AUXTRACE_ERROR] = {"AUXTRACE_ERROR", ROWS(auxtrace_error)},       /* perf */
    [PERF_RECORD_THREAD_MAP] = {"THREAD_MAP", ROWS(thread_map)},                   /* perf */
    [PERF_RECORD_CPU_MAP] = {"CPU_MAP", ROWS(cpu_map)},                            /* perf */
    [PERF_RECORD_STAT_CONFIG] = {"STAT_CONFIG", ROWS(stat_config)},                /* perf */
    [PERF_RECORD_STAT] = {"STAT", ROWS(stat)},                                     /* perf */
    [PERF_RECORD_STAT_ROUND] = {"STAT_ROUND", ROWS(stat_round)},                   /* perf */
    [PERF_RECORD_EVENT_UPDATE] = {"EVENT_UPDATE", ROWS(event_update)},             /* perf */
    [PERF_RECORD_TIME_CONV] = {"TIME_CONV", ROWS(time_conv)},                      /* perf */
    [PERF_RECORD_HEADER_FEATURE] = {"FEATURE", ROWS(feature)},                     /* perf */
    [PERF_RECORD_COMPRESSED] = {"COMPRESSED", ROWS(compressed)},                   /* perf 5.2 */
    [PERF_RECORD_FINISHED_INIT] = {"FINISHED_INIT", ROWS(bytes)},                  /* perf 6.1 */
    [PERF_RECORD_COMPRESSED2] = {"COMPRESSED2", ROWS(compressed2)},                /* perf 6.16 */
    [PERF_RECORD_BPF_METADATA] = {"BPF_METADATA", ROWS(bpf_metadata)},             /* perf 6.17 */
    [PERF_RECORD_SCHEDSTAT_CPU] = {"SCHEDSTAT_CPU", ROWS(schedstat_cpu)},          /* perf 7.0 */
    [PERF_RECORD_SCHEDSTAT_DOMAIN] = {"SCHEDSTAT_DOMAIN", ROWS(schedstat_domain)}, /* perf 7.0 */
};

#define SIMPLEPERF_FIRST SIMPLE_PERF_RECORD_KERNEL_SYMBOL

/* Their fields are read by file/feature_simpleperf.c. */
static const struct record_type simpleperf_types[] = {
    [0] = {"SIMPLEPERF_KERNEL_SYMBOL", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_DSO - SIMPLEPERF_FIRST] = {"SIMPLEPERF_DSO", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_SYMBOL - SIMPLEPERF_FIRST] = {"SIMPLEPERF_SYMBOL", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_SPLIT - SIMPLEPERF_FIRST] = {"SIMPLEPERF_SPLIT", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_SPLIT_END - SIMPLEPERF_FIRST] = {"SIMPLEPERF_SPLIT_END", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_EVENT_ID - SIMPLEPERF_FIRST] = {"SIMPLEPERF_EVENT_ID", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_CALLCHAIN - SIMPLEPERF_FIRST] = {"SIMPLEPERF_CALLCHAIN", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_UNWINDING_RESULT -
	SIMPLEPERF_FIRST] = {"SIMPLEPERF_UNWINDING_RESULT", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_TRACING_DATA - SIMPLEPERF_FIRST] = {"SIMPLEPERF_TRACING_DATA", ROWS(bytes)},
    [SIMPLE_PERF_RECORD_DEBUG - SIMPLEPERF_FIRST] = {"SIMPLEPERF_DEBUG", ROWS(bytes)},
};

static const struct record_type *find_type(uint32_t type)
{
	const struct record_type *found = NULL;

	if (type < sizeof(types) / sizeof(types[0]))
		found = &types[type];
	else if (type >= SIMPLEPERF_FIRST &&
		 type - SIMPLEPERF_FIRST < sizeof(simpleperf_types) / sizeof(simpleperf_types[0]))
		found = &simpleperf_types[type - SIMPLEPERF_FIRST];
	return found && found->name ? found : NULL;
}

struct wire_rows tally_wire_rows(uint32_t type)
{
	static const struct wire_rows rest = ROWS(bytes);
	const struct record_type *found = find_type(type);

	return found ? found->rows : rest;
}

const char *tally_record_type_name(uint32_t type)
{
	const struct record_type *found = find_type(type);

	return found ? found->name : NULL;
}
