/* What this process may do: the system call itself, perf_event_paranoid, capabilities, containers,
 * lockdown.
 *
 * Sources: perf_event_open(2); Documentation/admin-guide/perf-security.rst; seccomp(2);
 * user_namespaces(7); kernel_lockdown(7). */
#include <errno.h>
#include <linux/perf_event.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <tally/limits.h>
#include "base/fs.h"
#include "doctor/checkup.h"

/* A system call that every kernel refuses: flags that do not exist give EINVAL before any other
 * check, so another answer comes from a filter. A child makes it, as a filter may kill. */
static int try_call_in_child(void)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return EINVAL; /* unknown: the next checks will find out */
	if (!child) {
		long fd = syscall(SYS_perf_event_open, NULL, 0, -1, -1, ~0UL);

		_exit(fd < 0 ? errno & 0xff : 0);
	}
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EINVAL;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void check_call(struct tally_checkup *checkup)
{
	struct tally_finding finding = {
	    .id = "syscall",
	    .group = TALLY_FINDING_RIGHTS,
	    .state = TALLY_FINDING_BLOCKED,
	    .cost = "nothing can be counted or sampled",
	};
	bool known = checkup->limits.paranoid != INT_MIN;
	int answer = checkup->live ? try_call_in_child() : EINVAL;

	if (!known && (answer == ENOSYS || !checkup->live)) {
		checkup->refused = true;
		finding.state = TALLY_FINDING_ABSENT;
		finding.remedy = "a kernel built with CONFIG_PERF_EVENTS; gVisor and similar "
				 "sandboxes have no perf events";
		tally_checkup_add(checkup, &finding, "this kernel has no perf events");
		return;
	}
	if (answer == EINVAL) {
		finding.state = TALLY_FINDING_GOOD;
		finding.cost = NULL;
		tally_checkup_add(checkup, &finding, "perf_event_open reaches the kernel");
		return;
	}
	checkup->refused = true;
	finding.remedy = "docker or podman: run with `--cap-add PERFMON` (`--security-opt "
			 "seccomp=unconfined` where "
			 "the profile is older than that capability); Kubernetes: "
			 "securityContext.capabilities.add "
			 "[PERFMON]; systemd: SystemCallFilter=perf_event_open";
	if (answer < 0)
		tally_checkup_add(
		    checkup, &finding,
		    "a seccomp filter kills each process that calls perf_event_open (%s)",
		    strsignal(-answer));
	else
		tally_checkup_add(checkup, &finding,
				  "a seccomp filter refuses perf_event_open (%s), before the "
				  "kernel checks rights",
				  strerror(answer));
}

/* An event of all kernels that needs the fewest rights. */
static struct tally_attr least_event(void)
{
	return (struct tally_attr){
	    .type = PERF_TYPE_SOFTWARE,
	    .config = PERF_COUNT_SW_TASK_CLOCK,
	    .disabled = 1,
	    .exclude_kernel = 1,
	    .exclude_hv = 1,
	};
}

/* With CAP_PERFMON: whether the kernel accepts it, or it is only a container's. */
static void check_privileged(struct tally_checkup *checkup, struct tally_finding *finding)
{
	struct tally_attr attr = least_event();
	int result;

	attr.exclude_kernel = 0;
	attr.type = PERF_TYPE_SOFTWARE;
	attr.config = PERF_COUNT_SW_DUMMY;
	result = checkup->live && !checkup->refused ? tally_checkup_try(checkup, &attr) : 0;
	if (result != -EACCES && result != -EPERM) {
		finding->state = TALLY_FINDING_GOOD;
		finding->cost = NULL;
		tally_checkup_add(
		    checkup, finding,
		    "kernel.perf_event_paranoid is %d, but CAP_%s allows all to this process",
		    checkup->limits.paranoid, checkup->limits.perfmon ? "PERFMON" : "SYS_ADMIN");
		return;
	}
	checkup->privileged = false;
	finding->state = TALLY_FINDING_LIMITED;
	finding->cost = "the kernel, whole CPUs and tracepoints are refused";
	finding->remedy =
	    "on the host: `sudo sysctl kernel.perf_event_paranoid=1`, or start the container "
	    "as root of the host with `--cap-add PERFMON` and without a user namespace";
	tally_checkup_add(checkup, finding,
			  "CAP_PERFMON is only a container's (a user namespace): the kernel "
			  "requires it on the host, where kernel.perf_event_paranoid is %d",
			  checkup->limits.paranoid);
}

