#include "elf/needed.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "elf/elf_file.h"

static int add_folder(const char *path, const char *folder, size_t length,
		      struct tally_strings *folders)
{
	static const char origin[] = "$ORIGIN";
	char own[PATH_MAX], full[PATH_MAX];
	int made;

	if (!length || length >= sizeof(full) || strlen(path) >= sizeof(own))
		return 0;
	if (length >= strlen(origin) && !memcmp(folder, origin, strlen(origin))) {
		snprintf(own, sizeof(own), "%s", path);
		made = snprintf(full, sizeof(full), "%s%.*s", dirname(own),
				(int)(length - strlen(origin)), folder + strlen(origin));
	} else {
		made = snprintf(full, sizeof(full), "%.*s", (int)length, folder);
	}
	if (made < 0 || (size_t)made >= sizeof(full))
		return 0;
	return tally_strings_intern(folders, full, (size_t)made) < 0 ? -ENOMEM : 0;
}

static int add_folders(const char *path, const char *list, struct tally_strings *folders)
{
	int result = 0;

	while (*list && !result) {
		size_t length = strcspn(list, ":");

		result = add_folder(path, list, length, folders);
		list += length + (list[length] == ':');
	}
	return result;
}

static int add_entry(const struct tally_elf *elf, const struct tally_elf_section *strings,
		     const char *path, const GElf_Dyn *entry, struct tally_strings *libraries,
		     struct tally_strings *folders)
{
	char *text;
	int result;

	if (entry->d_tag != DT_NEEDED && entry->d_tag != DT_RUNPATH && entry->d_tag != DT_RPATH)
		return 0;
	result = tally_elf_read_string(elf, strings, entry->d_un.d_val, &text);
	if (result)
		return result == -ENOMEM ? result : 0;
	if (entry->d_tag != DT_NEEDED)
		result = add_folders(path, text, folders);
	else if (tally_strings_intern(libraries, text, strlen(text)) < 0)
		result = -ENOMEM;
	free(text);
	return result;
}

int tally_image_needed(const char *path, struct tally_strings *libraries,
		       struct tally_strings *folders)
{
	const struct tally_elf_section *section;
	struct tally_elf elf;
	Elf_Data *data = NULL;
	int result = tally_elf_open(path, &elf);

	if (result)
		return result;
	section = tally_elf_find(&elf, ".dynamic", SHT_DYNAMIC);
	if (section && section->header.sh_link < elf.section_count)
		data = tally_elf_data(&elf, section);
	for (int i = 0; data && data->d_buf && !result; i++) {
		GElf_Dyn entry;

		if (!gelf_getdyn(data, i, &entry) || entry.d_tag == DT_NULL)
			break;
		result = add_entry(&elf, &elf.sections[section->header.sh_link], path, &entry,
				   libraries, folders);
	}
	tally_elf_close(&elf);
	return result;
}
