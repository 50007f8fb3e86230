/* An entry of the catalogue as JSON.  Grammar: RFC 8259; bytes that are no UTF-8 become U+FFFD. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <tally/catalog.h>
#include "base/buf.h"
#include "base/text.h"

static void add_string(struct tally_buf *to, const char *text)
{
	const uint8_t *at = (const uint8_t *)text;
	size_t left = strlen(text);

	tally_buf_byte(to, '"');
	while (left) {
		size_t length = tally_text_utf8(at, left);

		if (*at == '"' || *at == '\\') {
			tally_buf_byte(to, '\\');
			tally_buf_byte(to, *at);
		} else if (*at < 0x20 || *at == 0x7f) {
			tally_buf_printf(to, "\\u%04x", *at);
		} else if (length) {
			tally_buf_add(to, at, length);
		} else {
			tally_buf_text(to, "\\ufffd");
		}
		length = length ? length : 1;
		at += length;
		left -= length;
	}
	tally_buf_byte(to, '"');
}

static void add_text(struct tally_buf *to, const char *key, const char *text)
{
	if (!text)
		return;
	tally_buf_printf(to, ",\"%s\":", key);
	add_string(to, text);
}

int tally_catalog_entry_json(const struct tally_catalog_entry *entry, FILE *to)
{
	static const char *const kinds[TALLY_CATALOG_KINDS] = {
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
	int result = 0;

	tally_buf_printf(&buf, "{\"kind\":\"%s\",\"name\":", kinds[entry->kind]);
	add_string(&buf, entry->name);
	tally_buf_printf(&buf, ",\"supported\":%s", entry->supported ? "true" : "false");
	if (entry->deprecated)
		tally_buf_text(&buf, ",\"deprecated\":true");
	if (entry->per_package)
		tally_buf_text(&buf, ",\"per_package\":true");
	add_text(&buf, "alias", entry->also);
	add_text(&buf, "pmu", entry->pmu);
	add_text(&buf, "topic", entry->topic);
	add_text(&buf, "description", entry->brief);
	add_text(&buf, "long_description", entry->details);
	add_text(&buf, "terms", entry->terms);
	add_text(&buf, "unit", entry->unit);
	if (entry->scale != 1 && isfinite(entry->scale))
		tally_buf_printf(&buf, ",\"scale\":%.17g", entry->scale);
	add_text(&buf, "groups", entry->groups);
	add_text(&buf, "expression", entry->expression);
	tally_buf_byte(&buf, '}');
	if (buf.failed)
		result = -ENOMEM;
	else if (fwrite(buf.data, 1, buf.size, to) != buf.size)
		result = errno ? -errno : -EIO;
	tally_buf_done(&buf);
	return result;
}
