/* The program that somebody may have meant. */
#ifndef TALLY_COLLECT_WORKLOAD_SIMILAR_H
#define TALLY_COLLECT_WORKLOAD_SIMILAR_H

#include <limits.h>
#include <stdbool.h>

/* Copies the name of the program in PATH that is most similar; false: none is. */
bool tally_workload_similar(const char *name, char ret[PATH_MAX]);

#endif
