/* Rules that an attr must keep on every machine. */
#ifndef KERNEL_ATTR_RULES_H
#define KERNEL_ATTR_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/attr.h>
#include <tally/open.h>

/* Whether the kernel returns EINVAL for this attr on every machine.  If so, `to` gets the reason:
 * the first in the kernel's order. */
bool tally_attr_breaks_rule(const struct tally_attr *attr, const struct tally_open_target *target,
			    char *to, size_t room);

#endif
