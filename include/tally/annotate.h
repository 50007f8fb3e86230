/* Annotation: the samples of a session by instruction and by source line.
 *
 * tally_annotation_new() reads the samples once and adds them up by their places in functions.  A
 * listing has the instructions of one function with these sums; tally_annotation_write() makes text
 * or JSON of the hottest functions. */
#ifndef TALLY_ANNOTATE_H
#define TALLY_ANNOTATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/session.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_annotation;

struct tally_annotation_options {
	size_t size; /* sizeof of this struct */
	/* Only functions that match these lists of exact names; a symbol without its parameters
	 * matches, too.  A binary is named by its path or its base name.  A count of 0: all. */
	const char *const *symbols, *const *dsos;
	size_t symbol_count, dso_count;
	/* Spans of time, as struct tally_profile_options has them, and numbers of CPUs: what is
	 * outside counts nowhere.  NULL, or a count of 0: all. */
	const char *time;
	const uint32_t *cpus;
	size_t cpu_count;
};

/* Reads all samples of the session.  The session is borrowed until the annotation is freed; options
 * only for the call.  A session with the option `functions` has functions without symbols, too.
 * 0; -EINVAL, -E2BIG, -ENOMEM, -ECANCELED, or an error of reading. */
int tally_annotation_new(struct tally_session *session,
			 const struct tally_annotation_options *options,
			 struct tally_annotation **ret, struct tally_error *error);
void tally_annotation_free(struct tally_annotation *annotation);

/* The functions that have samples and match, the hottest first: by the largest share that any event
 * has in them. */
size_t tally_annotation_function_count(const struct tally_annotation *annotation);

struct tally_annotated_function {
	size_t size; /* sizeof of this struct, set by the caller */
	struct tally_frame frame;
	uint64_t start, end; /* its code, [start, end), counted as tally_frame.place */
	/* Of its own samples, by event of the session's data.  Borrowed from the annotation. */
	const uint64_t *samples, *periods;
	double share; /* of 1, by period, in the event that has the largest */
};
/* 0; -EINVAL: there is no such function, or ret->size is not set. */
int tally_annotation_function(const struct tally_annotation *annotation, size_t index,
			      struct tally_annotated_function *ret);

/* What 100 % is, and what is counted: the function's samples or all of the event, periods or
 * numbers of samples. */
enum tally_percent_type {
	TALLY_PERCENT_LOCAL_PERIOD,
	TALLY_PERCENT_GLOBAL_PERIOD,
	TALLY_PERCENT_LOCAL_HITS,
	TALLY_PERCENT_GLOBAL_HITS,
};

/* The instructions of one function.  A sample is where its address is: at the instruction that was
 * next when the event was noticed, unless the event is precise. */
struct tally_listing;

/* Disassembles the function of that number; `intel`: in Intel's syntax, of x86.  The annotation is
 * borrowed until the listing is freed.  0; -EINVAL: there is no such function; -ENOENT: its code
 * cannot be read, and error->text says why; -ENOSYS: built without a disassembler; -ENOTSUP: the
 * disassembler does not know the machine; -ENOMEM. */
int tally_listing_new(const struct tally_annotation *annotation, size_t function, bool intel,
		      struct tally_listing **ret, struct tally_error *error);
void tally_listing_free(struct tally_listing *listing);

enum tally_instruction_kind {
	TALLY_INSTRUCTION_PLAIN,
	TALLY_INSTRUCTION_JUMP,
	TALLY_INSTRUCTION_CALL,
	TALLY_INSTRUCTION_RETURN,
	TALLY_INSTRUCTION_UNKNOWN, /* the disassembler does not know the bytes */
};

struct tally_instruction {
	size_t size;      /* sizeof of this struct, set by the caller */
	uint64_t address; /* as objdump shows it; in the kernel, where it was when recorded */
	uint64_t place;   /* counted as tally_frame.place */
	uint32_t length;  /* bytes */
	enum tally_instruction_kind kind;
	const char *mnemonic, *operands; /* of jumps and calls the operand is "1210 <name+0x8>" */
	bool has_target;
	uint64_t target;      /* of jumps and calls: an address */
	const uint8_t *bytes; /* its encoding */
	const char *file;     /* of its source line; NULL: unknown.  Untrusted */
	uint32_t line;        /* 0: unknown */
	const char *function; /* the innermost inlined function here; NULL: none is */
	/* Of its samples, by event. */
	const uint64_t *samples, *periods;
};

