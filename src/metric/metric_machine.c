/* The literals of expressions: properties of the machine.
 *
 * Sources: Documentation/admin-guide/cputopology.rst and
 * Documentation/ABI/stable/sysfs-devices-system-cpu (topology, smt/active, present, online);
 * Documentation/ABI/testing/sysfs-bus-event_source-devices-caps (slots, hexadecimal); ACPI 6.5,
 * 5.2.25 (the table NFIT describes persistent memory); Intel SDM vol. 2A, CPUID leaf 15H (the TSC's
 * frequency is ecx * ebx / eax); kernel.nmi_watchdog: Documentation/admin-guide/sysctl/kernel.rst.
 * Which file is for which name: tools/perf/util/{expr,smt,cputopo}.c of Linux 6.1, 6.12. */
#include "metric/metric_machine.h"

#include <dirent.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include <unistd.h>
#include "base/fs.h"
#include "base/map.h"

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#define FILE_MOST 65536

struct cpus {
	uint32_t *cpu;
	size_t count;
};

static char *read_text(const struct metric_machine *machine, const char *path)
{
	char *text;
	size_t size;

	if (tally_fs_readf(FILE_MOST, &text, &size, "%s/devices/system/cpu/%s", machine->sysfs,
			   path))
		return NULL;
	text[strcspn(text, "\n")] = '\0';
	return text;
}

static struct cpus read_cpus(const struct metric_machine *machine, const char *path)
{
	struct cpus cpus = {0};
	char *text = read_text(machine, path);

	if (text && tally_text_cpu_list(text, &cpus.cpu, &cpus.count))
		cpus = (struct cpus){0};
	free(text);
	return cpus;
}

static bool has_cpu(const struct cpus *cpus, uint32_t cpu)
{
	for (size_t i = 0; i < cpus->count; i++)
		if (cpus->cpu[i] == cpu)
			return true;
	return false;
}

/* --- topology: the number of different lists of a core's threads is the number of cores --- */

static char *topology_of(const struct metric_machine *machine, uint32_t cpu, const char *file,
			 const char *old_file)
{
	char path[128], *text;

	snprintf(path, sizeof(path), "cpu%u/topology/%s", cpu, file);
	text = read_text(machine, path);
	if (text || !old_file)
		return text;
	snprintf(path, sizeof(path), "cpu%u/topology/%s", cpu, old_file);
	return read_text(machine, path);
}

/* True: the list is new. */
static bool add_list(struct tally_strings *lists, const char *text)
{
	size_t before = lists->count;

	return text && tally_strings_intern(lists, text, strlen(text)) >= 0 &&
	       lists->count > before;
}

/* With only some threads of a core counted, counts of the whole core are wrong. */
static bool is_whole_or_out(const char *threads, const struct cpus *counted)
{
	struct cpus of_core = {0};
	bool whole = true;

	if (tally_text_cpu_list(threads, &of_core.cpu, &of_core.count))
		return true;
	for (size_t i = 1; i < of_core.count && whole; i++)
		whole = has_cpu(counted, of_core.cpu[i]) == has_cpu(counted, of_core.cpu[0]);
	free(of_core.cpu);
	return whole;
}

static void read_topology(struct metric_machine *machine)
{
	struct tally_strings cores = {0}, dies = {0}, packages = {0};
	struct cpus online = read_cpus(machine, "online"), counted = {0};
	bool some =
	    machine->cpus && !tally_text_cpu_list(machine->cpus, &counted.cpu, &counted.count);

	machine->core_wide = true;
	for (size_t i = 0; i < online.count; i++) {
		uint32_t cpu = online.cpu[i];
		char *package =
		    topology_of(machine, cpu, "package_cpus_list", "core_siblings_list");
		char *die = topology_of(machine, cpu, "die_cpus_list", NULL);
		char *core = topology_of(machine, cpu, "core_cpus_list", "thread_siblings_list");

		add_list(&packages, package);
		add_list(&dies, die);
		if (add_list(&cores, core)) {
			machine->several_threads |= strpbrk(core, ",-") != NULL;
			machine->core_wide &= !some || is_whole_or_out(core, &counted);
		}
		free(package);
		free(die);
		free(core);
	}
	machine->packages = packages.count;
	machine->dies = dies.count ? dies.count : packages.count; /* missing in older kernels */
	machine->cores = cores.count;
	machine->topology_read = true;
	tally_strings_done(&cores);
	tally_strings_done(&dies);
	tally_strings_done(&packages);
	free(online.cpu);
	free(counted.cpu);
}

static struct metric_machine *with_topology(struct metric_machine *machine)
{
	if (!machine->topology_read)
		read_topology(machine);
	return machine;
}

static double nan_if_unknown(size_t count)
{
	return count ? (double)count : (double)NAN;
}

