/* What a recording's header contains besides its events: the machine, the recorder, clocks,
 * programs.
 *
 * Everything here is read once, when the file is opened, and lives until it is closed.  A member is
 * NULL or 0 where the file says nothing; lists of which only a part could be read hold that part.
 * Text is the file's own: it may hold anything but NUL.
 * Source of the layouts: the perf.data format as perf 2.6.32 to 7.0 writes it; of the simpleperf
 * members: simpleperf's record_file_format.h as its files follow it. */
#ifndef TALLY_INFO_H
#define TALLY_INFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/attr.h>
#include <tally/record.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The feature sections' numbers: bits of tally_data_info.features. */
enum tally_feature {
	TALLY_FEATURE_TRACING_DATA = 1,
	TALLY_FEATURE_BUILD_ID,
	TALLY_FEATURE_HOSTNAME,
	TALLY_FEATURE_OSRELEASE,
	TALLY_FEATURE_VERSION,
	TALLY_FEATURE_ARCH,
	TALLY_FEATURE_NRCPUS,
	TALLY_FEATURE_CPUDESC,
	TALLY_FEATURE_CPUID,
	TALLY_FEATURE_TOTAL_MEM,
	TALLY_FEATURE_CMDLINE,
	TALLY_FEATURE_EVENT_DESC,
	TALLY_FEATURE_CPU_TOPOLOGY,
	TALLY_FEATURE_NUMA_TOPOLOGY,
	TALLY_FEATURE_BRANCH_STACK,
	TALLY_FEATURE_PMU_MAPPINGS,
	TALLY_FEATURE_GROUP_DESC,
	TALLY_FEATURE_AUXTRACE,
	TALLY_FEATURE_STAT,
	TALLY_FEATURE_CACHE,
	TALLY_FEATURE_SAMPLE_TIME,
	TALLY_FEATURE_MEM_TOPOLOGY,
	TALLY_FEATURE_CLOCKID,
	TALLY_FEATURE_DIR_FORMAT,
	TALLY_FEATURE_BPF_PROG_INFO,
	TALLY_FEATURE_BPF_BTF,
	TALLY_FEATURE_COMPRESSED,
	TALLY_FEATURE_CPU_PMU_CAPS,
	TALLY_FEATURE_CLOCK_DATA,
	TALLY_FEATURE_HYBRID_TOPOLOGY,
	TALLY_FEATURE_PMU_CAPS,
	TALLY_FEATURE_CPU_DOMAIN_INFO, /* Linux 7.0 */
	TALLY_FEATURE_E_MACHINE,
	TALLY_FEATURE_CLN_SIZE,
	TALLY_FEATURES_OF_PERF, /* one more than the last */
	/* simpleperf's */
	TALLY_FEATURE_SIMPLEPERF_FILE = 128,
	TALLY_FEATURE_SIMPLEPERF_META_INFO,
	TALLY_FEATURE_SIMPLEPERF_DEBUG_UNWIND,
	TALLY_FEATURE_SIMPLEPERF_DEBUG_UNWIND_FILE,
	TALLY_FEATURE_SIMPLEPERF_FILE2,
	TALLY_FEATURE_SIMPLEPERF_ETM_BRANCH_LIST,
	/* Tally's own; perf skips it: u32 count, u32 0, then as many words of
	 * struct tally_stack_counts, which may get more at its end. */
	TALLY_FEATURE_STACKS = 192,
	/* Of merged recordings, which perf skips, too: u32 count, u32 0; for each recording u32
	 * size of what follows, four strings (name, host, release of its kernel, command line), u64
	 * that was added to its times, u64 samples, and what later versions add. */
	TALLY_FEATURE_RECORDINGS,
	/* OpenHarmony's hiperf, whose own sections begin with the same number as Tally's: a
	 * recording of it has RECORD_TIME, which Tally never writes. */
	TALLY_FEATURE_HIPERF_SYMBOLS = 192,
	TALLY_FEATURE_HIPERF_WORKLOAD,
	TALLY_FEATURE_HIPERF_RECORD_TIME,
	TALLY_FEATURE_HIPERF_CPU_OFF,
	TALLY_FEATURE_HIPERF_DEVHOST,
	TALLY_FEATURE_HIPERF_STACK_TABLE, /* the call chains of all samples, each once */
	TALLY_FEATURE_HIPERF_ADD_COUNTER,
};

