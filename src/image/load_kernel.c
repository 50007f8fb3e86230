/* Symbols of the kernel and its modules. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/fs.h"
#include "base/regular.h"
#include "elf/build_id.h"
#include "elf/debug_file.h"
#include "elf/elf_symbols.h"
#include "image/image_kind.h"
#include "image/image_state.h"
#include "kallsyms/kernel_cache.h"

/* /proc/kallsyms of a large kernel with many modules is some 20 MB. */
#define KALLSYMS_LIMIT ((size_t)1 << 30)
#define RELEASE_ROOM   256

static void explain(struct tally_image_store *store, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void explain(struct tally_image_store *store, const char *format, ...)
{
	va_list args;

	free(store->kernel_why);
	va_start(args, format);
	if (vasprintf(&store->kernel_why, format, args) < 0)
		store->kernel_why = NULL;
	va_end(args);
}

/* A copy, as other threads may still add mappings. */
static struct tally_kernel_facts facts_of(struct tally_image_store *store)
{
	struct tally_kernel_facts facts;

	pthread_mutex_lock(&store->lock);
	facts = store->facts;
	pthread_mutex_unlock(&store->lock);
	return facts;
}

static int64_t sysctl_of(const struct tally_image_store *store, const char *name)
{
	int64_t value = -1;
	char *file;

	if (asprintf(&file, "%s/proc/sys/kernel/%s", store->options.root, name) >= 0) {
		tally_fs_read_number(file, &value);
		free(file);
	}
	return value;
}

static void explain_hidden(struct tally_image_store *store, const char *path)
{
	static const char how[] =
	    "hides them from this user; report as root or with CAP_SYSLOG, or set it to";
	int64_t restricted = sysctl_of(store, "kptr_restrict");

	if (store->options.kallsyms)
		explain(store, "%s was copied by a user from whom the addresses are hidden", path);
	else if (restricted >= 2)
		explain(store,
			"kernel.kptr_restrict=%lld hides them even from root; set it to 1 and "
			"report as "
			"root or with CAP_SYSLOG",
			(long long)restricted);
	else if (restricted == 1)
		explain(store, "kernel.kptr_restrict=1 %s 0", how);
	else
		explain(store, "kernel.perf_event_paranoid=%lld %s 1",
			(long long)sysctl_of(store, "perf_event_paranoid"), how);
}

/* Whether what was read can be used. */
static int judge(struct tally_image_store *store, const struct tally_kallsyms *kallsyms,
		 const char *path)
{
	if (kallsyms->hidden) {
		explain_hidden(store, path);
		return -EPERM;
	}
	if (!kallsyms->group_count) {
		explain(store, "%s holds no symbols", path);
		return -ENODATA;
	}
	return 0;
}

/* `cached`: of the cache of build-ids, where others may have put it. */
static int parse_kallsyms(struct tally_image_store *store, const char *path, bool cached,
			  struct tally_kallsyms *ret)
{
	char *text;
	size_t size;
	int error = cached ? tally_regular_read(path, KALLSYMS_LIMIT, true, &text, &size)
			   : tally_fs_read(path, KALLSYMS_LIMIT, &text, &size);

	if (error) {
		explain(store, "%s: %s", path, strerror(-error));
		return error;
	}
	return tally_kallsyms_parse(text, size, ret);
}

static int read_kallsyms(struct tally_image_store *store, const char *path, bool cached)
{
	int error = parse_kallsyms(store, path, cached, &store->kallsyms);

	return error ? error : judge(store, &store->kallsyms, path);
}

/* The running kernel's: out of the cache, else read and put there. */
static int read_running(struct tally_image_store *store, const char *path)
{
	const struct tally_image_options *options = &store->options;
	struct tally_kernel_key key, again;
	char *folder = tally_image_cache_folder(store);
	int error;

	if (!folder || tally_kernel_key_read(options->root, &key)) {
		free(folder);
		return read_kallsyms(store, path, false);
	}
	if (!tally_kernel_cache_read(folder, &key, &store->kallsyms)) {
		store->kernel_cached = true;
		error = judge(store, &store->kallsyms, path);
	} else {
		error = parse_kallsyms(store, path, false, &store->kallsyms);
		if (!error)
			error = judge(store, &store->kallsyms, path);
		/* a module that came meanwhile is not of this key; a cache that cannot be written
		 * is no error */
		if ((!error || error == -EPERM) && !tally_kernel_key_read(options->root, &again) &&
		    !memcmp(&key, &again, sizeof(key)) && store->kallsyms.text)
			(void)tally_kernel_cache_write(folder, &key, &store->kallsyms);
	}
	free(folder);
	return error;
}

/* perf record keeps a copy of kallsyms by build-id. */
static int read_cached(struct tally_image_store *store, const struct tally_kernel_facts *facts)
{
	char id[TALLY_BUILD_ID_TEXT], *path;
	int error;

	if (!store->cache || facts->recorded_size < 2)
		return -ENOENT;
	tally_build_id_format(facts->recorded, facts->recorded_size, id);
	if (asprintf(&path, "%s/.build-id/%.2s/%s/kallsyms", store->cache, id, id + 2) < 0)
		return -ENOMEM;
	error = read_kallsyms(store, path, true);
	free(path);
	return error;
}

/* Whether the recorded kernel has another release than the running one; fills in the latter's. */
static bool other_release(const struct tally_image_store *store, char running[RELEASE_ROOM])
{
	struct utsname here;
	size_t size;
	char *text;

	if (!store->options.kernel_release)
		return false;
	if (!tally_fs_readf(RELEASE_ROOM - 1, &text, &size, "%s/proc/sys/kernel/osrelease",
			    store->options.root)) {
		snprintf(running, RELEASE_ROOM, "%.*s", (int)strcspn(text, "\n"), text);
		free(text);
	} else if (!uname(&here)) {
		snprintf(running, RELEASE_ROOM, "%s", here.release);
	} else {
		return false;
	}
	return strcmp(running, store->options.kernel_release) != 0;
}

bool tally_image_other_release(const struct tally_image_store *store)
{
	char running[RELEASE_ROOM];

	return other_release(store, running) && *store->options.kernel_release;
}

static bool other_kernel(const struct tally_image_store *store,
			 const struct tally_kernel_facts *facts, uint8_t running[20], uint8_t *size)
{
	char release[RELEASE_ROOM];

	*size = 0;
	if (!facts->recorded_size ||
	    tally_image_kernel_build_id(store->options.root, running, size))
		return other_release(store, release);
	return !tally_build_id_equal(running, *size, facts->recorded, facts->recorded_size);
}

/* -ENOENT: no archive has them. */
static int read_archived(struct tally_image_store *store, const struct tally_kernel_facts *facts)
{
	const struct tally_tar_member *member =
	    tally_archive_find(store->options.places, "[kernel.kallsyms]", facts->recorded,
			       facts->recorded_size, "kallsyms");
	char *text;
	size_t size;
	int error = member ? tally_archive_read(member, KALLSYMS_LIMIT, &text, &size) : -ENOENT;

	if (!error)
		error = tally_kallsyms_parse(text, size, &store->kallsyms);
	return error ? error : judge(store, &store->kallsyms, "the archive's kallsyms");
}

/* Whether the recorded kernel runs here: what is not known is not proven. */
static bool is_proven(const struct tally_image_store *store, const struct tally_kernel_facts *facts)
{
	uint8_t running[20], size;

	return facts->recorded_size &&
	       !tally_image_kernel_build_id(store->options.root, running, &size) &&
	       tally_build_id_equal(running, size, facts->recorded, facts->recorded_size);
}

static void explain_other(struct tally_image_store *store, const struct tally_kernel_facts *facts,
			  const uint8_t *running, uint8_t size)
{
	char recorded[TALLY_BUILD_ID_TEXT], now[TALLY_BUILD_ID_TEXT], release[RELEASE_ROOM];

	if (facts->recorded_size && size) {
		tally_build_id_format(facts->recorded, facts->recorded_size, recorded);
		tally_build_id_format(running, size, now);
		explain(store,
			"another kernel runs now: its build-id is %s, recorded was %s; give that "
			"kernel's table with --kallsyms or its file with --vmlinux",
			now, recorded);
	} else if (other_release(store, release) && *store->options.kernel_release) {
		explain(store,
			"another kernel runs now: its release is %s, recorded was %s; give that "
			"kernel's table with --kallsyms or its file with --vmlinux",
			release, store->options.kernel_release);
	} else {
		explain(store,
			"the recording does not say of which kernel it is; give that kernel's "
			"table with --kallsyms or its file with --vmlinux");
	}
}

static int choose_kallsyms(struct tally_image_store *store, const struct tally_kernel_facts *facts)
{
	uint8_t running[20], size;
	char *path;
	int error;

	if (store->options.kallsyms)
		return read_kallsyms(store, store->options.kallsyms, false);
	error = read_archived(store, facts);
	if (error != -ENOENT)
		return error;
	if (tally_image_is_archived(store) && !is_proven(store, facts)) {
		explain(store, "the archive holds no symbols of the kernel; give its table with "
			       "--kallsyms or its file with --vmlinux");
		return -ENOENT;
	}
	if (other_kernel(store, facts, running, &size)) {
		error = read_cached(store, facts);
		if (!error || error == -ENOMEM)
			return error;
		explain_other(store, facts, running, size);
		return -ESTALE;
	}
	if (asprintf(&path, "%s/proc/kallsyms", store->options.root) < 0)
		return -ENOMEM;
	error = read_running(store, path);
	free(path);
	return error;
}

int tally_image_kallsyms_text(struct tally_image_store *store, char **ret, size_t *ret_size,
			      uint8_t ret_id[20], uint8_t *ret_id_size)
{
	struct tally_kernel_facts facts = facts_of(store);
	const struct tally_tar_member *member =
	    tally_archive_find(store->options.places, "[kernel.kallsyms]", facts.recorded,
			       facts.recorded_size, "kallsyms");
	char id[TALLY_BUILD_ID_TEXT];
	uint8_t running[20], size;

	memcpy(ret_id, facts.recorded, sizeof(facts.recorded));
	*ret_id_size = facts.recorded_size;
	/* hidden, or of another kernel */
	if (!store->kernel_loaded || !store->kallsyms.group_count || store->kallsyms.hidden)
		return -ENOENT;
	if (store->options.kallsyms)
		return tally_fs_read(store->options.kallsyms, KALLSYMS_LIMIT, ret, ret_size);
	if (member)
		return tally_archive_read(member, KALLSYMS_LIMIT, ret, ret_size);
	if (!other_kernel(store, &facts, running, &size))
		return tally_fs_readf(KALLSYMS_LIMIT, ret, ret_size, "%s/proc/kallsyms",
				      store->options.root);
	tally_build_id_format(facts.recorded, facts.recorded_size, id);
	return store->cache
		   ? tally_fs_readf(KALLSYMS_LIMIT, ret, ret_size, "%s/.build-id/%.2s/%s/kallsyms",
				    store->cache, id, id + 2)
		   : -ENOENT;
}

/* A kernel may be at another address after each boot (KASLR); the recording says where its anchor
 * was. */
static uint64_t shift_to_recording(struct tally_kallsyms *kallsyms,
				   const struct tally_kernel_facts *facts)
{
	uint64_t here;

	if (!facts->anchor || !facts->anchor_name)
		return 0;
	here = tally_kallsyms_anchor(kallsyms, facts->anchor_name);
	if (!here || here == facts->anchor)
		return 0;
	tally_kallsyms_shift(kallsyms, facts->anchor - here);
	return facts->anchor - here;
}

static int need_kallsyms(struct tally_image_store *store)
{
	struct tally_kernel_facts facts = facts_of(store);
	int error = 0;

	pthread_mutex_lock(&store->kernel_lock);
	if (!store->kernel_loaded) {
		error = choose_kallsyms(store, &facts);
		if (!error)
			store->kernel_shift = shift_to_recording(&store->kallsyms, &facts);
		store->kernel_loaded = true;
	}
	pthread_mutex_unlock(&store->kernel_lock);
	return error == -ENOMEM ? error : 0;
}

/* The groups that the cache omits, from the running kernel. */
static const struct tally_symbol_table *find_live(struct tally_image_store *store, const char *name)
{
	struct tally_kernel_facts facts = facts_of(store);
	const struct tally_symbol_table *table;
	char *path;

	pthread_mutex_lock(&store->kernel_lock);
	if (!store->live_loaded && asprintf(&path, "%s/proc/kallsyms", store->options.root) >= 0) {
		if (!parse_kallsyms(store, path, false, &store->live))
			(void)shift_to_recording(&store->live, &facts);
		store->live_loaded = true;
		free(path);
	}
	table = tally_kallsyms_find(&store->live, name);
	pthread_mutex_unlock(&store->kernel_lock);
	return table;
}

/* The value of _text or _stext in a vmlinux, 0 when it has none. */
static uint64_t vmlinux_anchor(const struct tally_elf *elf, const char *name)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".symtab", SHT_SYMTAB);
	uint64_t found = 0;
	Elf_Data *data = section ? tally_elf_data(elf, section) : NULL;
	GElf_Sym symbol;

	for (int i = 1; data && !found && gelf_getsym(data, i, &symbol); i++) {
		const char *at = elf_strptr(elf->elf, section->header.sh_link, symbol.st_name);

		if (at && !strcmp(at, name))
			found = symbol.st_value;
	}
	return found;
}

