#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/cache_folder.h"
#include "base/bytes.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "elf/build_id.h"
#include "image/data_accesses.h"
#include "image/image_kind.h"
#include "image/image_state.h"
#include "jit/jit_file.h"

static const char *copy(struct tally_arena *arena, const char *text, const char *otherwise)
{
	if (!text)
		text = otherwise;
	return text ? tally_arena_strndup(arena, text, strlen(text)) : NULL;
}

static int take_options(struct tally_image_store *store, const struct tally_image_options *given)
{
	struct tally_image_options options = {0};
	const char *home = getenv("HOME");
	int result = tally_options_take(&options, sizeof(options), given);

	if (result)
		return result;
	options.size = sizeof(options);
	options.symfs = copy(&store->arena, options.symfs, "");
	options.debug_root = copy(&store->arena, options.debug_root, "/usr/lib/debug");
	/* paths are made as root + "/proc/..." */
	options.root = copy(&store->arena,
			    options.root && strcmp(options.root, "/") != 0 ? options.root : "", "");
	if (!options.symfs || !options.debug_root || !options.root)
		return -ENOMEM;
	if (options.kallsyms) {
		options.kallsyms = copy(&store->arena, options.kallsyms, NULL);
		if (!options.kallsyms)
			return -ENOMEM;
	}
	if (options.cache_dir) {
		options.cache_dir = copy(&store->arena, options.cache_dir, NULL);
		if (!options.cache_dir)
			return -ENOMEM;
	}
	if (options.vmlinux) {
		options.vmlinux = copy(&store->arena, options.vmlinux, NULL);
		if (!options.vmlinux)
			return -ENOMEM;
	}
	if (options.kernel_release) {
		options.kernel_release = copy(&store->arena, options.kernel_release, NULL);
		if (!options.kernel_release)
			return -ENOMEM;
	}
	if (options.kcore) {
		options.kcore = copy(&store->arena, options.kcore, NULL);
		if (!options.kcore)
			return -ENOMEM;
	}
	store->options = options;
	if (options.build_id_dir) {
		store->cache = strdup(options.build_id_dir);
		return store->cache ? 0 : -ENOMEM;
	}
	if (home && *home && asprintf(&store->cache, "%s/.debug", home) < 0) {
		store->cache = NULL;
		return -ENOMEM;
	}
	return 0;
}

int tally_image_store_new(const struct tally_image_options *options, struct tally_image_store **ret)
{
	struct tally_image_store *store = calloc(1, sizeof(*store));
	int error;

	if (!store)
		return -ENOMEM;
	pthread_mutex_init(&store->lock, NULL);
	pthread_mutex_init(&store->kernel_lock, NULL);
	error = take_options(store, options);
	if (error)
		tally_image_store_free(store);
	else
		*ret = store;
	return error;
}

static void free_image(struct tally_image *image)
{
	tally_image_forget_types(image);
	tally_lines_free(image->lines);
	if (image->code_asked && image->code_fd >= 0)
		close(image->code_fd);
	free(image->left_out_code);
	free(image->code);
	tally_jitdump_free(image->dump);
	tally_strings_done(&image->dump_files);
	pthread_mutex_destroy(&image->lines_lock);
	tally_symbol_table_done(&image->own);
	tally_shown_done(&image->shown);
	tally_grown_done(&image->grown);
	tally_symbol_steps_done(&image->steps);
	tally_arena_done(&image->arena);
	free(image->why);
	free(image->left_out);
	free(image->path);
	free(image->name);
	pthread_mutex_destroy(&image->lock);
	free(image);
}

void tally_image_store_free(struct tally_image_store *store)
{
	if (!store)
		return;
	for (size_t i = 0; i < store->count; i++)
		if (store->images[i])
			free_image(store->images[i]);
	free(store->images);
	tally_map_done(&store->by_path);
	tally_kallsyms_done(&store->kallsyms);
	tally_kallsyms_done(&store->live);
	tally_arena_done(&store->arena);
	free(store->kernel_why);
	free(store->cache);
	pthread_mutex_destroy(&store->lock);
	pthread_mutex_destroy(&store->kernel_lock);
	free(store);
}

/* Whether the image is what the key means.  A fact that one of them lacks makes no difference: a
 * MMAP2 record has either an inode or a build-id. */
