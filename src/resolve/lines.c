#include "resolve/lines.h"

#include <errno.h>
#include <string.h>
#include "resolve/resolver.h"

static struct tally_image *image_of(const struct tally_resolver *resolver,
				    const struct tally_located *located)
{
	return located->mapped ? tally_frames_image(&resolver->tables->frames, located->frame)
			       : NULL;
}

int tally_resolver_line(struct tally_resolver *resolver, const struct tally_located *located,
			struct tally_line *ret)
{
	struct tally_image *image = image_of(resolver, located);
	struct tally_frame frame;
	int error;

	ret->address = located->place;
	error = image ? tally_image_line(image, located->place, ret) : -ENOENT;
	if (!located->mapped || ret->address != located->place)
		return error;
	frame = tally_frames_get(&resolver->tables->frames, located->frame);
	/* As in perf, the place in a module counts from where that was loaded. */
	if (frame.level == 'k' && frame.image_name[0] == '[' &&
	    strncmp(frame.image_name, "[kernel", 7) != 0)
		ret->address -= located->map_start;
	return error;
}

int tally_resolver_inlines(struct tally_resolver *resolver, const struct tally_located *located,
			   const struct tally_inline **ret, size_t *ret_count)
{
	struct tally_image *image = image_of(resolver, located);

	if (image && !resolver->tables->no_inlines)
		return tally_image_inlines(image, located->place, ret, ret_count);
	*ret_count = 0;
	return 0;
}

static void add_line(const char *file, uint32_t line, bool whole_path, struct tally_buf *to)
{
	const char *slash = whole_path ? NULL : strrchr(file, '/');

	tally_buf_printf(to, "%s:%u", slash ? slash + 1 : file, line);
}

void tally_inline_srcline(const struct tally_inline *one, bool whole_path, struct tally_buf *to)
{
	add_line(one->file, one->line, whole_path, to);
}

int tally_resolver_srcline(struct tally_resolver *resolver, const struct tally_located *located,
			   bool whole_path, struct tally_buf *to)
{
	struct tally_line line;
	int error;

	if (!located->mapped)
		return 0;
	error = tally_resolver_line(resolver, located, &line);
	if (error == -ENOENT)
		tally_buf_printf(
		    to, "%s[%llx]",
		    tally_frames_get(&resolver->tables->frames, located->frame).image_name,
		    (unsigned long long)line.address);
	else if (!error && (line.line || strcmp(line.file, "??") != 0))
		add_line(line.file, line.line, whole_path, to);
	return error == -ENOMEM || to->failed ? -ENOMEM : 0;
}
