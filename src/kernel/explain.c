/* Why perf_event_open(2) failed: the reason, and the command that removes it.
 *
 * The kernel has one errno for many reasons. Each function below goes through the reasons for its
 * errno in the order in which the kernel checks them (kernel/events/core.c), and names the first
 * that applies to this attr, target and machine. Remedies that give least power come first:
 * CAP_PERFMON for this program, then the sysctl for all. Sources: perf_event_open(2), section
 * ERRORS; Documentation/admin-guide/perf-security.rst and sysctl/kernel.rst. */
#include <tally/limits.h>
#include <tally/open.h>

#include <errno.h>
#include <limits.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <tally/abi.h>
#include <time.h>
#include "base/option_struct.h"
#include "base/fail.h"
#include "base/fs.h"
#include "kernel/attr_rules.h"
#include "kernel/breakpoints.h"
#include "kernel/explain.h"
#include "kernel/setcap.h"

/* In a text, say() replaces it by the command for this program and machine. */
#define GIVE_PERFMON "\1"
#define AS_ROOT      "run it with sudo"

/* What the explanation is made from. */
struct refusal {
	int errnum;
	const struct tally_attr *attr;
	const struct tally_open_target *target;
	const struct tally_limits *limits;
	struct tally_error *error;
	bool unnamed; /* the caller names the event */
};

static bool is_privileged(const struct tally_limits *limits)
{
	/* CAP_SYS_ADMIN includes CAP_PERFMON, for programs older than Linux 5.8. */
	return limits->perfmon || limits->sys_admin;
}

static bool is_tracing(const struct tally_attr *attr)
{
	return attr->type == PERF_TYPE_TRACEPOINT;
}

/* What only a CPU's PMU can do. */
static bool is_hardware(const struct tally_attr *attr)
{
	return attr->type == PERF_TYPE_HARDWARE || attr->type == PERF_TYPE_HW_CACHE ||
	       attr->type == PERF_TYPE_RAW;
}

/* perf_uprobe_event_init() of kernel/events/core.c requires more than all other PMUs. */
static bool is_uprobe(const struct tally_attr *attr)
{
	int64_t type;

	return attr->type >= PERF_TYPE_MAX &&
	       !tally_fs_read_number("/sys/bus/event_source/devices/uprobe/type", &type) &&
	       type == attr->type;
}

static bool has_exclude_bits(const struct tally_attr *attr)
{
	return attr->exclude_user || attr->exclude_kernel || attr->exclude_hv ||
	       attr->exclude_idle || attr->exclude_host || attr->exclude_guest;
}

static const char *kind(uint32_t type)
{
	static const char *const names[] = {
	    [PERF_TYPE_HARDWARE] = "hardware event", [PERF_TYPE_SOFTWARE] = "software event",
	    [PERF_TYPE_TRACEPOINT] = "tracepoint",   [PERF_TYPE_HW_CACHE] = "cache event",
	    [PERF_TYPE_RAW] = "raw event",           [PERF_TYPE_BREAKPOINT] = "breakpoint",
	};

	return type < PERF_TYPE_MAX ? names[type] : "event of a PMU";
}

/* Rights, filters and hardware: what `tally doctor` checks. */
static const char *who_knows_more(int errnum)
{
	return errnum == EACCES || errnum == EPERM || errnum == ENOSYS || errnum == ENODEV ||
		       errnum == EOPNOTSUPP
		   ? " (see also `tally doctor`)"
		   : "";
}

