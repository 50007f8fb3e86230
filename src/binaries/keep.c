/* Which binaries of a recording have samples, and their way into the build-id cache. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/build_id_cache.h>
#include "base/bytes.h"
#include "base/map.h"
#include "base/option_struct.h"
#include "elf/build_id.h"
#include "image/id_cache.h"
#include "image/image_kind.h"
#include "jit/jit_file.h"
#include "resolve/resolver.h"
#include "session/run.h"
#include "session/session.h"

struct hits {
	atomic_bool *mappings; /* by number */
	atomic_bool kernel;
};

static int mark(void *context, unsigned worker, struct tally_resolver *resolver,
		const struct tally_resolved *sample)
{
	struct hits *hits = context;
	uint64_t ip = sample->sample.ip;
	const struct tally_mapping *mapping;
	char level;

	(void)worker;
	mapping = tally_resolver_mapping(resolver, sample, resolver_cpumode(sample->cpumode, ip),
					 ip, &level);
	if (mapping)
		atomic_store_explicit(&hits->mappings[mapping->number], true, memory_order_relaxed);
	else if (level == 'k')
		atomic_store_explicit(&hits->kernel, true, memory_order_relaxed);
	return 0;
}

/* Whether a mapping is of this file and, as far as it says, of this build. */
static bool is_of(const struct tally_session *session, const struct tally_mapping *mapping,
		  const struct tally_data_build_id *build_id)
{
	const struct tally_mapped_file *file = mapping->file;
	const char *name = tally_process_string(session->source.processes, file->filename);
	uint32_t pid;

	if (!strncmp(build_id->filename, "[kernel.kallsyms]", 17))
		return !strncmp(name, "[kernel.kallsyms]", 17);
	if (tally_jit_is_map(build_id->filename, &pid) && mapping->pid == pid && !file->ino)
		return true;
	return !strcmp(name, build_id->filename) &&
	       (!file->build_id_size || (file->build_id_size == build_id->size &&
					 !memcmp(file->build_id, build_id->id, build_id->size)));
}

static bool was_hit(const struct tally_session *session, const struct hits *hits,
		    const struct tally_data_build_id *build_id)
{
	const struct tally_process_table *processes = session->source.processes;

	if (atomic_load(&hits->kernel) && !strncmp(build_id->filename, "[kernel.kallsyms]", 17))
		return true;
	for (size_t i = 0; i < tally_process_mapping_count(processes); i++) {
		const struct tally_mapping *mapping = tally_process_mapping(processes, (uint32_t)i);

		if (atomic_load_explicit(&hits->mappings[mapping->number], memory_order_relaxed) &&
		    is_of(session, mapping, build_id))
			return true;
	}
	return false;
}

static void count(int result, struct tally_build_id_cache_result *to)
{
	if (result > 0)
		to->kept++;
	else if (!result)
		to->there++;
	else if (result == -ESTALE || result == -ENOENT)
		to->changed++;
	else if (result == -EFBIG)
		to->too_large++;
	else
		to->failed++;
}

/* The file at the path, else the one that was held open. */
static int keep_one(struct tally_id_cache *cache, const struct tally_build_id_cache_options *use,
		    const struct tally_data_build_id *build_id)
{
	int result = tally_id_cache_add(cache, build_id->filename, build_id->id, build_id->size);

	for (size_t i = 0; (result == -ENOENT || result == -ESTALE) && i < use->held_count; i++) {
		const struct tally_held_binary *held = &use->held[i];

		if (tally_build_id_equal(held->id, held->id_size, build_id->id, build_id->size))
			result = tally_id_cache_add_open(cache, held->fd, build_id->filename,
							 build_id->id, build_id->size);
	}
	return result;
}

static int find_hits(struct tally_session *session, struct hits *hits, struct tally_error *error)
{
	hits->mappings = calloc(tally_process_mapping_count(session->source.processes) + 1,
				sizeof(*hits->mappings));
	if (!hits->mappings)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	return tally_session_show_samples(session, PERF_SAMPLE_IP, mark, hits, error);
}

