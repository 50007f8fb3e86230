/* What the processor's own counters can do, found by opening events.
 *
 * Sources: perf_event_open(2); Documentation/ABI/testing/sysfs-bus-event_source-devices-*. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <tally/open.h>
#include "abi/event_names.h"
#include "doctor/checkup.h"
#include "doctor/hypervisor.h"
#include "kernel/breakpoints.h"

#define GROUP_MOST 32

static struct tally_attr hardware_attr(uint64_t config)
{
	return (struct tally_attr){.type = PERF_TYPE_HARDWARE,
				   .config = config,
				   .disabled = 1,
				   .exclude_kernel = 1,
				   .exclude_hv = 1};
}

static bool is_of_rights(int result)
{
	return result == -EACCES || result == -EPERM;
}

static void check_absent(struct tally_checkup *checkup, struct tally_finding *finding)
{
	struct tally_hypervisor hypervisor;

	finding->state = TALLY_FINDING_ABSENT;
	finding->cost = "no cycles, instructions, branches or cache misses; clocks, faults, "
			"switches and tracepoints work, and `tally record` samples by the CPU "
			"clock";
	if (tally_hypervisor_find(checkup, &hypervisor)) {
		finding->remedy = hypervisor.remedy;
		tally_checkup_add(
		    checkup, finding,
		    "no hardware counters: this is a virtual machine whose hypervisor "
		    "shows it no PMU: %s",
		    hypervisor.name);
	} else {
		finding->remedy =
		    "look for a driver and for a firmware setting: dmesg | grep -i pmu";
		tally_checkup_add(
		    checkup, finding,
		    "no hardware counters: the kernel drives no PMU of this processor");
	}
}

/* Whether hardware events open; adds the findings. */
static bool check_pmu(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "pmu", .group = TALLY_FINDING_HARDWARE};
	char have[256] = "", lacks[256] = "";
	const char *name;
	int first = 0;

	for (unsigned i = 0; (name = tally_abi_event_name(PERF_TYPE_HARDWARE, i)); i++) {
		struct tally_attr attr = hardware_attr(i);
		int result = tally_checkup_try(checkup, &attr);
		char *to = result ? lacks : have;
		size_t length = strlen(to);

		if (!i)
			first = result;
		snprintf(to + length, sizeof(have) - length, "%s%s", length ? ", " : "", name);
	}
	if (!*have && is_of_rights(first)) {
		finding.state = TALLY_FINDING_UNKNOWN;
		tally_checkup_add(
		    checkup, &finding,
		    "whether there are hardware counters is unknown without the rights above");
		return false;
	}
	if (!*have) {
		check_absent(checkup, &finding);
		return false;
	}
	if (*lacks)
		tally_checkup_add(checkup, &finding, "counts %s; not %s", have, lacks);
	else
		tally_checkup_add(checkup, &finding, "counts %s", have);
	return true;
}

/* How many of one event fit into a group; the kernel schedules a group as a whole. */
static void check_counters(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "counters", .group = TALLY_FINDING_HARDWARE};
	struct tally_open_target target = {.pid = 0, .cpu = -1, .group_fd = -1};
	struct tally_attr attr = hardware_attr(PERF_COUNT_HW_INSTRUCTIONS);
	int fds[GROUP_MOST], count = 0;

	attr.disabled = 0; /* arm64's driver counts only enabled events for a group */
	while (count < GROUP_MOST) {
		fds[count] = tally_open(&attr, &target, &checkup->limits, NULL);
		if (fds[count] < 0)
			break;
		target.group_fd = fds[0];
		count++;
	}
	for (int i = 0; i < count; i++)
		close(fds[i]);
	if (count)
		tally_checkup_add(checkup, &finding,
				  "%d count at once; more take turns, and their counts are scaled",
				  count);
}

static void check_watchdog(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "nmi_watchdog",
					.group = TALLY_FINDING_HARDWARE,
					.state = TALLY_FINDING_LIMITED,
					.cost = "one counter less, for everyone",
					.remedy = "sudo sysctl kernel.nmi_watchdog=0"};

	if (tally_checkup_number(checkup, "/proc/sys/kernel/nmi_watchdog", 0) > 0)
		tally_checkup_add(checkup, &finding, "the NMI watchdog uses a counter");
}

static void check_precise(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "precise", .group = TALLY_FINDING_HARDWARE};
	struct tally_attr attr = hardware_attr(PERF_COUNT_HW_CPU_CYCLES);
	unsigned level = 3;

	attr.sample_period = 1000000;
	for (; level; level--) {
		attr.precise_ip = level & 3;
		if (!tally_checkup_try(checkup, &attr))
			break;
	}
	if (!level) {
		finding.state = TALLY_FINDING_ABSENT;
		finding.cost = "a sample may point to an instruction some way behind the right one";
	}
	tally_checkup_add(checkup, &finding,
			  level ? "cycles:%.*s" : "no precise samples (PEBS, IBS, SPE)%.*s",
			  (int)level, "ppp");
}

