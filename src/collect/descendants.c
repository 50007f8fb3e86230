#include <tally/descendants.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/fs.h"
#include "collect/targets.h"

struct family {
	const pid_t *all; /* ascending */
	size_t count;
	pid_t *parents; /* of each of `all`; 0: it has ended */
	bool *below;
};

static int by_number(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

static bool is_one_of(const pid_t *pids, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] == pid)
			return true;
	return false;
}

/* Whether more were found. A child's number may be smaller than its parent's. */
static bool find_more(const struct family *family, const pid_t *pids, size_t count)
{
	bool found = false;

	for (size_t i = 0; i < family->count; i++) {
		const pid_t *parent;

		if (family->below[i] || !family->parents[i])
			continue;
		parent = bsearch(&family->parents[i], family->all, family->count, sizeof(pid_t),
				 by_number);
		family->below[i] = is_one_of(pids, count, family->parents[i]) ||
				   (parent && family->below[parent - family->all]);
		found |= family->below[i];
	}
	return found;
}

int tally_descendants(const char *root, const pid_t *pids, size_t count, pid_t **ret,
		      size_t *ret_count)
{
	struct family family = {0};
	pid_t *all = NULL, self = getpid();
	size_t kept = 0;
	char path[4096];
	int result;

	root = root ? root : "";
	snprintf(path, sizeof(path), "%s/proc", root);
	result = tally_targets_list(path, &all, &family.count);
	if (result)
		return result;
	family.all = all;
	family.parents = calloc(family.count + 1, sizeof(*family.parents));
	family.below = calloc(family.count + 1, sizeof(*family.below));
	if (!family.parents || !family.below) {
		result = -ENOMEM;
	} else {
		for (size_t i = 0; i < family.count; i++)
			family.parents[i] =
			    all[i] == self ? 0 : tally_targets_of_status(root, all[i], "\nPPid:");
		while (find_more(&family, pids, count))
			;
		for (size_t i = 0; i < family.count; i++)
			if (family.below[i] && !is_one_of(pids, count, all[i]))
				all[kept++] = all[i];
		if (!kept) {
			free(all);
			all = NULL;
		}
		*ret = all;
		*ret_count = kept;
	}
	if (result)
		free(all);
	free(family.parents);
	free(family.below);
	return result;
}