static void __attribute__((format(printf, 2, 3)))
say(const struct refusal *refusal, const char *format, ...)
{
	char raw[TALLY_ERROR_TEXT], setcap[SETCAP_TEXT], *mark;
	char text[TALLY_ERROR_TEXT + SETCAP_TEXT + 2];
	va_list args;

	va_start(args, format);
	vsnprintf(raw, sizeof(raw), format, args);
	va_end(args);
	mark = strchr(raw, *GIVE_PERFMON);
	if (mark) {
		bool namespace = refusal->limits->user_namespace;

		tally_setcap_command(refusal->limits, SETCAP_BIT(PERFMON), setcap);
		snprintf(text, sizeof(text), "%.*s%s%s%s%s", (int)(mark - raw), raw,
			 namespace ? "" : "`", setcap, namespace ? "" : "`", mark + 1);
	} else {
		memcpy(text, raw, sizeof(raw));
	}
	if (refusal->unnamed)
		tally_fail(refusal->error, -refusal->errnum, -1, "%s%s", text,
			   who_knows_more(refusal->errnum));
	else if (refusal->target->name)
		tally_fail(refusal->error, -refusal->errnum, -1, "cannot open %s: %s%s",
			   refusal->target->name, text, who_knows_more(refusal->errnum));
	else if (refusal->attr->type < PERF_TYPE_MAX)
		tally_fail(refusal->error, -refusal->errnum, -1, "cannot open %s 0x%llx: %s%s",
			   kind(refusal->attr->type), (unsigned long long)refusal->attr->config,
			   text, who_knows_more(refusal->errnum));
	else
		tally_fail(refusal->error, -refusal->errnum, -1,
			   "cannot open event 0x%llx of PMU type %u: %s%s",
			   (unsigned long long)refusal->attr->config, refusal->attr->type, text,
			   who_knows_more(refusal->errnum));
}

/* perf_events is closed to all users: a sysctl value of the kernels of Debian, Ubuntu and Android
 * (mainline treats it as 2). */
static bool closed_to_users(const struct tally_limits *limits)
{
	return limits->paranoid >= 3 && !is_privileged(limits);
}

static void say_container(const struct refusal *refusal)
{
	say(refusal,
	    "%s, although this process has CAP_%s. Either that capability is only one of a "
	    "container (a user namespace: the kernel asks for it on the host), or the container's "
	    "seccomp profile forbids perf_event_open: start the container with `--cap-add PERFMON` "
	    "and, where its profile is older than that, `--security-opt seccomp=unconfined`; else "
	    "a security module (SELinux: `sudo ausearch -m avc -ts recent`) or kernel lockdown "
	    "(`cat /sys/kernel/security/lockdown`) refused it",
	    strerror(refusal->errnum), refusal->limits->perfmon ? "PERFMON" : "SYS_ADMIN");
}

