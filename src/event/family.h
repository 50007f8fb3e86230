/* The families of events: each turns one kind of name into attrs; a file for each family.
 *
 * The parser (parse.c) splits a string into lists, groups, names and modifiers, and tries the
 * families in the order of tally_event_list_parse(). */
#ifndef TALLY_EVENT_FAMILY_H
#define TALLY_EVENT_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <tally/event.h>

/* A part of the string that is parsed; `text` is not NUL-terminated. */
struct event_word {
	const char *text;
	size_t length;
	size_t position; /* column of its first byte */
};

bool tally_word_is(const struct event_word *word, const char *text);

/* One event that is being made for the list. */
struct event_item {
	struct tally_event event;
	bool guest_given; /* a modifier G or H was written: u and p do not change exclude_guest */
	bool several;     /* its name means several uncore PMUs, of which this is one */
};

struct event_items { /* all zero is empty and valid */
	struct event_item *items;
	size_t count, room;
};
/* Adds an event with the attr and a copy of the name (`length` bytes); 0 or -ENOMEM. */
int tally_items_add(struct event_items *items, const struct tally_attr *attr, const char *name,
		    size_t length);
/* Adds the event itself, which is moved there on success. */
int tally_items_put(struct event_items *items, struct tally_event *event);
void tally_items_done(struct event_items *items);

#define EVENT_NAME_ROOM 64 /* of a listed name, with its NUL */

/* A form of names that are too many to be listed, "rNNN", and what it means. */
struct event_form {
	const char *text, *help;
	bool of_core; /* needs a PMU of the CPU's own */
};

/* What the parser, the way back to a name, the suggestions and `tally list` ask each family for.
 * To add one: doc/HOWTO-add-event-source.md. */
struct event_family {
	/* The attr of a name that is one word. 1; 0: it is not of this family; -EINVAL with the
	 * error's text. NULL: its names have several parts, which parse.c takes apart. */
	int (*find)(const struct event_word *word, struct tally_attr *ret,
		    struct tally_error *error);
	/* Behind the slashes of its terms, modifiers have no colon. */
	bool no_colon;
	/* snprintf()s the name of an attr, without modifiers; -1: it is not of this family, or has
	 * no name. NULL: none has. */
	int (*format)(const struct tally_attr *attr, const struct tally_event_options *options,
		      char *to, size_t room);
	/* Writes name number `index`, for `tally list` and for suggestions; false behind the last
	 * one.  Names for which `format` gives an earlier name are listed as its aliases.  NULL:
	 * there are none. */
	bool (*name)(size_t index, char to[EVENT_NAME_ROOM]);
	/* For `tally list`; the last one has no text.  NULL: there are none. */
	const struct event_form *forms;
};

/* In the order in which they are asked. What a family's file defines is tally_event_family_NAME. */
#define EVENT_FAMILIES(FAMILY) \
	FAMILY(generic)        \
	FAMILY(cache)          \
	FAMILY(tracepoint)     \
	FAMILY(raw)            \
	FAMILY(pmu)            \
	FAMILY(breakpoint)     \
	FAMILY(probe)

#define EVENT_FAMILY_DECLARE(name) extern const struct event_family tally_event_family_##name;
EVENT_FAMILIES(EVENT_FAMILY_DECLARE)
#undef EVENT_FAMILY_DECLARE
#define EVENT_FAMILY_AT(name) &tally_event_family_##name,

/* At most so much of a word is printed in a message. */
int tally_word_shown(const struct event_word *word);

/* --- generic.c: PERF_TYPE_HARDWARE and PERF_TYPE_SOFTWARE --- */
bool tally_generic_find(const struct event_word *word, struct tally_attr *ret);
enum tally_tool_event tally_generic_tool(const struct event_word *word);

/* --- cache.c: PERF_TYPE_HW_CACHE --- */
enum cache_answer { CACHE_NO, CACHE_YES, CACHE_IMPOSSIBLE };
/* CACHE_IMPOSSIBLE: the words are valid, but no CPU counts this combination. */
enum cache_answer tally_cache_find(const struct event_word *word, struct tally_attr *ret);
/* snprintf()s the canonical name; -1 for a config that has none. */
int tally_cache_format(uint64_t config, char *to, size_t room);

/* --- raw_code.c: rNNN and TYPE:CONFIG --- */
/* 1: it is one, 0: it is not, -ERANGE: it is, but has more than 64 bits. */
int tally_raw_find(const struct event_word *word, struct tally_attr *ret);
int tally_raw_number(const struct event_word *word, uint64_t *ret); /* decimal or 0x; as above */

/* --- breakpoint.c: PERF_TYPE_BREAKPOINT --- */
/* Parses what follows "mem:"; `*at` is moved behind it, or to the colon before its modifiers. */
int tally_breakpoint_parse(const char *text, size_t *at, struct tally_attr *ret,
			   struct tally_error *error);
/* snprintf()s the name; -1 for an attr that has none. */
int tally_breakpoint_format(const struct tally_attr *attr, char *to, size_t room);

/* --- tracepoint.c: PERF_TYPE_TRACEPOINT --- */
/* The folder that contains events/, into `to`; -ENOENT: none, -EACCES: not readable. */
int tally_tracefs_find(const struct tally_event_options *options, char *to, size_t room);
/* Adds an event for each tracepoint that the two names or globs match, in ascending order. */
int tally_tracepoint_add(const struct event_word *system, const struct event_word *name,
			 const struct tally_event_options *options, struct event_items *items,
			 struct tally_error *error);
/* snprintf()s "system:name" of an id; -1 when no tracepoint has it. */
int tally_tracepoint_format(uint64_t id, const struct tally_event_options *options, char *to,
			    size_t room);

/* --- probe_words.c: places in code --- */
/* Whether a word before a colon begins a probe: uprobe, uretprobe, usdt, kprobe, kretprobe. */
bool tally_probe_begins(const struct event_word *word);

/* --- modifier.c --- */
/* Applies modifiers as written behind an event, or, with `group`, behind the } of its group. Does
 * not change the name. `leader`: it leads its group. -EINVAL. */
int tally_modifier_apply(struct event_item *item, const struct event_word *modifiers, bool group,
			 bool leader, struct tally_error *error);
/* Whether all letters are modifiers. */
bool tally_modifier_looks_like(const struct event_word *word);
/* The letters by which an attr differs from one without modifiers, "upp"; at most 16 bytes with
 * NUL. */
void tally_modifier_format(const struct tally_attr *attr, char to[16]);

#endif
