/* The event parser on a made-up machine with PMUs of each kind, tracepoints and a vendor table. */
#include <ftw.h>
#include <stdio.h>
#include <sys/stat.h>
#include "events.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct {
	const char *path, *text;
} files[] = {
#define PMU(path) "/bus/event_source/devices/" path
    {PMU("cpu/type"), "4"},
    {PMU("cpu/format/event"), "config:0-7,32-35"},
    {PMU("cpu/format/umask"), "config:8-15"},
    {PMU("cpu/format/edge"), "config:18"},
    {PMU("cpu/format/ldlat"), "config1:0-15"},
    {PMU("cpu/format/wide"), "config2:0-63"},
    {PMU("cpu/format/odd"), "config3:60-63,0-3"},
    {PMU("cpu/format/last"), "config4:1,6-10,44"},
    {PMU("cpu/events/cpu-cycles"), "event=0x3c"},
    {PMU("cpu/events/mem-loads"), "event=0xcd,umask=0x1,ldlat=3"},
    {PMU("cpu/events/chosen"), "event=0x1,umask=?"},
    {PMU("uncore_imc_0/type"), "20"},
    {PMU("uncore_imc_0/cpumask"), "0"},
    {PMU("uncore_imc_0/format/event"), "config:0-7"},
    {PMU("uncore_imc_0/events/reads"), "event=0x4"},
    {PMU("uncore_imc_0/events/reads.scale"), "6.1e-5"},
    {PMU("uncore_imc_0/events/reads.unit"), "MiB"},
    {PMU("uncore_imc_1/type"), "21"},
    {PMU("uncore_imc_1/format/event"), "config:0-7"},
    {PMU("uncore_imc_1/events/reads"), "event=0x4"},
    {PMU("uprobe/type"), "9"},
    {PMU("uprobe/format/retprobe"), "config:0"},
    {PMU("uprobe/format/ref_ctr_offset"), "config:32-63"},
    {PMU("kprobe/type"), "8"},
    {PMU("kprobe/format/retprobe"), "config:0"},
    {PMU("intel_pt/type"), "10"},
    {PMU("intel_pt/format/tsc"), "config:10"},
    {PMU("intel_pt/format/noretcomp"), "config:11"},
    {"/events/sched/sched_switch/id", "300"},
    {"/events/sched/sched_wakeup/id", "301"},
    {"/events/irq/softirq_entry/id", "400"},
    {"/table/mapfile.csv", "GenuineIntel-6-55,v1,toy,core"},
    {"/table/toy/events.json",
     "[{\"EventName\":\"INST_RETIRED.ANY_P\",\"EventCode\":\"0xc0\",\"UMask\":\"0x0\"},"
     "{\"EventName\":\"L2.MISS\",\"EventCode\":\"0x24\",\"UMask\":\"0x21\","
     "\"SampleAfterValue\":\"200003\"},"
     "{\"EventName\":\"UNC_M_CAS\",\"EventCode\":\"0x04\",\"Unit\":\"iMC\",\"PerPkg\":\"1\"}]"},
};

static char root[200];
static struct tally_event_options options = {.size = sizeof(options)};

static void put(const char *path, const char *text)
{
	char full[512];
	FILE *file;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = 0;
		mkdir(full, 0755);
		*at = '/';
	}
	file = fopen(full, "w");
	if (!file)
		abort();
	fprintf(file, "%s\n", text);
	fclose(file);
}

static int forget_one(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
	(void)st;
	(void)kind;
	(void)ftw;
	return remove(path);
}

static void forget(void)
{
	tally_event_context_free(options.context);
	nftw(root, forget_one, 8, FTW_DEPTH | FTW_PHYS);
}

/* Once: the files are read into the context, which lives as long as the program. */
static void make_machine(void)
{
	static char table[sizeof(root) + 8];
	const char *folder = getenv("TMPDIR");

	snprintf(root, sizeof(root), "%.100s/tally-fuzz-XXXXXX", folder ? folder : "/tmp");
	if (!mkdtemp(root))
		abort();
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		put(files[i].path, files[i].text);
	snprintf(table, sizeof(table), "%s/table", root);
	options.sysfs = options.tracefs = root;
	options.events = table;
	options.cpuid = "GenuineIntel-6-55-7";
	if (tally_event_context_new(&options, &options.context))
		abort();
	atexit(forget);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!*root)
		make_machine();
	parse_events(data, size, &options);
	return 0;
}
