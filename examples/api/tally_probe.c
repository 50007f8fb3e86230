/* Lists the markers (SDT) of a program or library. */
#include <stdio.h>
#include <tally/probe.h>

int main(int argc, char **argv)
{
	const char *path = argc > 1 ? argv[1] : "/proc/self/exe";
	const struct tally_sdt_marker *marker;
	struct tally_error error;
	struct tally_sdt *sdt;
	size_t count = 0;

	if (tally_sdt_open(path, &sdt, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	while ((marker = tally_sdt_at(sdt, count))) {
		printf("%s:%s %s\n", marker->provider, marker->name, marker->arguments);
		count++;
	}
	printf("%zu markers\n", count);
	tally_sdt_close(sdt);
	return 0;
}
