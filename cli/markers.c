#include "markers.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/probe.h>
#include <unistd.h>
#include "array.h"
#include "command.h"
#include "say.h"

static const char *keep(struct cli_markers *markers, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A text that lives as long as the markers; NULL: out of memory. */
static const char *keep(struct cli_markers *markers, const char *format, ...)
{
	va_list list;
	char *text;
	int length;

	if (!cli_array_next(&markers->texts, &markers->text_room, markers->text_count,
			    sizeof(*markers->texts)))
		return NULL;
	va_start(list, format);
	length = vasprintf(&text, format, list);
	va_end(list);
	if (length < 0)
		return NULL;
	return markers->texts[markers->text_count++] = text;
}

static const char *place_of(struct cli_markers *markers, const char *before,
			    const struct tally_sdt_marker *marker)
{
	const char *arguments = *marker->arguments ? " " : "";

	return keep(markers, "%s%s%#llx%s%s", before ? before : "", before ? "; " : "",
		    (unsigned long long)marker->offset, arguments, marker->arguments);
}

/* One entry for each name; its places are in `terms`. */
static bool add(struct cli_markers *markers, const char *program, bool supported,
		const struct tally_sdt_marker *marker)
{
	struct tally_catalog_entry *last =
	    markers->count ? &markers->entries[markers->count - 1] : NULL;
	const char *name = keep(markers, "sdt_%s:%s", marker->provider, marker->name);

	if (!name)
		return false;
	if (last && last->topic == program && !strcmp(last->name, name)) {
		last->terms = place_of(markers, last->terms, marker);
		return last->terms;
	}
	if (!cli_array_next(&markers->entries, &markers->room, markers->count,
			    sizeof(*markers->entries)))
		return false;
	markers->entries[markers->count] = (struct tally_catalog_entry){
	    .kind = TALLY_CATALOG_MARKER,
	    .supported = supported,
	    .name = name,
	    .topic = program,
	    .terms = place_of(markers, NULL, marker),
	    .scale = 1,
	};
	return markers->entries[markers->count++].terms;
}

static int read_program(struct cli_markers *markers, const char *path, bool supported, bool asked)
{
	const struct tally_sdt_marker *marker;
	const char *program;
	struct tally_error error;
	struct tally_sdt *sdt;
	bool fine;

	if (tally_sdt_open(path, &sdt, &error))
		return asked ? cli_say_error("list", &error) : CLI_OK;
	program = keep(markers, "%s", path);
	fine = program;
	for (size_t i = 0; fine && (marker = tally_sdt_at(sdt, i)); i++)
		fine = add(markers, program, supported, marker);
	tally_sdt_close(sdt);
	if (!fine)
		cli_say("list", "out of memory");
	return fine ? CLI_OK : CLI_FAILED;
}

int cli_markers_read(struct cli_markers *markers, const char *const *programs, size_t count,
		     const char *sysfs)
{
	const struct tally_probe_options running = {.size = sizeof(running), .system_wide = true};
	int status = CLI_OK;
	char path[4096], **paths;
	bool supported;

	snprintf(path, sizeof(path), "%s/bus/event_source/devices/uprobe/type",
		 sysfs ? sysfs : "/sys");
	supported = !access(path, R_OK);
	for (size_t i = 0; i < count && status == CLI_OK; i++)
		status = read_program(markers, programs[i], supported, true);
	if (programs && count)
		return status;
	if (tally_probe_programs(&running, &paths, &count)) {
		cli_say("list", "out of memory");
		return CLI_FAILED;
	}
	for (size_t i = 0; i < count && status == CLI_OK; i++)
		status = read_program(markers, paths[i], supported, false);
	free(paths);
	return status;
}

void cli_markers_done(struct cli_markers *markers)
{
	for (size_t i = 0; i < markers->text_count; i++)
		free(markers->texts[i]);
	free(markers->texts);
	free(markers->entries);
	*markers = (struct cli_markers){0};
}
