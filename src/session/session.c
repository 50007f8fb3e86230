#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/table.h"
#include "image/image.h"
#include "session/run.h"
#include "source/live_windows.h"

/* Frames of a chain: more than this is no stack. */
#define UNWIND_MOST 65536U

static int keep_text(struct tally_session *session, const char **text)
{
	if (*text)
		*text = tally_arena_strndup(&session->arena, *text, strlen(*text));
	return *text ? 0 : -ENOMEM;
}

static int take_options(struct tally_session *session, const struct tally_session_options *options,
			struct tally_error *error)
{
	struct tally_session_options *own = &session->options;
	int result = tally_options_take(own, sizeof(*own), options);

	if (result)
		return tally_fail(error, result, -1,
				  "an option of the session is not known to this libtally; use a "
				  "newer one");
	if ((own->symfs && keep_text(session, &own->symfs)) ||
	    (own->kallsyms && keep_text(session, &own->kallsyms)) ||
	    (own->vmlinux && keep_text(session, &own->vmlinux)) ||
	    (own->build_id_dir && keep_text(session, &own->build_id_dir)))
		return -ENOMEM;
	return 0;
}

int tally_session_new(struct tally_data *data, const struct tally_session_options *options,
		      struct tally_session **ret, struct tally_error *error)
{
	struct tally_session *session = table_apart(1, sizeof(*session));
	struct tally_error facts = {0};
	int result;

	if (!session)
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", tally_data_path(data));
	result = take_options(session, options, &facts);
	if (!result)
		result = tally_source_init(&session->source, data, &session->options, &facts);
	if (!result)
		result = tally_resolve_tables_init(&session->tables, &session->source,
						   &session->options, &facts);
	if (result < 0) {
		if (facts.code)
			result = tally_fail(error, result, facts.position, "%s", facts.text);
		else
			result = tally_fail(error, result, -1, "%s: %s", tally_data_path(data),
					    result == -ENOMEM ? "out of memory for its processes"
							      : strerror(-result));
		tally_session_free(session);
		return result;
	}
	*ret = session;
	return 0;
}

void tally_session_free(struct tally_session *session)
{
	if (!session)
		return;
	tally_resolve_tables_done(&session->tables);
	tally_source_done(&session->source);
	free(session->left_out);
	tally_arena_done(&session->arena);
	free(session);
}

int tally_session_window(struct tally_session *session, uint64_t *ret_passed,
			 struct tally_error *error)
{
	struct source_window window;
	int result = tally_source_window(&session->source, &window, error);

	if (result <= 0)
		return result;
	/* Compilers that work at run time add to their maps without mapping anything. */
	result = window.renewed ? tally_resolve_tables_renew(&session->tables)
				: tally_image_store_read_on(session->tables.images);
	if (result)
		return source_failed(&session->source, result, error);
	*ret_passed = window.passed;
	return 1;
}

struct tally_data *tally_session_data(const struct tally_session *session)
{
	return session->source.data;
}

const struct tally_session_counts *tally_session_counts(const struct tally_session *session)
{
	return &session->source.counts;
}

uint64_t tally_session_event_samples(const struct tally_session *session, size_t event)
{
	return event < session->source.event_count ? session->source.event_samples[event] : 0;
}

void tally_session_unwind_most(struct tally_session *session, uint32_t frames)
{
	session->tables.unwind_most = frames < UNWIND_MOST ? frames : UNWIND_MOST;
}

void tally_session_stack_most(struct tally_session *session, uint32_t frames)
{
	session->stack_most = frames;
}

unsigned tally_session_threads(const struct tally_session *session)
{
	return session->source.threads;
}

bool tally_session_interrupted(const struct tally_session *session)
{
	return source_progress(&session->source, session->source.total_bytes);
}
