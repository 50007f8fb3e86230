/* The kernel's own maps: its text and its modules. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "base/fs.h"
#include "synth/synth.h"
#include "elf/build_id.h"

#define KERNEL_PID  ((uint32_t)-1) /* of the kernel's maps in perf's files */
#define KERNEL_NAME "[kernel.kallsyms]"

/* One line of /proc/kallsyms: "address type name[\t[module]]"; false: it is not one. */
static bool parse_symbol(const char *line, size_t size, uint64_t *ret_address,
			 const char **ret_name, size_t *ret_length)
{
	const char *tab;
	uint64_t address = 0;
	size_t at = 0;

	for (; at < size && line[at] != ' '; at++) {
		int digit = line[at] <= '9' ? line[at] - '0' : (line[at] | 32) - 'a' + 10;

		if (digit < 0 || digit > 15)
			return false;
		address = address << 4 | (uint64_t)digit;
	}
	if (!at || at + 3 >= size)
		return false;
	*ret_address = address;
	*ret_name = line + at + 3;
	tab = memchr(*ret_name, '\t', size - at - 3);
	*ret_length = tab ? (size_t)(tab - *ret_name) : size - at - 3;
	return true;
}

static bool is_name(const char *name, size_t length, const char *wanted)
{
	return length == strlen(wanted) && !memcmp(name, wanted, length);
}

static void note_symbol(struct tally_kernel_text *text, const char *line, size_t size)
{
	const char *name;
	uint64_t address;
	size_t length;

	if (!parse_symbol(line, size, &address, &name, &length) || !address || length > 6)
		return;
	/* perf puts the address of the symbol into pgoff and its name behind the map's, so that a
	 * reader finds out where the kernel was loaded; _text is the start of what kallsyms
	 * contains. */
	if (is_name(name, length, "_text") || (is_name(name, length, "_stext") && !text->symbol)) {
		text->start = address;
		text->symbol = length == 5 ? "_text" : "_stext";
	} else if (is_name(name, length, "_etext")) {
		text->end = address;
	}
}

/* Reads kallsyms only until the three symbols are found: it is about 10 MB, which the kernel makes
 * line by line. */
static int find_text(const char *root, struct tally_kernel_text *ret)
{
	char path[PATH_MAX], *chunk;
	size_t held = 0, room = 1 << 16;
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "%s/proc/kallsyms", root);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	chunk = malloc(room);
	if (!chunk) {
		close(fd);
		return -ENOMEM;
	}
	while ((!ret->symbol || strcmp(ret->symbol, "_text") || !ret->end) &&
	       (got = read(fd, chunk + held, room - held)) > 0) {
		char *at = chunk, *end = chunk + held + got, *line_end;

		while ((line_end = memchr(at, '\n', (size_t)(end - at)))) {
			note_symbol(ret, at, (size_t)(line_end - at));
			at = line_end + 1;
		}
		held = (size_t)(end - at);
		if (held == room)
			held = 0; /* longer than any line */
		memmove(chunk, at, held);
	}
	free(chunk);
	close(fd);
	return 0;
}

static int add_map(const struct tally_synth *synth, uint64_t start, uint64_t length, uint64_t pgoff,
		   const char *name, struct tally_buf *to)
{
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_MMAP,
	    .misc = PERF_RECORD_MISC_KERNEL,
	    .mmap =
		{.pid = KERNEL_PID, .addr = start, .len = length, .pgoff = pgoff, .filename = name},
	};

	return tally_synth_add(synth, &body, to);
}

/* A note's build-id: {u32 name size, u32 id size, u32 type, name padded to 4, id}; ELF's
 * Elf64_Nhdr. */
static uint8_t note_build_id(const char *notes, size_t size, uint8_t ret[20])
{
	size_t at = 0;

	while (size - at >= 12) {
		uint32_t name = load_u32(notes + at), id = load_u32(notes + at + 4);
		uint32_t type = load_u32(notes + at + 8);
		uint64_t start = at + 12 + align_up(name, 4);

		if (start + id > size)
			break;
		if (type == 3 && name == 4 && !memcmp(notes + at + 12, "GNU", 4) && id <= 20) {
			memcpy(ret, notes + start, id);
			return (uint8_t)id;
		}
		if (start + align_up(id, 4) > size)
			break;
		at = start + align_up(id, 4);
	}
	return 0;
}

static int add_module(const struct tally_synth *synth, const char *name, uint64_t start,
		      uint64_t length, struct tally_buf *to)
{
	char bracketed[256], *notes;
	uint8_t id[20], size;
	size_t notes_size;
	int result;

	snprintf(bracketed, sizeof(bracketed), "[%s]", name);
	result = add_map(synth, start, length, 0, bracketed, to);
	if (result ||
	    tally_fs_readf(65536, &notes, &notes_size, "%s/sys/module/%s/notes/.note.gnu.build-id",
			   synth->root, name))
		return result;
	size = note_build_id(notes, notes_size, id);
	free(notes);
	return size ? tally_build_ids_add(synth->build_ids, PERF_RECORD_MISC_KERNEL, bracketed, id,
					  size)
		    : 0;
}

/* "name size users uses state address" a line (proc(5)); no file: no modules. */
static int add_modules(const struct tally_synth *synth, struct tally_buf *to)
{
	char *text, *line, *end;
	int result = 0;

	if (tally_fs_readf(16u << 20, &text, NULL, "%s/proc/modules", synth->root))
		return 0;
	for (line = text; *line && !result; line = end) {
		char *name = line, *rest, *address;
		uint64_t length, start;

		end = strchrnul(line, '\n');
		if (*end)
			*end++ = 0;
		rest = strchr(line, ' ');
		address = strstr(line, " 0x");
		if (!rest || !address || strchr(name, '/'))
			continue;
		*rest++ = 0;
		length = strtoull(rest, NULL, 10);
		start = strtoull(address + 1, NULL, 16);
		if (start && length) /* 0: hidden by kptr_restrict */
			result = add_module(synth, name, start, length, to);
	}
	free(text);
	return result;
}

int tally_synth_kernel(const struct tally_synth *synth, struct tally_buf *to)
{
	struct tally_kernel_text text = {0};
	char name[64];
	uint8_t id[20], size;
	int result;

	/* It does not move while the machine runs. */
	if (synth->text && synth->text->symbol)
		text = *synth->text;
	else if (find_text(synth->root, &text) == -ENOMEM)
		return -ENOMEM;
	if (synth->text)
		*synth->text = text;
	if (!tally_image_kernel_build_id(synth->root[0] ? synth->root : NULL, id, &size)) {
		result = tally_build_ids_add(synth->build_ids, PERF_RECORD_MISC_KERNEL, KERNEL_NAME,
					     id, size);
		if (result)
			return result;
	}
	if (text.symbol && text.end > text.start) {
		snprintf(name, sizeof(name), KERNEL_NAME "%s", text.symbol);
		result = add_map(synth, text.start, text.end - text.start, text.start, name, to);
		if (result)
			return result;
	}
	return add_modules(synth, to);
}
