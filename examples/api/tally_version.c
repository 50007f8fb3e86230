/* Prints the version of the library, and what it was built without. */
#include <stdio.h>
#include <tally/version.h>

int main(void)
{
	size_t count;
	const struct tally_version_part *parts = tally_version_parts(&count);

	printf("libtally %s\n", tally_version());
	for (size_t i = 0; i < count; i++)
		if (!parts[i].on)
			printf("without %s\n", parts[i].name);
	return 0;
}
