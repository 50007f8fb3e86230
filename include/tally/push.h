/* Profiles to a server that takes them as Grafana Pyroscope does, by way of a folder on disk.
 *
 * A profile in the format pprof (as tally_export_write() writes it) gets labels and is put into a
 * spool, a folder of bounded size.  From there profiles are sent, the oldest first, several in one
 * request, and removed when the server has taken them.  What cannot be sent stays for the next
 * time; when the spool is full, the oldest profiles are dropped, and a notice says which.
 *
 * Source: the method Push of push.v1.PusherService, in push/v1/push.proto of
 * github.com/grafana/pyroscope, by the Connect protocol: a POST with Content-Type
 * application/proto. */
#ifndef TALLY_PUSH_H
#define TALLY_PUSH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <tally/error.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct tally_push;

struct tally_push_options {
	size_t size; /* sizeof of this struct */
	/* The folder; it is created, for its owner only. */
	const char *spool;
	/* The bytes on disk that its profiles take at most; 0: 256 MiB. */
	uint64_t spool_size;
	/* http://HOST[:PORT][/PATH] or https://...; the method's path is added. */
	const char *url;
	/* NULL, or a token for "Authorization: Bearer"; with `user` the password of HTTP's basic
	 * authentication.  It is sent by https, or to this machine, only. */
	const char *token, *user;
	const char *tenant;       /* NULL, or the value of X-Scope-OrgID */
	const char *certificates; /* NULL, or a file of authorities to trust, PEM */
	unsigned batch;           /* profiles in one request at most; 0: 32 */
	/* Seconds for one request, and for which a request is tried again; 0: 30 and 60.  Below 0:
	 * it is not tried again. */
	double timeout, retry;
	/* Called with a line of text about what was dropped, refused or is tried again.  It has
	 * text from outside.  May be NULL. */
	void (*notice)(void *context, const char *text);
	/* Called some times a second; a result that is not 0 cancels.  May be NULL. */
	int (*progress)(void *context);
	void *context;
};

struct tally_push_label {
	const char *name, *value;
};

struct tally_push_result {
	size_t size;       /* sizeof of this struct, set by the caller */
	uint64_t sent;     /* profiles that the server took */
	uint64_t bytes;    /* of them */
	uint64_t requests; /* that were made */
	uint64_t refused;  /* profiles that the server will not take: they are lost */
	/* Profiles that were dropped since the spool was opened because it was full, or because
	 * they were damaged on disk. */
	uint64_t dropped;
	uint64_t left; /* profiles that are still in the spool */
};

/* Whether libtally was built with libcurl. */
bool tally_push_is_built(void);

/* Reads a token from a file, without white space around it.  The file must be regular, owned by
 * root or the caller, not readable or writable by others and not writable by its group.  The
 * caller's to free().  0; -EPERM: its owner or mode; -EINVAL: it is empty, or contains what cannot
 * be in a header; -errno; with words. */
int tally_push_token(const char *path, char **ret, struct tally_error *error);

/* Opens a spool.  libcurl is initialised: call it while no other thread uses libcurl.  0; -EINVAL:
 * an option; -EPERM: the folder belongs to someone else, or others can write it; -ENOTSUP: built
 * without libcurl; -ENOMEM, -errno. */
int tally_push_open(const struct tally_push_options *options, struct tally_push **ret,
		    struct tally_error *error);
/* NULL is allowed. */
void tally_push_close(struct tally_push *push);

/* Puts a profile into the spool: all that `profile`, a file that can be read from its start,
 * contains, with labels.  One of the name service_name is needed; __name__ is what kind of profile
 * it is, "process_cpu" unless it is given.  Once this returns 0 the profile is on disk.  Profiles
 * of other programs that use the spool are left alone.
 * 0; -EINVAL: a label is invalid; -EFBIG: the profile is larger than the whole spool; -ENOMEM,
 * -errno. */
int tally_push_add(struct tally_push *push, FILE *profile, const struct tally_push_label *labels,
		   size_t count, struct tally_error *error);

/* Sends what is in the spool.  While another process sends, it waits, as long as it would try
 * again.  A profile that the server took may be sent twice if the answer is lost or the process is
 * killed at that moment; both have the same ID.  Whatever its result, *ret is filled.
 * 0: the spool is empty; -EAGAIN: profiles are left, because the server could not be reached or was
 * not ready; -EACCES: it refuses the request whatever is in it (URL, token), which is not tried
 * again, and profiles are left; -ECANCELED; -ENOMEM, -errno. */
int tally_push_send(struct tally_push *push, struct tally_push_result *ret,
		    struct tally_error *error);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
