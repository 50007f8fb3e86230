/* Layouts of types as JSON; tally-json(7) describes the keys. */
#include "annotate/data_profile.h"
#include "base/json.h"
#include "session/session.h"

struct layout {
	const struct tally_data_profile *profile;
	const struct data_profile_type *type;
	struct json *json;
};

static void put_amounts(const struct layout *layout, uint64_t from, uint64_t until)
{
	struct json *json = layout->json;

	json_key(json, "samples");
	json_array(json);
	for (uint32_t i = 0; i < layout->profile->event_count; i++)
		json_u64(json, tally_data_amount(layout->type, i, from, until).samples);
	json_array_end(json);
	json_key(json, "period");
	json_array(json);
	for (uint32_t i = 0; i < layout->profile->event_count; i++)
		json_u64(json, tally_data_amount(layout->type, i, from, until).period);
	json_array_end(json);
}

static int put_member(void *context, const struct data_member *member)
{
	const struct layout *layout = context;
	struct json *json = layout->json;

	if (!member->depth)
		return 0; /* the type itself */
	json_object(json);
	json_key_u64(json, "depth", member->depth);
	json_key_u64(json, "offset", member->offset);
	json_key_u64(json, "size", member->size);
	json_key_string(json, "type", member->type);
	json_key_string(json, "name", member->name);
	put_amounts(layout, member->offset, member->offset + member->size);
	json_object_end(json);
	return 0;
}

static int put_type(struct layout *layout)
{
	const struct data_profile_type *type = layout->type;
	struct json *json = layout->json;
	int result;

	json_object(json);
	json_key_string(json, "type", type->name);
	json_key_string(json, "dso", type->sums->image);
	json_key_string(json, "path", type->sums->path);
	json_key_u64(json, "size", type->size);
	json_key(json, "share");
	json_double(json, type->share * 100);
	put_amounts(layout, 0, UINT64_MAX);
	json_key(json, "members");
	json_array(json);
	result = tally_data_type_layout(type->sums->types, type->sums->type, put_member, layout);
	json_array_end(json);
	json_object_end(json);
	return result;
}

static void put_outcomes(const struct tally_data_profile *profile, struct json *json)
{
	json_key(json, "outcomes");
	json_array(json);
	for (unsigned i = 0; i < ACCESS_OUTCOMES; i++) {
		if (!profile->samples[i])
			continue;
		json_object(json);
		json_key_string(json, "outcome", tally_data_outcome_text(i));
		json_key_u64(json, "samples", profile->samples[i]);
		json_object_end(json);
	}
	json_array_end(json);
}

int tally_data_json(const struct tally_data_profile *profile,
		    const struct tally_data_profile_text *options, struct tally_buf *to)
{
	const struct tally_data *data = tally_session_data(profile->session);
	struct json json = {.to = to};
	struct layout layout = {.profile = profile, .json = &json};
	int result = 0;

	json_object(&json);
	json_key_u64(&json, "version", 1);
	json_key(&json, "events");
	json_array(&json);
	for (size_t i = 0; i < profile->event_count; i++) {
		json_object(&json);
		json_key_string(&json, "event", tally_data_event(data, i)->name);
		json_key_u64(&json, "samples", profile->places.totals[i].samples);
		json_key_u64(&json, "period", profile->places.totals[i].period);
		json_object_end(&json);
	}
	json_array_end(&json);
	put_outcomes(profile, &json);
	json_key(&json, "types");
	json_array(&json);
	for (size_t i = 0; i < profile->type_count && !result; i++) {
		layout.type = &profile->list[i];
		if (tally_data_is_shown(layout.type, options))
			result = put_type(&layout);
	}
	json_array_end(&json);
	json_object_end(&json);
	tally_buf_byte(to, '\n');
	return result;
}
