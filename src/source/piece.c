#include "source/piece.h"

#include "file/in_place.h"

void tally_pieces_forget(const struct tally_source *source, size_t from, size_t until)
{
	while (from < until) {
		struct tally_block block = {
		    .bytes = source->pieces[from].bytes,
		    .offset = source->pieces[from].offset,
		};

		/* As long as they are neighbours. */
		for (; from < until && source->pieces[from].bytes == block.bytes + block.size &&
		       source->pieces[from].offset == block.offset + block.size;
		     from++)
			block.size += source->pieces[from].size;
		tally_data_forget(source->data, &block);
	}
}
