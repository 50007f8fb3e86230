#include "kallsyms/kernel_cache.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/cache_folder.h"

/* Changes with the layout, and with the rules by which tables are made. */
#define VERSION     1
#define GROUP_LIMIT 4097
#define NAME_SIZE   64

static const char prefix[] = "kernel-";

struct head {
	char magic[8];
	uint32_t version, order; /* order: 0x01020304 as this machine writes it */
	struct tally_kernel_key key;
	uint64_t size; /* of the file */
	uint64_t text_start, stext_start;
	uint64_t text, text_size;     /* names, the last byte is NUL */
	uint64_t groups, group_count; /* array of struct group */
	uint64_t hidden;
};

struct group { /* offsets in the file */
	uint64_t count, starts, ends, names, infos;
	uint64_t outer;  /* 0: none */
	uint64_t module; /* its name in the text */
};

static const char magic[8] = "TALLYKS";

bool tally_kernel_cache_omits(const char *module)
{
	return !strcmp(module, "bpf") || !strncmp(module, "__builtin__", 11);
}

static void name_of(const struct tally_kernel_key *key, char ret[NAME_SIZE])
{
	snprintf(ret, NAME_SIZE, "%s%016llx", prefix,
		 (unsigned long long)tally_hash_bytes(key, sizeof(*key)));
}

/* An array of the mapped file; NULL when it is not within it, or not aligned. */
static const void *array_at(const struct tally_mapped *mapped, uint64_t offset, uint64_t count,
			    size_t size, size_t align)
{
	if (offset % align || offset > mapped->size || count > (mapped->size - offset) / size)
		return NULL;
	return mapped->data + offset;
}

static bool take_group(const struct tally_mapped *mapped, const struct group *group,
		       const char *text, size_t text_size, struct tally_symbol_table *table)
{
	*table = (struct tally_symbol_table){
	    .starts = array_at(mapped, group->starts, group->count, 8, 8),
	    .ends = array_at(mapped, group->ends, group->count, 8, 8),
	    .names = array_at(mapped, group->names, group->count, 4, 4),
	    .infos = array_at(mapped, group->infos, group->count, 1, 1),
	    .outer = group->outer ? array_at(mapped, group->outer, group->count, 4, 4) : NULL,
	    .text = text,
	    .text_size = text_size,
	    .count = (size_t)group->count,
	};
	return table->starts && table->ends && table->names && table->infos &&
	       (!group->outer || table->outer) && group->count < INT32_MAX &&
	       group->module < text_size;
}

/* Ties the tables to the file; 0, -EBADMSG, -ENOMEM. */
static int take(const struct tally_kernel_key *key, struct tally_kallsyms *kallsyms)
{
	const struct tally_mapped *mapped = &kallsyms->mapped;
	const struct head *head = array_at(mapped, 0, 1, sizeof(*head), 8);
	const struct group *groups;
	const char *text;

	if (!head || memcmp(head->magic, magic, sizeof(magic)) != 0 || head->version != VERSION ||
	    head->order != 0x01020304 || memcmp(&head->key, key, sizeof(*key)) != 0 ||
	    head->size != mapped->size || head->group_count > GROUP_LIMIT)
		return -EBADMSG;
	kallsyms->text_start = head->text_start;
	kallsyms->stext_start = head->stext_start;
	kallsyms->hidden = head->hidden;
	if (!head->group_count)
		return head->hidden ? 0 : -EBADMSG;
	text = array_at(mapped, head->text, head->text_size, 1, 1);
	groups = array_at(mapped, head->groups, head->group_count, sizeof(*groups), 8);
	if (!text || !head->text_size || text[head->text_size - 1] || !groups || head->hidden)
		return -EBADMSG;
	kallsyms->tables = calloc(head->group_count, sizeof(*kallsyms->tables));
	kallsyms->modules = calloc(head->group_count, sizeof(*kallsyms->modules));
	if (!kallsyms->tables || !kallsyms->modules)
		return -ENOMEM;
	for (size_t i = 0; i < head->group_count; i++) {
		if (!take_group(mapped, &groups[i], text, (size_t)head->text_size,
				&kallsyms->tables[i]))
			return -EBADMSG;
		kallsyms->modules[i] = i ? text + groups[i].module : NULL;
	}
	kallsyms->group_count = (size_t)head->group_count;
	return 0;
}

