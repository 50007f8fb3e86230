#include "annotate/data_profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "annotate/wanted.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "image/data_accesses.h"
#include "resolve/frames.h"
#include "resolve/resolve_tables.h"
#include "session/numbers.h"

/* --- sums --- */

static int add(struct tally_data_profile *profile, const struct place_sum *place)
{
	struct tally_frames *frames = &tally_session_tables(profile->session)->frames;
	struct tally_image *image = tally_frames_image(frames, place->frame);
	struct data_access access = {.outcome = ACCESS_NO_DEBUG};
	struct data_types *types = NULL;
	struct tally_frame frame;
	int error = image ? tally_image_data_access(image, place->place, &access, &types) : 0;

	if (error)
		return error;
	profile->samples[access.outcome] += place->samples;
	profile->all += place->samples;
	if (access.outcome != ACCESS_FOUND)
		return 0;
	if (!array_next(&profile->sums, &profile->sum_room, profile->sum_count, 256,
			sizeof(*profile->sums)))
		return -ENOMEM;
	frame = tally_session_frame(profile->session, place->frame);
	profile->sums[profile->sum_count++] = (struct data_sum){
	    .types = types,
	    .image = frame.image_name,
	    .path = frame.image_path,
	    .type = access.type,
	    .offset = access.offset,
	    .event = place->event,
	    .samples = place->samples,
	    .period = place->period,
	};
	return 0;
}

static int by_type(const void *a, const void *b)
{
	const struct data_sum *left = a, *right = b;
	int images = strcmp(left->path, right->path);

	if (images)
		return images;
	if (left->types != right->types)
		return (uintptr_t)left->types < (uintptr_t)right->types ? -1 : 1;
	if (left->type != right->type)
		return left->type < right->type ? -1 : 1;
	if (left->offset != right->offset)
		return left->offset < right->offset ? -1 : 1;
	return left->event < right->event ? -1 : left->event > right->event;
}

static int by_share(const void *a, const void *b)
{
	const struct data_profile_type *left = a, *right = b;
	int names;

	if (left->share != right->share)
		return left->share > right->share ? -1 : 1;
	names = strcmp(left->name, right->name);
	return names ? names : strcmp(left->sums->path, right->sums->path);
}

static void add_up(const struct tally_data_profile *profile, struct data_profile_type *type)
{
	for (uint32_t event = 0; event < profile->event_count; event++) {
		struct data_amount amount = tally_data_amount(type, event, 0, UINT64_MAX);
		uint64_t total = profile->places.totals[event].period;
		double share = total ? (double)amount.period / (double)total : 0;

		type->samples += amount.samples;
		type->share = share > type->share ? share : type->share;
	}
}

static int list_types(struct tally_data_profile *profile)
{
	for (size_t i = 0, end; i < profile->sum_count; i = end) {
		const struct data_sum *first = &profile->sums[i];
		struct data_profile_type *type;

		for (end = i + 1; end < profile->sum_count; end++)
			if (profile->sums[end].types != first->types ||
			    profile->sums[end].type != first->type)
				break;
		if (!array_next(&profile->list, &profile->type_room, profile->type_count, 64,
				sizeof(*profile->list)))
			return -ENOMEM;
		type = &profile->list[profile->type_count++];
		*type = (struct data_profile_type){
		    .sums = first,
		    .count = end - i,
		    .name = tally_data_type_name(first->types, first->type),
		    .size = tally_data_type_size(first->types, first->type),
		};
		add_up(profile, type);
	}
	if (profile->type_count)
		qsort(profile->list, profile->type_count, sizeof(*profile->list), by_share);
	return 0;
}

static int fill(struct tally_data_profile *profile, const struct tally_annotation_options *options)
{
	int error = 0;

	for (size_t i = 0; i < profile->places.count && !error; i++) {
		const struct place_sum *place = &profile->places.sums[i];
		struct tally_frame frame = tally_session_frame(profile->session, place->frame);

		if (tally_annotation_wants(options, &frame))
			error = add(profile, place);
	}
	if (profile->sum_count)
		qsort(profile->sums, profile->sum_count, sizeof(*profile->sums), by_type);
	return error ? error : list_types(profile);
}

int tally_data_profile_new(struct tally_session *session,
			   const struct tally_annotation_options *options,
			   struct tally_data_profile **ret, struct tally_error *error)
{
	struct tally_annotation_options wanted = {.size = sizeof(wanted)};
	struct tally_data_profile *profile;
	int result = tally_options_take(&wanted, sizeof(wanted), options);

