/* Prints what is in the cache. */
#include <inttypes.h>
#include <stdio.h>
#include <tally/cache.h>

static int print(void *context, const struct tally_cache_file *file)
{
	(void)context;
	printf("%s, %" PRIu64 " bytes: %s %s\n", file->kind, file->bytes, file->image, file->id);
	return 0;
}

int main(void)
{
	struct tally_error error;
	uint64_t limit;

	if (tally_cache_list(NULL, false, print, NULL, &error) ||
	    tally_cache_get_limit(NULL, &limit, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	printf("at most %" PRIu64 " bytes\n", limit);
	return 0;
}
