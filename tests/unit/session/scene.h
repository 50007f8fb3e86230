/* Small recordings for the tests of the session: written by the library's writer, read back. */
#ifndef TESTS_SESSION_SCENE_H
#define TESTS_SESSION_SCENE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <tally/data.h>
#include "resolve/resolve.h"
#include "session/numbers.h"
#include "session/run.h"

struct scene {
	char path[64];
	struct tally_writer *writer;
	struct tally_layout layouts[2];
	struct tally_data *data;
	struct tally_session *session;
	uint64_t period; /* of samples; 1000 unless it is set */
};

/* Two events, ids 7 and 8, with call chains when asked. */
void scene_begin(struct scene *scene, uint64_t sample_type);
/* The same as a stream, to a descriptor; below 0: to the scene's own file. */
void scene_begin_stream(struct scene *scene, uint64_t sample_type, int fd);
/* Encodes and appends a record of an event. */
void scene_add(struct scene *scene, unsigned event, struct tally_body *body);
void scene_comm(struct scene *scene, uint64_t time, uint32_t pid, uint32_t tid, const char *name,
		bool exec);
void scene_fork(struct scene *scene, uint64_t time, uint32_t ppid, uint32_t pid, uint32_t tid);
void scene_exit(struct scene *scene, uint64_t time, uint32_t pid, uint32_t tid);
void scene_map(struct scene *scene, uint64_t time, uint32_t pid, uint64_t start, uint64_t end,
	       uint64_t pgoff, const char *file);
void scene_sample(struct scene *scene, unsigned event, uint64_t time, uint32_t pid, uint32_t tid,
		  uint64_t ip, const uint64_t *chain, uint64_t chain_nr);
/* Ends writing, and opens what was written. */
void scene_open(struct scene *scene, unsigned threads);
void scene_end(struct scene *scene);

/* Called for each sample; below 0 stops. */
typedef int (*scene_sample_fn)(void *context, unsigned worker, struct tally_resolver *resolver,
			       const struct tally_resolved *sample);
/* All samples of the session, with those fields, in the order of time. */
int scene_each(struct tally_session *session, uint64_t want, scene_sample_fn visit, void *context);

/* Where this program's text is mapped. */
struct own_text {
	uint64_t start, end, pgoff;
	char path[4096];
};
void own_text_find(struct own_text *ret);

#endif
