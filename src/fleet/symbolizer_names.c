/* Places without a name, looked up: a recording with a sample at each of them, which a session
 * reads as any other, so that binaries are found, and functions are named, by the same rules. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "base/fail.h"
#include "base/table.h"
#include "convert/code_places.h"
#include "convert/sample_sums.h"
#include "fleet/fleet_base.h"
#include "fleet/symbolizer.h"
#include "resolve/frames.h"
#include "session/numbers.h"
#include "write/plain_file.h"

/* No process has this number, so that nothing of a running one is taken for it. */
#define PID (1U << 30)

/* --- the recording --- */

/* Each build is mapped whole, at an address that says its number. */
static uint64_t address_of(uint64_t place)
{
	return place + (1ULL << SYMBOLIZER_OFFSET_BITS);
}

/* Source of the layout: perf_event.h, PERF_RECORD_MMAP2. */
static void put_mapping(const struct symbolizer_build *build, uint64_t number, struct tally_buf *to)
{
	size_t length = strlen(build->path) + 1, room = (length + 7) & ~(size_t)7;
	uint8_t id[24] = {build->size};

	memcpy(id + 4, build->bytes, build->size);
	tally_buf_u32(to, PERF_RECORD_MMAP2);
	tally_buf_u32(to, (uint32_t)(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_BUILD_ID |
				     (72 + room) << 16));
	tally_buf_u32(to, PID);
	tally_buf_u32(to, PID);
	tally_buf_u64(to, address_of(number << SYMBOLIZER_OFFSET_BITS));
	tally_buf_u64(to, 1ULL << SYMBOLIZER_OFFSET_BITS);
	tally_buf_u64(to, 0); /* pgoff */
	tally_buf_add(to, id, sizeof(id));
	tally_buf_u32(to, PROT_READ | PROT_EXEC);
	tally_buf_u32(to, MAP_PRIVATE);
	tally_buf_add(to, build->path, length);
	tally_buf_zero(to, room - length);
}

/* The fields of PERF_SAMPLE_IP, _TID and _CALLCHAIN. */
static void put_sample(uint64_t place, struct tally_buf *to)
{
	tally_buf_u32(to, PERF_RECORD_SAMPLE);
	tally_buf_u32(to, PERF_RECORD_MISC_USER | 48U << 16);
	tally_buf_u64(to, address_of(place));
	tally_buf_u32(to, PID);
	tally_buf_u32(to, PID);
	tally_buf_u64(to, 2);
	tally_buf_u64(to, PERF_CONTEXT_USER);
	tally_buf_u64(to, address_of(place));
}

static void put_records(const struct tally_symbolizer *symbolizer, struct tally_buf *to)
{
	const struct tally_map *places = &symbolizer->places;

	for (uint32_t i = 0; i < symbolizer->build_count; i++)
		if (symbolizer->list[i].frames)
			put_mapping(&symbolizer->list[i], i, to);
	if (places->has_zero)
		put_sample(0, to);
	for (size_t i = 0; i < places->room; i++)
		if (places->slots[i].key)
			put_sample(places->slots[i].key, to);
}

int tally_symbolizer_make_data(struct tally_symbolizer *symbolizer, struct tally_error *error)
{
	const struct tally_attr attr = {
	    .type = PERF_TYPE_SOFTWARE,
	    .size = PERF_ATTR_SIZE_VER5,
	    .config = PERF_COUNT_SW_DUMMY,
	    .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN,
	};
	const struct plain_file_event event = {.attr = &attr};
	uint64_t header[FILE_HEADER_SIZE / 8];
	struct plain_file file = {.attr_size = attr.size};
	struct tally_buf bytes = {0};

	tally_plain_file_front(&file, &event, 1, &bytes);
	put_records(symbolizer, &bytes);
	file.data_end = bytes.size;
	tally_plain_file_end(&file, &bytes, header);
	tally_plain_file_done(&file);
	if (bytes.failed) {
		tally_buf_done(&bytes);
		return -ENOMEM;
	}
	memcpy(bytes.data, header, sizeof(header));
	return tally_fleet_open_bytes(&bytes, symbolizer->folder, &symbolizer->data, error);
}

/* --- names --- */

struct looking {
	struct tally_symbolizer *symbolizer;
	struct code_places places;
	uint32_t *builds; /* by image of the session: number + 1; 0: not met */
	uint32_t build_room;
	struct tally_buf text;
};

static const char *keep(struct tally_symbolizer *symbolizer, const char *text)
{
	int64_t number = tally_strings_intern(&symbolizer->texts, text, strlen(text));

	return number < 0 ? NULL : symbolizer->texts.text[number];
}

