/* Prints what a filter says of itself, or where filters are looked for. */
#include <stdio.h>
#include <stdlib.h>
#include <tally/dlfilter.h>

int main(int argc, char **argv)
{
	char *brief, *details, *folder;

	if (argc > 1) {
		if (tally_dlfilter_describe(argv[1], &brief, &details)) {
			fprintf(stderr, "%s: is not a filter\n", argv[1]);
			return 1;
		}
		printf("%s\n", brief ? brief : "it does not say what it does");
		free(brief);
		free(details);
		return 0;
	}
	for (unsigned i = 0; (folder = tally_dlfilters_folder(i)); i++) {
		printf("filters are looked for in %s\n", folder);
		free(folder);
	}
	return 0;
}
