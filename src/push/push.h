/* What the public interface's handle has (tally/push.h). */
#ifndef TALLY_PUSH_PUSH_H
#define TALLY_PUSH_PUSH_H

#include <tally/push.h>
#include "push/http_post.h"
#include "push/push_spool.h"

struct tally_push {
	struct tally_push_options options; /* its texts are the copies below */
	char *spool_path, *url, *token, *user, *tenant, *certificates;
	struct push_spool spool;
	struct http_client *client;
	struct tally_push_result sum;
};

/* A line for the caller. */
void tally_push_say(const struct tally_push *push, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
