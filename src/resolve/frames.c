#include "resolve/frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/table.h"
#include "jit/compiled_name.h"
#include "resolve/mapping_image.h"

#define NO_SYMBOL (-1)
#define FUNCTION  (-2) /* no symbol either; the place is where the function starts */
/* Of a function that was inlined into a symbol, and back. */
#define INLINED_IN(symbol) (-3 - (symbol))
/* No symbol has this number: `image` is a frame's, and the row is that frame at one place of its
 * image. */
#define AT_PLACE INT32_MAX
/* The same as an end of a branch: `place` has its facts (pack_end()). */
#define AT_BRANCH (INT32_MAX - 1)

/* As perf marks them: user, kernel, guest kernel, guest user, hypervisor. */
static const char levels[] = {'.', 'k', 'g', 'u', 'H'};

#define SHARE_BITS 12 /* of a place: they do not tell its share */

struct frame_row {
	/* Of inlined functions: the name's address; of symbols: the same of a name that is shown
	 * instead of theirs, or 0. */
	uint64_t place;
	uint32_t image;
	int32_t symbol; /* NO_SYMBOL, FUNCTION; below that: INLINED_IN() */
};

static struct tally_frame_image *image_at(const struct tally_frames *frames, uint32_t number)
{
	return chunks_at(&frames->images, number, sizeof(struct tally_frame_image));
}

static struct frame_row *row_at(const struct tally_frames *frames, uint32_t number)
{
	return chunks_at(&frames->list, number, sizeof(struct frame_row));
}

/* The row of what is at a frame, whatever its place. */
static const struct frame_row *plain_row(const struct tally_frames *frames, uint32_t frame)
{
	const struct frame_row *row =
	    row_at(frames, frame < chunks_count(&frames->list) ? frame : 0);

	if (row->symbol == AT_BRANCH)
		row = row_at(frames, row->image);
	return row->symbol == AT_PLACE ? row_at(frames, row->image) : row;
}

/* Adds an image; the lock is held.  NULL: out of memory. */
static struct tally_frame_image *image_add(struct tally_frames *frames, struct tally_image *image,
					   const char *name, const char *path, char level)
{
	struct tally_frame_image *added =
	    chunks_next(&frames->images, sizeof(struct tally_frame_image));

	if (!added)
		return NULL;
	added->image = image;
	added->name = name;
	added->path = path;
	added->level = level;
	added->places_are_addresses = !image || tally_image_places_are_addresses(image);
	added->number = chunks_added(&frames->images);
	return added;
}

int tally_frames_init(struct tally_frames *frames, size_t mappings, bool functions)
{
	pthread_mutexattr_t kind;
	uint32_t none;

	frames->functions = functions;
	/* It is held for some loads and stores, thousands of times a second: a short wait in place
	 * costs less than two threads that put each other to sleep. */
	pthread_mutexattr_init(&kind);
	pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ADAPTIVE_NP);
	pthread_mutex_init(&frames->lock, &kind);
	for (size_t i = 0; i < FRAME_SHARES; i++)
		pthread_mutex_init(&frames->shares[i].lock, &kind);
	pthread_mutexattr_destroy(&kind);
	frames->by_mapping = calloc(mappings + 1, sizeof(*frames->by_mapping));
	if (!frames->by_mapping || !chunks_add(&frames->list, sizeof(struct frame_row), &none))
		return -ENOMEM;
	for (size_t i = 0; i < sizeof(levels); i++) {
		const struct tally_frame_image *image =
		    image_add(frames, NULL, "[unknown]", "[unknown]", levels[i]);

		if (!image)
			return -ENOMEM;
		frames->unknown[i] = image->number;
	}
	return 0;
}

int tally_frames_renew(struct tally_frames *frames, size_t mappings)
{
	_Atomic uint32_t *by_mapping = calloc(mappings + 1, sizeof(*by_mapping));

	if (!by_mapping)
		return -ENOMEM;
	free(frames->by_mapping);
	frames->by_mapping = by_mapping;
	return 0;
}

void tally_frames_done(struct tally_frames *frames)
{
	if (!frames->by_mapping)
		return;
	for (uint32_t i = 0; i < chunks_count(&frames->images); i++) {
		free(atomic_load(&image_at(frames, i)->frames));
		tally_functions_free(atomic_load(&image_at(frames, i)->functions));
	}
	chunks_done(&frames->images);
	chunks_done(&frames->list);
	free(frames->by_mapping);
	for (size_t i = 0; i < FRAME_SHARES; i++) {
		free(frames->shares[i].slots);
		pthread_mutex_destroy(&frames->shares[i].lock);
	}
	tally_map_done(&frames->image_ids);
	tally_map_done(&frames->compiled);
	tally_arena_done(&frames->names);
	pthread_mutex_destroy(&frames->lock);
}

