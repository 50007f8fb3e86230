/* Programs for the kernel to run where an event happens. */
#ifndef TALLY_TESTS_BPF_PROGRAM_H
#define TALLY_TESTS_BPF_PROGRAM_H

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A program that returns `result`; its descriptor, or -errno. */
static inline int load_program(uint32_t type, int32_t result)
{
	struct bpf_insn code[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = result},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = type;
	attr.insns = (uintptr_t)code;
	attr.insn_cnt = 2;
	attr.license = (uintptr_t) "MIT";
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	return fd < 0 ? -errno : (int)fd;
}

#endif
