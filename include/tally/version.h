/* The version of the library, and what it was built with. */
#ifndef TALLY_VERSION_H
#define TALLY_VERSION_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/* The version of the library that the program runs with: "0.2.0". */
const char *tally_version(void);

/* A library that it can be built with, or one of perf's that it does without. */
struct tally_version_part {
	const char *name, *macro; /* as `perf version --build-options` has them: "zstd" */
	bool on;
};
/* All of them, in a fixed order. */
const struct tally_version_part *tally_version_parts(size_t *ret_count);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
