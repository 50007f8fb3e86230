/* Prints the build-id of this program, and the kernel's. */
#include <stdio.h>
#include <string.h>
#include <tally/build_id_cache.h>

static int print(void *context, const struct tally_build_id_loaded *loaded)
{
	(void)context;
	printf("%s %s\n", loaded->id, loaded->name);
	return 0;
}

int main(int argc, char **argv)
{
	const char *file = argc > 1 ? argv[1] : argv[0];
	struct tally_error error;
	char id[41];
	int result = tally_build_id_of_file(file, id);

	if (result)
		fprintf(stderr, "%s: %s\n", file, strerror(-result));
	else
		printf("%s this program\n", id);
	if (tally_build_id_running(NULL, false, print, NULL, &error) < 0)
		fprintf(stderr, "%s\n", error.text);
	return 0;
}
