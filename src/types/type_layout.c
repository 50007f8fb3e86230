/* The lines of a type's layout. */
#include <errno.h>
#include "types/data_types_state.h"
#include "types/type_shape.h"

/* Lines of a layout. */
#define MEMBERS_MOST (1U << 14)

struct layout {
	struct type_reader *reader;
	data_member_fn visit;
	void *context;
	unsigned depth;
	uint64_t start; /* of the record around the members */
	uint32_t lines;
	int result;
};

static void put(struct layout *layout, type_ref type, const char *name, uint64_t start,
		uint64_t size);

static bool put_member(void *context, const struct type_member *member)
{
	struct layout *layout = context;
	uint64_t start = layout->start;

	if (layout->lines == MEMBERS_MOST)
		return true;
	put(layout, member->entry.type, member->entry.name, start + member->start, member->size);
	layout->start = start;
	return layout->result != 0;
}

static void put(struct layout *layout, type_ref type, const char *name, uint64_t start,
		uint64_t size)
{
	struct tally_buf text = {0};
	struct data_member member = {
	    .depth = layout->depth, .offset = start, .size = size, .name = name};
	struct type_entry bare;
	type_ref element = type;

	/* an array of records has the members of one */
	if (tally_type_element(layout->reader, type))
		element = tally_type_element(layout->reader, type);
	member.has_members = layout->depth < TYPE_DEPTH_MOST &&
			     tally_type_bare(layout->reader, element, &bare) &&
			     tally_type_is_record(&bare);
	tally_type_text(layout->reader, type, &text);
	member.type = tally_buf_str(&text);
	layout->lines++;
	layout->result = text.failed ? -ENOMEM : layout->visit(layout->context, &member);
	tally_buf_done(&text);
	if (layout->result || !member.has_members)
		return;
	layout->depth++;
	layout->start = start;
	tally_type_members(layout->reader, element, put_member, layout);
	layout->depth--;
}

int tally_data_type_layout(struct data_types *types, uint32_t type, data_member_fn visit,
			   void *context)
{
	struct layout layout = {.reader = &types->reader, .visit = visit, .context = context};

	pthread_mutex_lock(&types->lock);
	types->reader.steps = NAME_STEPS;
	if (type < types->table.count)
		put(&layout, types->table.types[type].type, NULL, 0, types->table.types[type].size);
	pthread_mutex_unlock(&types->lock);
	return layout.result;
}
