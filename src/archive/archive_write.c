/* All samples are resolved once, as reports do; the images whose symbols were asked for are the
 * ones that the archive takes along. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <tally/abi.h>
#include <tally/archive.h>
#include "archive/archive_file.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/option_struct.h"
#include "base/regular.h"
#include "elf/debug_places.h"
#include "elf/reduced.h"
#include "file/data_file.h"
#include "image/image_files.h"
#include "resolve/resolver.h"
#include "session/run.h"
#include "session/session.h"

#define IN_ARCHIVE "perf.data"

struct archive {
	struct tally_session *session;
	struct tally_archive_options options;
	struct tally_archive_result sum;
	struct tally_archive_file file;
	struct tally_strings names; /* of members: equal files are added once */
	bool code;
};

bool tally_archive_is_compressed(void)
{
	struct tally_tar_writer *writer;

	if (tally_tar_writer_new(-1, true, 0, &writer))
		return false;
	tally_tar_writer_free(writer);
	return true;
}

/* --- what is asked for --- */

static int touch(void *context, unsigned worker, struct tally_resolver *resolver,
		 const struct tally_resolved *at)
{
	const struct tally_sample *sample = &at->sample;
	uint8_t mode = resolver_cpumode(at->cpumode, sample->ip);
	uint32_t stack;
	int result = 0;

	(void)context;
	(void)worker;
	(void)tally_resolver_frame(resolver, at, mode, sample->ip);
	if (sample->present & PERF_SAMPLE_CALLCHAIN)
		result = tally_resolver_stack(resolver, at, &stack);
	if ((sample->present & PERF_SAMPLE_ADDR) && sample->addr)
		(void)tally_resolver_frame(resolver, at, mode, sample->addr);
	for (uint64_t i = 0; (sample->present & PERF_SAMPLE_BRANCH_STACK) && i < sample->branch_nr;
	     i++) {
		uint64_t from = sample->branches[i].from, to = sample->branches[i].to;

		(void)tally_resolver_frame(resolver, at, tally_addr_mode(mode, from), from);
		(void)tally_resolver_frame(resolver, at, tally_addr_mode(mode, to), to);
	}
	return result;
}

static bool has_stacks(const struct tally_data *data)
{
	for (size_t i = 0; i < tally_data_event_count(data); i++)
		if (tally_data_event(data, i)->attr.sample_type & PERF_SAMPLE_STACK_USER)
			return true;
	return false;
}

/* --- what is written --- */

static int add_recording(struct archive *archive)
{
	const struct tally_data *data = archive->session->source.data;
	bool folder = data->kind == TALLY_DATA_DIRECTORY;
	int result =
	    tally_tar_add_bytes(archive->file.tar, folder ? IN_ARCHIVE "/data" : IN_ARCHIVE,
				data->file.data, data->file.size);

	for (size_t i = 0; i < data->part_count && !result; i++) {
		char name[64];

		snprintf(name, sizeof(name), IN_ARCHIVE "/data.%u", data->parts[i].number);
		result = tally_tar_add_bytes(archive->file.tar, name, data->parts[i].map.data,
					     data->parts[i].map.size);
	}
	return result;
}

static int add_kernel_file(struct archive *archive, const char *name)
{
	const struct tally_data *data = archive->session->source.data;
	const struct tally_tar_member *member;
	struct stat about;
	char *path;
	int fd, result;

	if (data->archive) {
		member = tally_tar_find(data->archive, name);
		return member && !member->holes
			   ? tally_tar_add_bytes(archive->file.tar, name, member->bytes,
						 (size_t)member->stored)
			   : 0;
	}
	if (asprintf(&path, "%s%s", tally_data_path(data), name + strlen(IN_ARCHIVE)) < 0)
		return -ENOMEM;
	fd = tally_regular_open(path, &about);
	free(path);
	if (fd < 0)
		return 0; /* the recording has no such copy */
	result = tally_tar_add_file(archive->file.tar, name, fd, (uint64_t)about.st_size, NULL, 0);
	close(fd);
	return result;
}

/* The kernel's symbols and code that were copied beside a recording (record --kcore). */
static int add_kernel_copy(struct archive *archive)
{
	static const char *const names[] = {IN_ARCHIVE "/kcore_dir/kallsyms",
					    IN_ARCHIVE "/kcore_dir/modules",
					    IN_ARCHIVE "/kcore_dir/kcore"};
	int result = 0;

	if (archive->session->source.data->kind != TALLY_DATA_DIRECTORY)
		return 0;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names) && !result; i++)
		result = add_kernel_file(archive, names[i]);
	return result;
}

