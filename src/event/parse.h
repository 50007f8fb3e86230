/* What the files of the parser share: parse.c cuts the string, parse_pmu.c knows PMUs' events. */
#ifndef TALLY_EVENT_PARSE_H
#define TALLY_EVENT_PARSE_H

#include "event/pmu.h"

struct parser {
	const char *text;
	size_t at;
	const struct tally_event_options *options;
	struct tally_event_context *context; /* see need_pmus() */
	struct tally_event_context *own;     /* the same, when it is this call's */
	struct event_items items;
	struct tally_error *error;
	bool unknown; /* what failed is a name that perf's grammar does not know */
	bool absent;  /* ... but the vendor's table, of a PMU that is not here */
};

int tally_word_shown(const struct event_word *word); /* how much of it a message shows */
int tally_parser_fail_memory(const struct parser *parser);
/* The PMUs of the machine, read when they are first needed. */
int tally_parser_need_pmus(struct parser *parser);
/* "/" [ terms ] "/", when one is there. */
int tally_parser_slashes(struct parser *parser, bool *ret_there, struct event_terms *ret);
/* As modifiers are written, or behind slashes without a colon. */
int tally_parser_modifiers(struct parser *parser, bool slashes, bool colon_too, bool may_be_empty,
			   struct event_word *ret);
/* Gives the events from `first` on their modifiers and names: as written, or, where that was a
 * glob, what it found. */
int tally_parser_finish(struct parser *parser, size_t first, const struct event_word *modifiers,
			size_t name_end, size_t name_start);
/* Adds the event, which is its own even on failure. */
int tally_parser_put(struct parser *parser, struct tally_event *event, int result);
/* An event that is no PMU's, with its terms. */
int tally_parser_add(struct parser *parser, const struct tally_attr *attr,
		     const struct event_terms *terms, enum tally_tool_event tool);
/* Makes the last event one of this core PMU, of several. */
int tally_parser_hybrid(struct parser *parser, const struct event_pmu *pmu);

/* --- group.c --- */
/* Makes the events from `first` on a group, or one for each of the PMUs that their names mean. */
int tally_parser_group(struct parser *parser, size_t first, const struct event_word *modifiers);

/* --- parse_pmu.c --- */
/* "PMU/terms/", or the name of an alias.  -ENOENT: it is none. */
int tally_parse_pmu_event(struct parser *parser, const struct event_word *word);
/* Says of a name of the vendor's table, which only PMUs have that are not here, which these are.
 * 1: it is none. */
int tally_parser_fail_absent(struct parser *parser, const struct event_word *word);

/* --- parse_pfm.c --- */
/* An event in libpfm4's language, from parser->at on; its name begins at `name_start`.  `asked`:
 * the person chose the language; else the kernel's own events in other spellings are none of it.
 * -ENOENT: there is no such event, or no libpfm4. */
int tally_parse_pfm_event(struct parser *parser, size_t name_start, bool asked);

/* --- probe.c --- */
/* Parses what follows "uprobe:" and its kin.  -EINVAL, -ENOMEM. */
int tally_parse_probe(struct parser *parser, const struct event_word *kind);
/* "sdt_PROVIDER:NAME", which no tracepoint is called.  1: it is none either. */
int tally_parse_marker(struct parser *parser, const struct event_word *system,
		       const struct event_word *name);

#endif
