/* Stands in for http_post.c where libcurl is missing. */
#include "push/http_post.h"

#include <errno.h>

bool tally_http_exists(void)
{
	return false;
}

int tally_http_open(const struct http_client_options *options, struct http_client **ret)
{
	(void)options;
	(void)ret;
	return -ENOTSUP;
}

void tally_http_close(struct http_client *client)
{
	(void)client;
}

int tally_http_post(struct http_client *client, const struct http_body *body,
		    struct http_answer *ret)
{
	(void)client;
	(void)body;
	(void)ret;
	return -ENOTSUP;
}