/* Of a frame at a place the place alone, so that it can be fetched while the frame is looked up. */
static uint32_t hashed_image(const struct frame_row *row)
{
	return row->symbol == AT_PLACE ? 0 : row->image;
}

static uint64_t row_hash(const struct frame_row *row)
{
	return hash_mix(hash_u64(row->place),
			(uint64_t)hashed_image(row) << 32 | (uint32_t)row->symbol);
}

/* Places that are close to each other have one share, so that a lock serves for several. */
static struct tally_frame_share *share_of(struct tally_frames *frames, const struct frame_row *row)
{
	uint64_t hash = hash_u64(row->place >> SHARE_BITS ^ (uint64_t)hashed_image(row) << 48);

	return &frames->shares[hash % FRAME_SHARES];
}

static int grow_share(struct tally_frame_share *share)
{
	uint32_t room = share->room ? share->room * 2 : 64;
	uint64_t *old = share->slots, *slots = tally_table_tagged(old, share->room, room);

	if (!slots)
		return -ENOMEM;
	atomic_store_explicit(&share->slots, slots, memory_order_relaxed);
	atomic_store_explicit(&share->room, room, memory_order_relaxed);
	free(old);
	return 0;
}

static uint32_t row_add(struct tally_frames *frames, const struct frame_row *row)
{
	uint32_t number;
	struct frame_row *place = chunks_add(&frames->list, sizeof(*place), &number);

	if (!place)
		return 0;
	*place = *row;
	return number;
}

/* The number of a row found by what it is, in its share, whose lock is held. */
static uint32_t row_put(struct tally_frames *frames, struct tally_frame_share *share,
			const struct frame_row *row, uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32), frame, room, at;
	uint64_t *slots;

	room = atomic_load_explicit(&share->room, memory_order_relaxed);
	if ((share->count + 1ULL) * 3 > room * 2ULL && grow_share(share))
		return 0;
	room = atomic_load_explicit(&share->room, memory_order_relaxed);
	slots = atomic_load_explicit(&share->slots, memory_order_relaxed);
	for (at = tag & (room - 1); slots[at]; at = (at + 1) & (room - 1)) {
		const struct frame_row *other;

		if ((uint32_t)(slots[at] >> 32) != tag)
			continue;
		other = row_at(frames, (uint32_t)slots[at]);
		if (other->place == row->place && other->image == row->image &&
		    other->symbol == row->symbol)
			return (uint32_t)slots[at];
	}
	frame = row_add(frames, row);
	if (frame) {
		slots[at] = (uint64_t)tag << 32 | frame;
		share->count++;
	}
	return frame;
}

static uint32_t row_intern(struct tally_frames *frames, const struct frame_row *row)
{
	struct tally_frame_share *share = share_of(frames, row);
	uint32_t frame;

	pthread_mutex_lock(&share->lock);
	frame = row_put(frames, share, row, row_hash(row));
	pthread_mutex_unlock(&share->lock);
	return frame;
}

/* The image number of a mapping + 1; 0: out of memory. */
static uint32_t image_number(struct tally_frames *frames, const struct tally_frame_source *source,
			     const struct tally_mapping *mapping, const char *filename)
{
	char level = mapping->cpumode == PERF_RECORD_MISC_KERNEL ? 'k' : '.';
	struct tally_image *image = NULL;
	struct tally_frame_image *found;
	uint64_t key, *id;
	uint32_t result = 0;
	bool added;

	if (mapping->ksymbol) {
		key = 1ULL << 40 | mapping->file->filename;
	} else {
		image = tally_mapping_image(source, mapping, filename);
		if (!image)
			return 0;
		key = ((uint64_t)tally_image_number(image) << 1 | (level == 'k')) + 1;
	}
	pthread_mutex_lock(&frames->lock);
	id = tally_map_put(&frames->image_ids, key, &added);
	if (id && !*id) {
		found = image ? image_add(frames, image, tally_image_name(image),
					  tally_image_path(image), level)
			      : image_add(frames, NULL, filename, filename, level);
		if (found) {
			found->symbol = image ? NULL : filename;
			found->base =
			    image ? tally_image_base(image, mapping->start, mapping->pgoff) : 0;
			if (image && tally_image_kind(image) == TALLY_IMAGE_MODULE)
				found->shown_from = found->base;
			*id = found->number + 1;
		}
	}
	if (id)
		result = (uint32_t)*id;
	pthread_mutex_unlock(&frames->lock);
	return result;
}