/* EACCES and EPERM: the kernel has used both for the same reasons over time. */
static void explain_rights(const struct refusal *refusal)
{
	const struct tally_attr *attr = refusal->attr;
	const struct tally_open_target *target = refusal->target;
	int paranoid = refusal->limits->paranoid;

	if (attr->sample_type & PERF_SAMPLE_REGS_INTR && refusal->errnum == EPERM &&
	    is_privileged(refusal->limits)) {
		say(refusal, "the kernel is locked down and does not show registers "
			     "(attr.sample_regs_intr); leave them out, or see `cat "
			     "/sys/kernel/security/lockdown`");
		return;
	}
	/* Source: Linux commit ba677dbe77af, in 6.16 and the stable kernels of July 2025. */
	if (refusal->errnum == EACCES && !refusal->limits->sys_admin && is_uprobe(attr)) {
		say(refusal, "uprobes need CAP_SYS_ADMIN since Linux 6.16 and the stable kernels "
			     "of mid-2025, because they can be set into the middle of an "
			     "instruction; CAP_PERFMON is enough before: " AS_ROOT);
		return;
	}
	if (is_privileged(refusal->limits)) {
		say_container(refusal);
		return;
	}
	if (paranoid == INT_MIN) {
		say(refusal, "/proc/sys/kernel/perf_event_paranoid cannot be read (is /proc "
			     "mounted?), so what is allowed is not known; CAP_PERFMON allows it: "
			     "give it with " GIVE_PERFMON
			     ", or measure user space of your own programs (the modifier :u)");
		return;
	}
	if (target->flags & PERF_FLAG_PID_CGROUP || target->pid == -1) {
		if (paranoid > 0) {
			say(refusal,
			    "kernel.perf_event_paranoid is %d, and above 0 measuring a whole CPU "
			    "(%s, all processes on it) needs CAP_PERFMON: give it "
			    "with " GIVE_PERFMON
			    ", or allow it to all with `sudo sysctl kernel.perf_event_paranoid=0`, "
			    "or measure a command or process (-p) of yours instead of -a and -C",
			    paranoid, target->flags & PERF_FLAG_PID_CGROUP ? "a cgroup" : "pid -1");
			return;
		}
	}
	if (is_tracing(attr) && paranoid > -1 &&
	    (refusal->errnum == EPERM || attr->sample_type & PERF_SAMPLE_RAW)) {
		say(refusal,
		    "kernel.perf_event_paranoid is %d, and above -1 a tracepoint%s needs "
		    "CAP_PERFMON: give it with " GIVE_PERFMON
		    ", or allow it to all with `sudo sysctl kernel.perf_event_paranoid=-1`",
		    paranoid,
		    attr->sample_type & PERF_SAMPLE_RAW
			? " with its fields (attr.sample_type has PERF_SAMPLE_RAW)"
			: "");
		return;
	}
	if (!attr->exclude_kernel && paranoid > 1) {
		say(refusal,
		    "kernel.perf_event_paranoid is %d, and above 1 the kernel itself "
		    "(attr.exclude_kernel is 0) is measured only with CAP_PERFMON: give it "
		    "with " GIVE_PERFMON
		    ", or allow it to all with `sudo sysctl kernel.perf_event_paranoid=1`, or "
		    "profile user space only with the modifier :u%s",
		    paranoid,
		    paranoid > 2
			? " (which the kernels of Debian and Ubuntu refuse, too, above 2 and 3)"
			: "");
		return;
	}
	if (closed_to_users(refusal->limits)) {
		say(refusal,
		    "kernel.perf_event_paranoid is %d, by which this kernel refuses all events to "
		    "programs without CAP_PERFMON: give it with " GIVE_PERFMON
		    ", or open user-space profiling to all with `sudo sysctl "
		    "kernel.perf_event_paranoid=2` (1 includes the kernel), or " AS_ROOT,
		    paranoid);
		return;
	}
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK && paranoid > 1 &&
	    attr->branch_sample_type & (PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)) {
		say(refusal,
		    "kernel.perf_event_paranoid is %d, and above 1 branches of the kernel "
		    "(attr.branch_sample_type) need CAP_PERFMON: give it with " GIVE_PERFMON
		    ", or take branches of user space only",
		    paranoid);
		return;
	}
	if (attr->namespaces) {
		say(refusal, "attr.namespaces (records of namespaces) needs CAP_PERFMON: give it "
			     "with " GIVE_PERFMON ", or leave it out");
		return;
	}
	if (attr->sample_type & PERF_SAMPLE_PHYS_ADDR && paranoid > 1) {
		say(refusal,
		    "kernel.perf_event_paranoid is %d, and above 1 physical addresses "
		    "(PERF_SAMPLE_PHYS_ADDR in attr.sample_type) need CAP_PERFMON: give it "
		    "with " GIVE_PERFMON ", or leave them out",
		    paranoid);
		return;
	}
	/* Of a process that may not be traced the kernel says EACCES. */
	if (refusal->errnum == EPERM) {
		say(refusal, "a filter on system calls forbids perf_event_open, as in containers "
			     "(seccomp): start the container with `--cap-add PERFMON`, or with "
			     "`--security-opt seccomp=unconfined`");
		return;
	}
	if (target->pid > 0) {
		say(refusal,
		    "this user may not trace process %d (it is another user's, set-uid, or not "
		    "dumpable): CAP_PERFMON allows it from Linux 5.9 on, give it with " GIVE_PERFMON
		    "%s; or run it as that process's user",
		    (int)target->pid,
		    refusal->limits->sys_ptrace
			? ""
			: " (older kernels: cap_perfmon,cap_sys_ptrace+ep)");
		return;
	}
	if (attr->type >= PERF_TYPE_MAX) {
		say(refusal, "this PMU requires CAP_PERFMON (as kprobes and most PMUs outside the "
			     "cores): give it with " GIVE_PERFMON);
		return;
	}
	say(refusal, "a security module refused it (SELinux: `sudo ausearch -m avc -ts recent`; "
		     "kernel lockdown: `cat /sys/kernel/security/lockdown`), or this event "
		     "requires CAP_PERFMON: " GIVE_PERFMON);
}

/* Source: PERF_REG_EXTENDED_MASK of arch/x86/include/uapi/asm/perf_regs.h. */
static bool has_extended_registers(const struct tally_attr *attr)
{
#if defined(__x86_64__) || defined(__i386__)
	return attr->sample_type & PERF_SAMPLE_REGS_INTR && attr->sample_regs_intr >> 32;
#else
	(void)attr;
	return false;
#endif
}

