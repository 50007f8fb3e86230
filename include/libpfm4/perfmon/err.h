/* What libpfm4's own programs include for errx() and the like. */
#ifndef TALLY_LIBPFM4_ERR_H
#define TALLY_LIBPFM4_ERR_H

#include <err.h>

#endif