static void check_paranoid(struct tally_checkup *checkup)
{
	static const char *const costs[] = {
	    "tracepoints with their fields are refused",
	    "whole CPUs (-a, -C) and tracepoints are refused",
	    "the kernel's own part, whole CPUs (-a, -C) and tracepoints are refused; user space of "
	    "your own "
	    "programs can be measured (:u)",
	};
	struct tally_finding finding = {
	    .id = "paranoid", .group = TALLY_FINDING_RIGHTS, .state = TALLY_FINDING_LIMITED};
	int level = checkup->limits.paranoid;
	struct tally_attr attr = least_event();
	char remedy[CHECKUP_TEXT];
	int result;

	if (level == INT_MIN)
		return;
	if (checkup->privileged) {
		check_privileged(checkup, &finding);
		return;
	}
	if (level < 0) {
		finding.state = TALLY_FINDING_GOOD;
		tally_checkup_add(checkup, &finding,
				  "kernel.perf_event_paranoid is %d: everything is allowed to all",
				  level);
		return;
	}
	finding.remedy =
	    tally_checkup_give(checkup, SETCAP_BIT(PERFMON),
			       level < 2 ? "; or for all: sudo sysctl kernel.perf_event_paranoid=-1"
					 : "; or for all: sudo sysctl kernel.perf_event_paranoid=1",
			       remedy);
	result = checkup->live && !checkup->refused ? tally_checkup_try(checkup, &attr) : 0;
	if (result == -EACCES || result == -EPERM) {
		checkup->refused = true;
		finding.state = TALLY_FINDING_BLOCKED;
		finding.cost = "this process can measure nothing, not even its own user space";
		if (level >= 3)
			tally_checkup_add(
			    checkup, &finding,
			    "kernel.perf_event_paranoid is %d, by which this kernel refuses "
			    "all events to programs without CAP_PERFMON",
			    level);
		else
			tally_checkup_add(checkup, &finding,
					  "a security module refuses all events (%s), although "
					  "kernel.perf_event_paranoid is %d",
					  strerror(-result), level);
		return;
	}
	finding.cost = costs[level < 2 ? level : 2];
	tally_checkup_add(checkup, &finding, "kernel.perf_event_paranoid is %d%s", level,
			  level > 2 && checkup->live ? ", which this kernel treats as 2" : "");
}

/* A line of /proc/self/status; false: it is missing. */
static bool status_number(const struct tally_checkup *checkup, const char *name, int64_t *ret)
{
	char *status, *line;

	if (tally_fs_readf(1 << 16, &status, NULL, "%s/proc/self/status", checkup->root))
		return false;
	line = strstr(status, name);
	if (line)
		*ret = strtoll(line + strlen(name), NULL, 10);
	free(status);
	return line;
}

/* Adds "a, b" to a list. */
static void list(char *to, size_t room, const char *name)
{
	size_t length = strlen(to);

	snprintf(to + length, room - length, "%s%s", length ? ", " : "", name);
}

