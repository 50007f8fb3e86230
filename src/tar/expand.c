#include "tar/expand.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include "base/fail.h"
#include "tar/bunzip.h"
#include "tar/gunzip.h"
#include "tar/inflate.h"
#include "tar/unlinked.h"
#include "tar/unxz.h"

#define EXPAND_LEAST ((uint64_t)64 << 20)

struct expanding {
	int fd;
	uint64_t left;
};

static int put(void *context, const uint8_t *bytes, size_t size)
{
	struct expanding *to = context;

	if (size > to->left)
		return -EFBIG;
	to->left -= size;
	return tally_fs_write(to->fd, bytes, size);
}

static int unzstd(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context)
{
	struct tally_inflate *inflate = NULL;
	int code = tally_inflate_new(&inflate);

	if (!code)
		code = tally_inflate_feed(inflate, bytes, size, take, context);
	if (!code && !tally_inflate_is_whole(inflate))
		code = -EBADMSG;
	tally_inflate_free(inflate);
	return code;
}

static const struct form {
	char magic[7];
	uint8_t magic_size;
	const char *command;
	int (*expand)(const uint8_t *bytes, size_t size, tally_inflate_fn take, void *context);
} forms[] = {
    {"\x28\xb5\x2f\xfd", 4, "zstd -dc", unzstd},
    {"\x1f\x8b\x08", 3, "zcat", tally_gunzip},
    {"\xfd"
     "7zXZ\0",
     6, "xzcat", tally_unxz},
    {"BZh", 3, "bzcat", tally_bunzip},
};

static const struct form *form_of(const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		if (size >= forms[i].magic_size &&
		    !memcmp(bytes, forms[i].magic, forms[i].magic_size))
			return &forms[i];
	return NULL;
}

const char *tally_expand_command(const uint8_t *bytes, size_t size)
{
	const struct form *form = form_of(bytes, size);

	return form ? form->command : NULL;
}

static int explain(int code, const char *path, const struct form *form, uint64_t most,
		   struct tally_error *error)
{
	switch (code) {
	case -EFBIG:
		return tally_fail(error, code, -1,
				  "%s: it expands to more than %llu MB; --max-expand allows more",
				  path, (unsigned long long)(most >> 20));
	case -ENOTSUP:
		return tally_fail(error, code, -1,
				  "%s: this tally was built without the library that expands it; "
				  "expand it with %s",
				  path, form->command);
	default:
		return tally_fail(error, code, -1, "%s: cannot be expanded in %s: %s", path,
				  tally_unlinked_folder(), strerror(-code));
	}
}

int tally_expand(const struct tally_mapped *from, uint64_t most, const char *path, int *ret_fd,
		 bool *ret_damaged, struct tally_error *error)
{
	const struct form *form = form_of(from->data, from->size);
	struct expanding to = {.fd = tally_unlinked_open()};
	int code;

	if (to.fd < 0)
		return explain(to.fd, path, form, 0, error);
	if (!most)
		most = EXPAND_LEAST + (uint64_t)from->size * 100;
	to.left = most;
	code = form->expand(from->data, from->size, put, &to);
	*ret_damaged = code == -EBADMSG;
	if (code && code != -EBADMSG) {
		close(to.fd);
		return explain(code, path, form, most, error);
	}
	*ret_fd = to.fd;
	return 0;
}
