/* Which frames of tables are one function.
 *
 * Functions of one build that have equal names (overloaded ones of C++, static ones of C) are
 * different ones by where they begin.  Builds differ in that, so functions of several builds are
 * one by their names, if no build has two of that name. */
#ifndef TALLY_FLEET_FLEET_FUNCTIONS_H
#define TALLY_FLEET_FLEET_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include "base/chunks.h"
#include "base/map.h"
#include "resolve/frames.h"

struct fleet_functions {           /* all zero is empty and valid */
	struct tally_map starts;   /* hash of image, name and build -> where the first one begins */
	struct tally_map several;  /* image and name: a build has two of them */
	struct tally_map by_name;  /* image and name -> function + 1 */
	struct tally_map by_start; /* hash of image, name and start -> function + 1 */
	struct tally_chunks list;  /* struct tally_given_function */
};

/* Images, names and builds are numbers of texts. */
struct fleet_name {
	uint32_t image, symbol;
};

void tally_fleet_functions_done(struct fleet_functions *functions);
/* To be called with all functions before any is asked for; start 0 is unknown.  0 or -ENOMEM. */
int tally_fleet_functions_note(struct fleet_functions *functions, struct fleet_name name,
			       uint32_t build, uint64_t start);
/* The function; its text is borrowed.  NULL: out of memory. */
const struct tally_given_function *tally_fleet_function(struct fleet_functions *functions,
							struct fleet_name name, const char *text,
							uint64_t start);

#endif