static bool is_same(const struct tally_image *image, const struct tally_image_key *key,
		    enum tally_image_kind kind, const char *path)
{
	if (image->kind != kind || strcmp(image->path, path) != 0)
		return false;
	if (kind == TALLY_IMAGE_ANON) /* each process has its own */
		return image->pid == key->pid && image->data == key->data;
	if (kind == TALLY_IMAGE_DUMP)
		return image->pid == key->pid;
	if (kind == TALLY_IMAGE_KERNEL)
		return true;
	if (image->ino && key->ino && image->ino != key->ino)
		return false;
	if (image->build_id_size && key->build_id_size)
		return tally_build_id_equal(image->build_id, image->build_id_size, key->build_id,
					    key->build_id_size);
	return true;
}

static int name_image(struct tally_image_store *store, struct tally_image *image,
		      const struct tally_image_key *key, const char *path)
{
	struct tally_buf name = {0};
	uint32_t inner = key->pid;

	/* only memory is called by a process, and to ask for its number reads a file */
	if (image->kind == TALLY_IMAGE_ANON && !key->data)
		inner = tally_jit_inner_pid(store->options.root, key->pid);
	tally_image_kind_name(image->kind, path, key->data ? 0 : key->pid, inner,
			      store->options.vmlinux ? store->options.vmlinux : key->vmlinux,
			      &name);
	image->path = strdup(path);
	image->name = strdup(tally_buf_str(&name));
	tally_buf_done(&name);
	return image->path && image->name ? 0 : -ENOMEM;
}

/* The number of the next image: of one that was forgotten, or a new one. -ENOMEM. */
static int64_t next_number(struct tally_image_store *store)
{
	size_t number = 0;

	if (store->forgotten) {
		while (store->images[number])
			number++;
		return (int64_t)number;
	}
	if (!array_next(&store->images, &store->room, store->count, 64, sizeof(*store->images)))
		return -ENOMEM;
	return (int64_t)store->count;
}

static void put_image(struct tally_image_store *store, struct tally_image *image, size_t number)
{
	image->number = (uint32_t)number;
	store->images[number] = image;
	if (number == store->count)
		store->count++;
	else
		store->forgotten--;
}

static struct tally_image *add(struct tally_image_store *store, const struct tally_image_key *key,
			       enum tally_image_kind kind, const char *path)
{
	int64_t number = next_number(store);
	struct tally_image *image = calloc(1, sizeof(*image));

	if (!image)
		return NULL;
	image->store = store;
	image->kind = kind;
	image->pid = key->pid;
	image->data = key->data;
	image->start = key->start;
	image->offset = key->offset;
	image->ino = key->ino;
	if (key->build_id_size <= 20) {
		image->build_id_size = key->build_id_size;
		memcpy(image->build_id, key->build_id, key->build_id_size);
	}
	pthread_mutex_init(&image->lock, NULL);
	pthread_mutex_init(&image->lines_lock, NULL);
	if (number < 0 || name_image(store, image, key, path)) {
		free_image(image);
		return NULL;
	}
	put_image(store, image, (size_t)number);
	return image;
}

static void learn_kernel(struct tally_image_store *store, const struct tally_image_key *key)
{
	struct tally_kernel_facts *facts = &store->facts;
	const char *anchor = strrchr(key->path, ']');

	if (!facts->recorded_size && key->build_id_size && key->build_id_size <= 20) {
		memcpy(facts->recorded, key->build_id, key->build_id_size);
		facts->recorded_size = key->build_id_size;
	}
	if (!facts->anchor && key->anchor) {
		facts->anchor = key->anchor;
		facts->anchor_name = copy(&store->arena, anchor ? anchor + 1 : "", "");
	}
}

/* What this mapping knows more than the ones before; too late once a thread loads the image. */
static void learn(struct tally_image *image, const struct tally_image_key *key)
{
	if (atomic_load(&image->loaded) || pthread_mutex_trylock(&image->lock))
		return;
	if (!image->ino)
		image->ino = key->ino;
	if (!image->pid)
		image->pid = key->pid;
	if (!image->build_id_size && key->build_id_size && key->build_id_size <= 20) {
		memcpy(image->build_id, key->build_id, key->build_id_size);
		image->build_id_size = key->build_id_size;
	}
	pthread_mutex_unlock(&image->lock);
	if (image->kind == TALLY_IMAGE_KERNEL)
		learn_kernel(image->store, key);
}

