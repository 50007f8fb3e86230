#include "image/code.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "elf/reduced.h"
#include "image/image_state.h"

/* The code that an archive left out of the binary. */
static void find_left_out(struct tally_image *image, const struct tally_elf *binary)
{
	size_t count = 0;

	for (size_t i = 1; i < binary->section_count; i++)
		count += elf_section_left_out(&binary->sections[i]);
	image->left_out_code = count ? calloc(count, sizeof(*image->left_out_code)) : NULL;
	for (size_t i = 1; image->left_out_code && i < binary->section_count; i++)
		if (elf_section_left_out(&binary->sections[i]))
			image->left_out_code[image->left_out_code_count++] =
			    (struct tally_tar_run){.offset = binary->sections[i].header.sh_offset,
						   .size = binary->sections[i].header.sh_size};
}

static int copy_fd(int fd)
{
	int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? -ENOENT : copy < 0 ? -errno : copy;
}

static int fd_of(struct tally_image *image, const struct tally_elf *binary)
{
	find_left_out(image, binary);
	return copy_fd(binary->fd);
}

/* A descriptor of the binary; below 0: there is none. */
static int open_code(struct tally_image *image)
{
	struct tally_elf binary;
	int fd;

	if (image->dump)
		return copy_fd(image->dump->fd);
	if (image->kind != TALLY_IMAGE_FILE || tally_image_open_binary(image, &binary))
		return -ENOENT;
	fd = fd_of(image, &binary);
	tally_elf_close(&binary);
	return fd;
}

void tally_image_keep_code(struct tally_image *image, const struct tally_elf *binary)
{
	pthread_mutex_lock(&image->lines_lock);
	if (!image->code_asked)
		image->code_fd = fd_of(image, binary);
	image->code_asked = true;
	pthread_mutex_unlock(&image->lines_lock);
}

/* How many of the bytes at a place are in the file; 0: none, as they were left out. */
static size_t bytes_there(const struct tally_image *image, uint64_t place, size_t size)
{
	for (size_t i = 0; i < image->left_out_code_count; i++) {
		const struct tally_tar_run *run = &image->left_out_code[i];

		if (place >= run->offset && place - run->offset < run->size)
			return 0;
		if (place < run->offset && size > run->offset - place)
			size = (size_t)(run->offset - place);
	}
	return size;
}

static int64_t read_memory(struct tally_image *image, uint64_t place, void *to, size_t size)
{
	(void)tally_image_symbol_count(image); /* loads it */
	if (!image->code)
		return -ENOENT;
	if (place >= image->code_size)
		return 0;
	if (size > image->code_size - place)
		size = image->code_size - place;
	memcpy(to, image->code + place, size);
	return (int64_t)size;
}

int64_t tally_image_read(struct tally_image *image, uint64_t place, void *to, size_t size)
{
	ssize_t got;
	int fd;

	if (image->kind == TALLY_IMAGE_VDSO)
		return read_memory(image, place, to, size);
	if (image->kind == TALLY_IMAGE_KERNEL || image->kind == TALLY_IMAGE_MODULE)
		return tally_image_read_kernel(image, place, to, size);
	pthread_mutex_lock(&image->lines_lock);
	if (!image->code_asked)
		image->code_fd = open_code(image);
	image->code_asked = true;
	fd = image->code_fd;
	pthread_mutex_unlock(&image->lines_lock);
	if (fd < 0)
		return fd;
	if (place > INT64_MAX)
		return 0;
	if (size && !(size = bytes_there(image, place, size)))
		return -ENOENT;
	got = pread(fd, to, size, (off_t)place);
	return got < 0 ? -errno : got;
}

const uint8_t *tally_image_build_id(struct tally_image *image, uint8_t *ret_size)
{
	(void)tally_image_symbol_count(image);
	*ret_size = image->build_id_size ? image->build_id_size : image->found_id_size;
	return image->build_id_size ? image->build_id : image->found_id;
}

bool tally_image_is_32_bit(struct tally_image *image)
{
	(void)tally_image_symbol_count(image);
	return image->is_32_bit;
}