static void check_capabilities(struct tally_checkup *checkup)
{
	const struct tally_limits *limits = &checkup->limits;
	const struct {
		bool has;
		uint64_t bit;
		const char *name, *buys;
	} rights[] = {
	    {checkup->privileged, SETCAP_BIT(PERFMON), "CAP_PERFMON",
	     "the kernel, whole CPUs, other users' processes and tracepoints"},
	    {limits->sys_ptrace, SETCAP_BIT(SYS_PTRACE), "CAP_SYS_PTRACE",
	     "maps of other users' processes (-p, -a)"},
	    {limits->syslog, SETCAP_BIT(SYSLOG), "CAP_SYSLOG",
	     "kernel symbols under kptr_restrict 1 or paranoid 2"},
	    {limits->ipc_lock, SETCAP_BIT(IPC_LOCK), "CAP_IPC_LOCK",
	     "rings beyond the mlock limits"},
	};
	struct tally_finding finding = {.id = "capabilities", .group = TALLY_FINDING_RIGHTS};
	char have[128] = "", missing[128] = "", buys[256] = "", remedy[CHECKUP_TEXT];
	char cost[sizeof(buys) + 64];
	uint64_t wanted = 0;
	int64_t no_new = 0;

	for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++) {
		if (rights[i].has) {
			list(have, sizeof(have), rights[i].name);
			/* added for a file that must keep it */
			if (limits->file_caps)
				wanted |= rights[i].bit;
			continue;
		}
		list(missing, sizeof(missing), rights[i].name);
		list(buys, sizeof(buys), rights[i].buys);
		wanted |= rights[i].bit;
	}
	if (!*missing) {
		tally_checkup_add(checkup, &finding, "%s", have);
		return;
	}
	finding.state = TALLY_FINDING_LIMITED;
	snprintf(cost, sizeof(cost), "they would allow: %s", buys);
	finding.cost = cost;
	finding.remedy = tally_checkup_give(
	    checkup, wanted, limits->user_namespace ? "" : "; leave out what you do not need",
	    remedy);
	if (status_number(checkup, "\nNoNewPrivs:", &no_new) && no_new)
		finding.remedy =
		    "no_new_privs is set for this session (a container, a sandbox, or systemd's "
		    "NoNewPrivileges=), so that neither sudo nor setcap works in it: give the "
		    "capabilities where it is started";
	tally_checkup_add(checkup, &finding, "this process has %s%s%s", have,
			  *have ? ", not " : "none of ", missing);
}

/* Events that need more than CAP_PERFMON. Source: perf_uprobe_event_init() of kernel/events/core.c.
 */
static void check_uprobes(struct tally_checkup *checkup)
{
	struct tally_finding finding = {
	    .id = "uprobes", .group = TALLY_FINDING_RIGHTS, .state = TALLY_FINDING_LIMITED};
	int64_t type =
	    tally_checkup_number(checkup, "/sys/bus/event_source/devices/uprobe/type", 0);
	struct tally_attr attr = {.type = (uint32_t)type, .disabled = 1};

	/* Without a path the kernel checks the rights, and then refuses the attr. */
	if (type <= 0 || !checkup->live || checkup->refused || !checkup->privileged ||
	    tally_checkup_try(checkup, &attr) != -EACCES)
		return;
	finding.cost = "uprobes and USDT markers (uprobe:, usdt:) are refused";
	finding.remedy = "use sudo for them";
	tally_checkup_add(checkup, &finding,
			  "uprobes need CAP_SYS_ADMIN on this kernel, not only CAP_PERFMON");
}

static void check_lockdown(struct tally_checkup *checkup)
{
	struct tally_finding finding = {
	    .id = "lockdown", .group = TALLY_FINDING_RIGHTS, .state = TALLY_FINDING_LIMITED};
	char line[256];

	if (!tally_checkup_line(checkup, "/sys/kernel/security/lockdown", line, sizeof(line)) ||
	    !strstr(line, "[confidentiality]"))
		return;
	finding.cost = "registers at kernel samples, kprobes and BPF programs that read the kernel "
		       "are refused, also for root";
	finding.remedy =
	    "boot without lockdown=confidentiality; it cannot be turned off in a running kernel";
	tally_checkup_add(checkup, &finding, "the kernel is locked down for confidentiality");
}

void tally_check_rights(struct tally_checkup *checkup)
{
	check_call(checkup);
	check_paranoid(checkup);
	check_capabilities(checkup);
	check_uprobes(checkup);
	check_lockdown(checkup);
}
