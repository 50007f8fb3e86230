/* Records that describe what already runs: the kernel's records begin with the opening. */
#ifndef TALLY_RECORD_SYNTH_H
#define TALLY_RECORD_SYNTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <tally/record.h>
#include "base/buf.h"
#include "synth/build_ids.h"

/* Where the kernel's text is; all zero: not looked up yet. */
struct tally_kernel_text {
	uint64_t start; /* _text, else _stext */
	uint64_t end;   /* _etext */
	const char *symbol;
};

struct tally_synth {
	const char *root;                  /* the folder that holds proc and sys; "" for / */
	const struct tally_layout *layout; /* of the recording's first event, for trailers */
	struct tally_build_ids *build_ids;
	bool no_threads, no_maps;
	bool data_maps;                 /* maps of data too */
	bool namespaces, cgroups;       /* NAMESPACES of each thread, CGROUP of each cgroup */
	unsigned threads;               /* that read procfs; 0: as many as are of use */
	uint64_t maps_timeout_ms;       /* for the maps of one process; 0: no limit */
	uint64_t time;                  /* of the records; 0: they are valid from the start */
	struct tally_kernel_text *text; /* kept for the next time; NULL: it is not */
};

/* MMAP records of the kernel's text and modules, if this user may see their addresses. */
int tally_synth_kernel(const struct tally_synth *synth, struct tally_buf *to);
/* COMM of one thread with the given name, for a command that is held. */
int tally_synth_comm(const struct tally_synth *synth, pid_t pid, pid_t tid, const char *name,
		     struct tally_buf *to);
/* FORK and COMM of a process and each of its threads, MMAP2 of its executable maps. Adds nothing
 * for a process that has ended. Thread safe for different `to`. */
int tally_synth_process(const struct tally_synth *synth, pid_t pid, struct tally_buf *to);
/* tally_synth_process() for many, by several threads, in the order given. */
int tally_synth_processes(const struct tally_synth *synth, const pid_t *pids, size_t count,
			  struct tally_buf *to);
/* Every process of the system. */
int tally_synth_system(const struct tally_synth *synth, struct tally_buf *to);
/* MMAP2 of a process's maps.  Thread safe for different `to`. */
int tally_synth_maps(const struct tally_synth *synth, pid_t pid, struct tally_buf *to);
/* NAMESPACES of a thread. */
int tally_synth_namespaces(const struct tally_synth *synth, pid_t pid, pid_t tid,
			   struct tally_buf *to);
/* CGROUP of each cgroup of the hierarchy that perf events use; nothing without one. */
int tally_synth_cgroups(const struct tally_synth *synth, struct tally_buf *to);
/* The record behind all of them (FINISHED_INIT). */
void tally_synth_end(struct tally_buf *to);

/* Adds one record, by the layout; for the files of synth_*.c. */
int tally_synth_add(const struct tally_synth *synth, const struct tally_body *body,
		    struct tally_buf *to);

#endif
