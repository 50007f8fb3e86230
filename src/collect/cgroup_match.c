#include <tally/cgroup.h>

#include <errno.h>
#include <fts.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/pattern.h"
#include "base/table.h"
#include "collect/cgroup.h"

/* Each is opened on each CPU. */
#define MATCHES_MOST 10000U

bool tally_cgroup_is_pattern(const char *name)
{
	return strpbrk(name, "{}[]()|*+?^$");
}

struct matches {
	char **names;
	size_t count, room;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add(struct matches *matches, const char *name)
{
	if (!array_next(&matches->names, &matches->room, matches->count, 16,
			sizeof(*matches->names)))
		return -ENOMEM;
	matches->names[matches->count] = strdup(name);
	if (!matches->names[matches->count])
		return -ENOMEM;
	matches->count++;
	return 0;
}

/* Folders that cannot be read have no cgroups that could be opened. */
static int walk(char *mount, const regex_t *pattern, struct matches *ret)
{
	char *const roots[] = {mount, NULL};
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	size_t skip = strlen(mount) + 1;
	const FTSENT *entry;
	int result = 0;

	if (!tree)
		return -errno;
	while (!result && (entry = fts_read(tree))) {
		const char *name = entry->fts_path + skip;

		if (entry->fts_info != FTS_D || entry->fts_level == FTS_ROOTLEVEL ||
		    regexec(pattern, name, 0, NULL, 0))
			continue;
		result = ret->count < MATCHES_MOST ? add(ret, name) : -E2BIG;
	}
	fts_close(tree);
	return result;
}

int tally_cgroups_match(const char *root, const char *pattern, char ***ret, size_t *ret_count,
			struct tally_error *error)
{
	struct matches matches = {0};
	char mount[PATH_MAX];
	struct tally_error why;
	regex_t compiled;
	int result = tally_pattern_compile(pattern, 0, &compiled, &why);

	if (result)
		return tally_fail(error, result, -1, "cgroups: %s", why.text);
	result = tally_cgroup_mount(root ? root : "", mount, sizeof(mount));
	if (!result)
		result = walk(mount, &compiled, &matches);
	regfree(&compiled);
	if (!result && !matches.count)
		result = -ENOENT;
	if (result) {
		for (size_t i = 0; i < matches.count; i++)
			free(matches.names[i]);
		free(matches.names);
		return tally_fail(error, result, -1,
				  result == -ENOENT
				      ? "no cgroup matches '%s' (find %s -type d lists them)"
				  : result == -E2BIG ? "more than 10000 cgroups match '%s'"
						     : "the cgroups of '%s' cannot be listed",
				  pattern, mount);
	}
	qsort(matches.names, matches.count, sizeof(*matches.names), by_name);
	*ret = matches.names;
	*ret_count = matches.count;
	return 0;
}
