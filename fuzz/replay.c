/* Runs a fuzz target over files and folders of files: what was ever found stays found, in builds
 * that have no libFuzzer too.  Says how many inputs ran; one that is not sound ends the program. */
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int give_up(const char *path)
{
	fprintf(stderr, "replay: %s: %s\n", path, strerror(errno));
	return -1;
}

static long run_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	/* Exactly as long as the input, so that the sanitizer sees a read behind it. */
	uint8_t *bytes = malloc(size ? size : 1);

	if (!file || !bytes || fread(bytes, 1, size, file) != size) {
		if (file)
			fclose(file);
		free(bytes);
		return give_up(path);
	}
	fclose(file);
	LLVMFuzzerTestOneInput(bytes, size);
	free(bytes);
	return 1;
}

static long run_path(const char *path)
{
	struct stat about;
	struct dirent *entry;
	long count = 0;
	DIR *folder;

	if (stat(path, &about))
		return give_up(path);
	if (!S_ISDIR(about.st_mode))
		return run_file(path, (size_t)about.st_size);
	folder = opendir(path);
	if (!folder)
		return give_up(path);
	while ((entry = readdir(folder)) && count >= 0) {
		char below[4096];
		long one;

		if (entry->d_name[0] == '.')
			continue;
		snprintf(below, sizeof(below), "%s/%s", path, entry->d_name);
		one = run_path(below);
		count = one < 0 ? one : count + one;
	}
	closedir(folder);
	return count;
}

int main(int argc, char **argv)
{
	long count = 0;

	for (int i = 1; i < argc; i++) {
		long one = run_path(argv[i]);

		if (one < 0)
			return 1;
		count += one;
	}
	printf("%ld inputs\n", count);
	/* A corpus that went missing must not pass. */
	return count ? 0 : 1;
}
