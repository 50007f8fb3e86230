/* An archive of files in one file: tar, plain or compressed (expand.h).
 *
 * Read: the files by their names, without unpacking anything under a name that the archive chose.
 * Written: with holes, as GNU tar has them in format 1.0.
 *
 * Sources: POSIX pax (ustar and extended headers); tar(5) of libarchive; GNU tar's manual, "Sparse
 * Formats". */
#ifndef TALLY_TAR_TAR_H
#define TALLY_TAR_TAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/error.h>

/* --- reading --- */

struct tally_tar;

struct tally_tar_member { /* borrowed from the archive */
	const char *name; /* untrusted; never used as a path */
	const uint8_t *bytes;
	uint64_t stored; /* bytes of it in the archive */
	uint64_t size;   /* bytes of the file; with holes more than are stored */
	uint64_t time;   /* of its last change, seconds */
	bool holes;      /* the stored bytes begin with a list of what they are */
};

/* Whether bytes at the start of a file (512 are enough) may be those of a plain archive. */
bool tally_tar_is_one(const uint8_t *bytes, size_t size);

/* Opens the archive of a descriptor, which stays the caller's.  A compressed one is expanded into a
 * file without a name, to `expand_most` bytes (0: 64 MB and 100 times its size).  Regular files
 * alone are members.  0; -ENOEXEC: it is not an archive; -ENOTSUP: the library to expand it is
 * missing; -EFBIG; -errno. */
int tally_tar_open(int fd, const char *path, uint64_t expand_most, struct tally_tar **ret,
		   struct tally_error *error);
void tally_tar_close(struct tally_tar *tar);

/* Whether it ends in the middle, or is damaged: what is before that can be read. */
bool tally_tar_is_damaged(const struct tally_tar *tar);

size_t tally_tar_count(const struct tally_tar *tar);
const struct tally_tar_member *tally_tar_member(const struct tally_tar *tar, size_t index);
/* By its name, without "./" at its start; a member of a build-id cache, PATH/ID/FILE, is
 * ".build-id/AB/CDEF.../FILE" too.  NULL: there is none.  Of equal names the first counts. */
const struct tally_tar_member *tally_tar_find(const struct tally_tar *tar, const char *name);

/* The member as a file of its own, without a name.  A descriptor, or -errno; -EBADMSG: its list of
 * holes is damaged. */
int tally_tar_member_open(const struct tally_tar_member *member);

/* --- writing --- */

struct tally_tar_writer;

struct tally_tar_run { /* bytes of a file that are kept; the others become a hole */
	uint64_t offset, size;
};

/* `compressed`: with zstd; -ENOTSUP: built without libzstd.  Members get the time of their last
 * change, in seconds.  The descriptor stays the caller's. */
int tally_tar_writer_new(int fd, bool compressed, uint64_t time, struct tally_tar_writer **ret);
/* 0 or -errno, also when something that was added failed. */
int tally_tar_writer_end(struct tally_tar_writer *writer);
void tally_tar_writer_free(struct tally_tar_writer *writer);

/* Adds a file of `size` bytes: those of a descriptor, the runs of it alone when there are any
 * (ascending, apart, within the size, and of whole blocks of 512 bytes but at the file's end).  0
 * or -errno. */
int tally_tar_add_file(struct tally_tar_writer *writer, const char *name, int fd, uint64_t size,
		       const struct tally_tar_run *runs, size_t run_count);
int tally_tar_add_bytes(struct tally_tar_writer *writer, const char *name, const void *bytes,
			size_t size);

#endif
