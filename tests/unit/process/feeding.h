/* Records as the process layer takes them, made in memory. */
#ifndef TESTS_PROCESS_FEEDING_H
#define TESTS_PROCESS_FEEDING_H

#include <sys/mman.h>
#include "process/process.h"

#define EXEC_BIT (1U << 13) /* of misc: COMM by exec, FORK without its maps */

static inline void feed(struct tally_process_table *table, const struct tally_body *body,
			uint64_t time)
{
	assert_int_equal(tally_process_feed(table, body, time), 0);
}

static inline void comm(struct tally_process_table *table, uint64_t time, uint32_t pid,
			uint32_t tid, const char *name, bool exec)
{
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_COMM, .misc = exec ? EXEC_BIT : 0};

	body.comm = (struct tally_record_comm){.pid = pid, .tid = tid, .comm = name};
	feed(table, &body, time);
}

static inline void fork_of(struct tally_process_table *table, uint64_t time, uint32_t ppid,
			   uint32_t ptid, uint32_t pid, uint32_t tid)
{
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_FORK};

	body.task = (struct tally_record_task){
	    .pid = pid, .ppid = ppid, .tid = tid, .ptid = ptid, .time = time};
	feed(table, &body, time);
}

static inline void map(struct tally_process_table *table, uint64_t time, uint32_t pid,
		       uint64_t start, uint64_t end, uint64_t pgoff, const char *file)
{
	struct tally_body body = {
	    .size = sizeof(body), .type = PERF_RECORD_MMAP2, .misc = PERF_RECORD_MISC_USER};

	body.mmap2 = (struct tally_record_mmap2){
	    .pid = pid,
	    .tid = pid,
	    .addr = start,
	    .len = end - start,
	    .pgoff = pgoff,
	    .prot = PROT_READ | PROT_EXEC,
	    .filename = file,
	};
	feed(table, &body, time);
}

static inline void ksymbol(struct tally_process_table *table, uint64_t time, uint64_t addr,
			   uint32_t len, const char *name, bool unregister)
{
	struct tally_body body = {.size = sizeof(body), .type = PERF_RECORD_KSYMBOL};

	body.ksymbol = (struct tally_record_ksymbol){
	    .addr = addr, .len = len, .ksym_type = 1, .flags = unregister, .name = name};
	feed(table, &body, time);
}

static inline const char *comm_at(const struct tally_process_table *table, uint32_t tid,
				  uint64_t time)
{
	return tally_process_string(table, tally_process_comm(table, tid, tid, time));
}

/* The file that holds an address, or "-". */
static inline const char *file_at(const struct tally_process_table *table, uint32_t pid,
				  uint64_t addr, uint64_t time)
{
	const struct tally_space *space = tally_process_space(table, pid, time);
	const struct tally_mapping *mapping = space ? tally_space_find(space, addr, time) : NULL;

	return mapping ? tally_process_string(table, mapping->file->filename) : "-";
}

static inline uint32_t era_at(const struct tally_process_table *table, uint32_t pid, uint64_t time)
{
	return tally_space_era(tally_process_space(table, pid, time), time);
}

#endif
