#include "kernel/bpf_load.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/fail.h"

int tally_bpf_load(const struct bpf_insn *insns, size_t count, struct tally_error *error)
{
	static const char license[] = "MIT", name[] = "tally_filter";
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)insns;
	attr.insn_cnt = (uint32_t)count;
	attr.license = (uintptr_t)license;
	memcpy(attr.prog_name, name, sizeof(name));
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd >= 0)
		return (int)fd;
	if (errno == EPERM || errno == EACCES)
		return tally_fail(error, -errno, -1,
				  "a filter of such an event is a BPF program, which needs CAP_BPF "
				  "and CAP_PERFMON, or root");
	if (errno == ENOSYS || errno == EINVAL)
		return tally_fail(error, -EOPNOTSUPP, -1,
				  "this kernel takes no BPF program as the filter of an event: "
				  "filter tracepoints, or the report (tally report --filter)");
	return tally_fail(error, -errno, -1, "the filter's BPF program cannot be loaded: %s",
			  strerror(errno));
}
