/* The tables of the page that sums of samples lead to: texts, images, functions, stacks, threads,
 * events, and the samples themselves.  doc/PAGE-DATA.md describes each. */
#ifndef TALLY_PAGE_PAGE_TABLES_H
#define TALLY_PAGE_PAGE_TABLES_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/annotate.h>
#include <tally/session.h>
#include "base/map.h"
#include "page/page_columns.h"
#include "profile/call_sums.h"
#include "profile/contexts.h"
#include "profile/places.h"
#include "profile/worker.h"

#define PAGE_NONE         UINT32_MAX
#define PAGE_UNIT         1000U /* ns of a unit of time */
#define PAGE_SOURCES_MOST 2U

struct place_sink;

/* One of the recordings that a page is made of: a report is of one, a difference of two. */
struct page_source {
	struct tally_session *session;
	struct profile_worker worker; /* the sums of its samples */
	struct profile_plan plan;
	struct tally_profile *sums;
	struct place_sink *places; /* the sums of its places; NULL: code is left out */
	struct tally_annotation_options annotates;
	uint32_t number;     /* from 0 */
	uint32_t *events;    /* by its number of an event: that of the page */
	uint64_t start, end; /* ns of its clock; the start is that of a step */
};

/* Of an image, and of a function. */
enum page_kind { PAGE_KIND_USER, PAGE_KIND_KERNEL, PAGE_KIND_MADE, PAGE_KIND_UNKNOWN };

struct page_image {
	uint32_t name, path, build_id; /* strings */
	uint8_t kind;
};

struct page_function {
	uint32_t name, image, file, line;
	uint32_t frames[PAGE_SOURCES_MOST]; /* by recording; 0: not met; not in the page */
	uint8_t kind, inlined;
	uint8_t program; /* enum page_program (page_program.h) */
};

struct page_node {
	uint32_t parent, function;
	uint8_t inlined, hidden;
	uint8_t shared; /* several stacks of the session may lead here */
};

/* The last: it never has samples, but carries records of what else happened. */
enum page_event_kind { PAGE_EVENT_ON_CPU, PAGE_EVENT_OFF_CPU, PAGE_EVENT_OTHER, PAGE_EVENT_DUMMY };

