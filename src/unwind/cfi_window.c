#include "unwind/cfi_window.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/param.h>
#include "image/frame_info.h"

/* A window that only moves on grows from one to the other. */
#define WINDOW_LEAST ((size_t)4 << 10)
#define WINDOW_MOST  ((size_t)16 << 10)

struct cfi_section tally_cfi_section(struct tally_frame_section *section)
{
	return (struct cfi_section){.bytes = section->bytes,
				    .size = section->size,
				    .address = section->address,
				    .read = tally_frame_section_read,
				    .context = section};
}

void tally_cfi_window_done(struct cfi_window *window)
{
	free(window->bytes);
	*window = (struct cfi_window){.section = window->section};
}

int tally_cfi_window_move(struct cfi_window *window, size_t at, size_t size)
{
	const struct cfi_section *section = window->section;
	bool moves_on = at >= window->from && at - window->from <= window->size;
	size_t want = moves_on ? MIN(window->size * 2, WINDOW_MOST) : 0;

	want = MIN(MAX(MAX(want, WINDOW_LEAST), size), section->size - at);
	window->size = 0;
	if (want > window->room) {
		free(window->bytes);
		window->bytes = malloc(want);
		window->room = window->bytes ? want : 0;
		if (!window->bytes)
			return -ENOMEM;
	}
	if (!section->read(section->context, at, window->bytes, want))
		return -EIO;
	window->from = at;
	window->size = want;
	return 0;
}
