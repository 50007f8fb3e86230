#include "image/shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "elf/demangle.h"
#include "image/image_state.h"

/* What is left of names that are too long for any use. */
#define CUT_SIZE 1024

int tally_shown_grow(struct tally_shown *shown, size_t count)
{
	struct tally_shown_room *before = atomic_load_explicit(&shown->room, memory_order_relaxed);
	struct tally_shown_room *grown;

	if (before && before->count >= count)
		return 0;
	/* Tables that grew once grow on. */
	if (before && count < before->count * 2)
		count = before->count * 2;
	grown =
	    calloc(1, sizeof(*grown) + (count / TALLY_SHOWN_PIECE + 1) * sizeof(grown->pieces[0]));
	if (!grown)
		return -ENOMEM;
	grown->count = count;
	grown->before = before;
	for (size_t i = 0; before && i < before->count / TALLY_SHOWN_PIECE + 1; i++)
		atomic_init(&grown->pieces[i],
			    atomic_load_explicit(&before->pieces[i], memory_order_relaxed));
	atomic_store_explicit(&shown->room, grown, memory_order_release);
	return 0;
}

void tally_shown_done(struct tally_shown *shown)
{
	struct tally_shown_room *room = atomic_load_explicit(&shown->room, memory_order_relaxed);

	/* the pieces are of the image's arena */
	while (room) {
		struct tally_shown_room *before = room->before;

		free(room);
		room = before;
	}
	atomic_init(&shown->room, NULL);
}

static const struct tally_symbol *make(struct tally_image *image, size_t index)
{
	struct tally_symbol *made = tally_arena_alloc(&image->arena, sizeof(*made));
	char *name = NULL;

	if (!made)
		return NULL;
	*made = tally_symbol_table_get(image->table, (size_t)tally_grown_row(image, index));
	if (image->dump)
		made->name = image->dump->codes[index].name;
	/* A map's text goes when it is read again. */
	if (image->kind == TALLY_IMAGE_ANON)
		made->name = tally_arena_strndup(&image->arena, made->name,
						 strnlen(made->name, TALLY_NAME_MOST));
	if (!made->name)
		return NULL;
	if (image->demangle && tally_demangle_wanted(made->name)) {
		const char *kept = tally_lines_kept_name(image, made->name);

		if (kept) {
			made->name = kept;
			return made;
		}
		name = tally_demangle(made->name, &image->budget.left);
		if (name)
			tally_lines_keep_name(image, made->name, name);
	}
	if (strnlen(made->name, TALLY_NAME_MOST) == TALLY_NAME_MOST) {
		char *cut = tally_arena_strndup(&image->arena, made->name, CUT_SIZE + 3);

		if (!cut)
			return NULL;
		memset(cut + CUT_SIZE, '.', 3);
		made->name = cut;
	}
	if (name) {
		const char *copy = tally_arena_strndup(&image->arena, name, strlen(name));

		if (copy)
			made->name = copy;
		free(name);
	}
	return made;
}

static _Atomic(struct tally_shown_piece *) *piece_at(struct tally_image *image, size_t index)
{
	struct tally_shown_room *room =
	    atomic_load_explicit(&image->shown.room, memory_order_acquire);

	return room && index < room->count ? &room->pieces[index / TALLY_SHOWN_PIECE] : NULL;
}

/* Makes it once; it is published whole, so readers need no lock. */
static const struct tally_symbol *show(struct tally_image *image, size_t index)
{
	_Atomic(struct tally_shown_piece *) *at = piece_at(image, index);
	const struct tally_symbol *symbol = NULL;
	struct tally_shown_piece *piece;

	piece = atomic_load_explicit(at, memory_order_relaxed);
	if (!piece) {
		piece = tally_arena_alloc(&image->arena, sizeof(*piece));
		atomic_store_explicit(at, piece, memory_order_release);
	}
	if (piece) {
		symbol = atomic_load_explicit(&piece->symbols[index % TALLY_SHOWN_PIECE],
					      memory_order_relaxed);
		if (!symbol) {
			symbol = make(image, index);
			atomic_store_explicit(&piece->symbols[index % TALLY_SHOWN_PIECE], symbol,
					      memory_order_release);
		}
	}
	return symbol;
}

int tally_shown_keep(struct tally_image *image, size_t index)
{
	return show(image, index) ? 0 : -ENOMEM;
}

const struct tally_symbol *tally_image_symbol(const struct tally_image *image, int64_t index)
{
	static const struct tally_symbol unknown = {.name = "[out of memory]"};
	struct tally_image *state = (struct tally_image *)image;
	const struct tally_symbol *symbol = NULL;
	_Atomic(struct tally_shown_piece *) *at;
	struct tally_shown_piece *piece;
	bool known;

	if (!atomic_load_explicit(&state->loaded, memory_order_acquire) || index < 0)
		return NULL;
	at = piece_at(state, (size_t)index);
	piece = at ? atomic_load_explicit(at, memory_order_acquire) : NULL;
	if (piece)
		symbol = atomic_load_explicit(&piece->symbols[index % TALLY_SHOWN_PIECE],
					      memory_order_acquire);
	if (symbol)
		return symbol;
	pthread_mutex_lock(&state->lock);
	known = (size_t)index < tally_grown_count(state);
	if (known)
		symbol = show(state, (size_t)index);
	pthread_mutex_unlock(&state->lock);
	return symbol || !known ? symbol : &unknown;
}
