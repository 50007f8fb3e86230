#include "elf/build_id.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/fs.h"
#include "base/regular.h"
#include "elf/elf_file.h"

/* The first page of a binary has its ELF header, its program headers and usually the notes: one
 * read finds the id of nearly every file. */
#define HEAD          4096
#define NOTE_LIMIT    65536
#define PROGRAM_LIMIT 1024

static uint32_t word(const void *from, bool swapped)
{
	uint32_t value = load_u32(from);

	return swapped ? __builtin_bswap32(value) : value;
}

bool tally_build_id_find(const void *notes, size_t size, bool swapped, uint8_t ret[20],
			 uint8_t *ret_size)
{
	const uint8_t *at = notes;

	while (size >= 12) {
		uint64_t name_size = word(at, swapped), desc_size = word(at + 4, swapped);
		uint32_t type = word(at + 8, swapped);
		uint64_t name_room = align_up(name_size, 4), desc_room = align_up(desc_size, 4);

		at += 12;
		size -= 12;
		if (name_room > size || desc_size > size - name_room)
			return false;
		if (type == NT_GNU_BUILD_ID && name_size == 4 && !memcmp(at, "GNU", 4) &&
		    desc_size) {
			*ret_size = desc_size < 20 ? (uint8_t)desc_size : 20;
			memset(ret, 0, 20);
			memcpy(ret, at + name_room, *ret_size);
			return true;
		}
		if (desc_room > size - name_room)
			return false;
		at += name_room + desc_room;
		size -= name_room + desc_room;
	}
	return false;
}

void tally_build_id_format(const uint8_t *id, uint8_t size, char ret[TALLY_BUILD_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";
	size_t at = 0;

	for (uint8_t i = 0; i < size && i < 20; i++) {
		ret[at++] = digits[id[i] >> 4];
		ret[at++] = digits[id[i] & 15];
	}
	ret[at] = 0;
}

bool tally_build_id_equal(const uint8_t *a, uint8_t a_size, const uint8_t *b, uint8_t b_size)
{
	uint8_t small = a_size < b_size ? a_size : b_size;

	if (memcmp(a, b, small) != 0)
		return false;
	for (uint8_t i = small; i < a_size; i++)
		if (a[i])
			return false;
	for (uint8_t i = small; i < b_size; i++)
		if (b[i])
			return false;
	return true;
}

struct head {
	int fd;
	bool swapped, wide; /* other byte order; ELFCLASS64 */
	size_t size;
	uint8_t bytes[HEAD];
};

static uint64_t field(const struct head *head, const uint8_t *at, size_t size)
{
	uint64_t value;

	if (size == 2) {
		uint16_t half = load_u16(at);
		return head->swapped ? __builtin_bswap16(half) : half;
	}
	if (size == 4)
		return word(at, head->swapped);
	value = load_u64(at);
	return head->swapped ? __builtin_bswap64(value) : value;
}

/* Gives `size` bytes at `offset` of the file: from the first page, else read into `room`. NULL: the
 * file does not have them. */
static const uint8_t *bytes_at(const struct head *head, uint64_t offset, size_t size, uint8_t *room)
{
	if (offset <= head->size && size <= head->size - offset)
		return head->bytes + offset;
	if (offset > INT64_MAX - size ||
	    pread(head->fd, room, size, (off_t)offset) != (ssize_t)size)
		return NULL;
	return room;
}

static bool note_segment(const struct head *head, const uint8_t *program, uint8_t ret[20],
			 uint8_t *ret_size)
{
	uint64_t offset = head->wide ? field(head, program + offsetof(Elf64_Phdr, p_offset), 8)
				     : field(head, program + offsetof(Elf32_Phdr, p_offset), 4);
	uint64_t size = head->wide ? field(head, program + offsetof(Elf64_Phdr, p_filesz), 8)
				   : field(head, program + offsetof(Elf32_Phdr, p_filesz), 4);
	uint8_t *room;
	const uint8_t *notes;
	bool found;

	if (field(head, program, 4) != PT_NOTE || !size || size > NOTE_LIMIT)
		return false;
	room = malloc((size_t)size);
	notes = room ? bytes_at(head, offset, (size_t)size, room) : NULL;
	found = notes && tally_build_id_find(notes, (size_t)size, head->swapped, ret, ret_size);
	free(room);
	return found;
}

static int by_segments(const struct head *head, uint8_t ret[20], uint8_t *ret_size)
{
	uint64_t table = head->wide ? field(head, head->bytes + offsetof(Elf64_Ehdr, e_phoff), 8)
				    : field(head, head->bytes + offsetof(Elf32_Ehdr, e_phoff), 4);
	size_t at_size =
	    head->wide ? offsetof(Elf64_Ehdr, e_phentsize) : offsetof(Elf32_Ehdr, e_phentsize);
	uint64_t entry = field(head, head->bytes + at_size, 2);
	uint64_t count = field(head, head->bytes + at_size + 2, 2);
	size_t least = head->wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);

	if (count > PROGRAM_LIMIT) /* a made-up file; do not read it 65535 times */
		count = PROGRAM_LIMIT;
	if (entry < least || table > INT64_MAX)
		return -ENOENT;
	for (uint64_t i = 0; i < count; i++) {
		uint8_t room[sizeof(Elf64_Phdr)];
		const uint8_t *program = bytes_at(head, table + i * entry, least, room);

		if (!program)
			return -ENOENT;
		if (note_segment(head, program, ret, ret_size))
			return 0;
	}
	return -ENOENT;
}