/* One of the recordings that were merged to a file, by its number n.
 *
 * Of the numbers of its processes and threads (but not of -1, which is none) n * 2^22 was added,
 * and the upper 32 bits of the ids of its events are n. */
struct tally_data_recording {
	const char *name;
	const char *hostname, *os_release, *cmdline; /* "" where it was not recorded */
	uint64_t shift; /* ns that were added to its times; of an earlier time 2^64 less */
	uint64_t samples;
};

/* "NRCPUS"; NULL for a bit that has no name. */
const char *tally_feature_name(unsigned feature);

struct tally_data_build_id {
	uint16_t misc; /* low bits: cpumode */
	uint32_t pid;
	uint8_t size, id[20];
	const char *filename;
};

struct tally_data_strings {
	const char *const *text;
	size_t count;
};

struct tally_data_pair {
	const char *key, *value;
};

struct tally_data_pairs {
	const struct tally_data_pair *pair;
	size_t count;
};

/* An event as EVENT_DESC describes it, which need not be as the attr table has it. */
struct tally_data_event_desc {
	struct tally_attr attr; /* .size is what the section says */
	const char *name;
	const uint64_t *ids;
	size_t id_count;
};

struct tally_data_group {
	const char *name;         /* "{anon_group}" for one that was given no name */
	uint32_t leader, members; /* index of the event; how many, with the leader */
};

struct tally_data_cpu {
	uint32_t core, socket, die; /* ids; die: 0 unless topology.has_dies */
};

/* Lists of CPUs, "0-3,7", that share a socket, a die, a core. */
struct tally_data_topology {
	struct tally_data_strings sockets, dies, threads;
	const struct tally_data_cpu *cpus; /* by number of the CPU */
	size_t cpu_count;
	bool has_dies;
};

struct tally_data_numa_node {
	uint32_t node;
	uint64_t total_kb, free_kb;
	const char *cpus; /* a list */
};

struct tally_data_pmu {
	uint32_t type; /* attr.type of its events */
	const char *name;
};

struct tally_data_cache {
	uint32_t level, line_size, sets, ways;
	const char *type, *size, *cpus; /* "Data", "32K", "0-1" */
};

struct tally_data_memory_node {
	uint64_t node;
	uint64_t block_count;   /* bits of `blocks` */
	const uint64_t *blocks; /* which blocks of memory are the node's */
};

struct tally_data_pmu_caps {
	const char *pmu; /* "cpu" for those of CPU_PMU_CAPS */
	struct tally_data_pairs caps;
};

struct tally_data_hybrid {
	const char *pmu, *cpus;
};

/* An AUXTRACE record: where in the file, and how many bytes, with its data. */
struct tally_data_aux_part {
	uint64_t offset, size;
};

struct tally_data_bpf_function {
	const char *name; /* bpf_prog_<tag>_<name>, as the kernel's symbols have it */
	uint64_t address;
	uint32_t size; /* bytes of machine code */
};

struct tally_data_bpf_program {
	uint32_t id, type, btf_id;
	uint64_t load_time; /* ns since boot */
	uint8_t tag[8];
	const char *name;
	const struct tally_data_bpf_function *functions;
	size_t function_count;
	bool functions_known; /* false: the kernel did not say where they are */
};

struct tally_data_btf {
	uint32_t id;
	const uint8_t *bytes; /* the file's, in the file's byte order */
	size_t size;
};

struct tally_data_cpu_domain {
	uint32_t cpu, domain;
	const char *name; /* NULL: unknown to the recorder's kernel */
	const char *cpu_mask, *cpus;
};

/* What the addresses of a file's symbols are. */
enum tally_data_file_kind {
	TALLY_DATA_FILE_KERNEL,   /* of the running kernel */
	TALLY_DATA_FILE_MODULE,   /* of an object file of the kernel's */
	TALLY_DATA_FILE_BINARY,   /* of an ELF file, as its symbols have them */
	TALLY_DATA_FILE_OFFSETS,  /* offsets in the file: of Android's dex files and the like */
	TALLY_DATA_FILE_ADDRESSES /* of the process: of code made at run time; and unknown kinds */
};

