#include "elf/debug_places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "elf/build_id.h"

void tally_archive_name(const char *path, const uint8_t *id, uint8_t id_size, const char *leaf,
			struct tally_buf *to)
{
	char text[TALLY_BUILD_ID_TEXT];

	if (id_size >= 2) {
		tally_build_id_format(id, id_size, text);
		tally_buf_printf(to, ".build-id/%.2s/%s/%s", text, text + 2, leaf);
	} else {
		tally_buf_printf(to, "root/%s%s", path + (*path == '/'),
				 strcmp(leaf, "debug") ? "" : ".debug");
	}
}

static const struct tally_tar_member *find(const struct tally_debug_places *places,
					   const char *name)
{
	const struct tally_tar_member *member =
	    places->recording ? tally_tar_find(places->recording, name) : NULL;

	for (size_t i = 0; !member && i < places->archive_count; i++)
		member = tally_tar_find(places->archives[i], name);
	return member;
}

const struct tally_tar_member *tally_archive_find(const struct tally_debug_places *places,
						  const char *path, const uint8_t *id,
						  uint8_t id_size, const char *leaf)
{
	const struct tally_tar_member *member = NULL;
	struct tally_buf name = {0};

	if (!places || (!places->recording && !places->archive_count))
		return NULL;
	tally_archive_name(path, id, id_size, leaf, &name);
	if (!name.failed)
		member = find(places, tally_buf_str(&name));
	/* A folder such as /usr/lib/debug may be in an archive, too. */
	if (!member && id_size >= 2 && !strcmp(leaf, "debug")) {
		char text[TALLY_BUILD_ID_TEXT];

		tally_build_id_format(id, id_size, text);
		tally_buf_clear(&name);
		tally_buf_printf(&name, ".build-id/%.2s/%s.debug", text, text + 2);
		if (!name.failed)
			member = find(places, tally_buf_str(&name));
	}
	tally_buf_done(&name);
	return member;
}

int tally_archive_read(const struct tally_tar_member *member, size_t limit, char **ret,
		       size_t *ret_size)
{
	char *text;

	if (member->holes)
		return -EBADMSG;
	if (member->stored > limit)
		return -EFBIG;
	text = malloc((size_t)member->stored + 1);
	if (!text)
		return -ENOMEM;
	memcpy(text, member->bytes, (size_t)member->stored);
	text[member->stored] = 0;
	*ret = text;
	*ret_size = (size_t)member->stored;
	return 0;
}
