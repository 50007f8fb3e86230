/* A profile as screens to walk in: lists of rows with their call trees, the callers and callees of
 * a function, a flame view.
 *
 *   browser_place.c    what is shown, and the way that led there: Escape goes one step back
 *   browser_rows.c     which rows of the profile are shown, and in which order
 *   browser_lines.c    rows and open trees as lines
 *   browser_columns.c  the text of a row's cells
 *   browser_view.c     lines on the screen; browser_footer.c: the keys of the moment below them;
 *                      browser_notes.c: what is lost or unknown, above them; browser_empty.c:
 *                      why there are no lines
 *   browser_keys.c     what keys do; browser_prompt.c, browser_find.c: text that is typed, searched
 *   browser_flame.c    call trees as blocks; browser_flame_view.c: on the screen
 *   browser_code.c     a function's instructions; browser_page.c: whole names, help
 *
 * Who shows a profile gives it by struct browser_source, and draws and passes keys on: cmd_top.c,
 * report_screen.c. */
#ifndef TALLY_CLI_BROWSER_H
#define TALLY_CLI_BROWSER_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <tally/annotate.h>
#include <tally/profile.h>

struct cli_screen;

/* What rows are of. */
enum browser_part { BROWSER_FUNCTIONS, BROWSER_THREADS, BROWSER_IMAGES, BROWSER_STACKS };
#define BROWSER_PARTS 4

/* A profile that a place needs. */
struct browser_want {
	enum browser_part part; /* FUNCTIONS: rows of the keys that were asked for */
	bool one_thread;        /* only samples of this one: */
	uint64_t tid;
};

struct browser_source {
	void *context;
	/* Gives a profile, which stays the source's, at least until the next call.  0; -EAGAIN:
	 * browser_take() will be called with it; -errno with words: there is none. */
	int (*profile)(void *context, const struct browser_want *want, struct tally_profile **ret,
		       struct tally_error *error);
	/* The samples of a function by instruction; *ret is for tally_annotation_free(), and then
	 * `done` is called with *ret_kept.  0 or -errno with words. */
	int (*annotate)(void *context, const struct tally_frame *function,
			struct tally_annotation **ret, void **ret_kept, struct tally_error *error);
	void (*done)(void *kept);
	/* Saves what is shown as a recording of that name; NULL: it is one. */
	int (*save)(void *context, const char *path, struct tally_error *error);
};

enum browser_view { BROWSER_LIST, BROWSER_FUNCTION, BROWSER_FLAME };

/* Where a reader is. */
struct browser_place {
	enum browser_view view;
	struct browser_want want;
	char thread[64];    /* of want.one_thread: what it is called */
	char comm[64];      /* only rows of this program; empty: all */
	char dso[256];      /* only rows of this binary; empty: all */
	char filter[128];   /* only rows that contain this text; empty: all */
	char function[256]; /* BROWSER_FUNCTION: its name, and ids of its frame and its program */
	uint64_t frame, program;
	uint64_t root;        /* BROWSER_FLAME: the block as wide as the screen; 0: all */
	uint64_t chosen;      /* the line or block */
	size_t cursor, first; /* lines: the chosen one, and the first that is shown */
};

/* A row that is shown, and what its line needs, so that lines are made without a look at the row.
 */
struct browser_row {
	uint64_t id; /* does not depend on the profile */
	uint64_t children, self;
	uint32_t number; /* in the profile */
};

struct browser_line {
	uint64_t id;   /* equal for the same thing in each profile of a session */
	uint32_t row;  /* of the event */
	uint32_t tree; /* of the browser, and a node in it; BROWSER_NO_TREE: the line is a row */
	uint32_t node;
	unsigned depth; /* 0: a row */
	bool opens, open;
	bool with_image;    /* another line beside it has the same name, of another binary */
	double share, self; /* % */
	const char
	    *title; /* a line above a tree, which is nothing else; NULL: it is a row or node */
};
#define BROWSER_NO_TREE UINT32_MAX

struct browser_tree {
	uint64_t row_id;
	enum tally_call_order order;
	struct tally_tree tree;
};

enum browser_sort { BROWSER_BY_TOTAL, BROWSER_BY_SELF, BROWSER_BY_NAME };

/* A cell of rows. */
#define BROWSER_COLUMNS_MOST 26
struct browser_column {
	const char *key, *title;
	unsigned width; /* of the widest cell that was seen */
	bool function;  /* the column of functions, whose names are shortened to what is left */
};

/* A block of the flame view. */
struct browser_block {
	uint64_t id, parent;
	uint32_t node;
	unsigned depth, column, width;
};

