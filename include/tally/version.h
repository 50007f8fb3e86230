/* The version of the library. */
#ifndef TALLY_VERSION_H
#define TALLY_VERSION_H

#pragma GCC visibility push(default)

/* "0.1.0", of the library at run time. */
const char *tally_version(void);

#pragma GCC visibility pop

#endif
