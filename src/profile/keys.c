#include "profile/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/profile.h>
#include "base/fail.h"
#include "session/resolve.h"

#define QUANTUM_USUAL 100000000U /* ns, perf's */

static uint64_t comm_of(const struct profile_keys *keys, const struct key_sample *sample)
{
	(void)keys;
	return sample->comm;
}

static uint64_t pid_of(const struct profile_keys *keys, const struct key_sample *sample)
{
	(void)keys;
	return sample->pid;
}

static uint64_t tid_of(const struct profile_keys *keys, const struct key_sample *sample)
{
	(void)keys;
	return sample->tid;
}

static uint64_t cpu_of(const struct profile_keys *keys, const struct key_sample *sample)
{
	(void)keys;
	return sample->cpu == UINT32_MAX ? KEY_UNKNOWN : sample->cpu;
}

#define ALL32 UINT32_MAX

/* Rows of equal size are listed by their values of these keys, the first key first.  A key whose
 * value may differ from one sample of a thread and CPU to the next wants the time too, so that
 * each sample is visited alone. */
static const struct profile_key table[] = {
    {.name = "comm",
     .title = "Command",
     .help = "name of the command",
     .type = KEY_NAME,
     .value = comm_of,
     .uses = {.comm = ALL32}},
    {.name = "dso", .title = "Shared Object", .help = "program or library", .type = KEY_IMAGE},
    {.name = "symbol", .alias = "sym", .title = "Symbol", .help = "function", .type = KEY_SYMBOL},
    {.name = "pid",
     .title = "    Pid:Command",
     .help = "process, with the last name that it had",
     .type = KEY_TASK,
     .value = pid_of,
     .uses = {.pid = ALL32},
     .want = PERF_SAMPLE_TIME},
    {.name = "tid",
     .title = "    Tid:Command",
     .help = "thread, with the last name that it had",
     .type = KEY_TASK,
     .value = tid_of,
     .uses = {.tid = ALL32},
     .want = PERF_SAMPLE_TIME},
    {.name = "cpu",
     .title = "CPU",
     .help = "CPU that the sample was taken on",
     .type = KEY_NUMBER,
     .digits = 3,
     .value = cpu_of,
     .uses = {.cpu = ALL32},
     .want = PERF_SAMPLE_CPU},
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
	keys->uses.comm |= key->uses.comm;
	keys->uses.pid |= key->uses.pid;
	keys->uses.tid |= key->uses.tid;
	keys->uses.cpu |= key->uses.cpu;
	keys->uses.time |= key->uses.time;
	keys->uses.period |= key->uses.period;
	keys->want |= key->want;
	return key->prepare ? key->prepare(keys, session) : 0;
}

int tally_profile_keys_init(struct profile_keys *ret, struct tally_session *session,
			    const char *const *names, size_t count, struct tally_error *error)
{
	int result = 0;

	_Static_assert(KEYS <= PROFILE_KEYS_MOST, "room for each key");
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
	return a < b ? -1 : a > b;
}

void tally_profile_keys_done(struct profile_keys *keys)
{
	free(keys->sockets);
	*keys = (struct profile_keys){0};
}
