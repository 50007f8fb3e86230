/* Limits of this process: locked memory for rings, sample rate, stack depth, descriptors.
 *
 * Sources: perf_event_open(2); Documentation/admin-guide/sysctl/kernel.rst; perf_mmap() of
 * kernel/events/core.c for which memory counts against which limit. */
#include <stdio.h>
#include <sys/param.h>
#include <unistd.h>
#include "doctor/checkup.h"

#define RING_WANTED   (512ULL << 10) /* bytes for each CPU; with less, busy programs lose samples */
#define DEFAULT_RATE  100000
#define RECORD_RATE   4000 /* the default of `tally record`, Hz */
#define DEFAULT_STACK 127
#define NOFILE_WANTED 4096

static uint64_t power_below(uint64_t value)
{
	return value ? 1ULL << (63 - __builtin_clzll(value)) : 0;
}

static void check_mlock(struct tally_checkup *checkup)
{
	const struct tally_limits *limits = &checkup->limits;
	struct tally_finding finding = {.id = "mlock", .group = TALLY_FINDING_LIMITS};
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), budget, ring, cpus;
	char memlock[32] = "unlimited", of_ring[64] = "none", remedy[CHECKUP_TEXT];

	if (limits->ipc_lock || limits->paranoid < 0 || limits->memlock >= 1ULL << 40) {
		tally_checkup_add(checkup, &finding, "rings may be of any size%s",
				  limits->ipc_lock ? " (CAP_IPC_LOCK)" : "");
		return;
	}
	cpus = (uint64_t)MAX(sysconf(_SC_NPROCESSORS_ONLN), 1);
	budget =
	    (limits->mlock_kb > 0 ? (uint64_t)limits->mlock_kb << 10 : 0) + limits->memlock / cpus;
	/* A page of each ring is the kernel's header; the others are a power of two. */
	ring = budget > page ? power_below(budget / page - 1) * page : 0;
	snprintf(memlock, sizeof(memlock), "%llu KiB", (unsigned long long)limits->memlock >> 10);
	if (ring)
		snprintf(of_ring, sizeof(of_ring), "%llu KiB a CPU",
			 (unsigned long long)ring >> 10);
	if (ring < RING_WANTED) {
		finding.state = ring ? TALLY_FINDING_LIMITED : TALLY_FINDING_BLOCKED;
		finding.cost =
		    ring ? "rings are small: samples are lost when a program is busy"
			 : "nothing can be sampled: not even the smallest ring may be locked";
		finding.remedy =
		    tally_checkup_give(checkup, SETCAP_BIT(PERFMON) | SETCAP_BIT(IPC_LOCK),
				       "; or for all: sudo sysctl kernel.perf_event_mlock_kb=516; "
				       "or in this shell, up to its hard limit: ulimit -l "
				       "unlimited",
				       remedy);
	}
	tally_checkup_add(
	    checkup, &finding,
	    "kernel.perf_event_mlock_kb is %lld a CPU and RLIMIT_MEMLOCK %s: the largest ring "
	    "is %s",
	    (long long)limits->mlock_kb, memlock, of_ring);
}

static void check_rate(struct tally_checkup *checkup)
{
	int64_t rate = checkup->limits.max_sample_rate;
	int64_t percent =
	    tally_checkup_number(checkup, "/proc/sys/kernel/perf_cpu_time_max_percent", 25);
	struct tally_finding finding = {.id = "sample_rate", .group = TALLY_FINDING_LIMITS};

	if (rate < RECORD_RATE) {
		finding.state = TALLY_FINDING_LIMITED;
		finding.cost =
		    "`tally record` asks for 4,000 samples a second by default and gets fewer";
		finding.remedy = "sudo sysctl kernel.perf_event_max_sample_rate=100000";
	}
	tally_checkup_add(checkup, &finding,
			  "up to %lld samples a second (kernel.perf_event_max_sample_rate)%s",
			  (long long)rate,
			  rate < DEFAULT_RATE && percent && percent < 100
			      ? ", lowered from 100,000 as sampling took too much of the CPU "
				"(kernel.perf_cpu_time_max_percent)"
			      : "");
}

static void check_stack(struct tally_checkup *checkup)
{
	int64_t frames = checkup->limits.max_stack;
	struct tally_finding finding = {.id = "max_stack", .group = TALLY_FINDING_LIMITS};

	if (frames < DEFAULT_STACK) {
		finding.state = TALLY_FINDING_LIMITED;
		finding.cost = "deeper call chains are cut";
		finding.remedy = "sudo sysctl kernel.perf_event_max_stack=127";
	}
	tally_checkup_add(checkup, &finding,
			  "call chains of up to %lld frames (kernel.perf_event_max_stack)",
			  (long long)frames);
}

static void check_nofile(struct tally_checkup *checkup)
{
	uint64_t soft = checkup->limits.nofile, hard = checkup->limits.nofile_hard;
	struct tally_finding finding = {.id = "nofile", .group = TALLY_FINDING_LIMITS};

	if (hard < NOFILE_WANTED) {
		finding.state = TALLY_FINDING_LIMITED;
		finding.cost = "each event needs a descriptor for each CPU or thread: programs of "
			       "many threads cannot be measured";
		finding.remedy =
		    "raise the hard limit: LimitNOFILE= of the systemd unit, `--ulimit nofile=` of "
		    "docker, nofile in /etc/security/limits.conf";
	}
	tally_checkup_add(checkup, &finding,
			  "%llu descriptors, and up to %llu when needed (RLIMIT_NOFILE)",
			  (unsigned long long)soft, (unsigned long long)hard);
}

void tally_check_limits(struct tally_checkup *checkup)
{
	check_mlock(checkup);
	check_rate(checkup);
	check_stack(checkup);
	check_nofile(checkup);
}