static void explain_absent(const struct refusal *refusal)
{
	const struct tally_attr *attr = refusal->attr;

	/* For hardware events the PMU may be missing as well. */
	if (refusal->target->flags & PERF_FLAG_PID_CGROUP && !is_hardware(attr) &&
	    refusal->errnum == ENOENT)
		say(refusal,
		    "the cgroup has no perf_event controller, or there is no such event: take a "
		    "cgroup of the perf_event or the unified hierarchy; in the latter cgroups have "
		    "it from the first `echo +pids | sudo tee "
		    "/sys/fs/cgroup/cgroup.subtree_control` on");
	else if (is_hardware(attr) && refusal->errnum == ENOENT && attr->type == PERF_TYPE_HW_CACHE)
		say(refusal,
		    "this CPU's PMU does not count that cache or that operation on it, or there is "
		    "no PMU at all (a virtual machine): cpu-clock samples by time instead");
	else if (is_hardware(attr) && attr->precise_ip && refusal->errnum != ENOENT)
		say(refusal,
		    "this CPU cannot take samples as precise as attr.precise_ip %u for this event: "
		    "write fewer p modifiers, or P for the most that works; a machine without a "
		    "PMU (a virtual machine) has none of them, there use cpu-clock",
		    (unsigned)attr->precise_ip);
	else if (refusal->errnum == EOPNOTSUPP && has_extended_registers(attr))
		say(refusal,
		    "its PMU cannot sample registers XMM0 to XMM15 (attr.sample_regs_intr): "
		    "events of a PMU with PEBS can (Intel, since Ice Lake)");
	else if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK && refusal->errnum != ENOENT)
		say(refusal,
		    "this machine has no branch stack of that kind (attr.branch_sample_type) for "
		    "this event: leave it out, or use --call-graph fp");
	else if (is_hardware(attr))
		say(refusal,
		    "this machine has no PMU for it, as most virtual machines, or the PMU lacks "
		    "that event: use cpu-clock, which samples by a timer, or enable the virtual "
		    "PMU in the hypervisor (libvirt: <pmu state='on'/>, VMware: vpmc.enable)");
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		say(refusal,
		    "no tracepoint has the id %llu (attr.config) on this kernel: ids change with "
		    "each boot and module; name it again as system:name",
		    (unsigned long long)attr->config);
	else if (attr->type == PERF_TYPE_SOFTWARE)
		say(refusal, "this kernel has no such software event (attr.config); see man 2 "
			     "perf_event_open for those of each version");
	else if (attr->type == PERF_TYPE_BREAKPOINT)
		say(refusal, "this CPU has no hardware breakpoint of that type and length "
			     "(attr.bp_type, attr.bp_len)");
	else
		say(refusal,
		    "no PMU has attr.type %u with this config; see "
		    "/sys/bus/event_source/devices/*/type",
		    attr->type);
}

static void explain_not_supported(const struct refusal *refusal)
{
	const struct tally_attr *attr = refusal->attr;

	if (!is_hardware(attr) && attr->type >= PERF_TYPE_MAX && attr->sample_period)
		say(refusal, "this PMU only counts and takes no samples (attr.sample_period is not "
			     "0): sample another event");
	else if (!is_hardware(attr) && attr->precise_ip)
		say(refusal,
		    "attr.precise_ip %u is for precise samples, which this event does not support: "
		    "leave the p modifiers out",
		    (unsigned)attr->precise_ip);
	else if (!is_hardware(attr) && attr->aux_output)
		say(refusal, "attr.aux_output needs a group leader with an AUX area (intel_pt)");
	else if (attr->aux_start_paused)
		say(refusal,
		    "attr.aux_start_paused is for events of an AUX area that can be paused "
		    "(intel_pt, Linux 6.13): leave it out");
	else if (attr->type == PERF_TYPE_BREAKPOINT &&
		 tally_breakpoints() == TALLY_BREAKPOINTS_SILENT)
		say(refusal, "breakpoints open on this machine, but never fire: its hypervisor "
			     "does not deliver them; `tally probe` counts calls of functions");
	else
		explain_absent(refusal);
}

