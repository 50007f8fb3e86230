#include "dwarf/line_names.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include "base/bytes.h"
#include "base/sorted.h"
#include "elf/elf_file.h"

/* Bytes of names that are kept for one program. */
#define TEXT_MOST ((uint64_t)64 << 20)

static uint64_t hash_of(const char *name)
{
	return tally_hash_bytes(name, strlen(name));
}

void tally_line_names_done(struct line_names *names)
{
	tally_buf_done(&names->added);
	tally_buf_done(&names->added_text);
	tally_map_done(&names->known);
	pthread_mutex_destroy(&names->lock);
}

int tally_line_names_take(struct line_names *names, const struct line_name *list, uint64_t count,
			  const char *text, uint64_t text_size)
{
	if (text_size && text[text_size - 1])
		return -EBADMSG;
	names->list = list;
	names->count = count;
	names->text = text;
	names->text_size = text_size;
	return 0;
}

/* NULL: there is none, or it is longer than names become. */
static const char *text_at(const struct line_names *names, const struct line_name *name)
{
	uint64_t left = name->at < names->text_size ? names->text_size - name->at : 0;

	return left && memchr(names->text + name->at, 0, MIN(left, TALLY_NAME_MOST))
		   ? names->text + name->at
		   : NULL;
}

static const char *find(const struct line_names *names, uint64_t hash)
{
	uint64_t from = SORTED_BOUND(at, 0, names->count, names->list[at].hash < hash);

	if (from == names->count || names->list[from].hash != hash)
		return NULL;
	return text_at(names, &names->list[from]);
}

const char *tally_line_names_find(const struct line_names *names, const char *name)
{
	return names->count ? find(names, hash_of(name)) : NULL;
}

/* The lock is held. */
static void add(struct line_names *names, uint64_t hash, const char *shown, size_t size)
{
	const struct line_name name = {.hash = hash, .at = names->added_text.size};
	bool added;

	if (names->text_size + names->added_text.size + size >= TEXT_MOST ||
	    !tally_map_put(&names->known, hash, &added) || !added)
		return;
	tally_buf_add(&names->added, &name, sizeof(name));
	tally_buf_add(&names->added_text, shown, size + 1);
}

void tally_line_names_add(struct line_names *names, const char *name, const char *shown)
{
	uint64_t hash = hash_of(name);
	size_t size = strlen(shown);

	if (find(names, hash))
		return;
	pthread_mutex_lock(&names->lock);
	add(names, hash, shown, size);
	pthread_mutex_unlock(&names->lock);
}

size_t tally_line_names_added(struct line_names *names)
{
	size_t count;

	pthread_mutex_lock(&names->lock);
	count = names->added.size / sizeof(struct line_name);
	pthread_mutex_unlock(&names->lock);
	return count;
}

static int compare(const void *a, const void *b)
{
	const struct line_name *one = a, *other = b;

	return one->hash < other->hash ? -1 : one->hash > other->hash;
}

/* Those of the file may be anything. */
static void join_kept(const struct line_names *names, struct tally_buf *list,
		      struct tally_buf *text)
{
	for (uint64_t i = 0; i < names->count; i++) {
		struct line_name name = names->list[i];
		const char *shown = text_at(names, &name);

		if (!shown)
			continue;
		name.at = text->size;
		tally_buf_add(list, &name, sizeof(name));
		tally_buf_add(text, shown, strlen(shown) + 1);
	}
}

int tally_line_names_join(struct line_names *names, struct tally_buf *list, struct tally_buf *text)
{
	pthread_mutex_lock(&names->lock);
	join_kept(names, list, text);
	for (size_t at = 0; at < names->added.size; at += sizeof(struct line_name)) {
		struct line_name name;

		memcpy(&name, names->added.data + at, sizeof(name));
		name.at += text->size;
		tally_buf_add(list, &name, sizeof(name));
	}
	tally_buf_add(text, names->added_text.data, names->added_text.size);
	pthread_mutex_unlock(&names->lock);
	if (list->size)
		qsort(list->data, list->size / sizeof(struct line_name), sizeof(struct line_name),
		      compare);
	return list->failed ? list->failed : text->failed;
}