static void check_branches(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "branch_stack", .group = TALLY_FINDING_HARDWARE};
	struct tally_attr attr = hardware_attr(PERF_COUNT_HW_CPU_CYCLES);

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	if (tally_checkup_try(checkup, &attr)) {
		finding.state = TALLY_FINDING_ABSENT;
		finding.cost = "no -b and no --call-graph lbr; use fp or dwarf";
		tally_checkup_add(checkup, &finding, "no branch stacks (LBR, BRBE)");
	} else {
		tally_checkup_add(checkup, &finding, "branch stacks of taken branches");
	}
}

/* PMUs that write traces, by their folders. */
static void check_traces(struct tally_checkup *checkup)
{
	static const char *const tracers[] = {"intel_pt", "intel_bts", "cs_etm", "arm_spe_0",
					      "hisi_ptt0"};
	struct tally_finding finding = {.id = "traces", .group = TALLY_FINDING_HARDWARE};
	char have[128] = "";

	for (size_t i = 0; i < sizeof(tracers) / sizeof(*tracers); i++) {
		char path[PATH_MAX];
		size_t length = strlen(have);

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", tracers[i]);
		if (tally_checkup_has(checkup, path))
			snprintf(have + length, sizeof(have) - length, "%s%s", length ? ", " : "",
				 tracers[i]);
	}
	if (!*have)
		finding.state = TALLY_FINDING_ABSENT;
	tally_checkup_add(checkup, &finding, "%s",
			  *have ? have : "no instruction traces (Intel PT, CoreSight, SPE)");
}

static void check_user_reads(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "user_reads", .group = TALLY_FINDING_HARDWARE};
	int64_t x86 = tally_checkup_number(checkup, "/sys/bus/event_source/devices/cpu/rdpmc", -1);
	int64_t arm = tally_checkup_number(checkup, "/proc/sys/kernel/perf_user_access", -1);

	if (x86 < 0 && arm < 0)
		return;
	if (x86 > 0 || arm > 0) {
		tally_checkup_add(checkup, &finding,
				  "programs read their counters without a system call");
		return;
	}
	finding.state = TALLY_FINDING_LIMITED;
	finding.cost = "a program reads its own counters by a system call";
	finding.remedy = x86 < 0 ? "sudo sysctl kernel.perf_user_access=1"
				 : "echo 1 | sudo tee /sys/bus/event_source/devices/cpu/rdpmc";
	tally_checkup_add(checkup, &finding, "reading counters from user space is off");
}

static void check_breakpoints(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "breakpoints", .group = TALLY_FINDING_HARDWARE};

	switch (tally_breakpoints()) {
	case TALLY_BREAKPOINTS_FIRE:
		tally_checkup_add(checkup, &finding, "breakpoints (mem:ADDRESS)");
		break;
	case TALLY_BREAKPOINTS_SILENT:
		finding.state = TALLY_FINDING_ABSENT;
		finding.cost = "reads and writes of an address (mem:) cannot be counted or "
			       "sampled; perf counts 0 of them";
		finding.remedy = "`tally probe` counts calls of functions; for data, another "
				 "machine";
		tally_checkup_add(checkup, &finding,
				  "breakpoints open, but never fire: the hypervisor does not "
				  "deliver them");
		break;
	case TALLY_BREAKPOINTS_UNKNOWN:
		break;
	}
}

/* The names of all PMUs: software ones are always there. */
static void check_devices(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "pmus", .group = TALLY_FINDING_HARDWARE};
	char folder[PATH_MAX], names[512] = "";
	struct dirent **entries;
	int count;

	if (snprintf(folder, sizeof(folder), "%s/sys/bus/event_source/devices", checkup->root) >=
	    (int)sizeof(folder))
		return;
	count = scandir(folder, &entries, NULL, alphasort);
	if (count < 0) {
		finding.state = TALLY_FINDING_UNKNOWN;
		finding.cost = "events of PMUs cannot be named";
		finding.remedy = "mount -t sysfs nodev /sys";
		tally_checkup_add(checkup, &finding, "%s: %s", folder, strerror(errno));
		return;
	}
	for (int i = 0; i < count; i++) {
		size_t length = strlen(names);

		if (entries[i]->d_name[0] != '.')
			snprintf(names + length, sizeof(names) - length, "%s%s", length ? ", " : "",
				 entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	tally_checkup_add(checkup, &finding, "PMUs: %s", names);
}

void tally_check_hardware(struct tally_checkup *checkup)
{
	bool counts = false;

	if (checkup->live)
		counts = check_pmu(checkup);
	if (counts) {
		check_counters(checkup);
		check_watchdog(checkup);
		check_precise(checkup);
		check_branches(checkup);
		check_user_reads(checkup);
	}
	if (checkup->live && !checkup->refused)
		check_breakpoints(checkup);
	check_traces(checkup);
	check_devices(checkup);
}