static void explain_no_device(const struct refusal *refusal)
{
	if (refusal->target->cpu >= 0)
		say(refusal,
		    "CPU %d is not online, or its PMU lacks this feature: `cat "
		    "/sys/devices/system/cpu/online` shows the online CPUs (-C chooses them); on a "
		    "machine without a PMU (a virtual machine) use cpu-clock",
		    refusal->target->cpu);
	else
		explain_absent(refusal);
}

static void explain_no_syscall(const struct refusal *refusal)
{
	if (refusal->limits->paranoid == INT_MIN)
		say(refusal, "this kernel was built without perf events (no "
			     "/proc/sys/kernel/perf_event_paranoid; CONFIG_PERF_EVENTS), or it is "
			     "a sandbox such as gVisor: run it on the host");
	else
		say(refusal, "the kernel has perf events (/proc/sys/kernel/perf_event_paranoid "
			     "exists), but a filter on system calls hides perf_event_open, as in "
			     "containers (seccomp): start the container with `--cap-add PERFMON`, "
			     "or with `--security-opt seccomp=unconfined`");
}

static void explain_invalid_group(const struct refusal *refusal)
{
	const struct tally_attr *attr = refusal->attr;

	if (attr->pinned || attr->exclusive)
		say(refusal,
		    "attr.%s (the modifier %s) is for a group's leader only: write it there, or "
		    "behind the group's }",
		    attr->pinned ? "pinned" : "exclusive", attr->pinned ? "D" : "e");
	else
		say(refusal,
		    "it does not fit into the group: its leader (group_fd) must be on the same "
		    "CPU, task, clock (attr.clockid) and PMU, and all must fit on the PMU at once; "
		    "make the group smaller, or list the events without braces");
}

#define KNOWN_FLAGS \
	(PERF_FLAG_FD_NO_GROUP | PERF_FLAG_FD_OUTPUT | PERF_FLAG_PID_CGROUP | PERF_FLAG_FD_CLOEXEC)

/* What is wrong with the target, before the attr is checked. */
static bool explain_invalid_target(const struct refusal *refusal)
{
	const struct tally_open_target *target = refusal->target;
	const struct tally_limits *limits = refusal->limits;

	if (target->flags & ~(unsigned long)KNOWN_FLAGS)
		say(refusal,
		    "flags 0x%lx: perf_event_open has only PERF_FLAG_FD_NO_GROUP (1), _FD_OUTPUT "
		    "(2), _PID_CGROUP (4) and _FD_CLOEXEC (8)",
		    target->flags & ~(unsigned long)KNOWN_FLAGS);
	else if (target->cpu < -1)
		say(refusal, "cpu %d is not a CPU: they count from 0, and -1 is any CPU",
		    target->cpu);
	else if (limits->cpus && target->cpu >= limits->cpus)
		say(refusal,
		    "there is no CPU %d: this machine has 0 to %d (`cat "
		    "/sys/devices/system/cpu/possible`, and online for those in use)",
		    target->cpu, limits->cpus - 1);
	else
		return false;
	return true;
}

#if defined(__x86_64__) || defined(__i386__)
#define ON_X86 1
#else
#define ON_X86 0
#endif

static void explain_invalid_breakpoint(const struct refusal *refusal)
{
	const struct tally_attr *attr = refusal->attr;

	/* Source: arch_build_bp_info() of arch/x86/kernel/hw_breakpoint.c. */
	if (ON_X86 && attr->bp_type == HW_BREAKPOINT_R)
		say(refusal,
		    "x86 has no breakpoint for reads only (attr.bp_type 1): use reads and writes, "
		    "mem:0x%llx:rw, or writes, mem:0x%llx:w",
		    (unsigned long long)attr->bp_addr, (unsigned long long)attr->bp_addr);
	else
		say(refusal,
		    "breakpoint at 0x%llx, %llu bytes, type %u: the address must be a multiple of "
		    "the length (1, 2, 4 or 8; for x the size of a long), and one in the kernel "
		    "needs attr.exclude_user and the rights to it",
		    (unsigned long long)attr->bp_addr, (unsigned long long)attr->bp_len,
		    attr->bp_type);
}

