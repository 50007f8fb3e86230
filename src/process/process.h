/* Processes, threads, comms and maps over time.
 *
 * Side-band records are fed in time order; then the table is frozen and only read, by any number of
 * threads.  Time is the event clock in ns. */
#ifndef TALLY_PROCESS_PROCESS_H
#define TALLY_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/record.h>

struct tally_process_table;

/* What mappings tell of their file, one for all that tell the same.  These and mappings live as
 * long as the table. */
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
	uint32_t number; /* 0.. in order of arrival: an index for what others keep beside it */
	uint8_t cpumode; /* PERF_RECORD_MISC_{KERNEL,USER,...} */
	bool ksymbol;    /* of a KSYMBOL record: all of it is one symbol with the file's name */
};

/* An address space from exec (or its first sight) on.  Kernel mappings have a space of their own.
 */
struct tally_space;

int tally_process_table_new(struct tally_process_table **ret);
void tally_process_table_free(struct tally_process_table *table);

/* Takes COMM, FORK, MMAP, MMAP2, KSYMBOL; others are passed over (after EXIT a thread still has its
 * name, until its number is given to a new one).  Times ascend; 0 for synthesised records: valid
 * from the start.  Mappings of guests are passed over, as no sample's ip is looked up
 * in them; those of data are taken, as addresses of data are, and as they end what was there
 * before. 0 or -ENOMEM. */
int tally_process_feed(struct tally_process_table *table, const struct tally_body *body,
		       uint64_t time);
/* Builds the look-up structures. */
int tally_process_freeze(struct tally_process_table *table);

size_t tally_process_mapping_count(const struct tally_process_table *table);
const struct tally_mapping *tally_process_mapping(const struct tally_process_table *table,
						  uint32_t number);
const char *tally_process_string(const struct tally_process_table *table, uint32_t id);

/* Id (in the table's strings) of the thread's name at `time`; ":TID" when none was ever told.  A
 * name told first also holds before.  UINT32_MAX: out of memory. */
uint32_t tally_process_comm(const struct tally_process_table *table, uint32_t pid, uint32_t tid,
			    uint64_t time);

/* The user address space of a process at `time` (NULL: none known), and the kernel's. */
const struct tally_space *tally_process_space(const struct tally_process_table *table, uint32_t pid,
					      uint64_t time);
const struct tally_space *tally_process_kernel_space(const struct tally_process_table *table);

/* A number for (space, set of mappings valid at `time`), the same for all times between two changes
 * that replace a mapping: what is memoised under it stays true.  0 is never used. */
uint32_t tally_space_era(const struct tally_space *space, uint64_t time);

/* The same, and since and until when the number holds: [from, until), UINT64_MAX: to the end. */
uint32_t tally_space_era_span(const struct tally_space *space, uint64_t time, uint64_t *ret_from,
			      uint64_t *ret_until);

/* What holds for a thread from one time to another.  Callable by any thread, as all below freeze.
 */
struct tally_task_view {
	uint32_t comm;
	const struct tally_space *space; /* NULL: none known */
	uint32_t era;                    /* of the space; 0: none */
	uint64_t from, until;            /* [from, until); UINT64_MAX: to the end */
};
void tally_process_view(const struct tally_process_table *table, uint32_t pid, uint32_t tid,
			uint64_t time, struct tally_task_view *ret);

/* The mapping that holds `addr` at `time`, or NULL.  One that was told later also holds before,
 * where nothing else did. */
const struct tally_mapping *tally_space_find(const struct tally_space *space, uint64_t addr,
					     uint64_t time);

/* What tally_space_find() gives for an address (in *ret, perhaps NULL), and the range around it for
 * which it gives the same, at all times of the era that `time` is in: [from, until).  False when
 * that is not plain, as what holds the address is replaced later. */
bool tally_space_extent(const struct tally_space *space, uint64_t addr, uint64_t time,
			uint64_t *ret_from, uint64_t *ret_until, const struct tally_mapping **ret);

#endif
