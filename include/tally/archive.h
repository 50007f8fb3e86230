/* Archives: a recording and what is needed to read it on another machine, in one file.
 *
 * An archive is a tar file, compressed with zstd where tally was built with it.  Its first member
 * is the recording, perf.data (or perf.data/data and perf.data/data.N of a directory).  The others
 * are laid out as the build-id cache, below .build-id: binaries without the parts that reports do
 * not read, debug files, the kernel's symbols; and below root, by their paths, files that have no
 * build-id, and maps of code that was made at run time.  tally_data_open() opens an archive as any
 * recording, and a session on it takes symbols from it. */
#ifndef TALLY_ARCHIVE_H
#define TALLY_ARCHIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_archive_options {
	size_t size;   /* sizeof of this struct */
	bool binaries; /* whole binaries, with their code */
	bool replace;  /* an existing file of that name; else that is -EEXIST */
};

struct tally_archive_result {
	size_t size;      /* sizeof of this struct, set by the caller */
	unsigned files;   /* binaries, debug files and tables in the archive */
	unsigned missing; /* images with samples of which nothing was found */
	uint64_t bytes;   /* of the archive */
};

/* Whether archives are compressed: with libzstd. */
bool tally_archive_is_compressed(void);

/* Reads all samples of a session that is new, and writes the archive of its recording: with the
 * symbols, source lines and unwinding tables of all images that samples, their call chains,
 * branches and data addresses are in.  A recording with copies of stacks gets whole binaries, as
 * unwinding may read code.  The file is complete or does not exist.
 * 0; -EEXIST; -ENOTSUP: the session is on a live source; -ECANCELED: its progress function said so;
 * -errno. */
int tally_archive_write(struct tally_session *session, const char *path,
			const struct tally_archive_options *options,
			struct tally_archive_result *ret, struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
