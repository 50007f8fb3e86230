/* What the kernel shows of itself: symbols, tracepoints, BPF.
 *
 * Sources: Documentation/admin-guide/sysctl/kernel.rst (kptr_restrict); kallsyms_show_value() of
 * kernel/ksyms_common.c; Documentation/trace/ftrace.rst; bpf(2). */
#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <fcntl.h>
#include "doctor/checkup.h"

/* The first line of kallsyms, "0000000000000000 A fixed_percpu_data" or an address, is enough on
 * most kernels. Where addresses are hidden, all are zero; a symbol that is really at zero has
 * others beside it. */
static int symbols_shown(const struct tally_checkup *checkup)
{
	char path[PATH_MAX], text[4096];
	ssize_t size;
	int fd;

	if (snprintf(path, sizeof(path), "%s/proc/kallsyms", checkup->root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	size = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (size <= 0)
		return -ENOENT;
	text[size] = '\0';
	for (char *line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strtoull(line, NULL, 16))
			return 1;
	}
	return 0;
}

static void check_symbols(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "kernel_symbols",
					.group = TALLY_FINDING_KERNEL,
					.state = TALLY_FINDING_LIMITED,
					.cost = "kernel functions have no names in reports"};
	char remedy[CHECKUP_TEXT];
	int shown = symbols_shown(checkup), restricted = checkup->limits.kptr_restrict;

	if (shown > 0) {
		finding.state = TALLY_FINDING_GOOD;
		finding.cost = NULL;
		tally_checkup_add(checkup, &finding, "/proc/kallsyms shows the kernel's symbols");
	} else if (shown < 0) {
		finding.state = TALLY_FINDING_ABSENT;
		tally_checkup_add(checkup, &finding, "/proc/kallsyms: %s", strerror(-shown));
	} else if (restricted >= 2) {
		finding.remedy =
		    "sudo sysctl kernel.kptr_restrict=1 (0 shows them to ordinary users too)";
		tally_checkup_add(checkup, &finding,
				  "kernel.kptr_restrict is %d: /proc/kallsyms hides all "
				  "addresses, from root too",
				  restricted);
	} else if (restricted == 1) {
		finding.remedy =
		    tally_checkup_give(checkup, SETCAP_BIT(PERFMON) | SETCAP_BIT(SYSLOG),
				       "; or for all: sudo sysctl kernel.kptr_restrict=0 "
				       "kernel.perf_event_paranoid=1",
				       remedy);
		tally_checkup_add(checkup, &finding,
				  "kernel.kptr_restrict is 1: /proc/kallsyms shows addresses only "
				  "with CAP_SYSLOG");
	} else {
		finding.remedy = tally_checkup_give(
		    checkup, SETCAP_BIT(PERFMON) | SETCAP_BIT(SYSLOG),
		    "; or for all: sudo sysctl kernel.perf_event_paranoid=1", remedy);
		tally_checkup_add(checkup, &finding,
				  "kernel.perf_event_paranoid is %d: above 1 /proc/kallsyms shows "
				  "addresses only with CAP_SYSLOG",
				  checkup->limits.paranoid);
	}
}

static void check_tracefs(struct tally_checkup *checkup)
{
	static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	struct tally_finding finding = {
	    .id = "tracefs",
	    .group = TALLY_FINDING_KERNEL,
	    .state = TALLY_FINDING_LIMITED,
	    .cost = "tracepoints (sched:sched_switch, ...) cannot be named"};
	int why = ENOENT;

	for (size_t i = 0; i < sizeof(usual) / sizeof(*usual); i++) {
		char events[PATH_MAX];

		if (snprintf(events, sizeof(events), "%s%s/events", checkup->root, usual[i]) >=
		    (int)sizeof(events))
			continue;
		if (!faccessat(AT_FDCWD, events, R_OK | X_OK, AT_EACCESS)) {
			finding.state = TALLY_FINDING_GOOD;
			finding.cost = NULL;
			tally_checkup_add(checkup, &finding, "tracefs is mounted at %s", usual[i]);
			return;
		}
		if (errno == EACCES || errno == EPERM)
			why = EACCES;
	}
	if (why == EACCES) {
		finding.remedy = "sudo mount -o remount,mode=750,gid=$(id -g) /sys/kernel/tracing";
		tally_checkup_add(checkup, &finding, "only root may read tracefs");
	} else if (!checkup->live || tally_checkup_has(checkup, "/sys/kernel/tracing")) {
		finding.remedy = "sudo mount -t tracefs nodev /sys/kernel/tracing";
		tally_checkup_add(checkup, &finding, "tracefs is not mounted");
	} else {
		finding.state = TALLY_FINDING_ABSENT;
		tally_checkup_add(checkup, &finding, "this kernel has no tracefs");
	}
}

/* The smallest program: return 0. */
static int try_bpf(void)
{
	static const struct bpf_insn program[] = {
	    {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
	    {.code = BPF_JMP | BPF_EXIT},
	};
	static const char license[] = "MIT";
	union bpf_attr attr;
	long fd;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(*program);
	attr.license = (uintptr_t)license;
	fd = syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));
	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

static void check_bpf(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "bpf",
					.group = TALLY_FINDING_KERNEL,
					.state = TALLY_FINDING_LIMITED,
					.cost = "BPF programs cannot be attached to events"};
	char remedy[CHECKUP_TEXT];
	int result;

	if (!checkup->live)
		return;
	result = try_bpf();
	if (!result) {
		finding.state = TALLY_FINDING_GOOD;
		finding.cost = NULL;
		tally_checkup_add(checkup, &finding, "BPF programs for events can be loaded");
	} else if (result == -EPERM || result == -EACCES) {
		finding.remedy =
		    tally_checkup_give(checkup, SETCAP_BIT(BPF) | SETCAP_BIT(PERFMON), "", remedy);
		tally_checkup_add(checkup, &finding, "loading BPF programs needs CAP_BPF");
	} else {
		finding.state = TALLY_FINDING_ABSENT;
		tally_checkup_add(checkup, &finding,
				  "the kernel refuses BPF programs for events: %s",
				  strerror(-result));
	}
}

void tally_check_kernel(struct tally_checkup *checkup)
{
	check_symbols(checkup);
	check_tracefs(checkup);
	check_bpf(checkup);
}
