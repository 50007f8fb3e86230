/* The tables of the page that sums of samples lead to: texts, images, functions, stacks, threads,
 * events, and the samples themselves.  doc/PAGE-DATA.md describes each. */
#ifndef TALLY_PAGE_PAGE_TABLES_H
#define TALLY_PAGE_PAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/session.h>
#include "base/map.h"
#include "page/page_columns.h"
#include "profile/call_sums.h"
#include "profile/contexts.h"
#include "profile/places.h"

#define PAGE_NONE UINT32_MAX
#define PAGE_UNIT 1000U /* ns of a unit of time */

/* Of an image, and of a function. */
enum page_kind { PAGE_KIND_USER, PAGE_KIND_KERNEL, PAGE_KIND_MADE, PAGE_KIND_UNKNOWN };

struct page_image {
	uint32_t name, path, build_id; /* strings */
	uint8_t kind;
};

struct page_function {
	uint32_t name, image, file, line;
	uint32_t frame; /* the session's; not in the page */
	uint8_t kind, inlined;
};

struct page_node {
	uint32_t parent, function;
	uint8_t inlined, hidden;
	uint8_t shared; /* several stacks of the session may lead here */
};

enum page_event_kind { PAGE_EVENT_ON_CPU, PAGE_EVENT_OFF_CPU, PAGE_EVENT_OTHER };

struct page_event {
	uint32_t name, unit;
	uint8_t kind;
	/* Of the summary. */
	uint64_t samples, weight, unknown, lost, throttled;
};

struct page_thread {
	uint32_t pid, tid, comm, recording;
	uint64_t first, last;
};

struct page_sample {
	uint64_t time, weight;
	uint32_t thread, cpu, event, node, count;
};

struct page_tables { /* all zero is empty and valid */
	struct tally_strings strings;
	struct page_image *images;
	struct page_function *functions;
	struct page_node *nodes;
	struct page_event *events;
	struct page_thread *threads;
	struct page_sample *samples;
	uint32_t image_count, image_room, function_count, function_room, node_count, node_room,
	    thread_count, thread_room;
	uint32_t event_count, sample_count, sample_room;
	uint64_t step;       /* ns within which equal samples are one */
	uint64_t start, end; /* ns of the recording's clock; both 0: times are unknown */
};

/* Makes the tables' first rows.  0 or -ENOMEM. */
int tally_page_tables_init(struct page_tables *tables);
void tally_page_tables_done(struct page_tables *tables);
void tally_page_tables_columns(const struct page_tables *tables, struct page_columns *ret);

/* The number of a string; NULL: the empty one.  -ENOMEM. */
int64_t tally_page_string(struct page_tables *tables, const char *text);

/* page_events.c: the events of the session's data.  0 or -ENOMEM. */
int tally_page_events_make(struct page_tables *tables, const struct tally_session *session);

/* Functions by the place of a frame (profile/places.h). */
struct page_functions {
	struct page_tables *tables;
	const struct tally_session *session;
	struct tally_places places;
	uint32_t *of_frame; /* by frame: function + 1; 0: not made yet */
	uint8_t *shared;    /* by frame that stands for a place: others do, too */
	uint32_t *of_dso;   /* by number of a short name: image + 1 */
};

/* page_functions.c.  0 or -ENOMEM; to be given back in either case. */
int tally_page_functions_init(struct page_functions *functions, struct page_tables *tables,
			      const struct tally_session *session);
void tally_page_functions_done(struct page_functions *functions);
/* The number of the function of a frame, or -ENOMEM. */
int64_t tally_page_function(struct page_functions *functions, uint32_t frame);

/* page_stacks.c: the nodes of the tree of stacks.  0 or -ENOMEM; to be given back in either
 * case. */
struct page_stacks {
	struct page_functions *functions;
	struct tally_map known; /* parent, function and hidden -> node, of those that are shared */
	uint32_t *of_stack;     /* by stack of the session: node; 0: not made yet */
	uint32_t *path;
	uint32_t path_room;
};
int tally_page_stacks_init(struct page_stacks *stacks, struct page_functions *functions);
void tally_page_stacks_done(struct page_stacks *stacks);
/* The node of a sample, which is its leaf; -ENOMEM. */
int64_t tally_page_stack(struct page_stacks *stacks, uint32_t stack, uint32_t frame);

/* When all nodes are made: gives them better numbers, and the same to those in `nodes`.  0 or
 * -ENOMEM. */
int tally_page_stacks_order(struct page_stacks *stacks, uint32_t *nodes, uint32_t count);

/* The keys of the sums, in this order.  The last has no values: sums have frames because of it,
 * also where there are no call chains. */
enum page_key {
	PAGE_KEY_COMM,
	PAGE_KEY_PID,
	PAGE_KEY_TID,
	PAGE_KEY_CPU,
	PAGE_KEY_TIME,
	PAGE_KEY_SYMBOL,
	PAGE_KEYS,
};
extern const char *const tally_page_keys[PAGE_KEYS];

/* page_samples.c: chooses the steps of time before the samples are read. */
void tally_page_samples_plan(struct page_tables *tables, const struct tally_session *session);
/* Makes samples and threads of the sums, whose contexts have values of tally_page_keys.  Steps
 * become larger if there are too many samples.  0 or -ENOMEM. */
int tally_page_samples_make(struct page_tables *tables, struct page_stacks *stacks,
			    const struct tally_contexts *contexts,
			    const struct tally_call_sums *sums);

#endif
