/* An expression inside: tests in the order of a program without a stack.  Each names the next test
 * for true and for false, so that a sample needs the fewest tests, and no test allocates. */
#ifndef TALLY_PLUGIN_CHOICE_H
#define TALLY_PLUGIN_CHOICE_H

#include <regex.h>
#include <stdbool.h>
#include <tally/choice.h>
#include "base/arena.h"
#include "session/filter.h"
#include "session/numbers.h"
#include "session/run.h"

#define CHOICE_TESTS_MOST 250U
#define CHOICE_DEPTH_MOST 100U

enum choice_field {
	CHOICE_COMM,
	CHOICE_PID,
	CHOICE_TID,
	CHOICE_CPU,
	CHOICE_TIME,
	CHOICE_EVENT,
	CHOICE_PERIOD,
	CHOICE_IP,
	CHOICE_ADDR,
	CHOICE_SYM,
	CHOICE_DSO,
	CHOICE_WEIGHT,
	CHOICE_STACK,
	CHOICE_TRACE, /* of a tracepoint */
};

enum choice_type {
	CHOICE_NUMBER,
	CHOICE_SIGNED, /* of 32 bits */
	CHOICE_SECONDS,
	CHOICE_TEXT,
	CHOICE_UNKNOWN, /* as the tracepoint has it */
};

enum choice_op {
	CHOICE_EQUAL,
	CHOICE_UNEQUAL,
	CHOICE_LESS,
	CHOICE_LESS_EQUAL,
	CHOICE_GREATER,
	CHOICE_GREATER_EQUAL,
	CHOICE_MATCH,
	CHOICE_NO_MATCH,
	CHOICE_HAS,
};

/* Where a tracepoint's field is in its payload. */
struct choice_trace {
	enum { TRACE_NONE, TRACE_NUMBER, TRACE_ARRAY, TRACE_DATA_LOC, TRACE_REL_LOC } kind;
	uint32_t offset, size;
	bool is_signed;
	int64_t number; /* what it is compared with */
};

/* A step's targets beyond its steps. */
#define CHOICE_TRUE  UINT16_MAX
#define CHOICE_FALSE (UINT16_MAX - 1)

struct choice_test {
	enum choice_field field;
	enum choice_type type;
	enum choice_op op;
	uint16_t yes, no; /* the test that is next */
	int column;       /* of the field; value_column: of what it is compared with */
	int value_column;
	const char *name;  /* of a tracepoint's field */
	const char *value; /* as it was typed */
	uint64_t number;   /* the same, when it is one */
	regex_t regex;
	bool has_regex;
	bool *events;               /* of EVENT: whether it holds for each */
	struct choice_trace *trace; /* of TRACE, by event */
};

/* The results that one thread already has: for the number of a string, frame or stack, whether a
 * test is true. */
struct choice_known {
	uint8_t *verdicts; /* 0: not known */
	uint32_t room;
};

struct choice_worker {
	struct choice_known *known;      /* by test */
	struct choice_known *stacks;     /* of STACK: by number of a stack */
	struct tally_resolver *resolver; /* of chains: a visitor's own counts on its last call */
};

struct tally_choice {
	struct tally_arena arena;
	char *text;
	struct choice_test *tests;
	uint16_t count, first;
	size_t event_count;
	bool swapped; /* payloads are in the other byte order */
	struct tally_session *session;
	struct choice_worker *workers;
	unsigned worker_count;
	struct tally_sample_test hook;
};

/* choice_fields.c */
/* The field of that name and its type; false: it is not one of ours. */
bool tally_choice_field(const char *name, enum choice_field *ret, enum choice_type *ret_type);
/* PERF_SAMPLE_* that a field needs. */
uint64_t tally_choice_want(enum choice_field field);
/* Names of fields, for messages; NULL beyond the last. */
const char *tally_choice_name(size_t index);
/* The value of a type.  0 or -EINVAL. */
int tally_choice_value(enum choice_type type, const char *text, uint64_t *ret);

/* choice_trace.c: finds the field of each test in the formats of the data's tracepoints. */
int tally_choice_trace(struct tally_choice *choice, struct tally_data *data,
		       struct tally_error *error);

/* choice_run.c: 1, 0, -ENOMEM. */
int tally_choice_run(void *context, unsigned worker, struct tally_resolver *resolver,
		     const struct tally_resolved *sample);
/* Whether the test is true for a text, which may lack its NUL. */
bool tally_choice_text_holds(const struct choice_test *test, const char *text, size_t length);

#endif
