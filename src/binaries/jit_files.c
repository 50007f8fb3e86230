/* Functions that were made at run time as files that are mapped, as perf's inject has them. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "base/fs.h"
#include "base/option_struct.h"
#include "jit/jit_elf.h"
#include "session/session.h"

/* Files of one recording; more fill a folder with what nobody reads. */
#define FILES_MOST (1U << 20)
#define NAME_ROOM  4096

struct writing {
	const struct tally_session *session;
	const char *folder; /* NULL: the dump's */
	struct tally_jit_files result;
	struct tally_buf records, bytes;
	struct tally_error *error;
};

/* The names of codes that have the number of a newer one end in their own. */
static int name_file(const struct writing *writing, const struct tally_jit_view *view,
		     uint32_t code, char *ret)
{
	const struct tally_jit_code *about = &view->dump->codes[code];
	const uint64_t *newest = tally_map_find(&view->dump->by_index, about->index);
	const char *slash = strrchr(view->path, '/');
	const char *folder = writing->folder ? writing->folder : view->path;
	int length = writing->folder ? (int)strlen(folder) : slash ? (int)(slash - view->path) : 0;
	int size;

	if (newest && *newest == code + 1ULL)
		size = snprintf(ret, NAME_ROOM, "%.*s/jitted-%u-%llu.so", length, folder,
				view->dump->pid, (unsigned long long)about->index);
	else
		size = snprintf(ret, NAME_ROOM, "%.*s/jitted-%u-%llu-%u.so", length, folder,
				view->dump->pid, (unsigned long long)about->index, code);
	return size < NAME_ROOM ? 0 : -ENAMETOOLONG;
}

/* A new file, whatever has that name: a link is not followed. */
static int write_file(struct writing *writing, const char *path, struct stat *ret)
{
	int fd, result;

	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	result = tally_fs_write(fd, writing->bytes.data, writing->bytes.size);
	if (!result && fstat(fd, ret))
		result = -errno;
	if (close(fd) && !result)
		result = -errno;
	return result;
}

/* As perf writes it: the bytes of call frame information are mapped where the process had them. */
static uint64_t mapped_size(const struct tally_jit_code *code, const struct tally_jit_load *load)
{
	return code->unwind_size && code->unwind_mapped_size
		   ? align_up(load->size, 8) + code->unwind_mapped_size
		   : load->size;
}

static int add_record(struct writing *writing, const struct tally_jit_view *view, size_t dump,
		      size_t load_number, const char *path, const struct stat *about)
{
	const struct tally_source *source = &writing->session->source;
	const struct tally_layout *layout = &tally_data_event(source->data, 0)->layout;
	const struct tally_jit_load *load = &view->dump->loads[load_number];
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_MMAP2,
	    .misc = PERF_RECORD_MISC_USER,
	    .id = {.pid = view->pid,
		   .tid = load->tid,
		   .time = tally_jit_loads_time(&source->jit_loads, dump, load_number)},
	    .mmap2 = {.pid = view->pid,
		      .tid = load->tid,
		      .addr = load->address,
		      .len = mapped_size(&view->dump->codes[load->code], load),
		      .pgoff = TALLY_JIT_ELF_TEXT,
		      .maj = major(about->st_dev),
		      .min = minor(about->st_dev),
		      .ino = about->st_ino,
		      .ino_generation = 1,
		      .prot = PROT_EXEC,
		      .flags = MAP_SHARED,
		      .filename = path},
	};
	int size = tally_record_size(layout, &body);

	if (size < 0)
		return size;
	if (tally_buf_reserve(&writing->records, (size_t)size))
		return -ENOMEM;
	size = tally_record_encode(layout, &body, writing->records.data + writing->records.size,
				   (size_t)size);
	if (size < 0)
		return size;
	writing->records.size += (size_t)size;
	return 0;
}

static int write_code(struct writing *writing, const struct tally_jit_view *view, uint32_t code,
		      const char *path, struct stat *about)
{
	int result;

	tally_buf_clear(&writing->bytes);
	result = tally_jit_elf_make(view->dump, code, &writing->bytes);
	return result ? result : write_file(writing, path, about);
}

/* A code's file is written at its first load, and found again at its moves. */
static int write_dump(struct writing *writing, size_t number, const struct tally_jit_view *view)
{
	struct stat about = {0};
	char path[NAME_ROOM];
	uint32_t written = 0;

	for (size_t i = 0; i < view->dump->load_count; i++) {
		uint32_t code = view->dump->loads[i].code;
		int result = name_file(writing, view, code, path);

		if (!result && code == written) {
			written++;
			if (++writing->result.files > FILES_MOST)
				return tally_fail(writing->error, -EFBIG, -1,
						  "%s has more than %u functions; no more files "
						  "are written",
						  view->path, FILES_MOST);
			result = write_code(writing, view, code, path, &about);
		} else if (!result && stat(path, &about)) {
			result = -errno;
		}
		if (result)
			return tally_fail(writing->error, result, -1,
					  "%s: cannot be written: %s; name a folder for these "
					  "files",
					  path, strerror(-result));
		result = add_record(writing, view, number, i, path, &about);
		if (result)
			return tally_fail(writing->error, result, -1, "%s: %s", path,
					  strerror(-result));
	}
	return 0;
}

static int by_place(const void *one, const void *other)
{
	const uint64_t *a = one, *b = other;

	return *a < *b ? -1 : *a > *b;
}

static int take_left_out(const struct tally_jit_loads *loads, struct tally_jit_files *files)
{
	if (!loads->hidden_count)
		return 0;
	files->left_out = calloc(loads->hidden_count, sizeof(*files->left_out));
	if (!files->left_out)
		return -ENOMEM;
	memcpy(files->left_out, loads->hidden, loads->hidden_count * sizeof(*loads->hidden));
	files->left_out_count = loads->hidden_count;
	qsort(files->left_out, files->left_out_count, sizeof(*files->left_out), by_place);
	return 0;
}

int tally_session_jit_files(const struct tally_session *session, const char *folder,
			    struct tally_jit_files *ret, struct tally_error *error)
{
	const struct tally_jit_loads *loads = &session->source.jit_loads;
	struct writing writing = {.session = session, .folder = folder, .error = error};
	struct tally_jit_view view;
	int result = tally_result_is_sized(ret) ? 0 : -EINVAL;

	if (result)
		return tally_fail(error, result, -1, "the size of the result is not set");
	for (size_t i = 0; !result && tally_jit_loads_dump(loads, i, &view); i++) {
		result = write_dump(&writing, i, &view);
		writing.result.dumps++;
	}
	if (!result && take_left_out(loads, &writing.result))
		result = tally_fail(error, -ENOMEM, -1, "out of memory");
	tally_buf_done(&writing.bytes);
	if (result) {
		tally_buf_done(&writing.records);
		return result;
	}
	writing.result.records = writing.records.data;
	writing.result.records_size = writing.records.size;
	return tally_result_copy(ret, sizeof(writing.result), &writing.result);
}

void tally_jit_files_free(struct tally_jit_files *files)
{
	free(files->records);
	free(files->left_out);
	files->records = NULL;
	files->left_out = NULL;
	files->records_size = files->left_out_count = 0;
}
