/* `tally report --flame` and `--svg`: the call trees as a flame graph, in characters or as an SVG.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/page.h>
#include <tally/profile.h>
#include <tally/text.h>
#include "browser.h"
#include "colour_option.h"
#include "command.h"
#include "pager.h"
#include "recording.h"
#include "report_options.h"
#include "terminal.h"

#define SVG_NAME    "flame.svg"
#define WIDTH_USUAL 120U
#define WIDTH_LEAST 20U
#define SHARE_ROOM  9U /* a name and a share with less room would both be unreadable */
#define NAME_LEAST  3U

/* All stacks as the tree of one row. */
static int make_stacks(struct tally_session *session, struct tally_profile_options *options,
		       struct tally_profile **ret, struct tally_error *error)
{
	options->keys = NULL;
	options->key_count = 0;
	options->callchains = true;
	options->children = false;
	options->tree_least = 0;
	return tally_profile_new(session, options, ret, error);
}

/* --- in characters --- */

/* Columns of text in UTF-8. */
static unsigned columns_of(const char *text)
{
	unsigned columns = 0;

	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

static const char *colour_of(const struct browser_block *block, const struct tally_frame *frame)
{
	return frame->level == 'k' || frame->level == 'g' ? "\033[30;46m"
	       : block->id >> 7 & 1                       ? "\033[30;103m"
							  : "\033[30;43m";
}

/* A block is as wide as its share: "[name   12.3%]", "|" where there is one column only. */
static void print_block(const struct browser *browser, const struct browser_block *block,
			bool colour, FILE *to)
{
	const struct tally_tree_node *node = &browser->flame.tree.nodes[block->node];
	double whole =
	    browser->flame.tree.nodes[0].total ? (double)browser->flame.tree.nodes[0].total : 1;
	unsigned room = block->width > 2 ? block->width - 2 : 0, used;
	char name[1024] = "", share[16] = "";

	if (room >= NAME_LEAST + SHARE_ROOM)
		snprintf(share, sizeof(share), " %.2f%%", 100 * (double)node->total / whole);
	if (room >= NAME_LEAST)
		browser_frame_text(&node->frame, room - (unsigned)strlen(share), name,
				   sizeof(name));
	used = columns_of(name) + (unsigned)strlen(share);
	if (used > room) { /* no shorter form fits */
		*name = *share = 0;
		used = 0;
	}
	if (colour)
		fputs(colour_of(block, &node->frame), to);
	if (block->width == 1)
		fputc(colour ? ' ' : '|', to);
	else
		fprintf(to, "%c%s%*s%s%c", colour ? ' ' : '[', name, (int)(room - used), "", share,
			colour ? ' ' : ']');
	if (colour)
		fputs("\033[0m", to);
}

static void print_blocks(const struct browser *browser, bool colour, FILE *to)
{
	const struct browser_flame *flame = &browser->flame;
	unsigned depth = 0, column = 0;

	for (size_t i = 0; i < flame->block_count; i++) {
		const struct browser_block *block = &flame->blocks[i];

		for (; depth < block->depth; depth++) {
			fputc('\n', to);
			column = 0;
		}
		fprintf(to, "%*s", (int)(block->column - column), "");
		print_block(browser, block, colour, to);
		column = block->column + block->width;
	}
	fputc('\n', to);
}

/* One graph for each event that has samples.  0, -ENODATA: none has stacks; -ENOMEM. */
static int print_events(const struct report *report, struct tally_profile *profile, bool colour,
			unsigned width, FILE *to)
{
	const struct tally_data *data = tally_session_data(tally_profile_session(profile));
	struct tally_profile_event event = {.size = sizeof(event)};
	size_t printed = 0;
	int result = 0;

	for (size_t i = 0; !result && !tally_profile_event(profile, i, &event); i++) {
		struct browser browser = {.profile = profile, .event = i};
		char name[512], width_is[32];

		if (!event.samples)
			continue;
		result = browser_flame_make(&browser);
		if (!result)
			result = browser_flame_place(&browser, width);
		if (!result && browser.flame.block_count) {
			tally_text_escape(event.name, name, sizeof(name));
			tally_page_amount(tally_data_event(data, i),
					  browser.flame.tree.nodes[0].total, width_is,
					  sizeof(width_is));
			if (!report->quiet)
				fprintf(to,
					"%s# Event '%s': %" PRIu64 " samples; the width is %s\n",
					printed ? "\n" : "", name, event.samples, width_is);
			print_blocks(&browser, colour, to);
			printed++;
		}
		browser_flame_done(&browser.flame);
		free(browser.flame.blocks);
	}
	return result ? result : printed ? 0 : -ENODATA;
}

static int print_flame(const struct report *report, struct tally_profile *profile,
		       struct tally_error *error)
{
	bool colour = cli_colour_wanted(report->colour, cli_term_colour());
	unsigned width = cli_term_width();
	struct cli_pager pager;
	int result;

	width = !width ? WIDTH_USUAL : width < WIDTH_LEAST ? WIDTH_LEAST : width;
	cli_pager_start(&pager);
	result = print_events(report, profile, colour, width, stdout);
	cli_pager_finish(&pager);
	if (result == -ENODATA)
		return cli_refuse(error, "no samples with call stacks; record them with "
					 "`tally record -g`");
	return result == -ENOMEM ? cli_refuse(error, "not enough memory for the flame graph") : 0;
}

/* --- as an SVG --- */

static int write_svg(const struct report *report, const struct tally_profile *profile,
		     struct tally_error *error)
{
	struct tally_page_options page = {.size = sizeof(page)};
	char *path =
	    cli_recording_beside(*report->svg ? report->svg : NULL, report->input, SVG_NAME);
	bool stream = path && !strcmp(path, "-");
	uint64_t size = 0;
	int result;

	if (!path)
		return cli_refuse(error, "not enough memory for the flame graph");
	page.to = stream ? stdout : NULL;
	result = tally_page_write_svg(profile, &page, path, &size, error);
	if (!result && !stream)
		cli_say("report", "%s: %.0f kB, for a browser", path, (double)size / 1e3);
	free(path);
	return result == -EPIPE && stream ? 0 : result;
}

int report_flame_write(const struct report *report, struct tally_session *session,
		       struct tally_profile_options *options, struct cli_progress *progress)
{
	struct tally_profile *profile = NULL;
	struct tally_error error = {0};
	int result = make_stacks(session, options, &profile, &error);

	cli_progress_done(progress);
	if (!result)
		result = report->svg ? write_svg(report, profile, &error)
				     : print_flame(report, profile, &error);
	tally_profile_free(profile);
	if (!result)
		return CLI_OK;
	return cli_dlfilters_interrupted() ? CLI_FAILED : cli_say_error("report", &error);
}
