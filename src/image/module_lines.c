#include "image/module_lines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/bytes.h"
#include "base/fs.h"
#include "base/map.h"
#include "dwarf/object_file.h"
#include "image/image_kind.h"
#include "image/image_state.h"

/* modules.dep of a distribution's kernel has some 500 kB. */
#define MODULES_MOST ((size_t)64 << 20)
/* So many functions of a section are asked where they are. */
#define VOTES 15U

/* --- the file --- */

/* The path of a loaded module: the file's, else by the list of modules that were installed with the
 * running kernel, when that is the recorded one; the caller's to free(). NULL: it is unknown. */
static char *path_of(const struct tally_image *image)
{
	const char *root = image->store->options.root;
	char name[128], found[128], *list, *path = NULL;
	struct utsname here;
	uint64_t shift;

	if (image->path[0] == '/')
		return strdup(image->path);
	if (!tally_image_module_name(image->path, name, sizeof(name)) || uname(&here) ||
	    !tally_image_kernel_runs(image->store, &shift) ||
	    tally_fs_readf(MODULES_MOST, &list, NULL, "%s/lib/modules/%s/modules.dep", root,
			   here.release))
		return NULL;
	for (char *line = list, *end; *line && !path; line = end) {
		char *colon;

		end = strchrnul(line, '\n');
		if (*end)
			*end++ = 0;
		colon = strchr(line, ':');
		if (!colon)
			continue;
		*colon = 0;
		if (tally_image_module_name(line, found, sizeof(found)) && !strcmp(found, name) &&
		    asprintf(&path, "%s/lib/modules/%s/%s", root, here.release, line) < 0)
			path = NULL;
	}
	free(list);
	return path;
}

int tally_image_open_module(const struct tally_image *image, struct tally_elf *ret_binary,
			    struct tally_elf *ret_debug)
{
	char *path = path_of(image);
	/* Without a path there may be a copy by its build-id. */
	int result =
	    tally_image_open_files_at(image, path ? path : image->path, ret_binary, ret_debug);

	free(path);
	return result;
}

/* --- its sections --- */

/* Hashes of the names of the kernel's symbols to their addresses; of a name that several have, 0.
 */
static int map_names(const struct tally_symbol_table *table, struct tally_map *to)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct tally_symbol symbol = tally_symbol_table_get(table, i);
		bool added;
		uint64_t *slot =
		    tally_map_put(to, tally_hash_bytes(symbol.name, strlen(symbol.name)), &added);

		if (!slot)
			return -ENOMEM;
		*slot = added ? symbol.start : 0;
	}
	return 0;
}

/* Where a section is, as most of its functions say. */
struct vote {
	uint64_t start;
	unsigned count, asked;
};

static void ask(const struct tally_elf *elf, const struct tally_elf_section *symbols,
		const struct tally_map *names, struct vote *votes)
{
	Elf_Data *data = tally_elf_data(elf, symbols);
	size_t entry = gelf_fsize(elf->elf, ELF_T_SYM, 1, EV_CURRENT);
	size_t count = data && data->d_buf && entry ? data->d_size / entry : 0;

	for (size_t i = 1; i < count && i < INT32_MAX; i++) {
		GElf_Sym symbol;
		const char *name;
		const uint64_t *address;
		struct vote *vote;

		if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx >= elf->section_count ||
		    GELF_ST_TYPE(symbol.st_info) != STT_FUNC ||
		    votes[symbol.st_shndx].asked == VOTES)
			continue;
		name = elf_strptr(elf->elf, symbols->header.sh_link, symbol.st_name);
		address = name ? tally_map_find(names, tally_hash_bytes(name, strlen(name))) : NULL;
		if (!address || !*address)
			continue;
		/* The most frequent one of all answers, if it is more than half of them. */
		vote = &votes[symbol.st_shndx];
		vote->asked++;
		if (!vote->count)
			vote->start = *address - symbol.st_value;
		vote->count += vote->start == *address - symbol.st_value ? 1U : UINT32_MAX;
	}
}

static int take_sections(const struct tally_elf *elf, const struct vote *votes,
			 struct tally_module_places *ret)
{
	ret->list = calloc(elf->section_count, sizeof(*ret->list));
	if (!ret->list)
		return -ENOMEM;
	for (size_t i = 1; i < elf->section_count; i++) {
		const GElf_Shdr *header = &elf->sections[i].header;

		if (votes[i].count && header->sh_flags & SHF_ALLOC &&
		    header->sh_flags & SHF_EXECINSTR)
			ret->list[ret->count++] = (struct module_section){
			    votes[i].start, header->sh_size, header->sh_addr};
	}
	return ret->count ? 0 : -ENOENT;
}

static int find_sections(const struct tally_image *image, struct tally_elf *elf,
			 struct tally_module_places *ret)
{
	const struct tally_elf_section *symbols = tally_elf_find(elf, ".symtab", SHT_SYMTAB);
	struct tally_map names = {0};
	struct vote *votes;
	int result;

	if (!elf_is_object(elf) || !symbols)
		return -ENOENT;
	tally_object_lay_out(elf);
	votes = calloc(elf->section_count, sizeof(*votes));
	result = votes ? map_names(image->table, &names) : -ENOMEM;
	if (!result) {
		ask(elf, symbols, &names, votes);
		result = take_sections(elf, votes, ret);
	}
	tally_map_done(&names);
	free(votes);
	return result;
}

int tally_module_places_read(const struct tally_image *image, struct tally_module_places *ret)
{
	struct tally_elf binary, debug;
	int result;

	if (!image->table->count || tally_image_open_module(image, &binary, &debug))
		return -ENOENT;
	result = find_sections(image, debug.elf ? &debug : &binary, ret);
	tally_elf_close(&binary);
	tally_elf_close(&debug);
	return result;
}

void tally_module_places_done(struct tally_module_places *places)
{
	free(places->list);
	*places = (struct tally_module_places){.count = 0};
}

int tally_module_address(const struct tally_module_places *places, uint64_t place, uint64_t *ret)
{
	for (size_t i = 0; i < places->count; i++) {
		const struct module_section *one = &places->list[i];

		if (place >= one->start && place - one->start < one->size) {
			*ret = place - one->start + one->address;
			return 0;
		}
	}
	return -ENOENT;
}
