/* Archives: members are within what is there, one opens as a file of its size or not at all, and
 * the recording in it is read with its binaries. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tally/data.h>
#include <tally/report.h>
#include <tally/session.h>
#include <tally/profile.h>
#include "tar/tar.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink; /* so that reads are not optimised away */

static void look_at(const struct tally_tar_member *member)
{
	struct stat about;
	int fd;

	for (uint64_t i = 0; i < member->stored; i++)
		sink += member->bytes[i];
	/* Holes cost the next reader time alone. */
	if (member->size > 1 << 24)
		return;
	fd = tally_tar_member_open(member);
	if (fd < 0)
		return;
	if (fstat(fd, &about) || (uint64_t)about.st_size != member->size)
		abort();
	close(fd);
}

/* A report asks for symbols of all that has samples. */
static void report(const char *path)
{
	const struct tally_session_options options = {.size = sizeof(options),
						      .threads = 1,
						      .functions = true,
						      .build_id_dir = "/nonexistent",
						      .symfs = "/nonexistent"};
	struct tally_session *session = NULL;
	struct tally_profile *profile = NULL;
	struct tally_data *data = NULL;
	struct tally_error error;

	if (!tally_data_open(path, NULL, &data, &error) &&
	    !tally_session_new(data, &options, &session, &error))
		(void)tally_profile_new(session, NULL, &profile, &error);
	tally_profile_free(profile);
	tally_session_free(session);
	tally_data_close(data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("archive", 0);
	struct tally_tar *tar;
	char path[64];

	if (fd < 0 || write(fd, data, size) != (ssize_t)size) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	if (!tally_tar_open(fd, "archive", 1 << 22, &tar, NULL)) {
		for (size_t i = 0; i < tally_tar_count(tar); i++)
			look_at(tally_tar_member(tar, i));
		tally_tar_close(tar);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		report(path);
	}
	close(fd);
	return 0;
}
