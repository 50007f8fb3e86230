#include "convert/branch_counts.h"

#include <errno.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/map.h"
#include "base/table.h"
#include "convert/sample_rows.h"
#include "elf/elf_file.h"
#include "image/image_state.h"
#include "image/inlines.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/batch_sample.h"
#include "session/numbers.h"

/* Source: perf_branch_entry of perf_event.h. */
#define MISPREDICTED 1U

/* By frames of the session, which are addresses. */
struct raw_count {
	uint32_t from, to;
	uint64_t count, mispredicted;
	bool from_outside; /* of ranges: the branch before it is in another binary */
};

struct raw_list {
	struct raw_count *list;
	uint32_t count, room;
	struct tally_map known;
};

struct reading {
	struct convert *convert;
	struct raw_list branches, ranges;
	uint64_t *totals; /* by image: branches that end in it */
	uint32_t total_room, total_count;
	bool any;
};

static void drop_list(struct raw_list *list)
{
	free(list->list);
	tally_map_done(&list->known);
}

static struct raw_count *find(struct raw_list *list, uint32_t from, uint32_t to, bool outside)
{
	uint32_t room = array_room(list->room, list->count + 1, 1024);
	uint64_t *known;
	bool added;

	if (room != list->room && !array_resize(&list->list, room, sizeof(*list->list)))
		return NULL;
	list->room = room;
	known = tally_map_put(&list->known, hash_mix(hash_u64((uint64_t)from << 32 | to), outside),
			      &added);
	if (!known)
		return NULL;
	if (added) {
		list->list[list->count] =
		    (struct raw_count){.from = from, .to = to, .from_outside = outside};
		*known = list->count++;
	}
	return &list->list[*known];
}

static uint32_t image_of(const struct reading *reading, uint32_t frame)
{
	struct tally_frame_place place;

	tally_frames_placed(&tally_session_tables(reading->convert->session)->frames, frame,
			    &place);
	return place.image;
}

/* Counts a branch for the binary that it ends in. */
static int count_image(struct reading *reading, uint32_t frame)
{
	uint32_t image = image_of(reading, frame);

	if (!array_reach(&reading->totals, &reading->total_room, image, 64,
			 sizeof(*reading->totals)))
		return -ENOMEM;
	if (image >= reading->total_count)
		reading->total_count = image + 1;
	reading->totals[image]++;
	return 0;
}

/* Both ends of a branch of the sample. */
struct ends {
	uint32_t from, to;
};

static int find_ends(const struct sample_row *row, const struct tally_branch *branch,
		     struct ends *ret)
{
	ret->from =
	    tally_batch_frame(row->batch, row->at, PERF_RECORD_MISC_CPUMODE_UNKNOWN, branch->from);
	ret->to =
	    tally_batch_frame(row->batch, row->at, PERF_RECORD_MISC_CPUMODE_UNKNOWN, branch->to);
	return ret->from && ret->to ? 0 : -ENOMEM;
}

/* What ran between the target of a branch and the next one, in one binary. */
static int add_range(struct reading *reading, const struct ends *before, const struct ends *next)
{
	uint32_t image = image_of(reading, before->to);
	struct raw_count *range;

	if (image != image_of(reading, next->from))
		return 0;
	range = find(&reading->ranges, before->to, next->from,
		     image_of(reading, before->from) != image);
	if (!range)
		return -ENOMEM;
	range->count++;
	return 0;
}

/* A branch stack has the newest first. */
static int take_row(void *context, const struct sample_row *row)
{
	struct reading *reading = context;
	struct tally_sample sample = {.size = sizeof(sample)};
	struct ends ends, next;
	int result = tally_batch_sample(row->batch, row->at, &sample);

	if (result || !(sample.present & PERF_SAMPLE_BRANCH_STACK))
		return result;
	reading->any |= sample.branch_nr != 0;
	for (uint64_t i = 0; i < sample.branch_nr && !result; i++, next = ends) {
		const struct tally_branch *branch = &sample.branches[i];
		struct raw_count *count;

		result = find_ends(row, branch, &ends);
		if (result)
			break;
		count = find(&reading->branches, ends.from, ends.to, false);
		if (!count)
			return -ENOMEM;
		count->count++;
		count->mispredicted += branch->flags & MISPREDICTED;
		result = count_image(reading, ends.to);
		if (!result && i)
			result = add_range(reading, &ends, &next);
	}
	return result;
}

/* --- the binary --- */

static bool is_asked_for(const struct convert *convert, const struct tally_image_facts *facts)
{
	const struct tally_export_options *options = &convert->options;

	for (size_t i = 0; i < options->dso_count; i++)
		if (!strcmp(options->dsos[i], facts->name) ||
		    !strcmp(options->dsos[i], facts->path))
			return true;
	return !options->dso_count;
}

/* The image with most branches; UINT32_MAX: none. */
static uint32_t choose_image(const struct reading *reading)
{
	const struct tally_session *session = reading->convert->session;
	struct tally_image_facts facts;
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < reading->total_count; i++)
		if (reading->totals[i] &&
		    (best == UINT32_MAX || reading->totals[i] > reading->totals[best]) &&
		    tally_session_image_facts(session, i, &facts) &&
		    is_asked_for(reading->convert, &facts))
			best = i;
	return best;
}

