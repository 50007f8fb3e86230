/* A recording of any bytes: everything that is printed of its header, as text and as JSON, and the
 * names that it has. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tally/data.h>
#include <tally/evlist.h>
#include <tally/header.h>
#include <tally/summary.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static int print_name(void *context, uint64_t address, uint64_t size, const char *name,
		      size_t name_size)
{
	fprintf(context, "%llu", (unsigned long long)(address + size));
	fwrite(name, 1, name_size, context);
	return 0;
}

static void print_names(const struct tally_data *data, FILE *out)
{
	const struct tally_data_info *info = tally_data_info(data);

	for (size_t i = 0; i < info->file_count; i++)
		tally_data_file_symbols(data, &info->files[i], print_name, out);
}

static void print(struct tally_data *data, FILE *out)
{
	struct tally_evlist_options options = {
	    .size = sizeof(options), .verbose = true, .trace_fields = true, .raw_text = true};
	struct tally_evlist_options groups = {.size = sizeof(groups), .group = true};
	struct tally_summary *summary = NULL;

	tally_header_text(data, TALLY_HEADER_FULL, out);
	tally_header_text(data, TALLY_HEADER_RAW, out);
	tally_header_stream_text(data, TALLY_HEADER_FULL, out);
	tally_evlist_text(data, &options, out);
	tally_evlist_text(data, &groups, out);
	tally_evlist_json(data, out);
	if (!tally_summary_new(data, NULL, &summary, NULL)) {
		tally_info_text(data, summary, out);
		tally_info_json(data, summary, out);
	}
	tally_summary_free(summary);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	int fd = memfd_create("input", MFD_CLOEXEC);
	FILE *out = fopen("/dev/null", "w");
	struct tally_data *data = NULL;
	char path[64];

	if (fd < 0 || !out || write(fd, bytes, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!tally_data_open(path, NULL, &data, NULL)) {
		print(data, out);
		print_names(data, out);
		tally_data_close(data);
	}
	fclose(out);
	close(fd);
	return 0;
}
