#include "push/http_post.h"

#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tally/version.h>

#define CONNECT_SECONDS_MOST 10.0

struct http_client {
	struct http_client_options options;
	CURL *easy;
	struct curl_slist *headers;
	const struct http_body *body;
	struct http_answer *answer;
	size_t why; /* bytes of the answer's text */
	int failed; /* of reading the body, or -ECANCELED */
	char message[CURL_ERROR_SIZE];
};

bool tally_http_exists(void)
{
	return true;
}

static size_t give_body(char *to, size_t size, size_t count, void *context)
{
	struct http_client *client = context;
	int64_t got = client->body->read(client->body->context, (uint8_t *)to, size * count);

	if (got >= 0)
		return (size_t)got;
	client->failed = (int)got;
	return CURL_READFUNC_ABORT;
}

/* libcurl begins again where a connection that it kept was closed by the server. */
static int seek_body(void *context, curl_off_t offset, int origin)
{
	struct http_client *client = context;

	if (offset || origin != SEEK_SET)
		return CURL_SEEKFUNC_FAIL;
	client->failed = client->body->rewind(client->body->context);
	return client->failed ? CURL_SEEKFUNC_FAIL : CURL_SEEKFUNC_OK;
}

/* The start of what the server says is kept, for the message. */
static size_t take_answer(char *bytes, size_t size, size_t count, void *context)
{
	struct http_client *client = context;
	size_t room = HTTP_WHY_SIZE - 1 - client->why;
	size_t take = size * count < room ? size * count : room;

	memcpy(client->answer->why + client->why, bytes, take);
	client->why += take;
	client->answer->why[client->why] = '\0';
	return size * count;
}

static int update(void *context, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
		  curl_off_t up)
{
	struct http_client *client = context;

	(void)down_total;
	(void)down;
	(void)up_total;
	(void)up;
	if (!client->options.progress ||
	    !client->options.progress(client->options.progress_context))
		return 0;
	client->failed = -ECANCELED;
	return 1;
}

static int add_header(struct http_client *client, const char *name, const char *value)
{
	struct curl_slist *more;
	char *line;

	if (asprintf(&line, "%s%s", name, value) < 0)
		return -ENOMEM;
	more = curl_slist_append(client->headers, line);
	explicit_bzero(line, strlen(line));
	free(line);
	if (!more)
		return -ENOMEM;
	client->headers = more;
	return 0;
}

static int add_headers(struct http_client *client)
{
	const struct http_client_options *options = &client->options;
	int result = add_header(client, "Content-Type: ", "application/proto");

	if (!result) /* the Connect protocol's version */
		result = add_header(client, "Connect-Protocol-Version: ", "1");
	if (!result) /* the body is sent at once */
		result = add_header(client, "Expect:", "");
	if (!result && options->tenant)
		result = add_header(client, "X-Scope-OrgID: ", options->tenant);
	if (!result && options->token && !options->user)
		result = add_header(client, "Authorization: Bearer ", options->token);
	return result;
}

static CURLcode set_options(struct http_client *client)
{
	const struct http_client_options *options = &client->options;
	double connect =
	    options->timeout < CONNECT_SECONDS_MOST ? options->timeout : CONNECT_SECONDS_MOST;
	CURL *easy = client->easy;
	CURLcode code = CURLE_OK;

#define SET(option, value)                                            \
	do {                                                          \
		if (code == CURLE_OK)                                 \
			code = curl_easy_setopt(easy, option, value); \
	} while (0)
	SET(CURLOPT_URL, options->url);
	SET(CURLOPT_PROTOCOLS_STR, "http,https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_NOSIGNAL, 1L);
	SET(CURLOPT_POST, 1L);
	SET(CURLOPT_HTTPHEADER, client->headers);
	SET(CURLOPT_USERAGENT, "tally/" TALLY_VERSION);
	SET(CURLOPT_ERRORBUFFER, client->message);
	SET(CURLOPT_TIMEOUT_MS, (long)(options->timeout * 1000));
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)(connect * 1000));
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	SET(CURLOPT_READFUNCTION, give_body);
	SET(CURLOPT_READDATA, client);
	SET(CURLOPT_SEEKFUNCTION, seek_body);
	SET(CURLOPT_SEEKDATA, client);
	SET(CURLOPT_WRITEFUNCTION, take_answer);
	SET(CURLOPT_WRITEDATA, client);
	SET(CURLOPT_NOPROGRESS, 0L);
	SET(CURLOPT_XFERINFOFUNCTION, update);
	SET(CURLOPT_XFERINFODATA, client);
	if (options->certificates)
		SET(CURLOPT_CAINFO, options->certificates);
	if (options->user) {
		SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
		SET(CURLOPT_USERNAME, options->user);
		SET(CURLOPT_PASSWORD, options->token ? options->token : "");
	}
#undef SET
	return code;
}

int tally_http_open(const struct http_client_options *options, struct http_client **ret)
{
	struct http_client *client;
	CURLcode code;
	int result;

	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return -ENOMEM;
	client = calloc(1, sizeof(*client));
	if (!client) {
		curl_global_cleanup();
		return -ENOMEM;
	}
	client->options = *options;
	client->easy = curl_easy_init();
	result = client->easy ? add_headers(client) : -ENOMEM;
	if (!result) {
		code = set_options(client);
		result = code == CURLE_OUT_OF_MEMORY ? -ENOMEM : code != CURLE_OK ? -EINVAL : 0;
	}
	if (result)
		tally_http_close(client);
	else
		*ret = client;
	return result;
}

void tally_http_close(struct http_client *client)
{
	if (!client)
		return;
	curl_easy_cleanup(client->easy);
	curl_slist_free_all(client->headers);
	free(client);
	curl_global_cleanup();
}

/* Whether it is of no use to try again. */
static bool is_setting(CURLcode code)
{
	switch (code) {
	case CURLE_UNSUPPORTED_PROTOCOL:
	case CURLE_URL_MALFORMAT:
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
	case CURLE_SSL_CERTPROBLEM:
		return true;
	default:
		return false;
	}
}

int tally_http_post(struct http_client *client, const struct http_body *body,
		    struct http_answer *ret)
{
	curl_off_t after = 0;
	long status = 0;
	CURLcode code;

	*ret = (struct http_answer){.status = 0};
	client->body = body;
	client->answer = ret;
	client->why = 0;
	client->message[0] = '\0';
	client->failed = body->rewind(body->context);
	if (client->failed)
		return client->failed;
	curl_easy_setopt(client->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body->size);
	code = curl_easy_perform(client->easy);
	if (client->failed)
		return client->failed;
	curl_easy_getinfo(client->easy, CURLINFO_RESPONSE_CODE, &status);
	/* A server may answer, and close the connection before it has read all. */
	if (code != CURLE_OK && !(code == CURLE_SEND_ERROR && status >= 400)) {
		ret->settings = is_setting(code);
		snprintf(ret->why, sizeof(ret->why), "%s",
			 client->message[0] ? client->message : curl_easy_strerror(code));
		return code == CURLE_OUT_OF_MEMORY ? -ENOMEM : -EAGAIN;
	}
	ret->status = (unsigned)status;
	if (!curl_easy_getinfo(client->easy, CURLINFO_RETRY_AFTER, &after) && after > 0)
		ret->retry_after = (double)after;
	return 0;
}