	if (result)
		return tally_fail(error, result, -1, "an option is not known to this libtally");
	profile = calloc(1, sizeof(*profile));
	if (!profile)
		return tally_fail(error, -ENOMEM, -1, "not enough memory");
	profile->session = session;
	profile->event_count = tally_data_event_count(tally_session_data(session));
	result = tally_place_sums_make(session, &wanted, &profile->places, error);
	if (!result && fill(profile, &wanted))
		result = tally_fail(error, -ENOMEM, -1, "not enough memory for the types");
	if (result)
		tally_data_profile_free(profile);
	else
		*ret = profile;
	return result;
}

void tally_data_profile_free(struct tally_data_profile *profile)
{
	if (!profile)
		return;
	tally_place_sums_done(&profile->places);
	free(profile->sums);
	free(profile->list);
	free(profile);
}

/* --- questions --- */

struct data_amount tally_data_amount(const struct data_profile_type *type, uint32_t event,
				     uint64_t from, uint64_t until)
{
	struct data_amount amount = {0, 0};

	for (size_t i = 0; i < type->count; i++) {
		const struct data_sum *sum = &type->sums[i];

		if (sum->event != event || (uint64_t)sum->offset < from ||
		    (uint64_t)sum->offset >= until)
			continue;
		amount.samples += sum->samples;
		amount.period += sum->period;
	}
	return amount;
}

bool tally_data_type_is_called(const struct data_profile_type *type, const char *name)
{
	const char *space = strchr(type->name, ' ');
	size_t length = space ? (size_t)(space - type->name) : 0;
	bool has_kind = space && ((length == 6 && !strncmp(type->name, "struct", 6)) ||
				  (length == 5 && !strncmp(type->name, "union", 5)) ||
				  (length == 4 && !strncmp(type->name, "enum", 4)));

	return !strcmp(type->name, name) || (has_kind && !strcmp(space + 1, name));
}

bool tally_data_is_shown(const struct data_profile_type *type,
			 const struct tally_data_profile_text *options)
{
	return options->type ? tally_data_type_is_called(type, options->type)
			     : type->share * 100 >= options->percent_limit;
}

size_t tally_data_profile_count(const struct tally_data_profile *profile, const char *name)
{
	size_t count = 0;

	for (size_t i = 0; i < profile->type_count; i++)
		count += !name || tally_data_type_is_called(&profile->list[i], name);
	return count;
}

const char *tally_data_outcome_text(unsigned outcome)
{
	static const char *const texts[ACCESS_OUTCOMES] = {
	    [ACCESS_FOUND] = "the type is known",
	    [ACCESS_STACK] = "stack operation",
	    [ACCESS_CANARY] = "stack canary",
	    [ACCESS_NOTHING] = "the instruction accesses no memory",
	    [ACCESS_UNKNOWN] = "the instruction is unknown",
	    [ACCESS_NO_VALUE] = "the type that the register points to is unknown",
	    [ACCESS_NO_GLOBAL] = "no known variable is at the address",
	    [ACCESS_OUTSIDE] = "no member of the known type is at the offset",
	    [ACCESS_NO_TYPE] = "the size of the type is unknown",
	    [ACCESS_NO_CODE] = "the code cannot be read, or its machine is unknown",
	    [ACCESS_NO_DEBUG] = "the binary has no debug information",
	    [ACCESS_NO_FUNCTION] = "the function is not in the debug information",
	};

	return outcome < ACCESS_OUTCOMES && texts[outcome] ? texts[outcome] : "unknown";
}

int tally_data_profile_write(const struct tally_data_profile *profile,
			     const struct tally_data_profile_text *options, FILE *to,
			     struct tally_error *error)
{
	struct tally_data_profile_text wanted = {.size = sizeof(wanted)};
	struct tally_buf text = {0};
	int result = tally_options_take(&wanted, sizeof(wanted), options);

	if (result)
		return tally_fail(error, result, -1, "an option is not known to this libtally");
	result = wanted.json ? tally_data_json(profile, &wanted, &text)
			     : tally_data_text(profile, &wanted, &text);
	if (result || text.failed)
		result = tally_fail(error, -ENOMEM, -1, "not enough memory for the types");
	else if (text.size && fwrite(text.data, 1, text.size, to) != text.size)
		result = errno ? -errno : -EIO;
	tally_buf_done(&text);
	return result;
}
