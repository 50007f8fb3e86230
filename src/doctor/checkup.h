/* One look at the machine, shared by the checks; each file checks_<group>.c adds the findings of
 * its group. */
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
	bool live;        /* things are tried, not only read */
	struct tally_limits limits;
	bool privileged; /* CAP_PERFMON, or CAP_SYS_ADMIN, which implies it */
	bool refused; /* the system call, or all events, are refused: what is behind is unknown */
	struct tally_doctor *doctor;
};

/* Adds one; `found` is printf's, cost and remedy are copied when they are not NULL. */
void tally_checkup_add(struct tally_checkup *checkup, const struct tally_finding *finding,
		       const char *found, ...) __attribute__((format(printf, 3, 4)));

/* Opens an event on this thread and closes it: 0 or -errno.  attr.size is set. */
int tally_checkup_try(const struct tally_checkup *checkup, const struct tally_attr *attr);

/* The first line of a file below the root, without its line end; false: there is none. */
bool tally_checkup_line(const struct tally_checkup *checkup, const char *path, char *to,
			size_t room);
/* The number in it; `otherwise` when there is none. */
int64_t tally_checkup_number(const struct tally_checkup *checkup, const char *path,
			     int64_t otherwise);
/* Whether a path below the root is there. */
bool tally_checkup_has(const struct tally_checkup *checkup, const char *path);

/* How to give this program capabilities, and after that what else helps ("or for all: ..."). */
const char *tally_checkup_give(const struct tally_checkup *checkup, uint64_t wanted,
			       const char *otherwise, char to[CHECKUP_TEXT]);

/* Must be in this order: rights first, since they tell what else can be seen. */
void tally_check_rights(struct tally_checkup *checkup);
void tally_check_limits(struct tally_checkup *checkup);
void tally_check_kernel(struct tally_checkup *checkup);
void tally_check_hardware(struct tally_checkup *checkup);
void tally_check_programs(struct tally_checkup *checkup);

#endif
