#include "plugin/own_stdout.h"

#include <errno.h>
#include <unistd.h>

static ssize_t keep(void *cookie, const char *text, size_t size)
{
	struct own_stdout *own = cookie;

	tally_buf_add(&own->text, text, size);
	return own->text.failed ? 0 : (ssize_t)size;
}

int tally_own_stdout_init(struct own_stdout *own)
{
	*own = (struct own_stdout){0};
	own->ours = fopencookie(own, "w", (cookie_io_functions_t){.write = keep});
	return own->ours ? 0 : -ENOMEM;
}

void tally_own_stdout_done(struct own_stdout *own)
{
	if (own->ours)
		fclose(own->ours);
	tally_buf_done(&own->text);
	*own = (struct own_stdout){0};
}

void tally_own_stdout_print(struct own_stdout *own)
{
	size_t at = 0;

	if (!own->text.size)
		return;
	fflush(stdout);
	while (at < own->text.size) {
		ssize_t wrote = write(STDOUT_FILENO, own->text.data + at, own->text.size - at);

		if (wrote < 0 && errno != EINTR)
			break; /* the reader has ended, or the disk is full: as with any print */
		at += wrote > 0 ? (size_t)wrote : 0;
	}
	tally_buf_clear(&own->text);
}