/* A file whose symbols simpleperf or hiperf wrote into the recording. */
struct tally_data_file {
	const char *path;
	enum tally_data_file_kind kind;
	uint64_t min_vaddr;  /* the least address of its code; 0: unknown */
	uint64_t min_offset; /* where that is in the file, or in a module's memory; UINT64_MAX:
				unknown */
	uint32_t symbol_count;
	const uint8_t *symbols; /* for tally_data_file_symbols(); borrowed from the recording */
	size_t symbols_size;
};

struct tally_data_info {
	/* The file. */
	uint32_t header_version; /* 1 or 2 */
	int64_t modified;        /* seconds since 1970 */
	uint64_t data_offset;    /* as the header says; 0 in a stream */
	uint64_t data_size;
	uint64_t features[4]; /* the bitmap, unchanged */

	/* The machine and the recorder. */
	const char *hostname, *os_release, *version, *arch, *cpu_desc, *cpuid;
	uint32_t cpus_available, cpus_online;
	uint64_t total_mem_kb;
	const char *const *cmdline;
	size_t cmdline_count;
	uint32_t e_machine, e_flags; /* of ELF */
	bool has_e_machine;
	uint32_t cache_line_size;

	struct tally_data_topology topology;
	const struct tally_data_numa_node *numa_nodes;
	size_t numa_node_count;
	const struct tally_data_cache *caches;
	size_t cache_count;
	uint64_t memory_block_size; /* bytes */
	const struct tally_data_memory_node *memory_nodes;
	size_t memory_node_count;
	const struct tally_data_pmu *pmus;
	size_t pmu_count;
	const struct tally_data_pmu_caps *pmu_caps;
	size_t pmu_caps_count;
	struct tally_data_pmu_caps cpu_pmu_caps;
	const struct tally_data_hybrid *hybrids;
	size_t hybrid_count;
	uint32_t schedstat_version, domain_levels;
	const struct tally_data_cpu_domain *cpu_domains;
	size_t cpu_domain_count;

	/* Events; see also tally_data_event(). */
	const struct tally_data_event_desc *event_descs;
	size_t event_desc_count;
	bool has_event_desc; /* the section could be read to its end */
	const struct tally_data_group *groups;
	size_t group_count;

	/* Time. */
	uint64_t sample_time_first, sample_time_last; /* ns */
	bool has_sample_time;
	uint64_t clockid_resolution; /* ns */
	uint32_t clockid;
	uint64_t clock_wall_ns, clock_event_ns;
	bool has_clock_data;

	/* Contents of the data. */
	const struct tally_data_build_id *build_ids;
	size_t build_id_count;
	const struct tally_data_aux_part *aux_parts;
	size_t aux_part_count;
	uint32_t compression_version, compression_type, compression_level, compression_ratio;
	uint32_t compression_block; /* bytes of a ring */
	bool has_compression;
	uint64_t directory_version;
	const struct tally_data_bpf_program *bpf_programs; /* ascending ids */
	size_t bpf_program_count;
	const struct tally_data_btf *btfs; /* ascending ids */
	size_t btf_count;

	/* Call chains that the recorder made; count 0: none, or it does not say. */
	struct tally_stack_counts stacks;

	/* Of a merged file; a count of 0: it is not one. */
	const struct tally_data_recording *recordings;
	size_t recording_count;

	/* simpleperf. */
	struct tally_data_pairs meta_info;
	const struct tally_data_file *files;
	size_t file_count;

	bool hiperf; /* sections from number 192 on are those of OpenHarmony's hiperf */
};

/* tally_feature_name() of one recording: what a number from 192 on means depends on who wrote it.
 */
const char *tally_data_feature_name(const struct tally_data_info *info, unsigned feature);

/* How many calls the processor of the recording keeps in its registers (LBR), as its PMU's
 * capability "branches" says; 0: the recording does not say.  Source: intel_pmu_init() of
 * arch/x86/events/intel/core.c names the capability; perf writes it to the features CPU_PMU_CAPS
 * and PMU_CAPS. */
uint32_t tally_data_lbr_registers(const struct tally_data_info *info);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