struct browser_flame {
	struct tally_tree tree; /* all call chains, from the outermost frame on */
	uint32_t *parents;      /* by node, as below */
	uint64_t *ids;
	uint64_t total;
	uint64_t least;               /* smaller branches are not in the tree */
	struct browser_block *blocks; /* those on the screen, by depth and column */
	size_t block_count, block_room;
	unsigned first; /* depth of the first line */
};

/* A key and what it does now, for the last line of the screen. */
struct browser_hint {
	int key; /* that a click on it stands for */
	const char *name, *does;
};
#define BROWSER_HINTS_MOST 16

struct browser {
	const struct browser_source *source;
	struct cli_screen *screen;     /* that it was drawn on last */
	struct tally_profile *profile; /* NULL: nothing yet */
	struct browser_place place, steps[32];
	size_t step_count;
	size_t event;
	bool waiting; /* for the profile of this place */
	struct browser_row *shown;
	size_t shown_count, shown_room;
	struct browser_line *lines;
	size_t line_count, line_room;
	struct browser_tree *trees; /* of the rows that were opened */
	size_t tree_count, tree_room;
	uint64_t *opened; /* ids of the lines that are open, in any order */
	size_t opened_count, opened_room;
	struct browser_column columns[BROWSER_COLUMNS_MOST];
	size_t column_count;
	struct browser_flame flame;
	char search[128], message[256]; /* message: instead of hints, until the next key */
	bool hide_kernel, hide_user, no_mouse, intel, no_source;
	bool show_samples, show_period; /* columns of these sums */
	enum browser_sort sort;
	enum tally_call_order order;
	uint64_t samples_least;           /* rows with fewer samples of their own are not shown */
	double percent_limit, tree_least; /* %: smaller rows are not shown, have no tree */
	/* Of whoever shows the browser. */
	const char *status;                /* a line above all; NULL: none */
	const char *notes;                 /* lines above the first list; NULL: none */
	const struct browser_hint *own;    /* keys of his own, `name` NULL at the end; NULL: none */
	const volatile sig_atomic_t *stop; /* set by a signal that ends the program; NULL: none */
	struct {
		unsigned column, end;
		int key;
	} hints[BROWSER_HINTS_MOST]; /* of the last line, as it was drawn */
	size_t hint_count;
};

/* --- browser_notes.c --- */
/* How many lines the notes take on a screen, at most a sixth of it; `draw`: puts them there. */
unsigned browser_notes(const struct browser *browser, struct cli_screen *screen, unsigned line,
		       bool draw);

/* The bytes of a text that fit into so many columns, up to the end of a word if there is one. */
size_t browser_fitting(const char *text, size_t length, unsigned width);

/* --- browser_place.c --- */
/* Shows the first place.  0 or -errno with words. */
int browser_start(struct browser *browser, struct tally_error *error);
void browser_done(struct browser *browser);
/* Shows another profile of the same place, with the same lines open; NULL: none until the next
 * comes.  0 or -ENOMEM. */
int browser_take(struct browser *browser, struct tally_profile *profile);
bool browser_same_want(const struct browser_want *one, const struct browser_want *other);
/* Goes to a place, which Escape leaves again.  If its profile cannot be made, a message says why.
 * 0 or -ENOMEM. */
