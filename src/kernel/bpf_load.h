/* Programs that the kernel runs for each sample of an event, before it is written. */
#ifndef TALLY_KERNEL_BPF_LOAD_H
#define TALLY_KERNEL_BPF_LOAD_H

#include <linux/bpf.h>
#include <stddef.h>
#include <tally/error.h>

/* Loads a program of BPF_PROG_TYPE_PERF_EVENT, for tally_fd_set_bpf(); 0 drops the sample. The
 * descriptor, which is the caller's, or -errno with words.  Source: bpf(2). */
int tally_bpf_load(const struct bpf_insn *insns, size_t count, struct tally_error *error);

#endif
