#include "session/numbers.h"

#include <errno.h>
#include <string.h>
#include "base/option_struct.h"
#include "image/code.h"
#include "image/image_kind.h"
#include "resolve/locate.h"
#include "session/session.h"

struct tally_resolve_tables *tally_session_tables(struct tally_session *session)
{
	return &session->tables;
}

struct tally_frame tally_session_frame(const struct tally_session *session, uint32_t number)
{
	return tally_frames_get(&session->tables.frames, number);
}

uint32_t tally_session_frame_count(const struct tally_session *session)
{
	return chunks_count(&session->tables.frames.list);
}

void tally_session_frame_ahead(const struct tally_session *session, uint32_t frame)
{
	tally_frames_ahead(&session->tables.frames, frame);
}

enum tally_thread_start tally_session_thread_start(const struct tally_session *session,
						   uint32_t frame)
{
	return tally_thread_start_of(&session->tables.frames, frame);
}

int tally_session_thread(const struct tally_session *session, uint32_t number,
			 struct tally_thread *ret)
{
	const struct thread_row *row = tally_thread_row(&session->tables.threads_met, number);
	struct tally_thread thread;

	if (!row)
		return -ENOENT;
	thread = (struct tally_thread){
	    .pid = row->pid, .tid = row->tid, .comm = tally_session_string(session, row->comm)};
	return tally_result_copy(ret, sizeof(thread), &thread);
}

const char *tally_session_source(const struct tally_session *session, uint32_t number)
{
	struct tally_session *of = (struct tally_session *)session; /* its lock is taken */

	return tally_source_texts_get(&of->tables.source_texts, number);
}

bool tally_session_branch_end(const struct tally_session *session, uint32_t frame,
			      struct tally_branch_end *ret, uint32_t *ret_frame)
{
	return tally_frames_branch_end(&session->tables.frames, frame, ret, ret_frame);
}

void tally_session_frame_placed(const struct tally_session *session, uint32_t frame,
				struct tally_frame_place *ret)
{
	tally_frames_placed(&session->tables.frames, frame, ret);
}

int tally_session_frame_line(struct tally_session *session, uint32_t frame, uint32_t *ret)
{
	return tally_source_of_frame(&session->tables, frame, ret);
}

int tally_session_call_source(struct tally_session *session, uint32_t frame, bool returned_to,
			      bool calls_inlined, uint32_t *ret_line, uint32_t *ret_file)
{
	struct source_numbers numbers;
	int result =
	    tally_source_of_call(&session->tables, frame, returned_to, calls_inlined, &numbers);

	if (!result) {
		*ret_line = numbers.line;
		*ret_file = numbers.file;
	}
	return result;
}

uint64_t tally_session_frame_size(const struct tally_session *session, uint32_t frame)
{
	uint64_t start, end;

	return tally_frames_symbol(&session->tables.frames, frame, &start, &end) && end > start
		   ? end - start
		   : UINT64_MAX;
}

uint64_t tally_session_frame_map_size(const struct tally_session *session, uint32_t frame)
{
	const struct tally_mapping *mapping =
	    tally_mapping_of_frame(&session->tables.frames, session->source.processes, frame);

	return mapping ? mapping->end - mapping->start : UINT64_MAX;
}

bool tally_session_places(const struct tally_session *session)
{
	return session->tables.places;
}

bool tally_session_has_time(const struct tally_session *session, size_t event)
{
	return tally_data_event(session->source.data, event)->attr.sample_type & PERF_SAMPLE_TIME;
}

uint32_t tally_session_thread_comm(const struct tally_session *session, uint32_t thread)
{
	const struct thread_row *row = tally_thread_row(&session->tables.threads_met, thread);

	return row ? row->comm : 0;
}

int tally_session_stack(const struct tally_session *session, uint32_t number,
			struct tally_stack *ret)
{
	uint64_t node = number && number < stacks_count(&session->tables.stacks)
			    ? stacks_node(&session->tables.stacks, number)
			    : 0;

