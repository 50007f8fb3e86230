/* Prints the cgroups whose names a pattern matches, as --for-each-cgroup takes them. */
#include <stdio.h>
#include <stdlib.h>
#include <tally/cgroup.h>

int main(int argc, char **argv)
{
	const char *pattern = argc > 1 ? argv[1] : ".*";
	struct tally_error error;
	char **names;
	size_t count;

	if (!tally_cgroup_is_pattern(pattern)) {
		printf("%s\n", pattern);
		return 0;
	}
	if (tally_cgroups_match(NULL, pattern, &names, &count, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t i = 0; i < count; i++) {
		printf("%s\n", names[i]);
		free(names[i]);
	}
	free(names);
	return 0;
}
