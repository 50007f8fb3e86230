/* The hypervisor of a virtual machine. */
#ifndef TALLY_DOCTOR_HYPERVISOR_H
#define TALLY_DOCTOR_HYPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include "doctor/checkup.h"

struct tally_hypervisor {
	char name[128];     /* "KVM (Amazon EC2 m5.large)"; untrusted */
	const char *remedy; /* how it gives its guests a PMU; NULL: it cannot, or unknown */
};

/* Whether this machine is virtual, as far as visible. */
bool tally_hypervisor_find(const struct tally_checkup *checkup, struct tally_hypervisor *ret);

#endif