	if (!node)
		return -ENOENT;
	*ret = (struct tally_stack){.caller = (uint32_t)(node >> 32), .frame = (uint32_t)node};
	return 0;
}

const struct tally_stacks *tally_session_stacks(const struct tally_session *session)
{
	return &session->tables.stacks;
}

uint32_t tally_session_stack_count(const struct tally_session *session)
{
	return stacks_count(&session->tables.stacks);
}

const char *tally_session_string(const struct tally_session *session, uint32_t number)
{
	return tally_process_string(session->source.processes, number);
}

bool tally_session_image_facts(const struct tally_session *session, uint32_t image,
			       struct tally_image_facts *ret)
{
	const struct tally_frame_image *found;
	char byte;

	if (image >= chunks_count(&session->tables.frames.images))
		return false;
	found = tally_frames_image_at(&session->tables.frames, image);
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

uint32_t tally_session_image_map_pid(const struct tally_session *session, uint32_t image)
{
	const struct tally_frame_image *found;

	if (image >= chunks_count(&session->tables.frames.images))
		return 0;
	found = tally_frames_image_at(&session->tables.frames, image);
	return found->image ? tally_image_map_pid(found->image) : 0;
}

bool tally_session_image_is_made(const struct tally_session *session, uint32_t image)
{
	const struct tally_frame_image *found;

	if (image >= chunks_count(&session->tables.frames.images))
		return false;
	found = tally_frames_image_at(&session->tables.frames, image);
	return tally_image_is_made(found->image ? tally_image_kind(found->image)
						: tally_image_kind_of(found->path, false),
				   found->path);
}

bool tally_session_has_image(const struct tally_session *session, const char *name)
{
	for (uint32_t i = 0; i < chunks_count(&session->tables.frames.images); i++)
		if (!strcmp(tally_frames_image_at(&session->tables.frames, i)->name, name))
			return true;
	return false;
}

size_t tally_session_symbols_left(const struct tally_session *session)
{
	const struct tally_data_info *info = tally_data_info(session->tables.source->data);
	size_t count = 0;

	for (size_t i = 0; i < info->file_count && !session->tables.recorded.used; i++)
		count += info->files[i].symbol_count > 0;
	return count;
}

const char *tally_session_why_no_kernel(const struct tally_session *session)
{
	const char *why = NULL;

	if (!session->tables.kernel && !session->tables.kernel_guessed)
		return "the recording does not say where the kernel was, nor that it is the one "
		       "that runs here; give its table with --kallsyms or its file with --vmlinux";
	for (uint32_t i = 0; i < chunks_count(&session->tables.frames.images) && !why; i++) {
		const struct tally_frame_image *image =
		    tally_frames_image_at(&session->tables.frames, i);

		if (image->image && tally_image_kind(image->image) == TALLY_IMAGE_KERNEL)
			why = tally_image_why_no_symbols(image->image);
	}
	return why;
}

void tally_session_each_missing(const struct tally_session *session, tally_missing_fn visit,
				void *context)
{
	for (uint32_t i = 0; i < chunks_count(&session->tables.frames.images); i++) {
		const struct tally_frame_image *image =
		    chunks_at(&session->tables.frames.images, i, sizeof(*image));
		const char *why = image->image ? tally_image_why_no_symbols(image->image) : NULL;

		if (why)
			visit(context, image->path, why);
	}
}

void tally_session_each_left_out(const struct tally_session *session,
				 void (*visit)(void *context, const char *line), void *context)
{
	const struct tally_tar *archive = session->tables.debug_dirs.places.recording;

	if (archive && tally_tar_is_damaged(archive))
		visit(context, "the archive is damaged or cut short: what is behind that place is "
			       "missing");
	for (uint32_t i = 0; i < chunks_count(&session->tables.frames.images); i++) {
		const struct tally_frame_image *image =
		    chunks_at(&session->tables.frames.images, i, sizeof(*image));

		if (image->image)
			tally_image_each_left_out(image->image, visit, context);
	}
}