int tally_build_id_cache_keep(struct tally_session *session,
			      const struct tally_build_id_cache_options *options,
			      struct tally_build_id_cache_result *ret, struct tally_error *error)
{
	struct tally_build_id_cache_options use = {.size = sizeof(use)};
	const struct tally_data_info *info = tally_data_info(session->source.data);
	struct tally_build_id_cache_result sum = {0};
	struct tally_id_cache cache = {.folder = -1, .ids = -1};
	struct hits hits = {0};
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return tally_fail(error, result, -1, "options that this libtally does not know");
	cache.file_most = use.file_most ? use.file_most : TALLY_ID_CACHE_FILE_USUAL;
	cache.all_most = use.cache_most ? use.cache_most : TALLY_ID_CACHE_ALL_USUAL;
	result = tally_id_cache_open(&cache, use.folder, error);
	if (result)
		return result;
	if (!use.all)
		result = find_hits(session, &hits, error);
	for (size_t i = 0; !result && i < info->build_id_count; i++) {
		const struct tally_data_build_id *build_id = &info->build_ids[i];

		if (build_id->filename && (use.all || was_hit(session, &hits, build_id)))
			count(keep_one(&cache, &use, build_id), &sum);
	}
	tally_id_cache_close(&cache);
	free(hits.mappings);
	return result ? result : tally_result_copy(ret, sizeof(sum), &sum);
}

/* --- binaries with samples, by name --- */

struct sampled {
	tally_build_id_cache_visit visit;
	void *context;
	struct tally_map seen; /* hashes of names and ids */
};

static int give_once(struct sampled *sampled, const char *path, const uint8_t *id, uint8_t size)
{
	char text[TALLY_BUILD_ID_TEXT] = "";
	const struct tally_build_id_cache_entry entry = {.id = text, .path = path};
	uint64_t hash = hash_mix(tally_hash_bytes(path, strlen(path)), tally_hash_bytes(id, size));
	bool added;

	if (!tally_map_put(&sampled->seen, hash, &added))
		return -ENOMEM;
	if (!added)
		return 0;
	if (size)
		tally_build_id_format(id, size, text);
	return sampled->visit(sampled->context, &entry);
}

static int give_mapping(struct sampled *sampled, const struct tally_session *session,
			const struct tally_mapping *mapping)
{
	const struct tally_mapped_file *file = mapping->file;
	const char *name = tally_process_string(session->source.processes, file->filename);
	enum tally_image_kind kind =
	    tally_image_kind_of(name, mapping->cpumode == PERF_RECORD_MISC_KERNEL);
	char map[32];

	snprintf(map, sizeof(map), "/tmp/perf-%u.map", mapping->pid);
	if (kind == TALLY_IMAGE_ANON && tally_image_is_anon(name))
		name = map;
	else if (kind == TALLY_IMAGE_KERNEL)
		name = tally_image_kernel_path(name);
	return give_once(sampled, name, file->build_id, file->build_id_size);
}

/* Those of the table, then others. */
static int give_all(struct sampled *sampled, const struct tally_session *session,
		    const struct hits *hits)
{
	const struct tally_data_info *info = tally_data_info(session->source.data);
	const struct tally_process_table *processes = session->source.processes;
	int result = 0;

	for (size_t i = 0; !result && i < info->build_id_count; i++) {
		const struct tally_data_build_id *build_id = &info->build_ids[i];

		if (build_id->filename && was_hit(session, hits, build_id))
			result =
			    give_once(sampled, build_id->filename, build_id->id, build_id->size);
	}
	for (size_t i = 0; !result && i < tally_process_mapping_count(processes); i++) {
		const struct tally_mapping *mapping = tally_process_mapping(processes, (uint32_t)i);
		bool known =
		    mapping->ksymbol ||
		    !atomic_load_explicit(&hits->mappings[mapping->number], memory_order_relaxed);

		for (size_t at = 0; !known && at < info->build_id_count; at++)
			known = info->build_ids[at].filename &&
				is_of(session, mapping, &info->build_ids[at]);
		if (!known)
			result = give_mapping(sampled, session, mapping);
	}
	return result;
}

int tally_build_id_sampled(struct tally_session *session, tally_build_id_cache_visit visit,
			   void *context, struct tally_error *error)
{
	struct sampled sampled = {.visit = visit, .context = context};
	struct hits hits = {0};
	int result = find_hits(session, &hits, error);

	/* Without a record of the kernel's mapping nothing says that its code is this kernel's. */
	if (!session->tables.kernel)
		atomic_store(&hits.kernel, false);
	if (!result) {
		result = give_all(&sampled, session, &hits);
		if (result == -ENOMEM)
			tally_fail(error, result, -1, "out of memory");
	}
	tally_map_done(&sampled.seen);
	free(hits.mappings);
	return result;
}
