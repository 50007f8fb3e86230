#include "image/code.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "image/image_state.h"

/* A descriptor of the binary; below 0: there is none. */
static int open_code(const struct tally_image *image)
{
	struct tally_elf binary, debug;
	int fd = -ENOENT;

	if (image->dump) {
		fd = fcntl(image->dump->fd, F_DUPFD_CLOEXEC, 0);
		return fd < 0 ? -errno : fd;
	}
	if (image->kind != TALLY_IMAGE_FILE || tally_image_open_files(image, &binary, &debug))
		return -ENOENT;
	if (binary.elf && binary.fd >= 0) {
		fd = fcntl(binary.fd, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	}
	tally_elf_close(&binary);
	tally_elf_close(&debug);
	return fd;
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
