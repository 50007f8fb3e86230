/* One check of the machine; each file checks_<group>.c adds the findings of its group. */
#ifndef TALLY_DOCTOR_CHECKUP_H
#define TALLY_DOCTOR_CHECKUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/attr.h>
#include <tally/doctor.h>
#include <tally/limits.h>
#include "base/arena.h"
#include "kernel/setcap.h"

#define CHECKUP_TEXT 1024 /* bytes of one text at most */

struct tally_checkup {
	const char *root; /* "" for this machine */
	bool live;        /* events are opened, not only files read */
	struct tally_limits limits;
	bool privileged; /* CAP_PERFMON, or CAP_SYS_ADMIN, which includes it */
	bool refused;    /* the system call, or all events, are refused: the rest is unknown */
	struct tally_doctor *doctor;
};

/* Adds a finding; `found` is printf's, cost and remedy are copied when they are not NULL. */
void tally_checkup_add(struct tally_checkup *checkup, const struct tally_finding *finding,
		       const char *found, ...) __attribute__((format(printf, 3, 4)));

/* Opens an event on this thread and closes it: 0 or -errno.  attr.size is set. */
int tally_checkup_try(const struct tally_checkup *checkup, const struct tally_attr *attr);

/* The first line of a file below the root, without its line end; false: there is none. */
bool tally_checkup_line(const struct tally_checkup *checkup, const char *path, char *to,
			size_t room);
/* The number in it; `otherwise` without one. */
int64_t tally_checkup_number(const struct tally_checkup *checkup, const char *path,
			     int64_t otherwise);
/* Whether a path below the root exists. */
bool tally_checkup_has(const struct tally_checkup *checkup, const char *path);

/* How to give this program capabilities, and then other ways ("or for all: ..."). */
const char *tally_checkup_give(const struct tally_checkup *checkup, uint64_t wanted,
			       const char *otherwise, char to[CHECKUP_TEXT]);

/* In this order: rights first, as the other checks depend on them. */
void tally_check_rights(struct tally_checkup *checkup);
void tally_check_limits(struct tally_checkup *checkup);
void tally_check_kernel(struct tally_checkup *checkup);
void tally_check_hardware(struct tally_checkup *checkup);
void tally_check_programs(struct tally_checkup *checkup);

#endif