struct page_event {
	uint32_t name, unit;
	uint8_t kind;
	uint64_t rate; /* samples of a second of CPU time that were asked for; 0: unknown */
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

/* A thread on a CPU, from one switch record to the next. */
struct page_run {
	uint64_t start, end;
	uint32_t thread, cpu;
	uint8_t preempted;
};

enum page_marker_kind {
	PAGE_MARKER_TRACEPOINT,
	PAGE_MARKER_START,
	PAGE_MARKER_END,
	PAGE_MARKER_LOSS,
	PAGE_MARKER_THROTTLE,
};

struct page_marker {
	uint64_t time;
	uint32_t thread, name, text;
	uint8_t kind;
};

/* Samples by source line, text of source, instructions, and the samples of these. */
struct page_line {
	uint64_t self;
	uint32_t recording, function, file, number, event;
};

struct page_text_line {
	uint32_t file, number, text;
};

struct page_code {
	uint32_t recording, function, offset, text, file, number;
};

struct page_code_sample {
	uint64_t self;
	uint32_t code, event;
};

/* A function's change between two recordings: enum tally_diff_status; p in parts of 10^9. */
struct page_difference {
	uint32_t event, function, p;
	uint32_t name; /* in the second recording, if it was renamed */
	uint8_t status, significant;
};

struct page_tables { /* all zero is empty and valid */
	struct tally_strings strings;
	struct page_image *images;
	struct page_function *functions;
	struct page_node *nodes;
	struct page_event *events;
	struct page_thread *threads;
	struct page_sample *samples;
	struct page_difference *differences;
	struct page_run *runs;
	struct page_marker *markers;
	struct page_line *lines;
	struct page_text_line *sources;
	struct page_code *codes;
	struct page_code_sample *code_samples;
	uint32_t line_count, line_room, source_count, source_room;
	uint32_t code_count, code_room, code_sample_count, code_sample_room;
	uint32_t run_count, run_room, marker_count, marker_room;
	uint32_t image_count, image_room, function_count, function_room, node_count, node_room,
	    thread_count, thread_room;
	uint32_t event_count, sample_count, difference_count, difference_room;
	uint64_t step; /* ns within which equal samples are one */
	/* Addresses without a function, if they are one function of each image here; else 0. */
	uint32_t nameless_count;
	/* ns of the first recording's clock; both 0: times are unknown.  Other recordings begin at
	 * the same place. */
	uint64_t start, end;
	/* Of several recordings, what is the same in them is one: string of an image -> image + 1;
	 * hash of a function's texts -> function + 1; parent, function and hidden -> node. */
	bool several;
	struct tally_map known_images, known_functions, known_nodes;
	/* By the strings of an image and a function of the second recording: the first's string for
	 * the same function, which was renamed. */
	struct tally_map renamed;
};

/* Makes the tables' first rows.  0 or -ENOMEM. */
int tally_page_tables_init(struct page_tables *tables);
void tally_page_tables_done(struct page_tables *tables);
void tally_page_tables_columns(const struct page_tables *tables, struct page_columns *ret);

/* The number of a string; NULL: the empty one.  -ENOMEM. */
int64_t tally_page_string(struct page_tables *tables, const char *text);

/* page_events.c: the events of a recording; those of one name are one.  0 or -ENOMEM. */
int tally_page_events_make(struct page_tables *tables, struct page_source *source);

struct tally_data_event;
/* Whether the weights of an event are times, in ns. */
bool tally_page_event_is_time(const struct tally_data_event *event);
/* "1.23 s" of a time, "1.23 M" of another weight. */
void tally_page_put_amount(struct tally_buf *to, double value, bool time);

/* Functions by the place of a frame (profile/places.h). */
struct page_functions {
	struct page_tables *tables;
	const struct tally_session *session;
	uint32_t source; /* the recording's number */
	struct tally_places places;
	uint32_t *of_frame; /* by frame: function + 1; 0: not made yet */
	uint8_t *shared;    /* by frame that stands for a place: others do, too */
	uint32_t *of_dso;   /* by number of a short name: image + 1 */
};

/* Sees whether the recordings have so many addresses without a function that these are not worth a
 * row each. */
void tally_page_functions_plan(struct page_tables *tables, const struct page_source *sources,
			       size_t count);

/* page_functions.c.  0 or -ENOMEM; to be given back in either case. */
int tally_page_functions_init(struct page_functions *functions, struct page_tables *tables,
			      const struct page_source *source);
void tally_page_functions_done(struct page_functions *functions);
/* The number of the function of a frame, or -ENOMEM. */
int64_t tally_page_function(struct page_functions *functions, uint32_t frame);
/* What a function is called: its symbol, or the binary and the place.  The string, or -ENOMEM. */
int64_t tally_page_frame_name(struct page_tables *tables, const struct tally_frame *frame);
/* The function of these strings; PAGE_NONE: there is none, or the page is of one recording. */
uint32_t tally_page_function_find(const struct page_tables *tables, uint32_t name, uint32_t image,
				  bool inlined);

static inline uint64_t page_two(uint32_t high, uint32_t low)
{
	return (uint64_t)high << 32 | low;
}

/* page_stacks.c: the nodes of the tree of stacks.  0 or -ENOMEM; to be given back in either
 * case. */
struct page_stacks {
	struct page_functions *functions;
	uint32_t *of_stack; /* by stack of the session: node; 0: not made yet */
	uint32_t *path;
	uint32_t path_room;
};
int tally_page_stacks_init(struct page_stacks *stacks, struct page_functions *functions);
void tally_page_stacks_done(struct page_stacks *stacks);
/* The node of a sample, which is its leaf; -ENOMEM. */
int64_t tally_page_stack(struct page_stacks *stacks, uint32_t stack, uint32_t frame);

/* When all nodes are made: gives them better numbers, and the same to those in `nodes`.  0 or
 * -ENOMEM. */
int tally_page_stacks_order(struct page_tables *tables, uint32_t *nodes, uint32_t count);

/* The keys of the sums, in this order.  The last has no values: sums have frames because of it,
 * also where there are no call chains. */
enum page_key {
	PAGE_KEY_COMM,
	PAGE_KEY_PID,
	PAGE_KEY_TID,
	PAGE_KEY_CPU,
	PAGE_KEY_TIME,
	PAGE_KEY_RECORDING,
	PAGE_KEY_SYMBOL,
	PAGE_KEYS,
};
extern const char *const tally_page_keys[PAGE_KEYS];

/* page_samples.c: chooses the steps of time before the samples are read. */
void tally_page_samples_plan(struct page_tables *tables, struct page_source *sources, size_t count);

/* Samples while they are made: sums of one recording after the other are taken, with the threads
 * that they are of, and at the end joined.  All zero but for `tables` and `threads` is empty. */
struct page_samples_taken;
int tally_page_samples_new(struct page_tables *tables, const struct page_source *sources,
			   size_t count, struct page_samples_taken **ret);
void tally_page_samples_free(struct page_samples_taken *taken);
/* Takes the sums of a recording, in the order of recordings.  0 or -ENOMEM. */
int tally_page_samples_take(struct page_samples_taken *taken, struct page_stacks *stacks,
			    const struct page_source *source);
/* When all are taken: makes the samples.  Steps become larger if there are too many.  0 or
 * -ENOMEM. */
int tally_page_samples_make(struct page_samples_taken *taken);

#endif
