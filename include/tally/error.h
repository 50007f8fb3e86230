/* Errors: what went wrong, in words that a person can act on.
 *
 * Functions of the library return 0 or a count, else -errno.  Where errno says too little they take
 * an optional last `struct tally_error *`; it is filled only on failure. */
#ifndef TALLY_ERROR_H
#define TALLY_ERROR_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TALLY_ERROR_TEXT 768

struct tally_error {
	int code;                    /* the -errno that the function returned */
	int64_t position;            /* column in a string (from 0) or offset in a file; -1: none */
	char text[TALLY_ERROR_TEXT]; /* one line, no newline at its end */
};

#ifdef __cplusplus
}
#endif

#endif
