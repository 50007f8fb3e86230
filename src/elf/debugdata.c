#include "elf/debugdata.h"

#include <errno.h>
#include <stdlib.h>
#include "base/buf.h"
#include "tar/unxz.h"

struct unpacked {
	struct tally_buf bytes;
	size_t most;
};

static int take(void *context, const uint8_t *bytes, size_t size)
{
	struct unpacked *to = context;

	if (size > to->most - to->bytes.size)
		return -EFBIG;
	tally_buf_add(&to->bytes, bytes, size);
	return to->bytes.failed;
}

int tally_debugdata_open(const struct tally_elf *elf, struct tally_elf *ret, char **ret_memory)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".gnu_debugdata", SHT_NULL);
	struct unpacked unpacked = {.most = elf->allowed};
	char *packed;
	size_t packed_size;
	int error;

	if (!section || tally_elf_read(elf, section, &packed, &packed_size))
		return -ENOENT;
	error = tally_unxz((const uint8_t *)packed, packed_size, take, &unpacked);
	free(packed);
	if (!error && tally_elf_open_memory((char *)unpacked.bytes.data, unpacked.bytes.size, ret))
		error = -EBADMSG;
	if (error) {
		tally_buf_done(&unpacked.bytes);
		return error;
	}
	*ret_memory = (char *)unpacked.bytes.data;
	return 0;
}