/* How many instructions it has. */
size_t tally_listing_count(const struct tally_listing *listing);
/* An instruction, in the order of addresses.  Its pointers are borrowed from the listing. 0;
 * -EINVAL: there is no such instruction, or ret->size is not set. */
int tally_listing_instruction(const struct tally_listing *listing, size_t index,
			      struct tally_instruction *ret);

struct tally_annotation_text {
	size_t size;      /* sizeof of this struct */
	size_t functions; /* at most so many; 0: all */
	/* Functions with a smaller share (%) of every event are left out; if functions or binaries
	 * were named, of these functions' part. */
	double percent_limit;
	enum tally_percent_type percent_type;
	bool json;       /* tally-json(7) */
	bool hot;        /* source lines by their share, each with its instructions */
	bool no_source;  /* instructions only */
	bool summary;    /* the lines by their share before each listing, and behind
			  * instructions */
	bool full_paths; /* of files and binaries, in place of base names */
	bool encoding;   /* the bytes of instructions */
	bool show_samples, show_total_period; /* in place of percents */
	bool separate; /* a listing for each event or, with `group`, each group of events; else all
			* events are side by side */
	bool group;
	bool intel;
	bool colour, utf8;     /* utf8: arrows are drawn with lines */
	unsigned width;        /* columns of the terminal; 0: no limit */
	const char *prefix;    /* put before absolute paths of source files; NULL: none */
	unsigned prefix_strip; /* folders that are taken from the front of such paths */
	bool quiet;            /* no lines about the functions around the listings */
	bool skip_missing;     /* functions whose code cannot be read are left out */
};

/* Writes the listings of the hottest functions to `to`; text ends with a line that says how many
 * functions were left out.  Names are escaped, so that no terminal acts on them.  Source files are
 * read where the debug information says that they are.  0; -E2BIG, -ENOSYS, -ENOMEM, or -errno of
 * writing. */
int tally_annotation_write(const struct tally_annotation *annotation,
			   const struct tally_annotation_text *options, FILE *to,
			   struct tally_error *error);

/* Samples by the types of the objects that their instructions access: `struct list_node`, `int`.
 * Debug information says of the variables at an instruction what their types are, and the
 * instructions before it are followed.  x86-64 and arm64. */
struct tally_data_profile;

/* Reads all samples of the session, which is borrowed until the profile is freed; options, as of
 * tally_annotation_new(), only for the call.  0; -EINVAL, -E2BIG, -ENOMEM, -ECANCELED, or an error
 * of reading. */
int tally_data_profile_new(struct tally_session *session,
			   const struct tally_annotation_options *options,
			   struct tally_data_profile **ret, struct tally_error *error);
void tally_data_profile_free(struct tally_data_profile *profile);

/* How many types have samples: those of a name, with or without "struct "; NULL: all.  Equal names
 * of two binaries are two types. */
size_t tally_data_profile_count(const struct tally_data_profile *profile, const char *name);

struct tally_data_profile_text {
	size_t size;          /* sizeof of this struct */
	const char *type;     /* only types of this name, as above; NULL: all */
	double percent_limit; /* without a name: types with a smaller share (%) of every event are
			       * left out */
	bool json;            /* tally-json(7) */
	bool outcomes;        /* first how many samples have a type, and why others have none */
	bool full_paths;      /* of binaries, in place of base names */
	bool show_samples, show_total_period; /* in place of percents of the type's periods */
	bool colour;
};

/* Writes the layouts of the types with the samples of each member, the type with the largest share
 * first.  Names are escaped, so that no terminal acts on them.  0; -E2BIG, -ENOMEM, or -errno of
 * writing. */
int tally_data_profile_write(const struct tally_data_profile *profile,
			     const struct tally_data_profile_text *options, FILE *to,
			     struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