static int add_elf(struct archive *archive, const char *name, const struct tally_elf *elf,
		   bool binary)
{
	unsigned leave_out = binary && archive->code ? 0 : TALLY_REDUCED_CODE;
	struct tally_elf_reduced reduced;
	int result;

	if (elf->fd < 0)
		return tally_tar_add_bytes(archive->file.tar, name, elf->data, (size_t)elf->size);
	if (binary && archive->options.binaries)
		return tally_tar_add_file(archive->file.tar, name, elf->fd, elf->size, NULL, 0);
	result = tally_elf_reduce(elf, leave_out, &reduced);
	if (result)
		return result;
	result = tally_tar_add_file(archive->file.tar, name, reduced.fd, reduced.size, reduced.runs,
				    reduced.run_count);
	tally_elf_reduced_done(&reduced);
	return result;
}

static int add_file(void *context, const struct tally_image_file *file)
{
	struct archive *archive = context;
	size_t before = archive->names.count;
	struct tally_buf name = {0};
	int result = 0;

	tally_archive_name(file->path, file->id, file->id_size, file->leaf, &name);
	if (name.failed ||
	    tally_strings_intern(&archive->names, tally_buf_str(&name), name.size) < 0)
		result = -ENOMEM;
	else if (archive->names.count == before)
		result = 0;
	else if (file->elf)
		result =
		    add_elf(archive, tally_buf_str(&name), file->elf, !strcmp(file->leaf, "elf"));
	else
		result = tally_tar_add_bytes(archive->file.tar, tally_buf_str(&name), file->bytes,
					     file->size);
	tally_buf_done(&name);
	/* A file that another process changes meanwhile is one that is missing. */
	return result;
}

struct counting {
	struct archive *archive;
	unsigned files;
};

static int count_file(void *context, const struct tally_image_file *file)
{
	struct counting *counting = context;

	counting->files++;
	return add_file(counting->archive, file);
}

static int add_images(struct archive *archive)
{
	struct tally_image_store *store = archive->session->tables.images;
	int result = 0;

	for (size_t i = 0; i < tally_image_store_count(store) && !result; i++) {
		struct tally_image *image = tally_image_store_at(store, i);
		struct counting counting = {.archive = archive};

		result = tally_image_each_file(image, count_file, &counting);
		if (!counting.files && tally_image_why_no_symbols(image) &&
		    tally_image_kind(image) == TALLY_IMAGE_FILE)
			archive->sum.missing++;
	}
	archive->sum.files = (unsigned)archive->names.count;
	return result;
}

static int write_all(struct archive *archive, const char *path, struct tally_error *error)
{
	const struct tally_data_info *info = tally_data_info(archive->session->source.data);
	int result = tally_archive_file_open(path, archive->options.replace,
					     info->modified < 0 ? 0 : (uint64_t)info->modified,
					     &archive->file, error);

	if (result)
		return result;
	result = add_recording(archive);
	if (!result)
		result = add_kernel_copy(archive);
	if (!result)
		result = add_images(archive);
	if (result)
		tally_fail(error, result, -1, "%s: cannot be written: %s", path, strerror(-result));
	else
		result = tally_archive_file_finish(&archive->file, &archive->sum.bytes, error);
	tally_archive_file_done(&archive->file);
	tally_strings_done(&archive->names);
	return result;
}

int tally_archive_write(struct tally_session *session, const char *path,
			const struct tally_archive_options *options,
			struct tally_archive_result *ret, struct tally_error *error)
{
	struct archive archive = {.session = session, .options = {.size = sizeof(archive.options)}};
	int result = tally_options_take(&archive.options, sizeof(archive.options), options);

	if (result)
		return tally_fail(error, result, -1, "options that this libtally does not know");
	if (session->source.live)
		return tally_fail(error, -ENOTSUP, -1,
				  "what is recorded now cannot be archived; write it to a file "
				  "first");
	archive.code = archive.options.binaries || has_stacks(session->source.data);
	result =
	    tally_session_show_samples(session,
				       PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN |
					   PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_ADDR,
				       touch, NULL, error);
	if (!result)
		result = write_all(&archive, path, error);
	return result ? result : tally_result_copy(ret, sizeof(archive.sum), &archive.sum);
}
