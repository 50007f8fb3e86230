#include "image/data_accesses.h"

#include <errno.h>
#include "image/code.h"
#include "image/code_space.h"
#include "image/image_state.h"
#include "image/inlines.h"

static int64_t read_code(void *context, uint64_t place, void *to, size_t size)
{
	return tally_image_read(context, place, to, size);
}

static struct data_types *types_of(struct tally_image *image, struct line_index *index)
{
	struct tally_code_space space;
	struct data_types_options options = {
	    .index = index,
	    .relocated = image->kind == TALLY_IMAGE_MODULE,
	    .read = read_code,
	    .context = image,
	};
	struct data_types *types;

	pthread_mutex_lock(&image->lines_lock);
	types = image->types;
	pthread_mutex_unlock(&image->lines_lock);
	if (types || tally_code_space_open(image, &space))
		return types;
	options.machine = space.machine;
	tally_code_space_close(&space);
	types = tally_data_types_new(&options);
	pthread_mutex_lock(&image->lines_lock);
	if (image->types) { /* another thread was faster */
		tally_data_types_free(types);
		types = image->types;
	}
	image->types = types;
	pthread_mutex_unlock(&image->lines_lock);
	return types;
}

int tally_image_data_access(struct tally_image *image, uint64_t place, struct data_access *ret,
			    struct data_types **ret_types)
{
	struct line_index *index;
	uint64_t address;
	int error = tally_lines_index(image, place, &index, &address);

	if (error == -ENOENT) {
		*ret = (struct data_access){.outcome = ACCESS_NO_DEBUG};
		*ret_types = NULL;
		return 0;
	}
	if (error)
		return error;
	*ret_types = types_of(image, index);
	return *ret_types ? tally_data_types_find(*ret_types, address, place, ret) : -ENOMEM;
}

void tally_image_forget_types(struct tally_image *image)
{
	tally_data_types_free(image->types);
	image->types = NULL;
}