uint64_t tally_image_vmlinux_shift(struct tally_image_store *store, const struct tally_elf *elf)
{
	struct tally_kernel_facts facts = facts_of(store);
	const char *name =
	    facts.anchor && facts.anchor_name && *facts.anchor_name ? facts.anchor_name : "_stext";
	uint64_t linked = vmlinux_anchor(elf, name), loaded = facts.anchor;

	if (!loaded && !need_kallsyms(store))
		loaded = tally_kallsyms_anchor(&store->kallsyms, name);
	return linked && loaded ? loaded - linked : 0;
}

static int load_vmlinux(struct tally_image *image)
{
	struct tally_image_store *store = image->store;
	struct tally_kernel_facts facts = facts_of(store);
	struct tally_elf elf;
	struct tally_elf_places places = {0};
	struct tally_symbol_list list = {0};
	uint8_t id[20], id_size;
	int64_t count;
	int error = tally_elf_open(store->options.vmlinux, &elf);

	if (error) {
		tally_image_explain(image, "%s: %s", store->options.vmlinux, strerror(-error));
		return 0;
	}
	tally_elf_build_id(&elf, id, &id_size);
	if (facts.recorded_size && id_size &&
	    !tally_build_id_equal(id, id_size, facts.recorded, facts.recorded_size)) {
		char text[TALLY_BUILD_ID_TEXT], recorded[TALLY_BUILD_ID_TEXT];

		tally_build_id_format(id, id_size, text);
		tally_build_id_format(facts.recorded, facts.recorded_size, recorded);
		tally_image_explain(image, "%s is of another build: %s, recorded was %s",
				    store->options.vmlinux, text, recorded);
		tally_elf_close(&elf);
		return 0;
	}
	places.shift = image->vmlinux_shift = tally_image_vmlinux_shift(store, &elf);
	memcpy(image->found_id, id, sizeof(id));
	image->found_id_size = id_size;
	count = tally_elf_symbols_add(&elf, SHT_SYMTAB, &places, &list);
	tally_elf_close(&elf);
	if (count > 0) {
		error = tally_symbol_list_sort(&list);
		if (!error) {
			tally_symbol_list_finish(&list, NULL);
			error = tally_symbol_table_take(&image->own, &list);
		}
	} else if (count == -ENOMEM) {
		error = -ENOMEM;
	} else {
		tally_image_explain(image, "%s has no symbols", store->options.vmlinux);
	}
	tally_symbol_list_done(&list);
	return error;
}