/* Whether equal names of the image's symbols are versions of one function. */
static bool is_compiled(const struct tally_frames *frames, const struct tally_frame_image *image)
{
	enum tally_image_kind kind = tally_image_kind(image->image);

	return frames->functions && (kind == TALLY_IMAGE_ANON || kind == TALLY_IMAGE_DUMP);
}

/* The row of a symbol whose name other symbols of the image may have, which is one row then.  The
 * lock is held. */
static uint32_t compiled_add(struct tally_frames *frames, const struct tally_frame_image *image,
			     struct frame_row *row)
{
	const char *name = tally_image_symbol(image->image, row->symbol)->name, *other;
	size_t start = tally_compiled_name(name);
	uint64_t hash, *known;
	bool added;

	if (start) {
		char *shown = tally_arena_strndup(&frames->names, name, strlen(name));

		if (!shown)
			return 0;
		memmove(shown + start, shown + start + 1, strlen(shown + start));
		name = shown;
		row->place = (uintptr_t)name;
	}
	hash = hash_mix(tally_hash_bytes(name, strlen(name)), image->number);
	known = tally_map_put(&frames->compiled, hash, &added);
	if (!known)
		return 0;
	if (*known) {
		other = tally_frames_get(frames, (uint32_t)*known).symbol;
		return strcmp(name, other) ? row_add(frames, row) : (uint32_t)*known;
	}
	*known = row_add(frames, row);
	return (uint32_t)*known;
}

uint32_t tally_frames_symbol_frame(struct tally_frames *frames, uint32_t number, int64_t symbol)
{
	struct tally_frame_image *image = image_at(frames, number);
	struct frame_row row = {.image = number, .symbol = (int32_t)symbol};
	_Atomic uint32_t *list = atomic_load_explicit(&image->frames, memory_order_acquire);
	uint32_t frame;

	if (!list) {
		size_t count = tally_image_symbol_count(image->image);

		pthread_mutex_lock(&frames->lock);
		list = atomic_load_explicit(&image->frames, memory_order_relaxed);
		if (!list && count < INT32_MAX && (list = calloc(count + 1, sizeof(*list)))) {
			atomic_store_explicit(&image->symbol_count, (uint32_t)count,
					      memory_order_relaxed);
			atomic_store_explicit(&image->frames, list, memory_order_release);
		}
		pthread_mutex_unlock(&frames->lock);
		if (!list)
			return 0;
	}
	/* A table that grew later (by names of its PLT, by newer code) has numbers beyond the
	 * array. */
	if (symbol >= (int64_t)atomic_load_explicit(&image->symbol_count, memory_order_relaxed)) {
		if (!is_compiled(frames, image))
			return row_intern(frames, &row);
		pthread_mutex_lock(&frames->lock);
		frame = compiled_add(frames, image, &row);
		pthread_mutex_unlock(&frames->lock);
		return frame;
	}
	frame = atomic_load_explicit(&list[symbol], memory_order_acquire);
	if (frame)
		return frame;
	pthread_mutex_lock(&frames->lock);
	frame = atomic_load_explicit(&list[symbol], memory_order_relaxed);
	if (!frame) {
		frame = is_compiled(frames, image) ? compiled_add(frames, image, &row)
						   : row_add(frames, &row);
		atomic_store_explicit(&list[symbol], frame, memory_order_release);
	}
	pthread_mutex_unlock(&frames->lock);
	return frame;
}

static struct frame_row nameless_row(uint32_t number, uint64_t place)
{
	return (struct frame_row){.place = place, .image = number, .symbol = NO_SYMBOL};
}

/* Where a search by that hash begins; another thread may move it away meanwhile. */
static void fetch_slot(const struct tally_frame_share *share, uint64_t hash)
{
	uint64_t *slots = atomic_load_explicit(&share->slots, memory_order_relaxed);
	uint32_t room = atomic_load_explicit(&share->room, memory_order_relaxed);

	if (slots && room)
		__builtin_prefetch(slots + ((hash >> 32) & (room - 1)));
}

/* So many places wait together for what their searches need of the memory. */
#define TOGETHER 32U

