/* Stands in for debuginfod_client.c where libdebuginfod is missing. */
#include "debuginfod/debuginfod_client.h"

#include <errno.h>
#include <stddef.h>

bool tally_debuginfod_client_exists(void)
{
	return false;
}

int tally_debuginfod_client_open(struct debuginfod_connection *connection,
				 debuginfod_progress progress, void *context)
{
	(void)connection;
	(void)progress;
	(void)context;
	return -ENOTSUP;
}

void tally_debuginfod_client_close(struct debuginfod_connection *connection)
{
	(void)connection;
}

int tally_debuginfod_client_fetch(struct debuginfod_connection *connection, const uint8_t *id,
				  uint8_t id_size, bool binary)
{
	(void)connection;
	(void)id;
	(void)id_size;
	(void)binary;
	return -ENOTSUP;
}

const char *tally_debuginfod_client_url(const struct debuginfod_connection *connection)
{
	(void)connection;
	return NULL;
}