static int address_of(const struct reading *reading, uint32_t frame, uint64_t *ret)
{
	const struct tally_frames *frames =
	    &tally_session_tables(reading->convert->session)->frames;
	struct tally_image *image = tally_frames_image(frames, frame);
	struct tally_frame_place place;
	struct tally_line line;
	int result;

	tally_frames_placed(frames, frame, &place);
	*ret = place.place;
	if (!image)
		return 0;
	result = tally_image_line(image, place.place, &line);
	if (!result || result == -ENOENT)
		*ret = line.address;
	return result == -ENOENT ? 0 : result;
}

static int by_address(const void *left, const void *right)
{
	const struct branch_count *a = left, *b = right;

	if (a->from != b->from)
		return a->from < b->from ? -1 : 1;
	if (a->to != b->to)
		return a->to < b->to ? -1 : 1;
	if (a->from_outside != b->from_outside)
		return a->from_outside ? 1 : -1;
	return (int)a->to_outside - (int)b->to_outside;
}

/* Those that one end of is in the image; of ranges both are. */
static int take_list(const struct reading *reading, const struct raw_list *list, uint32_t image,
		     bool ranges, struct branch_count **ret, uint32_t *ret_count)
{
	struct branch_count *made = calloc(list->count + 1ULL, sizeof(*made));
	uint32_t count = 0, to = 0;
	int result = made ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < list->count && !result; i++) {
		const struct raw_count *raw = &list->list[i];
		bool from_outside = image_of(reading, raw->from) != image;
		bool to_outside = image_of(reading, raw->to) != image;

		if (from_outside && to_outside)
			continue;
		made[count] = (struct branch_count){
		    .count = raw->count,
		    .mispredicted = raw->mispredicted,
		    .from_outside = ranges ? raw->from_outside : from_outside,
		    .to_outside = to_outside,
		};
		if (!from_outside)
			result = address_of(reading, raw->from, &made[count].from);
		if (!to_outside && !result)
			result = address_of(reading, raw->to, &made[count].to);
		/* The end before the start: a branch is missing between them. */
		count += !ranges || made[count].from <= made[count].to;
	}
	if (made)
		qsort(made, count, sizeof(*made), by_address);
	for (uint32_t i = 0; i < count; i++) {
		if (to && !by_address(&made[to - 1], &made[i])) {
			made[to - 1].count += made[i].count;
			made[to - 1].mispredicted += made[i].mispredicted;
		} else {
			made[to++] = made[i];
		}
	}
	*ret = made;
	*ret_count = to;
	return result;
}

/* Pages have 4096 bytes here whatever the machine has.  Source: llvm-profgen, which takes addresses
 * from there on (ProfiledBinary.cpp of LLVM). */
static uint64_t code_base(const struct tally_elf *elf)
{
	size_t count;
	GElf_Phdr segment;

	if (!elf->elf || elf_getphdrnum(elf->elf, &count))
		return 0;
	for (size_t i = 0; i < count && i <= INT32_MAX; i++)
		if (gelf_getphdr(elf->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    segment.p_flags & PF_X)
			return segment.p_vaddr & ~(uint64_t)4095;
	return 0;
}

static uint64_t find_code_base(const struct convert *convert, uint32_t number)
{
	struct tally_image *image =
	    tally_frames_image_at(&tally_session_tables(convert->session)->frames, number)->image;
	struct tally_elf binary = {.fd = -1}, debug = {.fd = -1};
	uint64_t base;

	if (!image || image->kind != TALLY_IMAGE_FILE ||
	    tally_image_open_files(image, &binary, &debug))
		return 0;
	base = code_base(&binary);
	if (!base)
		base = code_base(&debug);
	tally_elf_close(&binary);
	tally_elf_close(&debug);
	return base;
}

static int take(struct reading *reading, struct branch_counts *ret)
{
	struct convert *convert = reading->convert;
	uint32_t image = choose_image(reading);
	struct tally_image_facts facts;
	int result;

	if (!reading->any)
		return tally_fail(convert->error, -ENODATA, -1,
				  "the samples have no branch stacks; record them with "
				  "`tally record -b`, on a CPU that has them");
	if (image == UINT32_MAX || !tally_session_image_facts(convert->session, image, &facts))
		return tally_fail(convert->error, -ENODATA, -1, "no branch ends in %s",
				  convert->options.dso_count ? "a binary of --dsos"
							     : "a binary that is known");
	convert->image = facts.path;
	ret->code_base = find_code_base(convert, image);
	result = take_list(reading, &reading->branches, image, false, &ret->branches,
			   &ret->branch_count);
	if (!result)
		result = take_list(reading, &reading->ranges, image, true, &ret->ranges,
				   &ret->range_count);
	return result;
}

int tally_branch_counts_make(struct convert *convert, struct branch_counts *ret)
{
	struct reading reading = {.convert = convert};
	int result = tally_sample_rows_run(convert, TALLY_COLUMN_SAMPLE, take_row, &reading);

	*ret = (struct branch_counts){.branch_count = 0};
	if (!result)
		result = take(&reading, ret);
	drop_list(&reading.branches);
	drop_list(&reading.ranges);
	free(reading.totals);
	return result;
}

void tally_branch_counts_done(struct branch_counts *counts)
{
	free(counts->branches);
	free(counts->ranges);
	*counts = (struct branch_counts){.branch_count = 0};
}
