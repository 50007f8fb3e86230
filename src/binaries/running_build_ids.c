/* The running kernel's build-id and those of its modules.  Sources: proc(5), and the notes that
 * sysfs has of the kernel and of each module. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/build_id_cache.h>
#include "base/fail.h"
#include "base/fs.h"
#include "elf/build_id.h"
#include "image/image.h"

#define KALLSYMS_LIMIT ((size_t)256 << 20)
#define MODULES_LIMIT  ((size_t)4 << 20)
#define NOTE_LIMIT     65536
#define NAME_MOST      64

/* Where the kernel's text starts and ends; 0 where that is hidden. */
static void find_text(const char *root, uint64_t *start, uint64_t *end)
{
	char *text, *line, *next;

	if (tally_fs_readf(KALLSYMS_LIMIT, &text, NULL, "%s/proc/kallsyms", root))
		return;
	for (line = text; *line && !*end; line = next) {
		uint64_t address;
		char *name;

		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		/* address, a space, its kind in one letter, a space, name */
		address = strtoull(line, &name, 16);
		if (strlen(name) < 4)
			continue;
		name += 3;
		if (!strcmp(name, "_text") || (!strcmp(name, "_stext") && !*start))
			*start = address;
		if (!strcmp(name, "_etext"))
			*end = address;
	}
	free(text);
}

/* A module of /proc/modules: name, size, references, users, state, address. */
static bool read_module(char *line, struct tally_build_id_loaded *ret)
{
	char *words[6];
	size_t count = 0;

	for (char *at = line; *at && count < 6; at += strspn(at, " ")) {
		words[count++] = at;
		at += strcspn(at, " ");
		if (*at)
			*at++ = '\0';
	}
	if (count < 6 || strchr(words[0], '/') || words[0][0] == '.' ||
	    strlen(words[0]) > NAME_MOST)
		return false;
	ret->name = words[0];
	ret->start = strtoull(words[5], NULL, 16);
	ret->end = ret->start ? ret->start + strtoull(words[1], NULL, 10) : 0;
	return true;
}

static int show_module(const char *root, char *line, tally_build_id_loaded_visit visit,
		       void *context)
{
	struct tally_build_id_loaded module;
	char shown[NAME_MOST + 3], id[TALLY_BUILD_ID_TEXT], *notes;
	uint8_t bytes[20], id_size;
	size_t length;
	bool found;

	if (!read_module(line, &module) ||
	    tally_fs_readf(NOTE_LIMIT, &notes, &length, "%s/sys/module/%s/notes/.note.gnu.build-id",
			   root, module.name))
		return 0;
	found = tally_build_id_find(notes, length, false, bytes, &id_size);
	free(notes);
	if (!found)
		return 0;
	tally_build_id_format(bytes, id_size, id);
	snprintf(shown, sizeof(shown), "[%s]", module.name);
	module.id = id;
	module.name = shown;
	return visit(context, &module);
}

static int show_modules(const char *root, tally_build_id_loaded_visit visit, void *context)
{
	char *modules, *line, *next;
	int result = 0;

	if (tally_fs_readf(MODULES_LIMIT, &modules, NULL, "%s/proc/modules", root))
		return 0; /* a kernel without modules */
	for (line = modules; *line && !result; line = next) {
		next = strchrnul(line, '\n');
		if (*next)
			*next++ = '\0';
		result = show_module(root, line, visit, context);
	}
	free(modules);
	return result;
}

int tally_build_id_running(const char *root, bool modules, tally_build_id_loaded_visit visit,
			   void *context, struct tally_error *error)
{
	struct tally_build_id_loaded kernel = {.name = "[kernel.kallsyms]"};
	char id[TALLY_BUILD_ID_TEXT];
	uint8_t bytes[20], size;
	int result = tally_image_kernel_build_id(root, bytes, &size);

	if (result)
		return tally_fail(error, result, -1, "the kernel's build-id cannot be read: %s",
				  strerror(-result));
	root = root ? root : "";
	tally_build_id_format(bytes, size, id);
	kernel.id = id;
	if (modules)
		find_text(root, &kernel.start, &kernel.end);
	result = visit(context, &kernel);
	return result || !modules ? result : show_modules(root, visit, context);
}
