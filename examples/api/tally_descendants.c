/* Prints the processes below process 1. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/descendants.h>

int main(void)
{
	const pid_t parent = 1;
	pid_t *below;
	size_t count;
	int result = tally_descendants(NULL, &parent, 1, &below, &count);

	if (result) {
		fprintf(stderr, "%s\n", strerror(-result));
		return 1;
	}
	printf("%zu processes below %d\n", count, (int)parent);
	for (size_t i = 0; i < count && i < 3; i++)
		printf("%d\n", (int)below[i]);
	free(below);
	return 0;
}