static int find_nameless(struct tally_frames *frames, const struct tally_image_place *places,
			 uint32_t count, uint32_t *ret)
{
	struct tally_frame_share *shares[TOGETHER], *locked = NULL;
	struct frame_row rows[TOGETHER];
	uint64_t hashes[TOGETHER];
	int result = 0;

	for (uint32_t i = 0; i < count; i++) {
		rows[i] = nameless_row(places[i].image, places[i].place);
		hashes[i] = row_hash(&rows[i]);
		shares[i] = share_of(frames, &rows[i]);
		fetch_slot(shares[i], hashes[i]);
	}
	for (uint32_t i = 0; i < count && !result; i++) {
		if (locked != shares[i]) {
			if (locked)
				pthread_mutex_unlock(&locked->lock);
			locked = shares[i];
			pthread_mutex_lock(&locked->lock);
		}
		ret[i] = row_put(frames, locked, &rows[i], hashes[i]);
		result = ret[i] ? 0 : -ENOMEM;
	}
	if (locked)
		pthread_mutex_unlock(&locked->lock);
	return result;
}

int tally_frames_nameless(struct tally_frames *frames, const struct tally_image_place *places,
			  uint32_t count, uint32_t *ret)
{
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i += TOGETHER)
		result = find_nameless(frames, places + i,
				       count - i < TOGETHER ? count - i : TOGETHER, ret + i);
	return result;
}

/* NULL: out of memory. */
static const struct tally_functions *functions_of(struct tally_frame_image *image)
{
	struct tally_functions *known, *made;

	known = atomic_load_explicit(&image->functions, memory_order_acquire);
	if (known)
		return known;
	made = tally_functions_new(image->image);
	if (!atomic_compare_exchange_strong(&image->functions, &known, made)) {
		tally_functions_free(made); /* another thread was first */
		return known;
	}
	return made;
}

bool tally_frames_function_around(const struct tally_frames *frames, uint32_t number,
				  uint64_t place, struct tally_function *ret)
{
	struct tally_frame_image *image = image_at(frames, number);
	const struct tally_functions *functions;

	if (!image->image || image->places_are_addresses)
		return false;
	functions = functions_of(image);
	return functions && !tally_functions_find(functions, place, ret);
}

bool tally_frames_function(struct tally_frames *frames, uint32_t number, uint64_t place,
			   struct tally_function *ret)
{
	return frames->functions && tally_frames_function_around(frames, number, place, ret);
}

int tally_frames_function_at(const struct tally_frames *frames, uint32_t frame,
			     struct tally_function *ret)
{
	const struct frame_row *row = plain_row(frames, frame);

	return (row->symbol == NO_SYMBOL || row->symbol == FUNCTION) &&
		       tally_frames_function_around(frames, row->image, row->place, ret)
		   ? 0
		   : -ENOENT;
}

uint32_t tally_frames_function_frame(struct tally_frames *frames, uint32_t number,
				     const struct tally_function *function)
{
	const struct frame_row row = {
	    .place = function->start, .image = number, .symbol = FUNCTION};

	return row_intern(frames, &row);
}

uint32_t tally_frames_find(struct tally_frames *frames, uint32_t number, uint64_t place,
			   bool names_only)
{
	const struct tally_frame_image *image = image_at(frames, number);
	struct tally_function function;
	struct frame_row row;

	if (image->image) {
		int64_t symbol = tally_image_find_symbol(image->image, place);

		if (symbol >= 0 && symbol < INT32_MAX)
			return tally_frames_symbol_frame(frames, number, symbol);
	}
	if (!names_only && tally_frames_function(frames, number, place, &function))
		return tally_frames_function_frame(frames, number, &function);
	row = nameless_row(number, names_only ? 0 : place);
	return row_intern(frames, &row);
}

uint32_t tally_frames_inlined(struct tally_frames *frames, uint32_t number, uint64_t place,
			      const char *name)
{
	const struct tally_frame_image *image = image_at(frames, number);
	int64_t symbol = tally_image_find_symbol(image->image, place);
	struct frame_row row = {.place = (uintptr_t)name, .image = number};

	if (symbol < 0 || symbol >= INT32_MAX)
		return tally_frames_find(frames, number, place, false);
	row.symbol = INLINED_IN((int32_t)symbol);
	return row_intern(frames, &row);
}

