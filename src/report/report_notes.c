#include "report/report_notes.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <tally/report.h>
#include "base/cell.h"
#include "report/cut_chains.h"
#include "report/improbable.h"
#include "report/nameless.h"
#include "profile/chain_ends.h"
#include "profile/profile.h"
#include "session/numbers.h"

/* How the name of a thread's anonymous code begins. */
static void put_image(const struct tally_session *session, const struct nameless *nameless,
		      const struct nameless_image *image, struct tally_buf *to)
{
	uint64_t share = tally_cell_share(image->period, nameless->total);

	if (image->image == UINT32_MAX) {
		tally_buf_text(to, "# No kernel symbols, ");
		tally_cell_percent(to, share);
		tally_buf_text(to, ": ");
		tally_cell_name(to, image->facts.why);
	} else {
		tally_buf_text(to, "# No symbols, ");
		tally_cell_percent(to, share);
		tally_buf_text(to, ": ");
		tally_cell_name(to, image->facts.name);
		if (image->package || image->facts.build_id_size) {
			tally_buf_text(to, " (");
			tally_nameless_where(image, to);
			tally_buf_byte(to, ')');
		} else if (tally_session_image_is_made(session, image->image)) {
			tally_buf_text(to, " (");
			tally_nameless_advise(session, to);
			tally_buf_byte(to, ')');
		}
	}
	tally_buf_byte(to, '\n');
}

static int put_nameless(const struct tally_profile *profile, size_t event, struct tally_buf *to)
{
	const struct tally_session *session = tally_profile_session(profile);
	struct nameless nameless;
	int result = tally_nameless_find(profile, event, false, &nameless);
	size_t left;

	for (size_t i = 0; i < nameless.count && !result; i++)
		put_image(session, &nameless, &nameless.images[i], to);
	left = nameless.count ? tally_session_symbols_left(session) : 0;
	if (left)
		tally_buf_printf(to,
				 "# The recording has names of %zu file%s; see them with "
				 "--recorded-symbols\n",
				 left, left == 1 ? "" : "s");
	tally_nameless_done(&nameless);
	return result;
}

static void put_chains(const struct tally_profile *profile, size_t event, struct tally_buf *to)
{
	const struct tally_session *session = tally_profile_session(profile);
	const struct tally_attr *attr = &tally_data_event(tally_session_data(session), event)->attr;
	struct tally_chain_ends ends;
	struct cut_chains cut;
	uint64_t share;

	/* The calls that a processor keeps are only a part of each chain anyway. */
	if (profile->branch_history || attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return;
	tally_profile_chain_ends(profile, event, &ends);
	share = tally_cell_share(ends.cut, ends.all);
	if (share < CUT_CHAINS_LEAST)
		return;
	cut = tally_cut_chains(tally_session_data(session), event);
	if (cut.few)
		return;
	tally_buf_text(to, "# Cut call chains, ");
	tally_cell_percent(to, share);
	tally_buf_printf(to, ": they end before the start of their thread%s%s; %s\n",
			 cut.where ? ", " : "", cut.where ? cut.where : "", cut.remedy);
}

static void put_improbable(const struct tally_profile *profile, size_t event, struct tally_buf *to)
{
	const struct tally_data *data = tally_session_data(profile->session);
	const struct tally_rows *rows = &profile->rows;
	struct tally_profile_event of = {.size = sizeof(of)};
	uint64_t periods = 0;

	tally_profile_event(profile, event, &of);
	if (of.total <= IMPROBABLE_ABOVE)
		return;
	for (uint32_t i = rows->event_first[event]; i < rows->event_first[event + 1]; i++) {
		const struct tally_row *row = &rows->list[i];

		if (report_improbable(&tally_data_event(data, event)->attr, row->self,
				      row->samples))
			periods += row->self;
	}
	if (tally_cell_share(periods, of.total) < IMPROBABLE_LEAST)
		return;
	tally_buf_text(to, "# Improbable counts, at least ");
	tally_cell_percent(to, tally_cell_share(periods, of.total));
	tally_buf_printf(to,
			 ": " IMPROBABLE_WHAT ", by a fault of the kernel or damage; "
			 "--filter 'period <= %llu' leaves them out\n",
			 IMPROBABLE_ABOVE);
}

int tally_report_notes(const struct tally_profile *profile, size_t event, struct tally_buf *to)
{
	int result = put_nameless(profile, event, to);

	put_improbable(profile, event, to);
	if (!result)
		put_chains(profile, event, to);
	return result ? result : to->failed;
}

/* Adds the path and the reason; most reasons begin with the path. */
static void put_why(const struct nameless_image *image, struct tally_buf *to)
{
	const char *path = image->facts.path ? image->facts.path : "[kernel.kallsyms]";

	if (strncmp(image->facts.why, path, strlen(path)) != 0) {
		tally_cell_name(to, path);
		tally_buf_text(to, ": ");
	}
	tally_cell_name(to, image->facts.why);
}

int tally_report_nameless(const struct tally_profile *profile, FILE *to)
{
	struct tally_buf text = {0};
	int result = 0, lines = 0;

	for (size_t event = 0; event < tally_profile_event_count(profile) && !result; event++) {
		struct nameless nameless;

		result = tally_nameless_find(profile, event, true, &nameless);
		for (size_t i = 0; i < nameless.count && !result; i++, lines++) {
			const struct nameless_image *image = &nameless.images[i];

			tally_cell_percent(&text, tally_cell_share(image->period, nameless.total));
			tally_buf_text(&text, "  ");
			put_why(image, &text);
			if (image->package) {
				tally_buf_text(&text, "; ");
				tally_nameless_where(image, &text);
				tally_buf_text(&text, " has its symbols");
			}
			tally_buf_byte(&text, '\n');
		}
		tally_nameless_done(&nameless);
	}
	result = result ? result : text.failed ? text.failed : lines;
	errno = 0;
	if (result > 0 && fwrite(text.data, 1, text.size, to) != text.size)
		result = errno ? -errno : -EIO;
	tally_buf_done(&text);
	return result;
}
