#include "report/nameless.h"

#include <stdlib.h>
#include <string.h>
#include "base/cell.h"
#include "profile/profile.h"
#include "session/session_packages.h"

/* Worth a note: shares in hundredths of a percent, and how many binaries. */
#define KERNEL_LEAST  100U
#define BINARY_LEAST  500U
#define BINARIES_MOST 3U

void tally_nameless_add(struct nameless *nameless, const struct tally_frame *frame, uint64_t period)
{
	/* The kernel is one entry, with its modules: if its symbols are missing, theirs are too. */
	uint32_t image = frame->level == 'k' ? UINT32_MAX : frame->image;
	size_t i = 0;

	if (frame->symbol || !period || (frame->image == UINT32_MAX && frame->level != 'k'))
		return;
	while (i < nameless->count && nameless->images[i].image != image)
		i++;
	if (i == NAMELESS_MOST)
		return;
	if (i == nameless->count)
		nameless->images[nameless->count++] = (struct nameless_image){.image = image};
	nameless->images[i].period += period;
}

static int larger_first(const void *left, const void *right)
{
	const struct nameless_image *a = left, *b = right;

	if (a->period != b->period)
		return a->period < b->period ? 1 : -1;
	return (a->image > b->image) - (a->image < b->image);
}

/* Leaves out small shares, and binaries that have symbols.  They are in order. */
static void choose(const struct tally_session *session, bool all, struct nameless *nameless)
{
	size_t kept = 0, binaries = 0;

	for (size_t i = 0; i < nameless->count; i++) {
		struct nameless_image *image = &nameless->images[i];
		bool is_kernel = image->image == UINT32_MAX;

		if (!all && tally_cell_share(image->period, nameless->total) <
				(is_kernel ? KERNEL_LEAST : BINARY_LEAST))
			continue;
		if (is_kernel)
			image->facts.why = tally_session_why_no_kernel(session);
		else if (!tally_session_image_facts(session, image->image, &image->facts) ||
			 !image->facts.why)
			continue;
		else if (!all && ++binaries > BINARIES_MOST)
			continue;
		nameless->images[kept++] = *image;
	}
	nameless->count = kept;
}

static int find_packages(const struct tally_session *session, struct nameless *nameless)
{
	const char *paths[NAMELESS_MOST];
	char *packages[NAMELESS_MOST];
	int result;

	for (size_t i = 0; i < nameless->count; i++)
		paths[i] = nameless->images[i].facts.is_file ? nameless->images[i].facts.path : "";
	result = tally_session_symbol_packages(session, paths, nameless->count, packages);
	for (size_t i = 0; i < nameless->count && !result; i++)
		nameless->images[i].package = packages[i];
	return result;
}

int tally_nameless_choose(const struct tally_session *session, bool all, struct nameless *nameless)
{
	qsort(nameless->images, nameless->count, sizeof(*nameless->images), larger_first);
	choose(session, all, nameless);
	return nameless->count ? find_packages(session, nameless) : 0;
}

int tally_nameless_find(const struct tally_profile *profile, size_t event, bool all,
			struct nameless *ret)
{
	const struct tally_rows *rows = &profile->rows;
	struct tally_profile_event of = {.size = sizeof(of)};

	tally_profile_event(profile, event, &of);
	*ret = (struct nameless){.total = of.total};
	for (uint32_t i = rows->event_first[event];
	     profile->keys.symbol && i < rows->event_first[event + 1]; i++) {
		const struct tally_row *row = &rows->list[i];
		struct tally_frame frame;

		if (!row->self)
			continue;
		frame = tally_session_frame(profile->session, row->key);
		tally_nameless_add(ret, &frame, row->self);
	}
	return tally_nameless_choose(profile->session, all, ret);
}

void tally_nameless_done(struct nameless *nameless)
{
	for (size_t i = 0; i < nameless->count; i++)
		free(nameless->images[i].package);
	nameless->count = 0;
}

/* Source: the manuals of JDK 17, .NET and node: what makes them write /tmp/perf-PID.map. */
static const struct {
	const char *image, *option;
} compilers[] = {
    {"libjvm.so", "java -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit"},
    {"libcoreclr.so", "DOTNET_PerfMapEnabled=1 dotnet"},
    {"node", "node --perf-basic-prof"},
};

void tally_nameless_advise(const struct tally_session *session, struct tally_buf *to)
{
	const size_t count = sizeof(compilers) / sizeof(*compilers);
	size_t known = 0;

	tally_buf_text(to, "code made at run time; programs can name it: ");
	for (size_t i = 0; i < count; i++) {
		/* Of programs that are not known, the last is an example. */
		if (!tally_session_has_image(session, compilers[i].image) &&
		    (known || i + 1 < count))
			continue;
		tally_buf_text(to, known++ ? ", " : "");
		tally_buf_text(to, compilers[i].option);
	}
}

void tally_nameless_where(const struct nameless_image *image, struct tally_buf *to)
{
	if (image->package) {
		tally_buf_printf(to, "Debian package %s", image->package);
	} else if (image->facts.build_id_size) {
		tally_buf_text(to, "build-id ");
		for (uint8_t i = 0; i < image->facts.build_id_size; i++)
			tally_cell_hex(to, image->facts.build_id[i], 2);
	}
}
