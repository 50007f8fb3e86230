/* Debug files from debuginfod servers, fetched before a session's first run.
 *
 * The servers are those of the environment variable DEBUGINFOD_URLS; without it nothing is fetched.
 * What is fetched is kept in the cache of the debuginfod client, where sessions look for debug
 * files.  Source: debuginfod_find_debuginfo(3), debuginfod(8). */
#ifndef TALLY_DEBUGINFOD_H
#define TALLY_DEBUGINFOD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_debuginfod_options {
	size_t size; /* sizeof of this struct */
	/* Files are fetched for binaries with at least this share of all samples, in percent; 0: 1
	 * percent. */
	double least;
	/* Source lines or inlined functions are wanted, too: also for binaries that have symbols,
	 * but no debug information. */
	bool lines;
	/* Seconds without a byte received, and seconds in all, after which fetching ends.  0: the
	 * environment variables DEBUGINFOD_TIMEOUT and DEBUGINFOD_MAXTIME, else 20 and 120. */
	unsigned idle_seconds, seconds;
	/* Called some times a second with the binary whose file is fetched (its base name,
	 * untrusted), the bytes received and those in all, 0 when that is unknown.  A result that
	 * is not 0 cancels: -ECANCELED. */
	int (*progress)(void *context, const char *binary, uint64_t done, uint64_t total);
	void *progress_context;
};

struct tally_debuginfod_result {
	size_t size;      /* sizeof of this struct, set by the caller */
	unsigned wanted;  /* files that binaries with samples lack */
	unsigned fetched; /* of them: from a server */
	unsigned missing; /* of them: no server has them */
};

/* Whether libtally was built with libdebuginfod, and DEBUGINFOD_URLS names a server. */
bool tally_debuginfod_is_built(void);
bool tally_debuginfod_is_set(void);

/* Reads all samples of a session that is new, and fetches what the binaries with the most samples
 * lack on this machine: debug files, and binaries themselves when the recording has copies of
 * stacks, which are unwound with them.  Call it before anything else reads samples: symbols that
 * were read are not read again.  Whatever its result, *ret is filled and the session can be used.
 * 0; -ENOTSUP: built without libdebuginfod; -ETIMEDOUT: a limit of time was reached; -ECANCELED;
 * -errno of the connection to a server, which ends fetching. */
int tally_debuginfod_fetch(struct tally_session *session,
			   const struct tally_debuginfod_options *options,
			   struct tally_debuginfod_result *ret, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