/* The build of an image of the session, + 1; 0: it is not one of ours.  -ENOMEM. */
static int64_t build_of(struct looking *looking, uint32_t image)
{
	struct tally_symbolizer *symbolizer = looking->symbolizer;
	struct tally_session *session = looking->places.convert->session;
	struct tally_image_facts facts;
	const uint64_t *number = NULL;
	int64_t id;

	if (!array_reach(&looking->builds, &looking->build_room, image, 64,
			 sizeof(*looking->builds)))
		return -ENOMEM;
	if (looking->builds[image])
		return looking->builds[image];
	tally_buf_clear(&looking->text);
	if (tally_session_image_facts(session, image, &facts))
		for (unsigned i = 0; facts.build_id && i < facts.build_id_size; i++)
			tally_buf_printf(&looking->text, "%02x", facts.build_id[i]);
	id = tally_strings_intern(&symbolizer->texts, tally_buf_str(&looking->text),
				  looking->text.size);
	if (id < 0 || looking->text.failed)
		return -ENOMEM;
	number = tally_map_find(&symbolizer->builds, (uint64_t)id);
	if (!number)
		return 0;
	looking->builds[image] = (uint32_t)*number + 1;
	if (facts.why) {
		symbolizer->list[*number].why = keep(symbolizer, facts.why);
		if (!symbolizer->list[*number].why)
			return -ENOMEM;
	}
	return looking->builds[image];
}

static int add_line(struct looking *looking, const struct code_line *line, bool last)
{
	struct tally_symbolizer *symbolizer = looking->symbolizer;
	uint32_t room = array_room(symbolizer->line_room, symbolizer->line_count + 1, 1024);
	struct tally_session *session = looking->places.convert->session;
	const uint32_t number = looking->places.stacks->frames[line->frame];
	const struct tally_frame frame = tally_session_frame(session, number);
	struct symbolizer_line made = {
	    .line = line->line, .start = tally_fleet_start(session, number), .last = last};

	if (room != symbolizer->line_room &&
	    !array_resize(&symbolizer->lines, room, sizeof(*symbolizer->lines)))
		return -ENOMEM;
	symbolizer->line_room = room;
	tally_buf_clear(&looking->text);
	tally_convert_frame_name(&frame, &looking->text);
	made.symbol = keep(symbolizer, tally_buf_str(&looking->text));
	made.file = keep(symbolizer, line->file ? line->file : "");
	if (!made.symbol || !made.file || looking->text.failed)
		return -ENOMEM;
	symbolizer->lines[symbolizer->line_count++] = made;
	return 0;
}

/* Takes the lines of a place; one whose function is unknown gets none. */
static int take_place(struct looking *looking, const struct code_place *place)
{
	struct tally_symbolizer *symbolizer = looking->symbolizer;
	int64_t build = place->line_count ? build_of(looking, place->image) : 0;
	uint32_t first = symbolizer->line_count;
	uint64_t *known;
	int result = 0;

	if (build <= 0)
		return (int)build;
	known = tally_map_find(&symbolizer->places,
			       (uint64_t)(build - 1) << SYMBOLIZER_OFFSET_BITS | place->place);
	if (!known)
		return 0;
	for (uint32_t i = 0; i < place->line_count && !result; i++)
		result = add_line(looking, &looking->places.lines[place->first_line + i],
				  i + 1 == place->line_count);
	if (result)
		return result;
	if (symbolizer->lines[symbolizer->line_count - 1].symbol[0])
		*known = first + 1ULL;
	else
		symbolizer->line_count = first;
	return 0;
}

static int take_places(struct looking *looking, const struct sample_sums *sums)
{
	int result = 0;

	for (uint32_t i = 0; i < sums->count && !result; i++)
		result = tally_code_places_add(&looking->places, sums->list[i].node);
	if (!result)
		result = tally_code_places_find(&looking->places);
	for (uint32_t i = 1; i < looking->places.count && !result; i++)
		result = take_place(looking, &looking->places.list[i]);
	return result;
}

int tally_symbolizer_look_up(struct tally_symbolizer *symbolizer, struct tally_session *session,
			     bool no_lines, struct tally_error *error)
{
	static const struct export_format format = {.places = true};
	struct convert convert = {
	    .session = session,
	    .data = symbolizer->data,
	    .format = &format,
	    .options = {.size = sizeof(convert.options), .no_lines = no_lines},
	    .filter = {.size = sizeof(convert.filter), .callchains = true},
	    .error = error};
	struct looking looking = {.symbolizer = symbolizer};
	struct sample_sums sums;
	int result = tally_sample_sums_make(&convert, 0, &sums);

	if (!result)
		result = tally_code_places_init(&looking.places, &convert, &sums.stacks);
	if (!result)
		result = take_places(&looking, &sums);
	tally_code_places_done(&looking.places);
	tally_sample_sums_done(&sums);
	tally_buf_done(&looking.text);
	tally_buf_done(&convert.text);
	free(looking.builds);
	return result;
}