int tally_frames_given_image(struct tally_frames *frames, const char *name, const char *path,
			     char level, uint32_t *ret)
{
	struct tally_frame_image *image;

	pthread_mutex_lock(&frames->lock);
	image = image_add(frames, NULL, name, path, level);
	if (image) {
		image->given = true;
		*ret = image->number;
	}
	pthread_mutex_unlock(&frames->lock);
	return image ? 0 : -ENOMEM;
}

uint32_t tally_frames_given(struct tally_frames *frames, uint32_t image,
			    const struct tally_given_function *function, uint64_t place,
			    bool inlined)
{
	const struct frame_row row = {.place = function ? (uintptr_t)function : place,
				      .image = image,
				      .symbol = !function ? NO_SYMBOL
						: inlined ? INLINED_IN(0)
							  : 0};

	return row_intern(frames, &row);
}

static struct frame_row placed_row(uint32_t frame, uint64_t place)
{
	return (struct frame_row){.place = place, .image = frame, .symbol = AT_PLACE};
}

void tally_frames_fetch_place(struct tally_frames *frames, uint64_t place)
{
	const struct frame_row row = placed_row(0, place);

	fetch_slot(share_of(frames, &row), row_hash(&row));
}

uint32_t tally_frames_at_place(struct tally_frames *frames, uint32_t frame, uint64_t place)
{
	const struct frame_row row = placed_row(frame, place);

	return row_intern(frames, &row);
}

#define END_TO        (1ULL << 63)
#define END_PREDICTED (1ULL << 62)
#define END_ABORT     (1ULL << 61)
#define END_FORWARD   (1ULL << 60)
#define END_CROSSES   8 /* shifts of what `to` has */
#define END_LOOPS     16
#define END_LOOP      32
#define END_LOOP_MASK 0xffffff

static uint64_t pack_end(const struct tally_branch_end *end)
{
	if (end->to)
		return END_TO | (end->predicted ? END_PREDICTED : 0) |
		       (end->abort ? END_ABORT : 0) | (end->forward ? END_FORWARD : 0) |
		       (uint64_t)end->crosses << END_CROSSES | end->type;
	return end->cycles | (uint64_t)end->loops << END_LOOPS |
	       (uint64_t)(end->loop_cycles & END_LOOP_MASK) << END_LOOP;
}

uint32_t tally_frames_branch(struct tally_frames *frames, uint32_t frame,
			     const struct tally_branch_end *end)
{
	const struct frame_row row = {.place = pack_end(end), .image = frame, .symbol = AT_BRANCH};

	return row_intern(frames, &row);
}

bool tally_frames_branch_end(const struct tally_frames *frames, uint32_t frame,
			     struct tally_branch_end *ret, uint32_t *ret_frame)
{
	const struct frame_row *row =
	    row_at(frames, frame < chunks_count(&frames->list) ? frame : 0);
	uint64_t word = row->place;

	*ret_frame = frame;
	if (row->symbol != AT_BRANCH)
		return false;
	*ret_frame = row->image;
	*ret = word & END_TO
		   ? (struct tally_branch_end){.to = true,
					       .predicted = word & END_PREDICTED,
					       .abort = word & END_ABORT,
					       .forward = word & END_FORWARD,
					       .crosses = word >> END_CROSSES & 3,
					       .type = (uint8_t)word}
		   : (struct tally_branch_end){.cycles = (uint16_t)word,
					       .loops = (uint8_t)(word >> END_LOOPS),
					       .loop_cycles = word >> END_LOOP & END_LOOP_MASK};
	return true;
}

void tally_frames_placed(const struct tally_frames *frames, uint32_t frame,
			 struct tally_frame_place *ret)
{
	struct tally_branch_end end;
	const struct frame_row *row, *plain;
	bool placed;

	tally_frames_branch_end(frames, frame, &end, &frame);
	row = row_at(frames, frame < chunks_count(&frames->list) ? frame : 0);
	placed = row->symbol == AT_PLACE;
	plain = placed ? row_at(frames, row->image) : row;

	*ret =
	    (struct tally_frame_place){.frame = placed ? row->image : frame, .image = plain->image};
	if (placed)
		ret->place = row->place;
	else
		ret->place = tally_frames_get(frames, frame).place;
}

