/* The build-id cache as people manage it: what is added, removed and listed by name. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <tally/build_id_cache.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "elf/build_id.h"
#include "image/id_cache.h"
#include "image/image.h"

static int open_cache(const struct tally_build_id_cache_options *options,
		      struct tally_id_cache *cache, struct tally_error *error)
{
	struct tally_build_id_cache_options use = {.size = sizeof(use)};
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return tally_fail(error, result, -1, "options that this libtally does not know");
	result = tally_id_cache_open(cache, use.folder, error);
	if (result)
		return result;
	cache->file_most = use.file_most ? use.file_most : TALLY_ID_CACHE_FILE_USUAL;
	cache->all_most = use.cache_most ? use.cache_most : TALLY_ID_CACHE_ALL_USUAL;
	return 0;
}

/* --- listing --- */

struct listing {
	tally_build_id_cache_visit visit;
	void *context;
};

static int give(void *context, const char *id, const char *path)
{
	const struct tally_build_id_cache_entry entry = {.id = id, .path = path};
	const struct listing *listing = context;

	return listing->visit(listing->context, &entry);
}

int tally_build_id_cache_list(const struct tally_build_id_cache_options *options,
			      tally_build_id_cache_visit visit, void *context,
			      struct tally_error *error)
{
	struct listing listing = {visit, context};
	struct tally_id_cache cache;
	int result = open_cache(options, &cache, error);

	if (result)
		return result;
	result = tally_id_cache_each(&cache, give, &listing);
	tally_id_cache_close(&cache);
	return result < 0 ? tally_fail(error, result, -1, "the build-id cache cannot be read: %s",
				       strerror(-result))
			  : result;
}

int tally_build_id_cache_missing(const struct tally_data *data,
				 const struct tally_build_id_cache_options *options,
				 tally_build_id_cache_visit visit, void *context,
				 struct tally_error *error)
{
	const struct tally_data_info *info = tally_data_info(data);
	struct listing listing = {visit, context};
	struct tally_id_cache cache;
	int result = open_cache(options, &cache, error);

	if (result)
		return result;
	for (size_t i = 0; !result && i < info->build_id_count; i++) {
		const struct tally_data_build_id *build_id = &info->build_ids[i];
		char text[TALLY_BUILD_ID_TEXT];

		if (!build_id->filename || tally_id_cache_has(&cache, build_id->id, build_id->size))
			continue;
		tally_build_id_format(build_id->id, build_id->size, text);
		result = give(&listing, text, build_id->filename);
	}
	tally_id_cache_close(&cache);
	return result;
}

/* --- one binary --- */

int tally_build_id_of_file(const char *file, char ret[41])
{
	uint8_t id[20], size;
	int result = tally_image_read_build_id(file, id, &size);

	if (result)
		return result == -ENOENT && !access(file, F_OK) ? -ENODATA : result;
	tally_build_id_format(id, size, ret);
	return 0;
}

struct binary {
	char path[PATH_MAX];
	uint8_t id[20], id_size;
	char text[TALLY_BUILD_ID_TEXT];
};

static int find_binary(const char *file, struct binary *ret, struct tally_error *error)
{
	int result;

	if (!realpath(file, ret->path))
		return tally_fail(error, -errno, -1, "%s: %s", file, strerror(errno));
	result = tally_image_read_build_id(ret->path, ret->id, &ret->id_size);
	if (result)
		return tally_fail(error, result == -ENOENT ? -ENODATA : result, -1,
				  "%s: no build-id: link it with -Wl,--build-id", file);
	tally_build_id_format(ret->id, ret->id_size, ret->text);
	return 0;
}

int tally_build_id_cache_add(const struct tally_build_id_cache_options *options, const char *file,
			     struct tally_error *error)
{
	struct tally_id_cache cache;
	struct binary binary;
	int result = find_binary(file, &binary, error);

	if (!result)
		result = open_cache(options, &cache, error);
	if (result)
		return result;
	result = tally_id_cache_add(&cache, binary.path, binary.id, binary.id_size);
	tally_id_cache_close(&cache);
	if (result >= 0)
		return result;
	return tally_fail(error, result, -1, "%s: not copied into the build-id cache: %s", file,
			  result == -EFBIG    ? "it is too large for the cache's limit"
			  : result == -ESTALE ? "it changed meanwhile"
					      : strerror(-result));
}

struct removing {
	struct tally_id_cache *cache;
	const char *path; /* NULL: all */
	int count, failed;
};

static int remove_entry(void *context, const char *id, const char *path)
{
	struct removing *removing = context;
	int result;

	if (removing->path && strcmp(removing->path, path) != 0)
		return 0;
	result = tally_id_cache_remove(removing->cache, id);
	if (result > 0)
		removing->count++;
	else if (result < 0)
		removing->failed = result;
	return 0;
}

int tally_build_id_cache_remove(const struct tally_build_id_cache_options *options,
				const char *file, enum tally_build_id_cache_which which,
				struct tally_error *error)
{
	struct tally_id_cache cache;
	struct removing removing = {.cache = &cache};
	struct binary binary;
	int result = 0;

	if (which == TALLY_BUILD_ID_CACHE_THIS)
		result = find_binary(file, &binary, error);
	if (!result)
		result = open_cache(options, &cache, error);
	if (result)
		return result;
	if (which == TALLY_BUILD_ID_CACHE_THIS) {
		result = remove_entry(&removing, binary.text, "");
	} else {
		if (which == TALLY_BUILD_ID_CACHE_PATH)
			removing.path = realpath(file, binary.path) ? binary.path : file;
		result = tally_id_cache_each(&cache, remove_entry, &removing);
	}
	tally_id_cache_close(&cache);
	if (!result)
		result = removing.failed;
	return result ? tally_fail(error, result, -1, "%s%snot removed from the build-id cache: %s",
				   file ? file : "", file ? ": " : "", strerror(-result))
		      : removing.count;
}
