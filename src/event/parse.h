/* For the files of the parser: parse.c splits the string, parse_pmu.c has the events of PMUs. */
#ifndef TALLY_EVENT_PARSE_H
#define TALLY_EVENT_PARSE_H

#include "event/pmu.h"

struct parser {
	const char *text;
	size_t at;
	const struct tally_event_options *options;
	struct tally_event_context *context; /* see tally_parser_need_pmus() */
	struct tally_event_context *own;     /* the same, if this call made it */
	struct event_items items;
	struct tally_error *error;
	bool unknown; /* the error is an unknown name */
	bool absent; /* the error is an event of the vendor's table, of a PMU that this machine does
			not have */
};

int tally_parser_fail_memory(const struct parser *parser);
/* The machine's PMUs, read at the first use. */
int tally_parser_need_pmus(struct parser *parser);
/* "/" [ terms ] "/", if there is one. */
int tally_parser_slashes(struct parser *parser, bool *ret_there, struct event_terms *ret);
/* Modifiers behind a colon, or behind slashes without a colon. */
int tally_parser_modifiers(struct parser *parser, bool slashes, bool colon_too, bool may_be_empty,
			   struct event_word *ret);
/* Sets the modifiers and names of the events from `first` on: the name as written, or, for a glob,
 * the one that was found. */
int tally_parser_finish(struct parser *parser, size_t first, const struct event_word *modifiers,
			size_t name_end, size_t name_start);
/* Adds the event and takes ownership, also on failure. */
int tally_parser_put(struct parser *parser, struct tally_event *event, int result);
/* An event of no PMU, with its terms. */
int tally_parser_add(struct parser *parser, const struct tally_attr *attr,
		     const struct event_terms *terms, enum tally_tool_event tool);
/* Makes the last event one of this core PMU, one of several. */
int tally_parser_hybrid(struct parser *parser, const struct event_pmu *pmu);

/* --- group.c --- */
/* Makes the events from `first` on a group, or a group for each of the PMUs that their names mean.
 */
int tally_parser_group(struct parser *parser, size_t first, const struct event_word *modifiers);

/* --- parse_pmu.c --- */
/* "PMU/terms/", or the name of an alias. -ENOENT: it is not one. */
int tally_parse_pmu_event(struct parser *parser, const struct event_word *word);
/* The error for a name of the vendor's table whose PMUs this machine does not have. 1: it is not
 * such a name. */
int tally_parser_fail_absent(struct parser *parser, const struct event_word *word);

/* --- parse_pfm.c --- */
/* An event in libpfm4's language, from parser->at on; its name begins at `name_start`. `asked`: the
 * person chose the language; else spellings of the kernel's own events are not accepted. -ENOENT:
 * there is no such event, or no libpfm4. */
int tally_parse_pfm_event(struct parser *parser, size_t name_start, bool asked);

/* --- probe_words.c --- */
/* Parses what follows "uprobe:" and similar words. -EINVAL, -ENOMEM. */
int tally_parse_probe(struct parser *parser, const struct event_word *kind);
/* "sdt_PROVIDER:NAME", when no tracepoint has that name. 1: it is not such a name. */
int tally_parse_marker(struct parser *parser, const struct event_word *system,
		       const struct event_word *name);

#endif