/* Objects and kernel modules have no segments, and core-kernel builds may name notes by section. */
static int by_sections(const char *path, uint8_t ret[20], uint8_t *ret_size)
{
	struct tally_elf elf;
	int error = tally_elf_open(path, &elf);
	uint8_t id[20], size;

	if (error)
		return error == -ENOEXEC ? -ENOENT : error;
	tally_elf_build_id(&elf, id, &size);
	tally_elf_close(&elf);
	if (!size)
		return -ENOENT;
	memcpy(ret, id, 20);
	*ret_size = size;
	return 0;
}

static int read_head(struct head *head)
{
	ssize_t got = pread(head->fd, head->bytes, HEAD, 0);
	const uint16_t one = 1;
	bool little = *(const uint8_t *)&one == 1;

	if (got < 0)
		return errno == EISDIR || errno == ESPIPE ? -ENOENT : -errno;
	head->size = (size_t)got;
	if (head->size < sizeof(Elf32_Ehdr) || memcmp(head->bytes, ELFMAG, SELFMAG) != 0)
		return -ENOENT;
	head->wide = head->bytes[EI_CLASS] == ELFCLASS64;
	head->swapped = (head->bytes[EI_DATA] == ELFDATA2LSB) != little;
	return head->wide && head->size < sizeof(Elf64_Ehdr) ? -ENOENT : 0;
}

int tally_image_read_build_id(const char *path, uint8_t ret[20], uint8_t *ret_size)
{
	struct head head = {.fd = tally_regular_open(path, NULL)};
	int error;
	bool segments;

	if (head.fd < 0)
		return head.fd == -ENODEV ? -ENOENT : head.fd;
	error = read_head(&head);
	segments = !error && field(&head,
				   head.bytes + (head.wide ? offsetof(Elf64_Ehdr, e_phnum)
							   : offsetof(Elf32_Ehdr, e_phnum)),
				   2);
	if (segments)
		error = by_segments(&head, ret, ret_size);
	close(head.fd);
	return !error && !segments ? by_sections(path, ret, ret_size) : error;
}

int tally_image_read_build_id_fd(int fd, uint8_t ret[20], uint8_t *ret_size)
{
	struct head head = {.fd = fd};
	int error = read_head(&head);

	return error ? error : by_segments(&head, ret, ret_size);
}

int tally_image_kernel_build_id(const char *root, uint8_t ret[20], uint8_t *ret_size)
{
	char *notes;
	size_t size;
	int error =
	    tally_fs_readf(NOTE_LIMIT, &notes, &size, "%s/sys/kernel/notes", root ? root : "");
	bool found;

	if (error)
		return error;
	found = tally_build_id_find(notes, size, false, ret, ret_size);
	free(notes);
	return found ? 0 : -ENOENT;
}
