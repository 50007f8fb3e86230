#include "debuginfod/debuginfod_client.h"

#include <elfutils/debuginfod.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

bool tally_debuginfod_client_exists(void)
{
	return true;
}

/* As long as no size is known, the library counts its own calls. */
static int report(debuginfod_client *client, long done, long total)
{
	struct debuginfod_connection *connection = debuginfod_get_user_data(client);
	bool counts = total <= 0 && done <= connection->last + 1;

	connection->last = done;
	return connection->progress(connection->context, counts || done < 0 ? 0 : (uint64_t)done,
				    total < 0 ? 0 : (uint64_t)total);
}

int tally_debuginfod_client_open(struct debuginfod_connection *connection,
				 debuginfod_progress progress, void *context)
{
	debuginfod_client *client = debuginfod_begin();

	if (!client)
		return -ENOMEM;
	*connection = (struct debuginfod_connection){client, progress, context, 0};
	debuginfod_set_user_data(client, connection);
	debuginfod_set_progressfn(client, report);
	return 0;
}

void tally_debuginfod_client_close(struct debuginfod_connection *connection)
{
	if (connection->client)
		debuginfod_end(connection->client);
	connection->client = NULL;
}

int tally_debuginfod_client_fetch(struct debuginfod_connection *connection, const uint8_t *id,
				  uint8_t id_size, bool binary)
{
	char *path = NULL;
	int fd;

	connection->last = 0;
	fd = binary ? debuginfod_find_executable(connection->client, id, id_size, &path)
		    : debuginfod_find_debuginfo(connection->client, id, id_size, &path);
	free(path);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

const char *tally_debuginfod_client_url(const struct debuginfod_connection *connection)
{
	return connection->client ? debuginfod_get_url(connection->client) : NULL;
}