int tally_kernel_cache_read(const char *folder, const struct tally_kernel_key *key,
			    struct tally_kallsyms *ret)
{
	struct tally_kallsyms made = {0};
	char name[NAME_SIZE];
	int error;

	name_of(key, name);
	error = tally_cache_map(folder, name, &made.mapped);
	if (!error)
		error = take(key, &made);
	if (error)
		tally_kallsyms_done(&made);
	else
		*ret = made;
	return error;
}

int tally_kernel_cache_check(const char *folder, const char *name)
{
	struct tally_kallsyms made = {0};
	int error = tally_cache_peek(folder, name, &made.mapped);
	struct tally_kernel_key key;

	if (!error && made.mapped.size < sizeof(struct head))
		error = -EBADMSG;
	if (!error) {
		memcpy(&key, made.mapped.data + offsetof(struct head, key), sizeof(key));
		error = take(&key, &made);
	}
	tally_kallsyms_done(&made);
	return error;
}

static struct group put_group(struct tally_cache_writer *writer,
			      const struct tally_symbol_table *table)
{
	size_t count = table->count;

	return (struct group){
	    .count = count,
	    .starts = tally_cache_put(writer, table->starts, count * sizeof(*table->starts)),
	    .ends = tally_cache_put(writer, table->ends, count * sizeof(*table->ends)),
	    .names = tally_cache_put(writer, table->names, count * sizeof(*table->names)),
	    .infos = tally_cache_put(writer, table->infos, count * sizeof(*table->infos)),
	    .outer = table->outer
			 ? tally_cache_put(writer, table->outer, count * sizeof(*table->outer))
			 : 0,
	};
}

static int write_all(struct tally_cache_writer *writer, const struct tally_kernel_key *key,
		     const struct tally_kallsyms *kallsyms)
{
	struct head head = {.version = VERSION,
			    .order = 0x01020304,
			    .key = *key,
			    .text_start = kallsyms->text_start,
			    .stext_start = kallsyms->stext_start,
			    .hidden = kallsyms->hidden};
	struct group *groups = calloc(kallsyms->group_count + 1, sizeof(*groups));

	if (!groups)
		writer->error = -ENOMEM;
	memcpy(head.magic, magic, sizeof(magic));
	writer->at = sizeof(head);
	for (size_t i = 0; groups && i < kallsyms->group_count; i++) {
		const char *module = kallsyms->modules[i];

		if (module && tally_kernel_cache_omits(module))
			continue;
		groups[head.group_count] = put_group(writer, &kallsyms->tables[i]);
		groups[head.group_count++].module =
		    module ? (uint64_t)(module - kallsyms->text) : 0;
	}
	if (head.group_count) {
		head.text_size = kallsyms->text_size;
		head.text = tally_cache_put(writer, kallsyms->text, kallsyms->text_size);
		head.groups = tally_cache_put(writer, groups, head.group_count * sizeof(*groups));
	}
	free(groups);
	head.size = writer->at;
	return tally_cache_end(writer, &head, sizeof(head));
}

/* Files of other boots and of other modules. */
struct others {
	const char *folder, *name;
};

static int remove_other(void *context, const struct tally_cache_entry *entry)
{
	const struct others *others = context;

	if (!strncmp(entry->name, prefix, sizeof(prefix) - 1) &&
	    strcmp(entry->name, others->name) != 0)
		(void)tally_cache_remove(others->folder, entry->name);
	return 0;
}

int tally_kernel_cache_write(const char *folder, const struct tally_kernel_key *key,
			     const struct tally_kallsyms *kallsyms)
{
	char name[NAME_SIZE];
	const struct others others = {folder, name};
	struct tally_cache_writer writer;
	int error;

	name_of(key, name);
	error = tally_cache_begin(folder, name, &writer);
	if (!error)
		error = write_all(&writer, key, kallsyms);
	if (!error)
		(void)tally_cache_each(folder, remove_other, (void *)&others);
	return error;
}
