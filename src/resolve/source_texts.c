#include "resolve/source_texts.h"

#include <errno.h>
#include <string.h>
#include "base/buf.h"
#include "image/inlines.h"
#include "resolve/lines.h"
#include "resolve/resolver.h"

void tally_source_texts_init(struct tally_source_texts *texts)
{
	*texts = (struct tally_source_texts){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void tally_source_texts_done(struct tally_source_texts *texts)
{
	tally_strings_done(&texts->strings);
	pthread_mutex_destroy(&texts->lock);
}

const char *tally_source_texts_get(struct tally_source_texts *texts, uint32_t number)
{
	const char *text;

	pthread_mutex_lock(&texts->lock);
	text = number < texts->strings.count ? texts->strings.text[number] : "";
	pthread_mutex_unlock(&texts->lock);
	return text;
}

static int number_of(struct tally_source_texts *texts, const char *text, uint32_t *ret)
{
	int64_t number;

	pthread_mutex_lock(&texts->lock);
	number = tally_strings_intern(&texts->strings, text, strlen(text));
	pthread_mutex_unlock(&texts->lock);
	if (number < 0)
		return -ENOMEM;
	*ret = (uint32_t)number;
	return 0;
}

/* "FILE:LINE", without folders; the file's name. */
static const char *put_line(const struct tally_line *line, struct tally_buf *to)
{
	const char *slash = strrchr(line->file, '/'), *file = slash ? slash + 1 : line->file;

	tally_buf_printf(to, "%s:%u", file, line->line);
	return file;
}

/* The numbers of a text, which ends here, and of a file.  `error` of looking up the line: where
 * there is none the text says something else.  0 or -ENOMEM. */
static int take_text(struct tally_source_texts *texts, struct tally_buf *text, const char *file,
		     int error, struct source_numbers *ret)
{
	error = text->failed || error == -ENOMEM ? -ENOMEM : 0;
	if (!error)
		error = number_of(texts, tally_buf_str(text), &ret->line);
	if (!error)
		error = number_of(texts, file, &ret->file);
	tally_buf_done(text);
	return error;
}

/* Where no line is known: the symbol and the offset in it, or the image and the address. */
static void put_place(struct tally_resolver *resolver, const struct tally_located *located,
		      uint64_t address, struct tally_buf *to)
{
	const struct tally_frame frame =
	    tally_frames_get(&resolver->tables->frames, located->frame);

	if (!located->mapped)
		tally_buf_text(to, "??:0");
	else if (frame.symbol)
		tally_buf_printf(to, "%s+%llu", frame.symbol,
				 (unsigned long long)(located->place - located->symbol_start));
	else
		tally_buf_printf(to, "%s[%llx]", frame.image_name, (unsigned long long)address);
}

static int make(struct tally_resolver *resolver, const struct tally_located *located,
		struct source_numbers *ret)
{
	struct tally_line line = {.file = ""};
	struct tally_buf text = {0};
	const char *file = "";
	int error = tally_resolver_line(resolver, located, &line);

	if (error == -ENOENT)
		put_place(resolver, located, line.address, &text);
	else if (!error)
		file = put_line(&line, &text);
	return take_text(&resolver->tables->source_texts, &text, file, error, ret);
}

int tally_resolver_source(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  struct source_numbers *ret)
{
	struct tally_located located;
	struct source_numbers numbers = {0};
	uint64_t key, *known;
	bool added;
	int error =
	    tally_resolver_locate(resolver, sample, sample->cpumode, sample->sample.ip, &located);

	if (error)
		return error;
	/* A frame is a function of one image, or a place in it. */
	key = hash_pair((uint64_t)located.frame << 1 | located.mapped, located.place);
	known = tally_map_find(&resolver->sources, key);
	if (known) {
		*ret = (struct source_numbers){(uint32_t)(*known >> 32), (uint32_t)*known};
		return 0;
	}
	error = make(resolver, &located, &numbers);
	if (error)
		return error;
	known = tally_map_put(&resolver->sources, key, &added);
	if (!known)
		return -ENOMEM;
	*known = (uint64_t)numbers.line << 32 | numbers.file;
	*ret = numbers;
	return 0;
}

/* The line of a function at a place: where its code is the address', that of the address; where a
 * function was inlined into it, that of its call.  As tally_image_line(). */
static int line_in_function(const struct tally_frame *function, struct tally_image *image,
			    uint64_t place, bool calls_inlined, struct tally_line *ret)
{
	const struct tally_inline *inlines;
	size_t count = 0, at;
	int error;

	if (!function->inlined && !calls_inlined)
		return tally_image_line(image, place, ret);
	error = tally_image_inlines(image, place, &inlines, &count);
	if (error)
		return error;
	at = function->inlined || !count ? 0 : count - 1;
	while (function->inlined && at < count && strcmp(inlines[at].name, function->symbol) != 0)
		at++;
	if (at >= count)
		return tally_image_line(image, place, ret);
	*ret = (struct tally_line){
	    .file = inlines[at].file, .line = inlines[at].line, .address = place};
	return 0;
}

int tally_source_of_frame(struct tally_resolve_tables *tables, uint32_t frame, uint32_t *ret)
{
	const struct tally_frame facts = tally_frames_get(&tables->frames, frame);
	struct tally_image *image = tally_frames_image(&tables->frames, frame);
	struct tally_line line = {.file = ""};
	struct tally_frame_place placed;
	struct tally_buf text = {0};
	uint64_t start, end;
	int error = -ENOENT;

	tally_frames_placed(&tables->frames, frame, &placed);
	if (image)
		error =
		    line_in_function(&facts, image, placed.place,
				     tables->inlines || atomic_load(&tables->inlines_met), &line);
	if (!error)
		put_line(&line, &text);
	else if (tally_frames_symbol(&tables->frames, frame, &start, &end))
		tally_buf_printf(&text, "+%llu", (unsigned long long)(placed.place - start));
	error = text.failed || error == -ENOMEM
		    ? -ENOMEM
		    : number_of(&tables->source_texts, tally_buf_str(&text), ret);
	tally_buf_done(&text);
	return error;
}

/* A return address may be the first one of the next line: the byte before it is the call's. */
int tally_source_of_call(struct tally_resolve_tables *tables, uint32_t frame, bool returned_to,
			 bool calls_inlined, struct source_numbers *ret)
{
	const struct tally_frame facts = tally_frames_get(&tables->frames, frame);
	struct tally_image *image = tally_frames_image(&tables->frames, frame);
	struct tally_frame_place placed;
	struct tally_buf text = {0};
	struct tally_line line = {0};
	uint64_t start, end;
	const char *file = "";
	int error = -ENOENT;

	tally_frames_placed(&tables->frames, frame, &placed);
	if (image)
		error =
		    line_in_function(&facts, image, placed.place - (returned_to && placed.place),
				     calls_inlined, &line);
	if (!error) {
		file = put_line(&line, &text);
	} else if (facts.symbol && tally_frames_symbol(&tables->frames, frame, &start, &end)) {
		tally_buf_printf(&text, "%s+%llu", facts.symbol,
				 (unsigned long long)(placed.place - start));
	} else if (facts.image_name) {
		tally_buf_printf(&text, "%s[%llx]", facts.image_name,
				 (unsigned long long)placed.place);
	} else {
		tally_buf_text(&text, "??:0");
	}
	return take_text(&tables->source_texts, &text, file, error, ret);
}
