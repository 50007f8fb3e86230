/* Dumps of compilers that work at run time: first a part of the bytes, as of a dump that is still
 * written, then the rest; all that is asked of its code. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "jit/jit_elf.h"
#include "jit/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink;

static void require(int truth)
{
	if (!truth)
		abort();
}

static void look_at_code(const struct tally_jitdump *dump, size_t code, size_t size)
{
	const struct tally_jit_code *about = &dump->codes[code];
	struct tally_jit_unwind unwind;
	struct tally_jit_lines lines;
	struct tally_buf elf = {0};

	require(about->size && about->place <= size && about->size <= size - about->place);
	require(!code || about->place >= about[-1].place + about[-1].size);
	require(tally_jitdump_find(dump, about->place) == (int64_t)code);
	require(tally_jitdump_find(dump, about->place + about->size - 1) == (int64_t)code);
	sink += strlen(about->name);
	if (!tally_jitdump_lines(dump, code, &lines)) {
		for (size_t i = 0; i < lines.count; i++)
			sink += strlen(lines.lines[i].file) + lines.lines[i].line;
		tally_jit_lines_done(&lines);
	}
	if (!tally_jitdump_unwind(dump, code, &unwind)) {
		for (size_t i = 0; i < unwind.frame_size + unwind.header_size; i++)
			sink += unwind.bytes[i];
		free(unwind.bytes);
	}
	if (!tally_jit_elf_make(dump, code, &elf))
		require(elf.size > TALLY_JIT_ELF_TEXT + about->size &&
			!memcmp(elf.data, "\177ELF", 4));
	tally_buf_done(&elf);
}

static void look(const struct tally_jitdump *dump, size_t size)
{
	require(dump->load_count >= dump->code_count && dump->read <= size + 40 + UINT32_MAX);
	for (size_t i = 0; i < dump->code_count; i++)
		look_at_code(dump, i, size);
	for (size_t i = 0; i < dump->load_count; i++)
		require(dump->loads[i].code < dump->code_count && dump->loads[i].size &&
			dump->loads[i].size <= dump->codes[dump->loads[i].code].size);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("dump", MFD_CLOEXEC), writing = dup(fd);
	size_t first = size ? data[size - 1] * size / 256 : 0, before;
	struct tally_jitdump *dump;

	require(fd >= 0 && writing >= 0 && write(writing, data, first) == (ssize_t)first);
	if (!tally_jitdump_open(fd, &dump)) {
		look(dump, first);
		before = dump->code_count;
		require(write(writing, data + first, size - first) == (ssize_t)(size - first));
		require(tally_jitdump_read_on(dump) >= 0);
		require(dump->code_count >= before);
		look(dump, size);
		tally_jitdump_free(dump);
	}
	close(writing);
	return 0;
}