/* Source: perf_event_set_clock() of kernel/events/core.c. */
static bool is_clock_of_events(int32_t clockid)
{
	return clockid == CLOCK_MONOTONIC || clockid == CLOCK_MONOTONIC_RAW;
}

static void explain_invalid(const struct refusal *refusal)
{
	const struct tally_attr *attr = refusal->attr;
	const struct tally_open_target *target = refusal->target;
	const struct tally_limits *limits = refusal->limits;
	char rule[256];

	if (explain_invalid_target(refusal))
		return;
	if (target->flags & PERF_FLAG_PID_CGROUP && target->cpu == -1)
		say(refusal,
		    "a cgroup (PERF_FLAG_PID_CGROUP) is measured CPU by CPU: cpu must not be -1");
	else if (target->pid == -1 && target->cpu == -1)
		say(refusal, "pid -1 (all processes) and cpu -1 (all CPUs) exclude each other: "
			     "open one event for each CPU");
	else if (attr->freq && attr->sample_freq > (uint64_t)limits->max_sample_rate)
		say(refusal,
		    "attr.sample_freq is %llu Hz, and kernel.perf_event_max_sample_rate is %lld: "
		    "ask for less (-F max takes the highest), or `sudo sysctl "
		    "kernel.perf_event_max_sample_rate=%llu`; the kernel lowers that by itself "
		    "when samples take more than kernel.perf_cpu_time_max_percent of a CPU",
		    (unsigned long long)attr->sample_freq, (long long)limits->max_sample_rate,
		    (unsigned long long)attr->sample_freq);
	else if (!attr->freq && attr->sample_period >> 63)
		say(refusal,
		    "attr.sample_period %llu has its highest bit set: the greatest is "
		    "9223372036854775807",
		    (unsigned long long)attr->sample_period);
	else if (tally_attr_breaks_rule(attr, target, rule, sizeof(rule)))
		say(refusal, "%s", rule);
	else if (attr->inherit && attr->sample_type & PERF_SAMPLE_READ)
		say(refusal,
		    "reading counters with each sample (the modifier S, PERF_SAMPLE_READ) together "
		    "with attr.inherit needs Linux 6.12 and PERF_SAMPLE_TID: use --no-inherit");
	else if (attr->inherit && attr->read_format & PERF_FORMAT_GROUP)
		say(refusal, "PERF_FORMAT_GROUP in attr.read_format and attr.inherit exclude each "
			     "other on old kernels: use --no-inherit, or read each event alone");
	else if (attr->sample_type & (PERF_SAMPLE_REGS_USER | PERF_SAMPLE_REGS_INTR))
		say(refusal,
		    "this architecture lacks a register of attr.sample_regs_user 0x%llx or "
		    "attr.sample_regs_intr 0x%llx, or the kernel is older than another field of "
		    "the attr",
		    (unsigned long long)attr->sample_regs_user,
		    (unsigned long long)attr->sample_regs_intr);
	else if (attr->use_clockid && !is_clock_of_events(attr->clockid))
		say(refusal,
		    "attr.clockid %d is not a clock for events: CLOCK_MONOTONIC (1), "
		    "CLOCK_MONOTONIC_RAW (4), and, where samples come from no NMI, CLOCK_REALTIME "
		    "(0), CLOCK_BOOTTIME (7) and CLOCK_TAI (11) are; leave attr.use_clockid out "
		    "for the kernel's own",
		    attr->clockid);
	else if (target->group_fd >= 0)
		explain_invalid_group(refusal);
	else if (attr->type >= PERF_TYPE_MAX && has_exclude_bits(attr))
		say(refusal, "PMUs outside the cores count for all levels and guests, and refuse "
			     "attr.exclude_*: leave the modifiers u k h G H I out");
	else if (attr->type >= PERF_TYPE_MAX && (attr->sample_period || target->pid != -1))
		say(refusal,
		    "the PMU refuses it: PMUs outside the cores count whole CPUs (-a, -C; this "
		    "asks for pid %d, cpu %d) and take no samples (attr.sample_period is %llu), "
		    "and attr.config* must hold an event that it has",
		    (int)target->pid, target->cpu, (unsigned long long)attr->sample_period);
	else if (attr->precise_ip)
		say(refusal,
		    "the PMU refuses attr.precise_ip %u together with the other fields (AMD's IBS "
		    "has no u and k): write fewer p modifiers",
		    (unsigned)attr->precise_ip);
	else if (attr->type == PERF_TYPE_BREAKPOINT)
		explain_invalid_breakpoint(refusal);
	else if (attr->type == PERF_TYPE_TRACEPOINT)
		say(refusal,
		    "no tracepoint has the id %llu (attr.config) on this kernel: ids change with "
		    "each boot and module; name it again as system:name (`tally list tracepoint` "
		    "shows them). Else the kernel does not know sample_type 0x%llx or flags 0x%llx",
		    (unsigned long long)attr->config, (unsigned long long)attr->sample_type,
		    (unsigned long long)attr->flags);
	else if (attr->defer_callchain || attr->defer_output)
		say(refusal,
		    "attr.defer_callchain and attr.defer_output need Linux 6.19: leave them "
		    "out");
	else
		say(refusal,
		    "the kernel has the event, but does not support all fields: config 0x%llx, "
		    "sample_type 0x%llx, read_format 0x%llx, flags 0x%llx. An older kernel may "
		    "lack one of these; try fewer options",
		    (unsigned long long)attr->config, (unsigned long long)attr->sample_type,
		    (unsigned long long)attr->read_format, (unsigned long long)attr->flags);
}