int tally_image_open_vmlinux(const struct tally_image *image, struct tally_elf *ret_binary,
			     struct tally_elf *ret_debug)
{
	const struct tally_image_store *store = image->store;

	*ret_binary = *ret_debug = (struct tally_elf){.fd = -1};
	/* one that is of another build has given no symbols */
	if (!store->options.vmlinux || !image->own.count ||
	    tally_elf_open(store->options.vmlinux, ret_binary))
		return -ENOENT;
	ret_binary->places = store->options.places;
	if (!tally_elf_find(ret_binary, ".debug_info", SHT_NULL))
		(void)tally_debug_file_by_id(store->options.places, image->found_id,
					     image->found_id_size, ret_debug);
	return 0;
}

static int load_module(struct tally_image *image)
{
	struct tally_image_store *store = image->store;
	const struct tally_symbol_table *table;
	char name[128];

	/* a BPF program is a map by its own name, and kallsyms lists all of them as module "bpf" */
	if (!tally_image_module_name(image->path, name, sizeof(name))) {
		memcpy(name, "bpf", sizeof("bpf"));
	}
	table = tally_kallsyms_find(&store->kallsyms, name);
	if (!table && store->kernel_cached && tally_kernel_cache_omits(name))
		table = find_live(store, name);
	if (table)
		image->table = table;
	else if (store->kernel_why)
		tally_image_explain(image, "%s", store->kernel_why);
	else
		tally_image_explain(image, "the running kernel has no module or program %s loaded",
				    image->name);
	return 0;
}

