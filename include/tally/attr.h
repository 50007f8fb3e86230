/* struct perf_event_attr as the newest kernel has it (Linux 7.0), under the kernel's own names.
 *
 * The layout is the kernel's, so perf_event_open(2) takes a pointer to it.  The struct of the
 * system's own header may be older and shorter; this one is always complete.
 * Source: include/uapi/linux/perf_event.h. */
#ifndef TALLY_ATTR_H
#define TALLY_ATTR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)
#ifdef __clang__ /* C++ has no structs without a name in unions; compilers do */
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wnested-anon-types"
#endif

struct tally_attr {
	uint32_t type;
	uint32_t size; /* bytes; see tally_attr_min_size() */
	uint64_t config;
	union {
		uint64_t sample_period;
		uint64_t sample_freq;
	};
	uint64_t sample_type;
	uint64_t read_format;
	union {
		uint64_t flags; /* the 64 bits below as one word */
		__extension__ struct {
			uint64_t disabled : 1, inherit : 1, pinned : 1, exclusive : 1,
			    exclude_user : 1, exclude_kernel : 1, exclude_hv : 1, exclude_idle : 1,
			    mmap : 1, comm : 1, freq : 1, inherit_stat : 1, enable_on_exec : 1,
			    task : 1, watermark : 1, precise_ip : 2, mmap_data : 1,
			    sample_id_all : 1, exclude_host : 1, exclude_guest : 1,
			    exclude_callchain_kernel : 1, exclude_callchain_user : 1, mmap2 : 1,
			    comm_exec : 1, use_clockid : 1, context_switch : 1, write_backward : 1,
			    namespaces : 1, ksymbol : 1, bpf_event : 1, aux_output : 1, cgroup : 1,
			    text_poke : 1, build_id : 1, inherit_thread : 1, remove_on_exec : 1,
			    sigtrap : 1, defer_callchain : 1, defer_output : 1, reserved_1 : 24;
		};
	};
	union {
		uint32_t wakeup_events;
		uint32_t wakeup_watermark;
	};
	uint32_t bp_type;
	union {
		uint64_t bp_addr;
		uint64_t kprobe_func;
		uint64_t uprobe_path;
		uint64_t config1;
	};
	union {
		uint64_t bp_len;
		uint64_t kprobe_addr;
		uint64_t probe_offset;
		uint64_t config2;
	};
	uint64_t branch_sample_type;
	uint64_t sample_regs_user;
	uint32_t sample_stack_user;
	int32_t clockid;
	uint64_t sample_regs_intr;
	uint32_t aux_watermark;
	uint16_t sample_max_stack;
	uint16_t reserved_2;
	uint32_t aux_sample_size;
	union {
		uint32_t aux_action;
		__extension__ struct {
			uint32_t aux_start_paused : 1, aux_pause : 1, aux_resume : 1,
			    reserved_3 : 29;
		};
	};
	uint64_t sig_data;
	uint64_t config3;
	uint64_t config4;
};

#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* The smallest published size (64, 72, 80, 96, 104, 112, 120, 128, 136 or 144) that holds every
 * field that is not zero, in bytes.  Tally gives attrs of this size to the kernel and writes them
 * to files, so that older kernels and readers accept all that they can. */
uint32_t tally_attr_min_size(const struct tally_attr *attr);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
