/* An entry of the catalogue as JSON. */
#include <errno.h>
#include <math.h>
#include <tally/catalog.h>
#include "base/json.h"

static void add_text(struct json *json, const char *key, const char *text)
{
	if (text)
		json_key_string(json, key, text);
}

int tally_catalog_entry_json(const struct tally_catalog_entry *entry, FILE *to)
{
	static const char kinds[TALLY_CATALOG_KINDS][12] = {
	    [TALLY_CATALOG_HARDWARE] = "hardware",
	    [TALLY_CATALOG_SOFTWARE] = "software",
	    [TALLY_CATALOG_CACHE] = "cache",
	    [TALLY_CATALOG_TOOL] = "tool",
	    [TALLY_CATALOG_PMU] = "pmu",
	    [TALLY_CATALOG_VENDOR] = "vendor",
	    [TALLY_CATALOG_METRIC] = "metric",
	    [TALLY_CATALOG_RAW] = "raw",
	    [TALLY_CATALOG_TRACEPOINT] = "tracepoint",
	    [TALLY_CATALOG_MARKER] = "marker",
	};
	struct tally_buf buf = {0};
	struct json json = {.to = &buf};
	int result = 0;

	json_object(&json);
	json_key_string(&json, "kind", kinds[entry->kind]);
	json_key_string(&json, "name", entry->name);
	json_key_bool(&json, "supported", entry->supported);
	if (entry->deprecated)
		json_key_bool(&json, "deprecated", true);
	if (entry->per_package)
		json_key_bool(&json, "per_package", true);
	add_text(&json, "alias", entry->also);
	add_text(&json, "pmu", entry->pmu);
	add_text(&json, "topic", entry->topic);
	add_text(&json, "description", entry->brief);
	add_text(&json, "long_description", entry->details);
	add_text(&json, "terms", entry->terms);
	add_text(&json, "unit", entry->unit);
	if (entry->scale != 1 && isfinite(entry->scale)) {
		json_key(&json, "scale");
		json_double(&json, entry->scale);
	}
	add_text(&json, "groups", entry->groups);
	add_text(&json, "expression", entry->expression);
	json_object_end(&json);
	if (buf.failed)
		result = -ENOMEM;
	else if (fwrite(buf.data, 1, buf.size, to) != buf.size)
		result = errno ? -errno : -EIO;
	tally_buf_done(&buf);
	return result;
}
