/* Lists the software events of this machine. */
#include <stdio.h>
#include <tally/catalog.h>

int main(void)
{
	const struct tally_catalog_options options = {.size = sizeof(options),
						      .kinds = 1u << TALLY_CATALOG_SOFTWARE};
	const struct tally_catalog_entry *entry;
	struct tally_catalog *catalog;
	struct tally_error error;

	if (tally_catalog_open(&options, &catalog, &error)) {
		fprintf(stderr, "%s\n", error.text);
		return 1;
	}
	for (size_t i = 0; (entry = tally_catalog_at(catalog, i)); i++)
		printf("%-20s %s\n", entry->name, entry->brief ? entry->brief : "");
	tally_catalog_close(catalog);
	return 0;
}