static struct tally_image *find_or_add(struct tally_image_store *store,
				       const struct tally_image_key *key,
				       enum tally_image_kind kind, const char *path)
{
	bool added;
	uint64_t hash = tally_hash_bytes(path, strlen(path));
	uint64_t *slot;
	struct tally_image *image;

	/* thousands of processes have one each */
	if (kind == TALLY_IMAGE_ANON || kind == TALLY_IMAGE_DUMP)
		hash = hash_mix(hash, key->pid);
	slot = tally_map_put(&store->by_path, hash, &added);
	if (!slot)
		return NULL;
	for (uint64_t at = *slot; at; at = image->next) {
		image = store->images[at - 1];
		if (is_same(image, key, kind, path))
			return image;
	}
	image = add(store, key, kind, path);
	if (image) {
		image->hash = hash;
		image->next = (uint32_t)*slot;
		*slot = image->number + 1;
	}
	return image;
}

struct tally_image *tally_image_get(struct tally_image_store *store,
				    const struct tally_image_key *key)
{
	bool made = key->made && store->options.add_recorded;
	enum tally_image_kind kind =
	    made ? TALLY_IMAGE_ANON : tally_image_kind_of(key->path, key->kernel);
	const char *path =
	    kind == TALLY_IMAGE_KERNEL ? tally_image_kernel_path(key->path) : key->path;
	struct tally_image *image;

	pthread_mutex_lock(&store->lock);
	image = find_or_add(store, key, kind, path);
	if (image)
		learn(image, key);
	pthread_mutex_unlock(&store->lock);
	return image;
}

int tally_image_store_forget(struct tally_image_store *store, tally_image_keep_fn keep,
			     void *context)
{
	struct tally_map by_path = {0};
	bool added;

	for (size_t i = 0; i < store->count; i++) {
		struct tally_image *image = store->images[i];

		if (image && keep(context, image) &&
		    !tally_map_put(&by_path, image->hash, &added)) {
			tally_map_done(&by_path);
			return -ENOMEM;
		}
	}
	for (size_t i = 0; i < store->count; i++) {
		struct tally_image *image = store->images[i];
		uint64_t *slot;

		if (!image)
			continue;
		slot = keep(context, image) ? tally_map_find(&by_path, image->hash) : NULL;
		if (slot) {
			image->next = (uint32_t)*slot;
			*slot = i + 1;
			continue;
		}
		free_image(image);
		store->images[i] = NULL;
		store->forgotten++;
	}
	tally_map_done(&store->by_path);
	store->by_path = by_path;
	return 0;
}

uint32_t tally_image_number(const struct tally_image *image)
{
	return image->number;
}

bool tally_image_is_archived(const struct tally_image_store *store)
{
	return store->options.places && store->options.places->recording;
}

const struct tally_tar_member *tally_image_member(const struct tally_image *image, const char *leaf)
{
	return tally_archive_find(image->store->options.places, image->path, image->build_id,
				  image->build_id_size, leaf);
}

enum tally_image_kind tally_image_kind(const struct tally_image *image)
{
	return image->kind;
}

uint32_t tally_image_map_pid(const struct tally_image *image)
{
	return image->kind == TALLY_IMAGE_ANON && !image->data && tally_image_is_anon(image->path)
		   ? image->pid
		   : 0;
}

const char *tally_image_path(const struct tally_image *image)
{
	return image->path;
}

const char *tally_image_name(const struct tally_image *image)
{
	return image->name;
}

bool tally_image_places_are_addresses(const struct tally_image *image)
{
	return image->kind != TALLY_IMAGE_FILE && image->kind != TALLY_IMAGE_VDSO &&
	       image->kind != TALLY_IMAGE_DUMP;
}

uint64_t tally_image_base(const struct tally_image *image, uint64_t start, uint64_t offset)
{
	switch (image->kind) {
	case TALLY_IMAGE_KERNEL:
		return offset;
	case TALLY_IMAGE_MODULE:
		return start - offset;
	case TALLY_IMAGE_DUMP:
		return TALLY_IMAGE_NO_BASE;
	default:
		return 0;
	}
}

void tally_image_explain(struct tally_image *image, const char *format, ...)
{
	va_list args;
	char *why;

	va_start(args, format);
	if (vasprintf(&why, format, args) < 0)
		why = NULL;
	va_end(args);
	free(image->why);
	image->why = why;
}