bool tally_image_kernel_runs(struct tally_image_store *store, uint64_t *ret_shift)
{
	struct tally_kernel_facts facts = facts_of(store);
	uint8_t running[20], size;

	if (store->options.kallsyms || need_kallsyms(store) ||
	    other_kernel(store, &facts, running, &size) ||
	    (tally_image_is_archived(store) && !is_proven(store, &facts)))
		return false;
	*ret_shift = store->kernel_shift;
	return true;
}

bool tally_image_is_kernel_id(struct tally_image_store *store, const uint8_t *id, uint8_t id_size)
{
	struct tally_kernel_facts facts = facts_of(store);

	return !facts.recorded_size || !id_size ||
	       tally_build_id_equal(id, id_size, facts.recorded, facts.recorded_size);
}

int tally_image_load_kernel(struct tally_image *image)
{
	struct tally_image_store *store = image->store;
	int error;

	if (!strncmp(image->path, "[guest", 6)) {
		tally_image_explain(image, "%s is a guest's kernel; its symbols are not here",
				    image->path);
		return 0;
	}
	if (image->kind == TALLY_IMAGE_KERNEL && store->options.vmlinux) {
		error = load_vmlinux(image);
		if (error || image->own.count)
			return error;
		/* the file did not do; the kernel's own table does as well */
	}
	error = need_kallsyms(store);
	if (error)
		return error;
	if (image->kind == TALLY_IMAGE_MODULE)
		return load_module(image);
	image->table = tally_kallsyms_find(&store->kallsyms, NULL);
	if (!image->table)
		tally_image_explain(image, "%s",
				    store->kernel_why ? store->kernel_why
						      : "the kernel's symbol table is empty");
	return 0;
}
