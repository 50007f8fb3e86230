#include "key/keys.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tally/profile.h>
#include "base/fail.h"
#include "key/key_tables.h"
#include "session/numbers.h"

#define QUANTUM_USUAL 100000000U /* ns, perf's */

/* In the order in which keys are listed. */
static const struct key_table *const tables[] = {
    &tally_keys_sample, &tally_keys_weight, &tally_keys_memory, &tally_keys_branch,
    &tally_keys_trace,  &tally_keys_cgroup, &tally_keys_type,
};
#define TABLES (sizeof(tables) / sizeof(*tables))

const struct profile_key *tally_profile_key_at(size_t index)
{
	for (size_t i = 0; i < TABLES; i++) {
		if (index < tables[i]->count)
			return &tables[i]->rows[index];
		index -= tables[i]->count;
	}
	return NULL;
}

const struct profile_key *tally_profile_key_find(const char *name, size_t length)
{
	const struct profile_key *key, *begun = NULL;

	for (size_t i = 0; (key = tally_profile_key_at(i)); i++) {
		const char *const names[] = {key->name, key->alias};

		for (size_t k = 0; k < 2 && names[k]; k++)
			if (strlen(names[k]) == length && !strncasecmp(names[k], name, length))
				return key;
		/* As perf, which takes the first key that begins so. */
		if (length && !begun && !strncasecmp(key->name, name, length))
			begun = key;
	}
	return begun;
}

const char *tally_key_find(const char *name, size_t length)
{
	const struct profile_key *key = tally_profile_key_find(name, length);

	return key ? key->name : NULL;
}

const char *tally_key_name(size_t index, const char **ret_help)
{
	const struct profile_key *key = tally_profile_key_at(index);

	if (!key)
		return NULL;
	if (ret_help)
		*ret_help = key->help;
	return key->name;
}

/* Its place in the tables; fields of tracepoints are behind all others. */
static unsigned rank_of(const struct profile_keys *keys, const struct profile_key *key)
{
	unsigned rank = 0;

	for (const struct profile_key *at; (at = tally_profile_key_at(rank)) && at != key;)
		rank++;
	for (size_t i = 0; i < keys->made_count && keys->made[i] != key; i++)
		rank++;
	return rank;
}

static int add(struct profile_keys *keys, const struct profile_key *key)
{
	size_t at = keys->count;

	for (size_t i = 0; i < keys->count; i++)
		if (keys->list[i] == key)
			return 0;
	if (at == PROFILE_KEYS_MOST)
		return -E2BIG;
	keys->list[at] = key;
	keys->names[at] = key->name;
	keys->ranks[at] = rank_of(keys, key);
	for (; at && keys->ranks[keys->by_rank[at - 1]] > keys->ranks[keys->count]; at--)
		keys->by_rank[at] = keys->by_rank[at - 1];
	keys->by_rank[at] = (unsigned)keys->count++;
	keys->image |= key->type == KEY_IMAGE;
	keys->symbol |= key->type == KEY_SYMBOL;
	keys->tasks |= key->type == KEY_TASK;
	keys->moment |= key->columns & TALLY_COLUMN_TIME && key->type != KEY_TIME;
	keys->columns |= key->columns;
	return 0;
}

static int find_and_add(struct profile_keys *keys, struct tally_session *session, const char *name)
{
	const struct profile_key *key = tally_profile_key_find(name, strlen(name));

	return key ? add(keys, key) : tally_key_fields_find(keys, session, name, add);
}

int tally_profile_keys_init(struct profile_keys *ret, struct tally_session *session,
			    const char *const *names, size_t count, struct tally_error *error)
{
	int result = 0;

	ret->session = session;
	if (!ret->time_quantum)
		ret->time_quantum = QUANTUM_USUAL;
	ret->texts = tally_key_texts_new();
	if (!ret->texts)
		return -ENOMEM;
	for (size_t i = 0; i < count && !result; i++) {
		const char *name = names[i] ? names[i] : "";
		size_t added = ret->count;

		result = find_and_add(ret, session, name);
		if (result == -ENOENT)
			return tally_fail(error, -EINVAL, (int64_t)i, "'%s' is not a sort key%s",
					  name,
					  ret->trace ? ", and no tracepoint of the recording has "
						       "a field of that name"
						     : "");
		if (result == -E2BIG)
			return tally_fail(error, -EINVAL, (int64_t)i,
					  "'%s' is one key too many: %d are possible", name,
					  PROFILE_KEYS_MOST);
		for (; added < ret->count && !result; added++)
			if (ret->list[added]->prepare)
				result = ret->list[added]->prepare(ret, session, error);
		if (result == -EINVAL && error)
			error->position = (int64_t)i;
	}
	return result;
}

int tally_profile_keys_sockets(struct profile_keys *keys, struct tally_session *session)
{
	const struct profile_key *key = tally_profile_key_find("socket", strlen("socket"));

	return key->prepare(keys, session, NULL);
}

int tally_profile_keys_parent(struct profile_keys *keys, struct tally_session *session,
			      struct tally_error *error)
{
	const struct profile_key *key = tally_profile_key_find("parent", strlen("parent"));

	return keys->parent_regex ? 0 : key->prepare(keys, session, error);
}

bool tally_profile_keys_need(const struct profile_keys *keys, enum key_needs needs)
{
	for (size_t i = 0; i < keys->count; i++)
		if (keys->list[i]->needs == needs)
			return true;
	return false;
}

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_frames(const struct tally_session *session, uint64_t a, uint64_t b)
{
	struct tally_frame left = tally_session_frame(session, (uint32_t)a);
	struct tally_frame right = tally_session_frame(session, (uint32_t)b);
	int result = compare_texts(left.symbol, right.symbol);

	return result ? result : left.place < right.place ? -1 : left.place > right.place;
}

int tally_profile_key_compare(const struct profile_keys *keys, size_t index, uint64_t a, uint64_t b)
{
	const struct tally_session *session = keys->session;

	if (a == b)
		return 0;
	switch (keys->list[index]->type) {
	case KEY_NAME:
		return strcmp(tally_session_string(session, (uint32_t)a),
			      tally_session_string(session, (uint32_t)b));
	case KEY_SOURCE:
		return strcmp(tally_session_source(session, (uint32_t)a),
			      tally_session_source(session, (uint32_t)b));
	case KEY_TEXT:
		return strcmp(tally_key_texts_get(keys->texts, a),
			      tally_key_texts_get(keys->texts, b));
	case KEY_FRAME:
		return compare_frames(session, a, b);
	case KEY_TASK:
	case KEY_NUMBER:
	case KEY_TIME:
	case KEY_CODE:
	case KEY_IMAGE:
	case KEY_SYMBOL:
		break;
	}
	return a < b ? -1 : 1;
}

void tally_profile_keys_done(struct profile_keys *keys)
{
	free(keys->sockets);
	free(keys->cores);
	free(keys->nodes);
	tally_key_parent_done(keys);
	tally_key_trace_done(keys);
	tally_key_cgroups_free(keys->cgroups);
	tally_key_texts_free(keys->texts);
	for (size_t i = 0; i < keys->made_count; i++) {
		free((char *)keys->made[i]->name);
		free((char *)keys->made[i]->field);
		free(keys->made[i]);
	}
	*keys = (struct profile_keys){0};
}
