#include "image/code.h"
#include "session/session.h"

bool tally_session_image_facts(const struct tally_session *session, uint32_t image,
			       struct tally_image_facts *ret)
{
	const struct tally_frame_image *found;
	char byte;

	if (image >= chunks_count(&session->frames.images))
		return false;
	found = tally_frames_image_at(&session->frames, image);
	if (!found->image)
		return false;
	*ret = (struct tally_image_facts){
	    .name = found->name,
	    .path = found->path,
	    .why = tally_image_why_no_symbols(found->image),
	    .is_file = tally_image_kind(found->image) == TALLY_IMAGE_FILE &&
		       tally_image_read(found->image, 0, &byte, 1) == 1,
	};
	ret->build_id = tally_image_build_id(found->image, &ret->build_id_size);
	return true;
}

const char *tally_session_why_no_kernel(const struct tally_session *session)
{
	const char *why = NULL;

	if (!session->kernel && !session->kernel_guessed)
		return "the recording does not say where the kernel was, and another one runs here";
	for (uint32_t i = 0; i < chunks_count(&session->frames.images) && !why; i++) {
		const struct tally_frame_image *image = tally_frames_image_at(&session->frames, i);

		if (image->image && tally_image_kind(image->image) == TALLY_IMAGE_KERNEL)
			why = tally_image_why_no_symbols(image->image);
	}
	return why;
}
