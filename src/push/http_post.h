/* One POST after another to one URL: libcurl, or a stub where it is missing.
 *
 * The body comes from a function, so that none is held in memory. */
#ifndef TALLY_PUSH_HTTP_POST_H
#define TALLY_PUSH_HTTP_POST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTTP_WHY_SIZE 256

struct http_client_options {
	const char *url, *token, *user, *tenant, *certificates; /* as tally_push_options has them */
	double timeout;
	/* Not 0 cancels; may be NULL. */
	int (*progress)(void *context);
	void *progress_context;
};

struct http_body {
	uint64_t size;
	/* The next bytes, at most `room`; 0: the end; -errno.  And from the start again. */
	int64_t (*read)(void *context, uint8_t *to, size_t room);
	int (*rewind)(void *context);
	void *context;
};

struct http_answer {
	unsigned status;         /* 0: there is none */
	double retry_after;      /* s; 0: it does not say */
	bool settings;           /* it fails whatever is sent: certificates, the URL */
	char why[HTTP_WHY_SIZE]; /* text from outside */
};

struct http_client;

bool tally_http_exists(void);
/* What the options point to is borrowed until it is closed.  0; -ENOTSUP: there is no library;
 * -EINVAL: it cannot use the options; -ENOMEM. */
int tally_http_open(const struct http_client_options *options, struct http_client **ret);
void tally_http_close(struct http_client *client);
/* 0: the server has answered, with *ret->status; -EAGAIN: it did not, and `ret` says why;
 * -ECANCELED; -errno of reading the body. */
int tally_http_post(struct http_client *client, const struct http_body *body,
		    struct http_answer *ret);

#endif
