/* A profile as lines to walk in: rows, and below an open row the tree of its callers.  Knows no
 * terminal; the screen shows the lines (browser_view.c) and keys change them (browser_keys.c). */
#ifndef TALLY_CLI_BROWSER_H
#define TALLY_CLI_BROWSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/profile.h>

struct cli_screen;

struct browser_line {
	uint64_t id;   /* equal for the same thing in each profile of a session */
	uint32_t row;  /* of the event */
	uint32_t tree; /* of the browser, and a node in it; BROWSER_NO_TREE: the line is a row */
	uint32_t node;
	unsigned depth; /* 0: a row */
	bool opens, open;
	double share, self; /* % */
};
#define BROWSER_NO_TREE UINT32_MAX

struct browser_tree {
	uint64_t row_id;
	struct tally_tree tree;
};

struct browser {
	struct tally_profile *profile; /* NULL: nothing yet */
	size_t event;
	struct browser_line *lines;
	size_t line_count, line_room;
	struct browser_tree *trees; /* of the rows that were opened */
	size_t tree_count, tree_room;
	uint64_t *opened; /* ids of the lines that are open, in any order */
	size_t opened_count, opened_room;
	size_t cursor, first; /* lines: the chosen one, and the first that is shown */
	char filter[128];     /* only rows that contain it; empty: all */
	char comm[64];        /* only rows of it; empty: all */
	char dso[128];
	bool hide_kernel, hide_user;
	enum tally_call_order order;
	double percent_limit;
	unsigned comm_width, dso_width; /* of the longest names, in columns */
};

void browser_done(struct browser *browser);
/* Shows another profile, of which the caller stays the owner, with the same lines open.  0 or
 * -ENOMEM. */
int browser_take(struct browser *browser, struct tally_profile *profile);
/* Makes the lines anew, after the filter, the event or the order changed.  0 or -ENOMEM. */
int browser_renew(struct browser *browser);
/* Opens or closes a line.  0 or -ENOMEM. */
int browser_toggle(struct browser *browser, size_t number);
/* Closes all lines.  0 or -ENOMEM. */
int browser_close_all(struct browser *browser);
void browser_move(struct browser *browser, int64_t lines);

/* The text of a line without its shares, escaped: of a row its cells, of a node its function. */
void browser_text(const struct browser *browser, const struct browser_line *line, unsigned width,
		  char *text, size_t size);
/* A row's function, or its binary where the profile has no symbols. */
void browser_frame_text(const struct tally_frame *frame, char *text, size_t size);

/* Draws the lines from line `top` of the screen on, `height` of them at most, and the heading
 * above them (browser_view.c). */
void browser_draw(struct browser *browser, struct cli_screen *screen, unsigned top,
		  unsigned height);

/* What a key did. */
enum browser_did {
	BROWSER_UNKNOWN, /* nothing: the key may be the caller's */
	BROWSER_CHANGED,
	BROWSER_QUIT,
};
/* `page`: lines that are shown at once.  -ENOMEM, or enum browser_did (browser_keys.c). */
int browser_key(struct browser *browser, struct cli_screen *screen, int key, unsigned page);
/* Shows the keys, and waits for one. `more`: lines of the caller's own, NULL at the end. */
void browser_help(struct cli_screen *screen, const char *const *more);

#endif
