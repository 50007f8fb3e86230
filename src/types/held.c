#include "types/held.h"

static int64_t wrap(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Pointers into one array are the same if they are at the same place of an element. */
static bool same_place(const struct held *a, const struct held *b)
{
	return a->type == b->type && a->size &&
	       (wrap(a->offset, (int64_t)(0 - (uint64_t)b->offset)) % (int64_t)a->size) == 0;
}

static bool merge_one(struct held *to, const struct held *from)
{
	if (to->kind == HELD_NOTHING)
		return false;
	if (to->kind == from->kind && to->offset == from->offset && to->type == from->type) {
		bool changed = !to->moved && from->moved;

		to->moved |= from->moved;
		return changed;
	}
	if (to->kind == HELD_POINTER && from->kind == HELD_POINTER && same_place(to, from)) {
		bool changed = !to->moved;

		to->moved = true;
		return changed;
	}
	*to = (struct held){.kind = HELD_NOTHING};
	return true;
}

bool tally_held_merge(struct held_state *to, const struct held_state *from)
{
	bool changed = false;

	for (int i = 0; i < INSN_REGISTERS; i++)
		changed |= merge_one(&to->registers[i], &from->registers[i]);
	for (int i = 0; i < HELD_SLOTS; i++) {
		struct held other;

		if (to->slots[i].held.kind == HELD_NOTHING)
			continue;
		other = tally_held_slot(from, to->slots[i].at);
		changed |= merge_one(&to->slots[i].held, &other);
	}
	return changed;
}

struct held tally_held_add(const struct held *held, int64_t value)
{
	struct held sum = *held;

	if (held->kind == HELD_NOTHING)
		return sum;
	sum.offset = wrap(held->offset, value);
	/* A whole element on is as good as the same one. */
	if (held->kind == HELD_POINTER && held->size && value && value % (int64_t)held->size == 0) {
		sum.offset = held->offset;
		sum.moved = true;
	}
	return sum;
}

struct held tally_held_slot(const struct held_state *state, int64_t at)
{
	for (int i = 0; i < HELD_SLOTS; i++)
		if (state->slots[i].held.kind != HELD_NOTHING && state->slots[i].at == at)
			return state->slots[i].held;
	return (struct held){.kind = HELD_NOTHING};
}

void tally_held_store(struct held_state *state, int64_t at, const struct held *held)
{
	int free = -1;

	for (int i = 0; i < HELD_SLOTS; i++) {
		struct held_slot *slot = &state->slots[i];

		if (slot->held.kind != HELD_NOTHING && slot->at == at) {
			slot->held = *held;
			return;
		}
		if (slot->held.kind == HELD_NOTHING && free < 0)
			free = i;
	}
	if (free >= 0 && held->kind != HELD_NOTHING)
		state->slots[free] = (struct held_slot){at, *held};
}
