#include "callchain/chain_images.h"

#include <elf.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/map.h"
#include "image/image.h"
#include "image/image_files.h"

struct known_image {
	pthread_mutex_t lock; /* of reading it */
	atomic_bool ready;
	struct tally_chain_image image;
};

struct tally_chain_images {
	pthread_mutex_t lock;
	struct tally_map by_number; /* struct known_image * */
};

int tally_chain_images_new(struct tally_chain_images **ret)
{
	struct tally_chain_images *images = calloc(1, sizeof(*images));

	if (!images)
		return -ENOMEM;
	pthread_mutex_init(&images->lock, NULL);
	*ret = images;
	return 0;
}

static void known_free(uint64_t pointer)
{
	struct known_image *known = (void *)(uintptr_t)pointer;

	if (!known)
		return;
	tally_cfi_free(known->image.cfi);
	tally_frame_info_done(&known->image.info);
	pthread_mutex_destroy(&known->lock);
	free(known);
}

void tally_chain_images_free(struct tally_chain_images *images)
{
	if (!images)
		return;
	for (size_t i = 0; i < images->by_number.room; i++)
		known_free(images->by_number.slots[i].value);
	known_free(images->by_number.zero_value);
	tally_map_done(&images->by_number);
	pthread_mutex_destroy(&images->lock);
	free(images);
}

static struct known_image *known_at(struct tally_chain_images *images, uint64_t number)
{
	struct known_image *known = NULL;
	uint64_t *slot;
	bool added;

	pthread_mutex_lock(&images->lock);
	slot = tally_map_put(&images->by_number, number, &added);
	if (slot && !*slot) {
		known = calloc(1, sizeof(*known));
		if (known)
			pthread_mutex_init(&known->lock, NULL);
		*slot = (uintptr_t)known;
	}
	if (slot)
		known = (void *)(uintptr_t)*slot;
	pthread_mutex_unlock(&images->lock);
	return known;
}

static enum tally_unwind_arch arch_of(const struct tally_frame_info *info)
{
	switch (info->machine) {
	case EM_X86_64:
		return info->word == 8 ? TALLY_UNWIND_X86_64 : TALLY_UNWIND_NONE;
	case EM_386:
		return TALLY_UNWIND_I386;
	case EM_AARCH64:
		return info->word == 8 ? TALLY_UNWIND_ARM64 : TALLY_UNWIND_NONE;
	default:
		return TALLY_UNWIND_NONE;
	}
}

/* Without memory the image is as one that cannot be read. */
static void read_image(struct tally_image *from, uint32_t part, struct tally_chain_image *image)
{
	struct tally_frame_info *info = &image->info;
	struct cfi_section eh_frame, debug_frame;

	if (tally_image_frame_info(from, part, info))
		return;
	image->arch = arch_of(info);
	eh_frame = tally_cfi_section(&info->eh_frame);
	debug_frame = tally_cfi_section(&info->debug_frame);
	if (image->arch != TALLY_UNWIND_NONE &&
	    !tally_cfi_new(&eh_frame, &debug_frame, info->word, &image->cfi))
		image->facts = tally_cfi_function_count(image->cfi) || info->frame_pointers;
}

static bool is_forgotten(const struct tally_image_store *store, uint64_t number)
{
	return !tally_image_store_at(store, (uint32_t)number);
}

int tally_chain_images_forget(struct tally_chain_images *images,
			      const struct tally_image_store *store)
{
	struct tally_map *before = &images->by_number, kept = {0};

	for (size_t i = 0; i < before->room; i++) {
		const struct tally_map_slot *slot = &before->slots[i];
		uint64_t *value;
		bool added;

		if (!slot->key || is_forgotten(store, slot->key))
			continue;
		value = tally_map_put(&kept, slot->key, &added);
		if (!value) {
			tally_map_done(&kept);
			return -ENOMEM;
		}
		*value = slot->value;
	}
	for (size_t i = 0; i < before->room; i++)
		if (before->slots[i].key && is_forgotten(store, before->slots[i].key))
			known_free(before->slots[i].value);
	kept.has_zero = before->has_zero;
	kept.zero_value = before->zero_value;
	if (kept.has_zero && is_forgotten(store, 0)) {
		known_free(kept.zero_value);
		kept.zero_value = 0;
	}
	tally_map_done(before);
	*before = kept;
	return 0;
}

const struct tally_chain_image *tally_chain_images_get(struct tally_chain_images *images,
						       struct tally_image *image, uint64_t place)
{
	uint32_t part = tally_image_part(image, place);
	struct known_image *known =
	    known_at(images, (uint64_t)part << 32 | tally_image_number(image));

	if (!known)
		return NULL;
	if (!atomic_load_explicit(&known->ready, memory_order_acquire)) {
		pthread_mutex_lock(&known->lock);
		if (!atomic_load_explicit(&known->ready, memory_order_relaxed)) {
			read_image(image, part, &known->image);
			atomic_store_explicit(&known->ready, true, memory_order_release);
		}
		pthread_mutex_unlock(&known->lock);
	}
	return &known->image;
}
