/* The findings of a doctor as JSON; tally-doctor(1) describes it. */
#include <tally/doctor.h>

#include "base/text.h"
#include "base/json.h"

int tally_doctor_json(const struct tally_doctor *doctor, FILE *to)
{
	const struct tally_finding *finding;
	struct tally_buf text = {0};
	struct json json = {.to = &text};

	json_object(&json);
	json_key_u64(&json, "version", 1);
	json_key(&json, "findings");
	json_array(&json);
	for (size_t i = 0; (finding = tally_doctor_at(doctor, i)); i++) {
		json_object(&json);
		json_key_string(&json, "id", finding->id);
		json_key_string(&json, "group", tally_finding_group_name(finding->group));
		json_key_string(&json, "state", tally_finding_state_name(finding->state));
		json_key_string(&json, "found", finding->found);
		json_key_string(&json, "cost", finding->cost);
		json_key_string(&json, "remedy", finding->remedy);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	tally_buf_byte(&text, '\n');
	return tally_buf_put(&text, to);
}
