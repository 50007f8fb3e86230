#include "tar/unlinked.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *named(void)
{
	const char *folder = secure_getenv("TMPDIR");

	return folder && *folder ? folder : NULL;
}

const char *tally_unlinked_folder(void)
{
	const char *folder = named();

	return folder ? folder : "/var/tmp";
}

/* Where a file system has no files without a name, the name is removed at once. */
static int open_named(void)
{
	char *name;
	int fd;

	if (asprintf(&name, "%s/tally-XXXXXX", tally_unlinked_folder()) < 0)
		return -ENOMEM;
	fd = mkostemp(name, O_CLOEXEC);
	if (fd < 0)
		fd = -errno;
	else
		unlink(name);
	free(name);
	return fd;
}

int tally_unlinked_open(void)
{
	int fd = open(tally_unlinked_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	if (errno == ENOENT && !named()) {
		fd = memfd_create("tally", MFD_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	if (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)
		return open_named();
	return -errno;
}