int tally_frames_place(struct tally_frames *frames, const struct tally_frame_source *source,
		       const struct tally_mapping *mapping, char level, uint64_t addr,
		       uint32_t *ret_image, uint64_t *ret_place)
{
	uint32_t number;

	if (!mapping) {
		const char *at = memchr(levels, level, sizeof(levels));

		*ret_image = frames->unknown[at ? at - levels : 0];
		*ret_place = addr;
		return 0;
	}
	number = atomic_load_explicit(&frames->by_mapping[mapping->number], memory_order_acquire);
	if (!number) {
		number =
		    image_number(frames, source, mapping,
				 tally_process_string(source->processes, mapping->file->filename));
		if (!number)
			return -ENOMEM;
		atomic_store_explicit(&frames->by_mapping[mapping->number], number,
				      memory_order_release);
	}
	number--;
	if (mapping->ksymbol)
		addr = mapping->start;
	else if (!image_at(frames, number)->places_are_addresses)
		addr = addr - mapping->start + mapping->pgoff;
	*ret_image = number;
	*ret_place = addr;
	return 0;
}

uint32_t tally_frames_find_kernel(struct tally_frames *frames,
				  const struct tally_frame_source *source,
				  const struct tally_mapping *kernel, uint64_t addr)
{
	uint32_t number = atomic_load_explicit(&frames->kernel, memory_order_acquire);

	if (!number) {
		const struct tally_mapping guessed = {
		    .cpumode = PERF_RECORD_MISC_KERNEL,
		    .file = &(struct tally_mapped_file){0},
		};

		number = image_number(
		    frames, source, kernel ? kernel : &guessed,
		    kernel ? tally_process_string(source->processes, kernel->file->filename)
			   : "[kernel.kallsyms]");
		if (!number)
			return 0;
		atomic_store_explicit(&frames->kernel, number, memory_order_release);
	}
	if (tally_image_find_symbol(image_at(frames, number - 1)->image, addr) < 0)
		return tally_frames_find(frames, frames->unknown[1], addr, false);
	return tally_frames_find(frames, number - 1, addr, false);
}

struct tally_image *tally_frames_image(const struct tally_frames *frames, uint32_t frame)
{
	const struct frame_row *row = plain_row(frames, frame);

	return image_at(frames, row->image)->image;
}

const struct tally_frame_image *tally_frames_image_at(const struct tally_frames *frames,
						      uint32_t number)
{
	return image_at(frames, number);
}

void tally_frames_ahead(const struct tally_frames *frames, uint32_t frame)
{
	if (frame < chunks_count(&frames->list))
		__builtin_prefetch(row_at(frames, frame));
}

/* Of a row that has one. */
static const struct tally_symbol *symbol_of(const struct tally_frame_image *image,
					    const struct frame_row *row)
{
	return tally_image_symbol(image->image,
				  row->symbol < FUNCTION ? INLINED_IN(row->symbol) : row->symbol);
}

struct tally_frame tally_frames_get(const struct tally_frames *frames, uint32_t frame)
{
	const struct frame_row *row = plain_row(frames, frame);
	const struct tally_frame_image *image = image_at(frames, row->image);
	struct tally_frame result = {
	    .image_name = image->name,
	    .image_path = image->path,
	    .symbol = image->symbol,
	    .place = row->place,
	    .level = image->level,
	    .image = image->image || image->symbol || image->given ? image->number : UINT32_MAX,
	};

	if (row->symbol == FUNCTION) {
		result.function = true;
		result.address =
		    tally_functions_address(atomic_load(&image->functions), row->place);
	} else if (row->symbol != NO_SYMBOL && image->image) {
		const struct tally_symbol *symbol = symbol_of(image, row);

		result.inlined = row->symbol < FUNCTION;
		result.symbol = row->place ? (const char *)(uintptr_t)row->place : symbol->name;
		result.place = symbol->start;
	} else if (row->symbol != NO_SYMBOL && image->given) {
		const struct tally_given_function *of = (const void *)(uintptr_t)row->place;

		result.inlined = row->symbol < FUNCTION;
		result.symbol = of->symbol;
		result.place = of->place;
	}
	if (!result.function)
		result.address = result.place - image->shown_from;
	return result;
}

bool tally_frames_symbol(const struct tally_frames *frames, uint32_t frame, uint64_t *ret_start,
			 uint64_t *ret_end)
{
	const struct frame_row *row = plain_row(frames, frame);
	const struct tally_frame_image *image = image_at(frames, row->image);
	const struct tally_symbol *symbol;

	if (row->symbol == NO_SYMBOL || row->symbol == FUNCTION || !image->image)
		return false;
	symbol = symbol_of(image, row);
	*ret_start = symbol->start;
	*ret_end = symbol->end;
	return true;
}
