#include "profile/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/data.h>
#include <tally/info.h>
#include <tally/profile.h>
#include "base/fail.h"
#include "session/numbers.h"

#define QUANTUM_USUAL 100000000U /* ns, perf's */

static uint64_t comm_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->comm;
}

static uint64_t pid_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->thread.pid;
}

static uint64_t tid_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->thread.tid;
}

static uint64_t cpu_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint32_t cpu = row->batch->cpu[row->at];

	(void)keys;
	return cpu == UINT32_MAX ? KEY_UNKNOWN : cpu;
}

static uint64_t socket_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint32_t cpu = row->batch->cpu[row->at];

	return cpu < keys->socket_count ? keys->sockets[cpu] : KEY_UNKNOWN;
}

static uint64_t period_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->batch->period[row->at];
}

static uint64_t line_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->batch->line[row->at];
}

static uint64_t file_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->batch->file[row->at];
}

static uint64_t time_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint64_t time = row->batch->time[row->at];

	if (!tally_session_has_time(row->session, row->batch->event[row->at]))
		return KEY_UNKNOWN;
	return time - time % keys->time_quantum;
}

/* The sockets as the recording's header has them. */
static int take_sockets(struct profile_keys *keys, struct tally_session *session)
{
	const struct tally_data_info *info = tally_data_info(tally_session_data(session));
	uint32_t count = (uint32_t)info->topology.cpu_count;

	keys->sockets = calloc((size_t)count + 1, sizeof(*keys->sockets));
	if (!keys->sockets)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		keys->sockets[i] = info->topology.cpus[i].socket;
	keys->socket_count = count;
	return 0;
}

/* Rows of equal size are listed by their values of these keys, the first key first. */
static const struct profile_key table[] = {
    {.name = "comm",
     .title = "Command",
     .help = "name of the command",
     .type = KEY_NAME,
     .columns = TALLY_COLUMN_THREAD,
     .value = comm_of},
    {.name = "dso",
     .title = "Shared Object",
     .help = "program or library",
     .type = KEY_IMAGE,
     .columns = TALLY_COLUMN_FRAME},
    {.name = "symbol",
     .alias = "sym",
     .title = "Symbol",
     .help = "function",
     .type = KEY_SYMBOL,
     .columns = TALLY_COLUMN_FRAME},
    {.name = "pid",
     .title = "    Pid:Command",
     .help = "process, with the last name that it had",
     .type = KEY_TASK,
     .columns = TALLY_COLUMN_THREAD,
     .value = pid_of},
    {.name = "tid",
     .title = "    Tid:Command",
     .help = "thread, with the last name that it had",
     .type = KEY_TASK,
     .columns = TALLY_COLUMN_THREAD,
     .value = tid_of},
    {.name = "cpu",
     .title = "CPU",
     .help = "CPU that the sample was taken on",
     .type = KEY_NUMBER,
     .digits = 3,
     .columns = TALLY_COLUMN_CPU,
     .value = cpu_of},
    {.name = "srcline",
     .title = "Source:Line",
     .help = "source file and line of the sampled address; needs debug information",
     .type = KEY_SOURCE,
     .columns = TALLY_COLUMN_LINE,
     .value = line_of},
    {.name = "srcfile",
     .title = "Source File",
     .help = "source file of the sampled address; needs debug information",
     .type = KEY_SOURCE,
     .columns = TALLY_COLUMN_FILE,
     .value = file_of},
    {.name = "socket",
     .title = "Socket",
     .help = "socket of that CPU, as the recording's header has it",
     .type = KEY_NUMBER,
     .digits = 3,
     .columns = TALLY_COLUMN_CPU,
     .value = socket_of,
     .prepare = take_sockets},
    {.name = "local_period",
     .title = "Local Period",
     .help = "period of the sample itself",
     .type = KEY_NUMBER,
     .columns = TALLY_COLUMN_PERIOD,
     .value = period_of},
    {.name = "time",
     .title = "Time",
     .help =
	 "start of the interval that the sample is in, in seconds; --time-quantum is its length",
     .type = KEY_TIME,
     .columns = TALLY_COLUMN_TIME,
     .value = time_of},
};
#define KEYS (sizeof(table) / sizeof(*table))

const struct profile_key *tally_profile_key_find(const char *name, size_t length)
{
	for (size_t i = 0; i < KEYS; i++) {
		const char *const names[] = {table[i].name, table[i].alias};

		for (size_t k = 0; k < 2 && names[k]; k++)
			if (strlen(names[k]) == length && !memcmp(names[k], name, length))
				return &table[i];
	}
	return NULL;
}

const char *tally_key_find(const char *name, size_t length)
{
	const struct profile_key *key = tally_profile_key_find(name, length);

	return key ? key->name : NULL;
}

const char *tally_key_name(size_t index, const char **ret_help)
{
	if (index >= KEYS)
		return NULL;
	if (ret_help)
		*ret_help = table[index].help;
	return table[index].name;
}

static int add(struct profile_keys *keys, const struct profile_key *key,
	       struct tally_session *session)
{
	size_t at = keys->count;

	for (size_t i = 0; i < keys->count; i++)
		if (keys->list[i] == key)
			return 0;
	keys->list[at] = key;
	keys->names[at] = key->name;
	for (; at && keys->list[keys->by_rank[at - 1]] > key; at--)
		keys->by_rank[at] = keys->by_rank[at - 1];
	keys->by_rank[at] = (unsigned)keys->count++;
	keys->image |= key->type == KEY_IMAGE;
	keys->symbol |= key->type == KEY_SYMBOL;
	keys->tasks |= key->type == KEY_TASK;
	keys->columns |= key->columns;
	return key->prepare ? key->prepare(keys, session) : 0;
}

int tally_profile_keys_init(struct profile_keys *ret, struct tally_session *session,
			    const char *const *names, size_t count, struct tally_error *error)
{
	int result = 0;

	_Static_assert(KEYS <= PROFILE_KEYS_MOST, "room for each key");
	ret->session = session;
	if (!ret->time_quantum)
		ret->time_quantum = QUANTUM_USUAL;
	for (size_t i = 0; i < count && !result; i++) {
		const struct profile_key *key =
		    names[i] ? tally_profile_key_find(names[i], strlen(names[i])) : NULL;

		if (!key)
			return tally_fail(error, -EINVAL, (int64_t)i, "'%s' is not a sort key",
					  names[i] ? names[i] : "");
		result = add(ret, key, session);
	}
	return result;
}

int tally_profile_key_compare(const struct profile_key *key, const struct tally_session *session,
			      uint64_t a, uint64_t b)
{
	if (key->type == KEY_NAME && a != b)
		return strcmp(tally_session_string(session, (uint32_t)a),
			      tally_session_string(session, (uint32_t)b));
	if (key->type == KEY_SOURCE && a != b)
		return strcmp(tally_session_source(session, (uint32_t)a),
			      tally_session_source(session, (uint32_t)b));
	return a < b ? -1 : a > b;
}

void tally_profile_keys_done(struct profile_keys *keys)
{
	free(keys->sockets);
	*keys = (struct profile_keys){0};
}