static void explain_too_big(const struct refusal *refusal)
{
	uint32_t needed = tally_attr_min_size(refusal->attr), kernel = refusal->attr->size;
	char has[64] = "is shorter than";

	/* perf_copy_attr() of kernel/events/core.c writes the kernel's own size, at least that of
	 * the first version. */
	if (kernel >= PERF_ATTR_SIZE_VER0 && kernel != needed)
		snprintf(has, sizeof(has), "has %u bytes, not", kernel);
	say(refusal,
	    "this kernel's perf_event_attr %s the %u bytes that the fields in use take%s: leave "
	    "out the option that sets them, or use a newer kernel",
	    has, needed,
	    refusal->attr->config4           ? " (attr.config4, Linux 6.19)"
	    : refusal->attr->config3         ? " (attr.config3, Linux 6.3)"
	    : refusal->attr->sig_data        ? " (attr.sig_data, Linux 5.13)"
	    : refusal->attr->aux_sample_size ? " (attr.aux_sample_size, Linux 5.5)"
					     : "");
	if (kernel >= PERF_ATTR_SIZE_VER0 && kernel != needed)
		refusal->error->position = kernel;
}

static void explain_descriptors(const struct refusal *refusal)
{
	const struct tally_limits *limits = refusal->limits;

	if (refusal->errnum == ENFILE)
		say(refusal, "the machine has no free open files: `sudo sysctl fs.file-max` shows "
			     "their number, and raises it");
	else if (limits->nofile < limits->nofile_hard)
		say(refusal,
		    "this process has all of its %llu open files (RLIMIT_NOFILE), one for each "
		    "event, CPU and thread: `ulimit -n %llu` raises that for this shell; or watch "
		    "fewer threads (-p, -t), CPUs (-C) or events (-e)",
		    (unsigned long long)limits->nofile, (unsigned long long)limits->nofile_hard);
	else
		say(refusal,
		    "this process has all of its %llu open files (RLIMIT_NOFILE, at its hard "
		    "limit), one for each event, CPU and thread: `sudo prlimit --pid $$ "
		    "--nofile=1048576` raises that for this shell; or watch fewer threads (-p, "
		    "-t), CPUs (-C) or events (-e)",
		    (unsigned long long)limits->nofile);
}

static void explain_overflow(const struct refusal *refusal)
{
	say(refusal,
	    "attr.sample_max_stack is %u frames, and kernel.perf_event_max_stack is %lld: ask for "
	    "fewer, or, while no callchain is recorded, `sudo sysctl "
	    "kernel.perf_event_max_stack=%u`",
	    refusal->attr->sample_max_stack, (long long)refusal->limits->max_stack,
	    refusal->attr->sample_max_stack);
}

static void explain_no_process(const struct refusal *refusal)
{
	say(refusal, "no process or thread %d, or it has ended: `ps -eLo pid,tid,comm` lists them",
	    (int)refusal->target->pid);
}

