#include "image/shown.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "elf/demangle.h"
#include "image/image_state.h"

/* What is left of names that are too long for any use. */
#define CUT_SIZE 1024

int tally_shown_init(struct tally_shown *shown, size_t count)
{
	shown->pieces = calloc(count / TALLY_SHOWN_PIECE + 1, sizeof(*shown->pieces));
	return shown->pieces ? 0 : -ENOMEM;
}

int tally_shown_grow(struct tally_shown *shown, size_t before, size_t count)
{
	struct tally_shown grown;

	if (tally_shown_init(&grown, count))
		return -ENOMEM;
	memcpy(grown.pieces, shown->pieces,
	       (before / TALLY_SHOWN_PIECE + 1) * sizeof(*grown.pieces));
	free(shown->pieces);
	*shown = grown;
	return 0;
}

void tally_shown_done(struct tally_shown *shown)
{
	free(shown->pieces); /* the pieces are of the image's arena */
	shown->pieces = NULL;
}

static const struct tally_symbol *make(struct tally_image *image, size_t index)
{
	struct tally_symbol *made = tally_arena_alloc(&image->arena, sizeof(*made));
	char *name;

	if (!made)
		return NULL;
	*made = tally_symbol_table_get(image->table, index);
	if (image->dump)
		made->name = image->dump->codes[index].name;
	name = image->demangle && tally_demangle_wanted(made->name)
		   ? tally_demangle(made->name, &image->budget.left)
		   : NULL;
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

/* Makes it once; it is published whole, so readers need no lock. */
static const struct tally_symbol *show(struct tally_image *image, size_t index)
{
	_Atomic(struct tally_shown_piece *) *at = &image->shown.pieces[index / TALLY_SHOWN_PIECE];
	const struct tally_symbol *symbol = NULL;
	struct tally_shown_piece *piece;

	pthread_mutex_lock(&image->lock);
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
	pthread_mutex_unlock(&image->lock);
	return symbol;
}

const struct tally_symbol *tally_image_symbol(const struct tally_image *image, int64_t index)
{
	static const struct tally_symbol unknown = {.name = "[out of memory]"};
	struct tally_image *state = (struct tally_image *)image;
	const struct tally_symbol *symbol = NULL;
	struct tally_shown_piece *piece;

	if (!atomic_load_explicit(&state->loaded, memory_order_acquire) || index < 0 ||
	    (size_t)index >= image->table->count)
		return NULL;
	piece = atomic_load_explicit(&state->shown.pieces[index / TALLY_SHOWN_PIECE],
				     memory_order_acquire);
	if (piece)
		symbol = atomic_load_explicit(&piece->symbols[index % TALLY_SHOWN_PIECE],
					      memory_order_acquire);
	if (!symbol)
		symbol = show(state, (size_t)index);
	return symbol ? symbol : &unknown;
}