int browser_go(struct browser *browser, const struct browser_place *place);
/* One step back.  0 or -ENOMEM. */
int browser_back(struct browser *browser);
/* The rows of another part, a thread, a binary, a function, blocks: steps.  0 or -ENOMEM. */
int browser_go_part(struct browser *browser, enum browser_part part);
int browser_go_thread(struct browser *browser);
int browser_go_image(struct browser *browser);
int browser_go_function(struct browser *browser);
int browser_go_flame(struct browser *browser);
void browser_say(struct browser *browser, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* --- browser_rows.c --- */
/* Chooses rows anew, after the profile, the filter or the order changed.  0 or -ENOMEM. */
int browser_choose_rows(struct browser *browser);
uint64_t browser_frame_id(uint64_t seed, const struct tally_frame *frame);
uint64_t browser_text_id(uint64_t seed, const char *text);
struct browser_row browser_row(const struct browser *browser, uint32_t number,
			       const struct tally_profile_row *row);
/* The largest row of the function of a place; UINT32_MAX: it has none. */
uint32_t browser_find_function(const struct browser *browser, const struct browser_place *place);

/* --- browser_lines.c --- */
/* Makes the lines anew, after what is open changed.  0 or -ENOMEM. */
int browser_renew(struct browser *browser);
/* Opens or closes a line; all that is below it; closes all.  0 or -ENOMEM. */
int browser_toggle(struct browser *browser, size_t number);
int browser_open_below(struct browser *browser, size_t number);
int browser_close_all(struct browser *browser);
void browser_forget_trees(struct browser *browser);
void browser_move(struct browser *browser, int64_t lines);
/* The chosen line; NULL: there is none, or it is a title. */
const struct browser_line *browser_chosen(const struct browser *browser);
/* The frame of a line; false: it is a row that has no function. */
bool browser_line_frame(const struct browser *browser, const struct browser_line *line,
			struct tally_frame *ret);

/* --- browser_columns.c --- */
/* Finds the columns of the profile and their widths.  */
void browser_columns_make(struct browser *browser);
/* A cell of a row, at most so many columns wide, escaped. */
void browser_cell(const struct browser *browser, const struct tally_profile_row *row,
		  const struct browser_column *column, unsigned width, char *text, size_t size);
/* A line without its shares: of a row its cells side by side, of a node its function. */
void browser_text(const struct browser *browser, const struct browser_line *line, unsigned width,
		  char *text, size_t size);
/* A function's name, or its binary and where it starts, in at most so many columns. */
void browser_frame_text(const struct tally_frame *frame, unsigned width, char *text, size_t size);
/* The columns that a row's cells have on a screen of that width, by column; 0: there is no room for
 * it. */
void browser_widths(const struct browser *browser, unsigned width, unsigned *ret);

/* --- browser_empty.c --- */
/* Why there is no line, as a sentence. */
void browser_why_empty(const struct browser *browser, char *text, size_t size);

/* --- browser_view.c, browser_footer.c --- */
/* Draws all: the status, what is shown, and the keys of the moment. */
void browser_draw(struct browser *browser, struct cli_screen *screen);
/* Lines of the screen that lists have. */
unsigned browser_page(const struct browser *browser, const struct cli_screen *screen);
unsigned browser_top(const struct browser *browser);
/* Draws the message over the last line of what is drawn. */
void browser_draw_message(struct browser *browser);
void browser_draw_footer(struct browser *browser, struct cli_screen *screen,
			 const struct browser_hint *hints);
/* The key of the hint that was clicked; CLI_KEY_NONE: it was none. */
int browser_footer_click(const struct browser *browser, const struct cli_screen *screen);

/* --- browser_keys.c --- */
/* What a key did. */
enum browser_did {
	BROWSER_UNKNOWN, /* nothing: the key may be the caller's */
	BROWSER_CHANGED,
	BROWSER_QUIT,
};
/* -ENOMEM, or enum browser_did. */
int browser_key(struct browser *browser, struct cli_screen *screen, int key);
/* Waits for a key; CLI_KEY_END_OF_INPUT: the program is to end. */
int browser_wait_key(const struct browser *browser, struct cli_screen *screen);
/* A click on a hint as its key, another one unchanged. */
int browser_clicked_key(const struct browser *browser, const struct cli_screen *screen, int key);

/* --- browser_prompt.c --- */
/* Lets somebody type a text below what is drawn; `changed` is called after each key, NULL: not.
 * 1; 0: Escape; -ENOMEM. */
int browser_prompt(struct browser *browser, struct cli_screen *screen, const char *title,
		   char *text, size_t room, int (*changed)(struct browser *browser));

/* --- browser_find.c --- */
int browser_search(struct browser *browser, struct cli_screen *screen);
/* The next line, or the one before, that contains the text of the last search. */
void browser_find_next(struct browser *browser, bool forward);

/* --- browser_flame.c, browser_flame_view.c --- */
int browser_flame_make(struct browser *browser);
void browser_flame_done(struct browser_flame *flame);
/* Places the blocks on a screen.  0 or -ENOMEM. */
int browser_flame_place(struct browser *browser, unsigned width);
void browser_flame_draw(struct browser *browser, struct cli_screen *screen, unsigned top,
			unsigned height);
/* As browser_key(). */
int browser_flame_key(struct browser *browser, struct cli_screen *screen, int key);
/* The node of a block; NULL: nothing is chosen. */
const struct tally_tree_node *browser_flame_chosen(const struct browser *browser);

/* --- browser_code.c --- */
/* Shows the instructions of a function until Escape.  As browser_key(). */
int browser_code(struct browser *browser, struct cli_screen *screen,
		 const struct tally_frame *function);

/* --- browser_page.c --- */
/* Shows all keys, or whole names of what is chosen, until a key.  As browser_key(). */
int browser_help(struct browser *browser, struct cli_screen *screen);
int browser_details(struct browser *browser, struct cli_screen *screen);

#endif