static void explain_busy(const struct refusal *refusal)
{
	say(refusal,
	    "another event holds the hardware exclusively (an exclusive event, another user of the "
	    "PMU or of an AUX area such as intel_pt): end the other profiler, or free the counter "
	    "of the NMI watchdog with `sudo sysctl kernel.nmi_watchdog=0`");
}

static void explain_no_slot(const struct refusal *refusal)
{
	if (refusal->attr->type == PERF_TYPE_BREAKPOINT)
		say(refusal,
		    "all hardware breakpoints are in use (x86 has four on each CPU, debuggers use "
		    "them, too): watch fewer addresses, or end the debugger");
	else
		say(refusal, "the hardware has no room for this event: measure fewer at once");
}

static void explain_memory(const struct refusal *refusal)
{
	say(refusal,
	    "the kernel has no memory for it (%s): open fewer events (-e), CPUs (-C) or threads "
	    "(-p, -t); a callchain needs a buffer of kernel.perf_event_max_stack (%lld) frames for "
	    "each CPU",
	    strerror(refusal->errnum), (long long)refusal->limits->max_stack);
}

static void explain_interrupted(const struct refusal *refusal)
{
	say(refusal, "ftrace (/sys/kernel/tracing) uses this uprobe or function, and excludes "
		     "perf: remove it there (`echo | sudo tee /sys/kernel/tracing/uprobe_events`)");
}

static void explain_descriptor(const struct refusal *refusal)
{
	if (refusal->target->flags & PERF_FLAG_PID_CGROUP)
		say(refusal,
		    "pid %d (with PERF_FLAG_PID_CGROUP: a cgroup folder's descriptor) or group_fd "
		    "%d is not an open descriptor of that kind; the folder must be of the "
		    "perf_event or the unified hierarchy, under /sys/fs/cgroup",
		    (int)refusal->target->pid, refusal->target->group_fd);
	else
		say(refusal,
		    "group_fd %d is not the open descriptor of an event: open the group's leader "
		    "first and keep it open",
		    refusal->target->group_fd);
}

static void explain_fault(const struct refusal *refusal)
{
	say(refusal, "the kernel could not read the attr or a string that it points to "
		     "(attr.config1 of a kprobe or uprobe): the pointer is wrong");
}

static const struct {
	int errnum;
	void (*explain)(const struct refusal *refusal);
} explanations[] = {
    {EACCES, explain_rights},      {EPERM, explain_rights},
    {ENOENT, explain_absent},      {EOPNOTSUPP, explain_not_supported},
    {ENODEV, explain_no_device},   {ENXIO, explain_absent},
    {ENOSYS, explain_no_syscall},  {EINVAL, explain_invalid},
    {E2BIG, explain_too_big},      {EMFILE, explain_descriptors},
    {ENFILE, explain_descriptors}, {ENOMEM, explain_memory},
    {EBUSY, explain_busy},         {ESRCH, explain_no_process},
    {EOVERFLOW, explain_overflow}, {ENOSPC, explain_no_slot},
    {EINTR, explain_interrupted},  {EFAULT, explain_fault},
    {EBADF, explain_descriptor},
};

static void explain(struct refusal *refusal)
{
	struct tally_limits own = {.size = sizeof(own)};

	if (!refusal->error)
		return;
	if (!refusal->limits || tally_options_take(&own, sizeof(own), refusal->limits))
		tally_limits_read(NULL, &own);
	refusal->limits = &own;
	for (size_t i = 0; i < sizeof(explanations) / sizeof(explanations[0]); i++) {
		if (explanations[i].errnum == refusal->errnum) {
			explanations[i].explain(refusal);
			return;
		}
	}
	say(refusal, "%s", strerror(refusal->errnum));
}

void tally_open_explain(int errnum, const struct tally_attr *attr,
			const struct tally_open_target *target, const struct tally_limits *limits,
			struct tally_error *error)
{
	explain(&(struct refusal){errnum, attr, target, limits, error, false});
}

void tally_open_reason(int errnum, const struct tally_attr *attr,
		       const struct tally_open_target *target, const struct tally_limits *limits,
		       struct tally_error *error)
{
	explain(&(struct refusal){errnum, attr, target, limits, error, true});
}
