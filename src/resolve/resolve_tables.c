#include "resolve/resolve_tables.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#include "base/regular.h"
#include "callchain/chain_images.h"
#include "file/data_file.h"

/* Frames of a chain: perf's PERF_MAX_STACK_DEPTH. */
#define UNWIND_USUAL 127U

static int index_build_ids(struct tally_resolve_tables *tables)
{
	const struct tally_data_info *info = tally_data_info(tables->source->data);

	for (size_t i = 0; i < info->build_id_count; i++) {
		const char *name = info->build_ids[i].filename;
		bool added;
		uint64_t *index;

		if (!name)
			continue;
		index =
		    tally_map_put(&tables->build_ids, tally_hash_bytes(name, strlen(name)), &added);
		if (!index)
			return -ENOMEM;
		if (added)
			*index = i + 1;
	}
	return 0;
}

/* Whether a recording that does not say where the kernel was is of the running one: of this host
 * and release, and of this boot as far as its times say. */
static bool same_kernel(const struct tally_source *source)
{
	const struct tally_data_info *info = tally_data_info(source->data);
	struct timespec now = {0};
	struct utsname here;

	if (source->live)
		return true;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return info->os_release && info->hostname && !uname(&here) &&
	       !strcmp(info->os_release, here.release) && !strcmp(info->hostname, here.nodename) &&
	       source->counts.last_time / 1000000000 <= (uint64_t)now.tv_sec;
}

/* "": the recording does not say; NULL: it is being made here. */
static const char *recorded_release(const struct tally_source *source)
{
	const char *release = tally_data_info(source->data)->os_release;

	return source->live ? NULL : release ? release : "";
}

/* Which mapping is the kernel's text. */
static void find_kernel(struct tally_resolve_tables *tables)
{
	const struct tally_process_table *processes = tables->source->processes;
	size_t mappings = tally_process_mapping_count(processes);

	tables->kernel = NULL;
	for (size_t i = 0; i < mappings && !tables->kernel; i++) {
		const struct tally_mapping *mapping = tally_process_mapping(processes, (uint32_t)i);

		if (mapping->cpumode != PERF_RECORD_MISC_KERNEL || mapping->ksymbol)
			continue;
		tables->kernel_guessed = false;
		if (!strncmp(tally_process_string(processes, mapping->file->filename), "[kernel",
			     7))
			tables->kernel = mapping;
	}
}

/* A file of the recording's copy of the kernel (record --kcore), which the caller frees; NULL: the
 * recording has none. */
static char *kernel_copy_file(const struct tally_source *source, const char *name)
{
	char *path;
	int fd;

	if (source->data->kind != TALLY_DATA_DIRECTORY || source->data->archive ||
	    asprintf(&path, "%s/kcore_dir/%s", tally_data_path(source->data), name) < 0)
		return NULL;
	fd = tally_regular_open(path, NULL);
	if (fd >= 0) {
		close(fd);
		return path;
	}
	free(path);
	return NULL;
}

int tally_resolve_tables_init(struct tally_resolve_tables *tables,
			      const struct tally_source *source,
			      const struct tally_session_options *options,
			      struct tally_error *error)
{
	char *kallsyms = kernel_copy_file(source, "kallsyms"),
	     *kcore = kernel_copy_file(source, "kcore");
	const struct tally_image_options images = {
	    .size = sizeof(images),
	    .symfs = options->symfs,
	    .kallsyms = options->kallsyms ? options->kallsyms : kallsyms,
	    .kcore = kcore,
	    .vmlinux = options->vmlinux,
	    .no_demangle = options->no_demangle,
	    .build_id_dir = options->build_id_dir,
	    .kernel_release = recorded_release(source),
	    .places = &tables->debug_dirs.places,
	    .add_recorded = options->recorded_symbols ? tally_recorded_symbols_add : NULL,
	    .recorded = &tables->recorded,
	};
	int result;

	tables->source = source;
	tables->recorded.data = source->data;
	tables->recorded.used = options->recorded_symbols;
	tables->unwind_most = UNWIND_USUAL;
	tables->no_inlines = options->no_inlines;
	tables->inlines = options->inlines;
	tables->places = options->places;
	tables->branch_history = options->branch_history;
	tally_source_texts_init(&tables->source_texts);
	tables->kernel_guessed = images.kallsyms || images.vmlinux || images.kcore ||
				 same_kernel(source) ||
				 tally_recorded_symbols_of_kernel(&tables->recorded);
	tally_thread_numbers_init(&tables->threads_met);
	find_kernel(tables);
	result = index_build_ids(tables);
	if (!result)
		result = tally_debug_dirs_open(source->data, options, &tables->debug_dirs, error);
	if (!result)
		result = tally_image_store_new(&images, &tables->images);
	free(kallsyms);
	free(kcore);
	if (!result && options->stitch_lbr)
		result = tally_lbr_stitches_new(
		    tally_data_lbr_registers(tally_data_info(source->data)), &tables->stitches);
	if (!result)
		result = tally_chain_images_new(&tables->chain_images);
	if (!result)
		result = tally_stacks_init(&tables->stacks);
	return result ? result
		      : tally_frames_init(&tables->frames,
					  tally_process_mapping_count(source->processes),
					  options->functions);
}

void tally_resolve_tables_done(struct tally_resolve_tables *tables)
{
	if (!tables->source)
		return;
	tally_frames_done(&tables->frames);
	tally_stacks_done(&tables->stacks);
	tally_source_texts_done(&tables->source_texts);
	tally_thread_numbers_done(&tables->threads_met);
	tally_lbr_stitches_free(tables->stitches);
	tally_chain_images_free(tables->chain_images);
	tally_image_store_free(tables->images);
	tally_debug_dirs_done(&tables->debug_dirs);
	tally_map_done(&tables->build_ids);
}

int tally_resolve_tables_renew(struct tally_resolve_tables *tables)
{
	int result = tally_image_store_read_on(tables->images);

	if (!result)
		result = tally_frames_renew(&tables->frames,
					    tally_process_mapping_count(tables->source->processes));

	find_kernel(tables);
	return result;
}

void tally_resolve_tables_begin(struct tally_resolve_tables *tables)
{
	/* Windows go on where the last one ended. */
	if (tables->stitches && !tables->source->live)
		tally_lbr_stitches_forget(tables->stitches);
}
