/* The field srccode: a line of the source. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/bytes.h"
#include "resolve/lines.h"
#include "resolve/resolver.h"
#include "script/script_state.h"
#include "session/session.h"

/* Of an archived recording the files of this machine may be others, which nothing proves: only
 * those that --symfs names are shown. */
static bool may_show(const struct script *script)
{
	const char *symfs = script->session->options.symfs;

	return !script->session->tables.debug_dirs.places.recording || (symfs && *symfs);
}

int tally_script_source_init(struct script *script)
{
	if (!may_show(script))
		return 0;
	for (size_t i = 0; i < script->event_count; i++) {
		if (!(script->events[i].fields & SCRIPT_FIELD(SRCCODE)) || script->sources)
			continue;
		script->sources = calloc(1, sizeof(*script->sources));
		if (!script->sources)
			return -ENOMEM;
		script->sources->before = script->session->options.symfs;
	}
	return 0;
}

void tally_script_source_done(struct script *script)
{
	if (script->sources)
		tally_source_files_done(script->sources);
	free(script->sources);
	tally_map_done(&script->source_shown);
}

/* Escaped like all text from files, but tabs are what sources are indented with. */
static void put_text(const struct script *script, struct tally_buf *to, const char *text,
		     size_t length)
{
	while (length) {
		const char *tab = memchr(text, '\t', length);
		size_t part = tab ? (size_t)(tab - text) : length;
		char *copy = part ? strndup(text, part) : NULL;

		if (copy)
			tally_script_name_put(script, to, copy);
		free(copy);
		if (!tab)
			return;
		tally_buf_byte(to, '\t');
		text += part + 1;
		length -= part + 1;
	}
}

/* A thread's line is not shown again until it was in another one, as in perf. */
int tally_script_source_put(const struct script_out *out, uint8_t mode, uint64_t addr)
{
	struct script *script = out->script;
	uint64_t thread = (uint64_t)out->at->sample.pid << 32 | out->at->sample.tid, is;
	struct tally_located located;
	struct tally_line line;
	uint64_t *shown;
	const char *text;
	size_t length;
	bool added;
	int result;

	if (!script->sources)
		return 0;
	result = tally_resolver_locate(out->resolver, out->at, mode, addr, &located);

	if (!result)
		result = tally_resolver_line(out->resolver, &located, &line);
	if (result || !line.line)
		return result == -ENOMEM ? result : 0;
	is = hash_mix(tally_hash_bytes(line.file, strlen(line.file)), line.line);
	shown = tally_map_put(&script->source_shown, thread, &added);
	if (!shown)
		return -ENOMEM;
	if (*shown == is ||
	    !tally_source_files_line(script->sources, line.file, line.line, &text, &length))
		return 0;
	*shown = is;
	tally_buf_printf(out->to, "|%-8u ", line.line);
	put_text(script, out->to, text, length);
	tally_buf_byte(out->to, '\n');
	return 0;
}