void tally_image_leave_out(const struct tally_image *image, char **line, const char *what,
			   uint64_t allowed)
{
	if (!*line && asprintf(line,
			       "%s: its %s are left out: they would take more than %llu MB, the "
			       "most for a file of its size",
			       image->path, what, (unsigned long long)(allowed >> 20)) < 0)
		*line = NULL;
}

static int load_by_kind(struct tally_image *image)
{
	int error = tally_image_load_recorded(image);

	if (error != -ENOENT)
		return error;
	switch (image->kind) {
	case TALLY_IMAGE_FILE:
		return tally_image_load_file(image);
	case TALLY_IMAGE_VDSO:
		return tally_image_load_vdso(image);
	case TALLY_IMAGE_ANON:
		return tally_image_load_anon(image);
	case TALLY_IMAGE_DUMP:
		return tally_image_load_dump(image);
	case TALLY_IMAGE_KERNEL:
	case TALLY_IMAGE_MODULE:
		return tally_image_load_kernel(image);
	}
	return 0;
}

static void load(struct tally_image *image)
{
	int error = load_by_kind(image);

	if (!image->table)
		image->table = &image->own;
	image->demangle = !image->store->options.no_demangle && image->table == &image->own &&
			  image->kind != TALLY_IMAGE_ANON && image->kind != TALLY_IMAGE_DUMP;
	if (!error && image->table->count)
		error = tally_shown_grow(&image->shown, image->table->count);
	if (error == -ENOMEM) {
		tally_symbol_table_done(&image->own);
		image->table = &image->own;
		tally_image_explain(image, "out of memory while its symbols were read");
	} else if (image->table->count) {
		tally_symbol_steps_init(&image->steps, image->table);
		if (!image->stripped) {
			free(image->why);
			image->why = NULL;
		}
	}
}

static void need(struct tally_image *image)
{
	if (atomic_load_explicit(&image->loaded, memory_order_acquire))
		return;
	pthread_mutex_lock(&image->lock);
	if (!atomic_load_explicit(&image->loaded, memory_order_relaxed)) {
		load(image);
		atomic_store_explicit(&image->loaded, true, memory_order_release);
	}
	pthread_mutex_unlock(&image->lock);
}

int64_t tally_image_find_symbol(struct tally_image *image, uint64_t place)
{
	need(image);
	return tally_grown_number(image, symbol_steps_find(&image->steps, image->table, place));
}

void tally_image_symbol_span(const struct tally_image *image, int64_t index, uint64_t *ret_from,
			     uint64_t *ret_until)
{
	const struct tally_symbol_table *table = image->table;
	size_t at = (size_t)tally_grown_row(image, (size_t)index);
	uint64_t until = table->ends[at];

	if (at + 1 < table->count && table->starts[at + 1] < until)
		until = table->starts[at + 1];
	*ret_from = table->starts[at] + table->shift;
	*ret_until = until + table->shift;
}

uint64_t tally_image_gap_end(const struct tally_image *image, uint64_t place)
{
	const struct tally_symbol_table *table = image->table;
	size_t behind = symbol_steps_behind(&image->steps, table, place);

	return behind < table->count ? table->starts[behind] + table->shift : UINT64_MAX;
}

size_t tally_image_symbol_count(struct tally_image *image)
{
	need(image);
	return tally_grown_count(image);
}

char *tally_image_cache_folder(const struct tally_image_store *store)
{
	const struct tally_image_options *options = &store->options;

	return options->cache_dir || !*options->root ? tally_cache_folder(options->cache_dir)
						     : NULL;
}

void tally_image_each_left_out(struct tally_image *image, tally_image_line_fn visit, void *context)
{
	const char *lines;

	if (!atomic_load_explicit(&image->loaded, memory_order_acquire))
		return;
	if (image->left_out)
		visit(context, image->left_out);
	pthread_mutex_lock(&image->lines_lock);
	lines = tally_lines_left_out(image->lines);
	pthread_mutex_unlock(&image->lines_lock);
	if (lines)
		visit(context, lines);
}

const char *tally_image_why_no_symbols(const struct tally_image *image)
{
	if (!atomic_load_explicit(&((struct tally_image *)image)->loaded, memory_order_acquire))
		return NULL;
	return image->why;
}
