/* One client of debuginfod servers: libdebuginfod, or a stub where it is missing. */
#ifndef TALLY_DEBUGINFOD_DEBUGINFOD_CLIENT_H
#define TALLY_DEBUGINFOD_DEBUGINFOD_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

/* Called about once a second at least, with the bytes received and those in all (0: unknown).  Not
 * 0 ends the transfer. */
typedef int (*debuginfod_progress)(void *context, uint64_t done, uint64_t total);

struct debuginfod_connection {
	void *client;
	debuginfod_progress progress;
	void *context;
	long last; /* what libdebuginfod counted at the last call */
};

bool tally_debuginfod_client_exists(void);
/* `connection` stays where it is until it is closed.  0; -ENOTSUP: there is no library; -ENOMEM. */
int tally_debuginfod_client_open(struct debuginfod_connection *connection,
				 debuginfod_progress progress, void *context);
void tally_debuginfod_client_close(struct debuginfod_connection *connection);
/* Puts the debug file, or the binary, of a build into the client's cache.  0; -ENOENT: no server
 * has it, or `progress` ended the transfer; -errno. */
int tally_debuginfod_client_fetch(struct debuginfod_connection *connection, const uint8_t *id,
				  uint8_t id_size, bool binary);
/* The server that was asked last, or NULL; borrowed until the next call. */
const char *tally_debuginfod_client_url(const struct debuginfod_connection *connection);

#endif