bool tally_metric_machine_smt(struct metric_machine *machine)
{
	char *text = read_text(machine, "smt/active");
	bool on = text ? !strcmp(text, "1") : with_topology(machine)->several_threads;

	free(text);
	return on;
}

static bool is_core_wide(struct metric_machine *machine)
{
	if (!machine->system_wide)
		return false;
	return !tally_metric_machine_smt(machine) || with_topology(machine)->core_wide;
}

/* --- the rest --- */

static double count_cpus(const struct metric_machine *machine, const char *file, bool highest)
{
	struct cpus cpus = read_cpus(machine, file);
	uint32_t most = 0;

	for (size_t i = 0; i < cpus.count; i++)
		if (cpus.cpu[i] >= most)
			most = cpus.cpu[i] + 1;
	free(cpus.cpu);
	return nan_if_unknown(highest ? most : cpus.count);
}

/* In the CPU's PMU, whose name differs between Arm cores. */
static double read_slots(const struct metric_machine *machine)
{
	char path[PATH_MAX];
	struct dirent *entry;
	int64_t slots = 0;
	DIR *folder;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices", machine->sysfs);
	folder = opendir(path);
	while (folder && slots <= 0 && (entry = readdir(folder))) {
		char *text;
		size_t size;

		if (tally_fs_readf(FILE_MOST, &text, &size,
				   "%s/bus/event_source/devices/%s/caps/slots", machine->sysfs,
				   entry->d_name))
			continue;
		slots = strtoll(text, NULL, 0);
		free(text);
	}
	if (folder)
		closedir(folder);
	return slots > 0 ? (double)slots : (double)NAN;
}

static bool ask_cpu(double *ret)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	if (!__get_cpuid(0x15, &a, &b, &c, &d) || !a || !b || !c)
		return false;
	*ret = (double)c * b / a;
	return true;
#else
	(void)ret;
	return false;
#endif
}

/* "3.00GHz" */
static double parse_gigahertz(const char *text)
{
	double value = 0, place = 1;

	for (; *text >= '0' && *text <= '9'; text++)
		value = value * 10 + (*text - '0');
	if (*text == '.')
		for (text++; *text >= '0' && *text <= '9'; text++)
			value += (*text - '0') * (place /= 10);
	return !strncmp(text, "GHz", 3) && value > 0 ? value * 1e9 : (double)NAN;
}

/* "model name : Intel(R) Xeon(R) Gold 6154 CPU @ 3.00GHz": the frequency of the TSC. */
static double read_cpuinfo(const struct metric_machine *machine)
{
	double frequency = NAN;
	char *text, *at;
	size_t size;

	if (tally_fs_readf(64u << 20, &text, &size, "%s/cpuinfo", machine->procfs))
		return NAN;
	at = strstr(text, "model name");
	if (at) {
		at[strcspn(at, "\n")] = '\0';
		at = strstr(at, " @ ");
	}
	if (at) /* by hand: the decimal point must not depend on the locale */
		frequency = parse_gigahertz(at + 3);
	free(text);
	return frequency;
}

static double tsc_frequency(const struct metric_machine *machine)
{
	double frequency;

	return machine->here && ask_cpu(&frequency) ? frequency : read_cpuinfo(machine);
}

static bool has_pmem(const struct metric_machine *machine)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/firmware/acpi/tables/NFIT", machine->sysfs);
	return !access(path, F_OK);
}

bool tally_metric_machine_watchdog(const struct metric_machine *machine)
{
	char path[PATH_MAX];
	int64_t value;

	snprintf(path, sizeof(path), "%s/sys/kernel/nmi_watchdog", machine->procfs);
	return !tally_fs_read_number(path, &value) && value != 0;
}

static double read_literal(struct metric_machine *machine, enum tally_expression_literal literal)
{
	switch (literal) {
	case EXPR_SMT_ON:
		return tally_metric_machine_smt(machine);
	case EXPR_NUM_CPUS:
		return count_cpus(machine, "present", true);
	case EXPR_NUM_CPUS_ONLINE:
		return count_cpus(machine, "online", false);
	case EXPR_NUM_CORES:
		return nan_if_unknown(with_topology(machine)->cores);
	case EXPR_NUM_DIES:
		return nan_if_unknown(with_topology(machine)->dies);
	case EXPR_NUM_PACKAGES:
		return nan_if_unknown(with_topology(machine)->packages);
	case EXPR_CORE_WIDE:
		return is_core_wide(machine);
	case EXPR_SLOTS:
		return read_slots(machine);
	case EXPR_HAS_PMEM:
		return has_pmem(machine);
	case EXPR_SYSTEM_TSC_FREQ:
		return tsc_frequency(machine);
	default:
		return NAN;
	}
}

double tally_metric_machine_literal(struct metric_machine *machine,
				    enum tally_expression_literal literal)
{
	if (!machine->known[literal]) {
		machine->literal[literal] = read_literal(machine, literal);
		machine->known[literal] = true;
	}
	return machine->literal[literal];
}
