/* Processes, threads, comms and maps over time.
 *
 * Side-band records are added in time order; then the table is frozen and only read, by any number
 * of threads. Time is the event clock in ns. */
#ifndef TALLY_PROCESS_PROCESS_H
#define TALLY_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>

struct tally_process_table;

/* What mappings say of their file; equal ones share one. Mappings live as long as the table, or
 * until it is renewed, and these until their names are forgotten. */
struct tally_mapped_file {
	uint32_t filename; /* id in the table's strings */
	uint32_t maj, min;
	uint64_t ino, ino_generation;
	uint8_t build_id_size, build_id[20];
};

struct tally_mapping {
	uint64_t start, end, pgoff; /* [start, end) */
	const struct tally_mapped_file *file;
	uint32_t prot, pid;
	uint32_t number; /* 0.. in order of arrival: an index for data that others keep */
	uint32_t before; /* its number before the table was renewed; UINT32_MAX: it is new */
	uint32_t space;  /* the number of its space */
	uint8_t cpumode; /* PERF_RECORD_MISC_{KERNEL,USER,...} */
	bool ksymbol;    /* from a KSYMBOL record: all of it is one symbol with the file's name */
	bool hole; /* ends what was there (KSYMBOL unregister); has no symbol, and is not found */
};

/* An address space, from exec (or its first record) on. Kernel mappings have one of their own. */
struct tally_space;

int tally_process_table_new(struct tally_process_table **ret);
void tally_process_table_free(struct tally_process_table *table);

/* Before the first record: the table will be renewed, so it keeps what that needs. */
void tally_process_will_renew(struct tally_process_table *table);
/* Makes a frozen table one that takes records again.  What held at its end is kept, and holds from
 * the start; what held before is forgotten, and so are threads whose EXIT was fed and is older than
 * `before`, with their processes, and what processes mapped before an exec that is.  Numbers of
 * strings stay; mappings, spaces and eras are new. 0, or -ENOMEM: then it can only be freed. */
int tally_process_renew(struct tally_process_table *table, uint64_t before);
/* Makes a frozen table one that takes records again, with all that it has: mappings keep their
 * numbers; eras are new. 0 or -ENOMEM: then it can only be freed. */
int tally_process_thaw(struct tally_process_table *table);
/* Whether it has so much more than after it was renewed that renewing it costs little. */
bool tally_process_has_grown(const struct tally_process_table *table);
/* After renewing, before the next record: forgets the strings and files that no thread and no
 * mapping has any more; ids of strings are new. 0 or -ENOMEM, and then all are kept. */
int tally_process_forget_names(struct tally_process_table *table);
/* How many strings it holds. */
size_t tally_process_name_count(const struct tally_process_table *table);

/* Takes COMM, FORK, MMAP, MMAP2, KSYMBOL, and EXIT for renewing, and ignores others (after EXIT a
 * thread keeps its name, until a new thread has its number). Times ascend; 0 for synthesized
 * records: valid from the start. Mappings of guests are ignored, as no sample's ip is looked up in
 * them; those of data are taken, as addresses of data are looked up, and as they replace earlier
 * mappings. 0 or -ENOMEM. */
int tally_process_feed(struct tally_process_table *table, const struct tally_body *body,
		       uint64_t time);
/* Builds the look-up structures. */
int tally_process_freeze(struct tally_process_table *table);

size_t tally_process_mapping_count(const struct tally_process_table *table);
const struct tally_mapping *tally_process_mapping(const struct tally_process_table *table,
						  uint32_t number);
const char *tally_process_string(const struct tally_process_table *table, uint32_t id);

/* Id (in the table's strings) of the thread's name at `time`; ":TID" before the first record of it.
 * UINT32_MAX: out of memory. */
uint32_t tally_process_comm(const struct tally_process_table *table, uint32_t pid, uint32_t tid,
			    uint64_t time);
/* The name to count a thread under that has `comm` at some time: in place of ":TID" the first that
 * it gets, so that what a command did before its exec was recorded is the command's, as in perf. */
uint32_t tally_process_counted_comm(const struct tally_process_table *table, uint32_t tid,
				    uint32_t comm);

/* The user address space of a process at `time` (NULL: unknown), and the kernel's. */
const struct tally_space *tally_process_space(const struct tally_process_table *table, uint32_t pid,
					      uint64_t time);
const struct tally_space *tally_process_kernel_space(const struct tally_process_table *table);

/* A number for the space, from 1, which it keeps when the table is renewed; 0 for NULL. */
uint32_t tally_space_id(const struct tally_space *space);
/* A number for the space with all that it maps at `time`, which it keeps when the table is renewed;
 * 0: one of its mappings is replaced later, or NULL. */
uint64_t tally_space_state(const struct tally_space *space, uint64_t time);

/* A number for (space, set of mappings valid at `time`), the same for all times between two changes
 * that replace a mapping: results cached under it stay valid. 0 is never used. */
uint32_t tally_space_era(const struct tally_space *space, uint64_t time);

/* The same, and since and until when the number is valid: [from, until), UINT64_MAX: to the end. */
uint32_t tally_space_era_span(const struct tally_space *space, uint64_t time, uint64_t *ret_from,
			      uint64_t *ret_until);

/* What is valid for a thread from one time to another. Thread safe, as all functions below freeze.
 */
struct tally_task_view {
	uint32_t comm;
	const struct tally_space *space; /* NULL: unknown */
	uint32_t era;                    /* of the space; 0: none */
	uint64_t from, until;            /* [from, until); UINT64_MAX: to the end */
};
void tally_process_view(const struct tally_process_table *table, uint32_t pid, uint32_t tid,
			uint64_t time, struct tally_task_view *ret);

/* The mapping that contains `addr` at `time`, or NULL. A later mapping is used for earlier times,
 * too, where there was no other. */
const struct tally_mapping *tally_space_find(const struct tally_space *space, uint64_t addr,
					     uint64_t time);

/* The result of tally_space_find() for an address (in *ret, may be NULL), and the range around it
 * with the same result at all times of the era of `time`: [from, until). False: unknown, as the
 * mapping is replaced later. */
bool tally_space_extent(const struct tally_space *space, uint64_t addr, uint64_t time,
			uint64_t *ret_from, uint64_t *ret_until, const struct tally_mapping **ret);

#endif
