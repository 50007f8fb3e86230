/* The session as the layers above see it: samples joined with comm and space, and addresses turned
 * into frame numbers.  One resolver a thread; the frame table behind them is shared. */
#ifndef TALLY_SESSION_RESOLVE_H
#define TALLY_SESSION_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>
#include <tally/abi.h>
#include <tally/batch.h>
#include <tally/session.h>

struct tally_resolver;
struct tally_space;

/* A sample in its place. Borrowed during the visit. */
struct tally_resolved {
	uint32_t event;                  /* index in the data */
	struct tally_sample sample;      /* the fields asked for; present says which */
	uint8_t cpumode;                 /* PERF_RECORD_MISC_CPUMODE_MASK of the record */
	uint32_t comm;                   /* string number: tally_session_string() */
	uint32_t thread;                 /* number: tally_session_thread() */
	const struct tally_space *space; /* user space, NULL when unknown */
	uint32_t era;                    /* of the space at this time; 0: none */
	uint32_t kernel_era; /* of the kernel's space; what is memoised by era needs both */
	uint64_t offset;     /* of the record in the file */
	/* Words of the call chain from this one on were unwound: addresses all of them, user
	 * space's, of calls and not behind them.  0: none were. */
	uint32_t unwound;
	uint64_t more; /* samples that this one also stands for, alike but for their times: their
			* periods are in its own; 0 unless the session sums them early */
};

/* Whether a word of the chain is no address but says how those behind it are to be read:
 * PERF_CONTEXT_*. */
static inline bool resolved_is_mark(const struct tally_resolved *sample, uint64_t word)
{
	return sample->sample.callchain[word] >= (uint64_t)PERF_CONTEXT_MAX &&
	       !(sample->unwound && word >= sample->unwound);
}

/* Called for each sample of a block in file order; `worker` is 0..threads-1.  Below 0 stops. */
typedef int (*tally_sample_fn)(void *context, unsigned worker, struct tally_resolver *resolver,
			       const struct tally_resolved *sample);

/* Calls for each sample that passes the session's test, in no order, on several threads.  Samples
 * that the first pass counted together are one. */
int tally_session_each(struct tally_session *session, uint64_t want, tally_sample_fn visit,
		       void *context, struct tally_error *error);

/* Samples of one event and thread that come one after another while its name, space and eras hold.
 */
struct tally_sample_run {
	/* The first of them; event, pid, tid, comm, space, eras and what is present are those of
	 * all. */
	const struct tally_resolved *first;
	uint32_t count;
	const uint64_t *ips, *periods; /* by sample; 0 when it is not present */
	const uint8_t *cpumodes;
};

/* The same as tally_sample_fn, for all of a run. */
typedef int (*tally_run_fn)(void *context, unsigned worker, struct tally_resolver *resolver,
			    const struct tally_sample_run *run);

/* How many frames of a chain are unwound at most, and how many frames a stack has at most (0: all);
 * before running.  perf's usual 127, and all, when never set. */
void tally_session_unwind_most(struct tally_session *session, uint32_t frames);
void tally_session_stack_most(struct tally_session *session, uint32_t frames);
unsigned tally_session_threads(const struct tally_session *session);

/* The frame of an address as seen from a sample (its space, time and the given cpumode).  Memoised
 * for the thread.  0 only when out of memory. */
uint32_t tally_resolver_frame(struct tally_resolver *resolver, const struct tally_resolved *sample,
			      uint8_t cpumode, uint64_t addr);

/* A place without a symbol in the image of that number. */
struct tally_image_place {
	uint64_t place;
	uint32_t image;
};
#define TALLY_FRAME_NAMELESS UINT32_MAX

/* The frame of an address, and of all others of that mode and era in [from, from + size). */
struct tally_address_range {
	uint64_t from, size;
	uint32_t frame; /* 0: out of memory; TALLY_FRAME_NAMELESS: that of `place` */
	uint32_t era;   /* the sample's, or of addresses of the kernel its kernel_era */
	uint8_t cpumode;
	struct tally_image_place place; /* to be asked for together with others */
};

/* As tally_resolver_frame(), faster for addresses that are asked for in their order. */
void tally_resolver_range(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_address_range *ret);
/* The frames of such places.  0 or -ENOMEM. */
int tally_resolver_nameless(struct tally_resolver *resolver, const struct tally_image_place *places,
			    uint32_t count, uint32_t *ret);

/* The stack of the sample's whole call chain; 0: it has none.  PERF_CONTEXT_* marks are obeyed and
 * left out.  Return addresses are looked up as they are.  What was unwound has functions that were
 * inlined there as frames of their own.  0 or -ENOMEM. */
int tally_resolver_stack(struct tally_resolver *resolver, const struct tally_resolved *sample,
			 uint32_t *ret);

/* The frames of an address that was unwound, innermost first, the functions that were inlined there
 * among them.  Borrowed until the next call.  Their count; 0: out of memory. */
uint32_t tally_resolver_unwound(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint64_t addr,
				const uint32_t **ret);

/* Fetches what that will read, when it is known some time before. */
void tally_session_frame_ahead(const struct tally_session *session, uint32_t frame);
uint32_t tally_session_frame_count(const struct tally_session *session);

/* Whether samples of an event have their times. */
bool tally_session_has_time(const struct tally_session *session, size_t event);
/* Number of the string that is the thread's name. */
uint32_t tally_session_thread_comm(const struct tally_session *session, uint32_t thread);

const char *tally_session_string(const struct tally_session *session, uint32_t number);

/* What is known of the image of a frame (struct tally_frame's `image`). */
struct tally_image_facts {
	const char *name, *path;
	const char *why; /* why symbols are missing; NULL: none are, as far as is known */
	bool is_file;    /* of this build, and at hand: a package may have it */
	const uint8_t *build_id;
	uint8_t build_id_size;
};
/* False: there is no such image, or none that is read. */
bool tally_session_image_facts(const struct tally_session *session, uint32_t image,
			       struct tally_image_facts *ret);
/* Why the kernel's symbols are missing; NULL: they are not, or it is not known. */
const char *tally_session_why_no_kernel(const struct tally_session *session);

/* For -v: a line for each image whose symbols are missing though samples fell into it. */
typedef void (*tally_missing_fn)(void *context, const char *image_path, const char *why);
void tally_session_each_missing(const struct tally_session *session, tally_missing_fn visit,
				void *context);
/* The same for what is left out of images because it would take too much. */
void tally_session_each_left_out(const struct tally_session *session,
				 void (*visit)(void *context, const char *line), void *context);

/* A resolver for names alone, beside that of a run: all places of an image without a symbol are one
 * frame.  NULL: out of memory. */
struct tally_resolver *tally_resolver_new(struct tally_session *session);
void tally_resolver_free(struct tally_resolver *resolver);

#endif
