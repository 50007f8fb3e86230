#include "session/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/bytes.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/pool.h"
#include "base/table.h"
#include "file/live.h"
#include "session/resolve.h"
#include "session/scan.h"
#include "callchain/chain_images.h"

/* More threads than this are a mistake. */
#define THREADS_MOST 1024U

/* Frames of a chain: perf's PERF_MAX_STACK_DEPTH; more than this is no stack. */
#define UNWIND_USUAL 127U
#define UNWIND_MOST  65536U

static int keep_text(struct tally_session *session, const char **text)
{
	if (*text)
		*text = tally_arena_strndup(&session->arena, *text, strlen(*text));
	return *text ? 0 : -ENOMEM;
}

static int take_options(struct tally_session *session, const struct tally_session_options *options,
			struct tally_error *error)
{
	struct tally_session_options *own = &session->options;
	int result = tally_options_take(own, sizeof(*own), options);

	if (result)
		return tally_fail(error, result, -1,
				  "an option of the session is not known to this libtally; use a "
				  "newer one");
	if ((own->symfs && keep_text(session, &own->symfs)) ||
	    (own->kallsyms && keep_text(session, &own->kallsyms)) ||
	    (own->vmlinux && keep_text(session, &own->vmlinux)) ||
	    (own->build_id_dir && keep_text(session, &own->build_id_dir)))
		return -ENOMEM;
	session->sums_early = own->columns & TALLY_COLUMN_COUNT;
	session->threads = own->threads ? own->threads : tally_pool_width();
	if (session->threads > THREADS_MOST)
		session->threads = THREADS_MOST;
	return 0;
}

/* What is the same for all events, and so known before any sample's event is. */
static int look_at_events(struct tally_session *session)
{
	session->event_count = tally_data_event_count(session->data);
	session->event_samples = calloc(session->event_count + 1, sizeof(uint64_t));
	if (!session->event_samples)
		return -ENOMEM;
	session->id_at = -1;
	session->by_offset = session->options.file_order;
	for (size_t i = 0; i < session->event_count; i++) {
		const struct tally_layout *layout = &tally_data_event(session->data, i)->layout;
		int at = layout->at[TALLY_FIXED_IDENTIFIER];

		if (at < 0)
			at = layout->at[TALLY_FIXED_ID];
		if (!i)
			session->id_at = at;
		else if (session->id_at != at)
			session->id_at = -1;
		if (layout->at[TALLY_FIXED_TIME] < 0)
			session->by_offset = true;
	}
	return 0;
}

static int index_build_ids(struct tally_session *session)
{
	const struct tally_data_info *info = tally_data_info(session->data);

	for (size_t i = 0; i < info->build_id_count; i++) {
		const char *name = info->build_ids[i].filename;
		bool added;
		uint64_t *index;

		if (!name)
			continue;
		index = tally_map_put(&session->build_ids, tally_hash_bytes(name, strlen(name)),
				      &added);
		if (!index)
			return -ENOMEM;
		if (added)
			*index = i + 1;
	}
	return 0;
}

void tally_session_drop_early_sums(struct tally_session *session)
{
	for (size_t i = 0; session->early_sums && i < session->early_part_count; i++)
		tally_early_sums_done(&session->early_sums[i]);
	free(session->early_sums);
	session->early_sums = NULL;
}

void tally_session_free_side_bytes(struct tally_session *session)
{
	for (size_t i = 0; session->side_bytes && i < session->side_bytes_count; i++)
		tally_arena_done(&session->side_bytes[i]);
	free(session->side_bytes);
	session->side_bytes = NULL;
}

/* Side-band records in time order go to the processes. */
int tally_session_feed_sides(struct tally_session *session)
{
	int result = tally_session_sort_sides(session->sides, session->side_count);

	for (size_t i = 0; !result && i < session->side_count; i++) {
		const struct session_side *side = &session->sides[i];
		const struct perf_event_header *header = (const void *)side->bytes;
		const struct tally_record record = {
		    .bytes = side->bytes,
		    .offset = side->offset,
		    .type = header->type,
		    .misc = header->misc,
		    .size = header->size,
		};
		int event = tally_data_event_of(session->data, &record);
		struct tally_body body;

		body.size = sizeof(body);
		if (!tally_record_decode(
			&tally_data_event(session->data, event < 0 ? 0 : (size_t)event)->layout,
			&record, &body, NULL))
			result = tally_process_feed(session->processes, &body, side->time);
	}
	free(session->sides);
	tally_session_free_side_bytes(session);
	session->sides = NULL;
	session->side_count = session->side_room = 0;
	return result ? result : tally_process_freeze(session->processes);
}

static int build_processes(struct tally_session *session)
{
	int result = tally_process_table_new(&session->processes);

	if (!result && session->live)
		tally_process_will_renew(session->processes);
	return result ? result : tally_session_feed_sides(session);
}

/* Whether the recording may be of the running kernel, as far as the file says. */
static bool same_kernel(const struct tally_session *session)
{
	const char *release = tally_data_info(session->data)->os_release;
	struct utsname here;

	return !release || (!uname(&here) && !strcmp(release, here.release));
}

void tally_session_find_kernel(struct tally_session *session)
{
	size_t mappings = tally_process_mapping_count(session->processes);

	session->kernel = NULL;
	for (size_t i = 0; i < mappings && !session->kernel; i++) {
		const struct tally_mapping *mapping =
		    tally_process_mapping(session->processes, (uint32_t)i);

		if (mapping->cpumode != PERF_RECORD_MISC_KERNEL || mapping->ksymbol)
			continue;
		session->kernel_guessed = false;
		if (!strncmp(tally_process_string(session->processes, mapping->file->filename),
			     "[kernel", 7))
			session->kernel = mapping;
	}
}

static int make_images(struct tally_session *session)
{
	const struct tally_image_options options = {
	    .size = sizeof(options),
	    .symfs = session->options.symfs,
	    .kallsyms = session->options.kallsyms,
	    .vmlinux = session->options.vmlinux,
	    .no_demangle = session->options.no_demangle,
	    .build_id_dir = session->options.build_id_dir,
	};
	size_t mappings = tally_process_mapping_count(session->processes);
	int result = tally_image_store_new(&options, &session->images);

	session->kernel_guessed = same_kernel(session);
	tally_session_find_kernel(session);
	if (!result)
		result = tally_chain_images_new(&session->chain_images);
	if (!result)
		result = tally_stacks_init(&session->stacks);
	return result ? result
		      : tally_frames_init(&session->frames, mappings, session->options.functions);
}

int tally_session_new(struct tally_data *data, const struct tally_session_options *options,
		      struct tally_session **ret, struct tally_error *error)
{
	struct tally_session *session = table_apart(1, sizeof(*session));
	struct tally_error facts = {0};
	int result;

	if (!session)
		return tally_fail(error, -ENOMEM, -1, "%s: out of memory", tally_data_path(data));
	session->data = data;
	session->unwind_most = UNWIND_USUAL;
	tally_thread_numbers_init(&session->threads_met);
	session->live = tally_data_is_live(data);
	session->total_bytes = tally_data_file_size(data);
	result = take_options(session, options, &facts);
	if (!result)
		result = look_at_events(session);
	if (!result)
		result = index_build_ids(session);
	/* What a live one holds comes later, window by window (live_windows.h). */
	if (!result && !session->live)
		result = tally_session_scan(session, &facts);
	if (!result)
		result = build_processes(session);
	if (!result)
		result = make_images(session);
	if (result < 0) {
		if (facts.code)
			result = tally_fail(error, result, facts.position, "%s", facts.text);
		else
			result = tally_fail(error, result, -1, "%s: %s", tally_data_path(data),
					    result == -ENOMEM ? "out of memory for its processes"
							      : strerror(-result));
		tally_session_free(session);
		return result;
	}
	*ret = session;
	return 0;
}

void tally_session_free(struct tally_session *session)
{
	if (!session)
		return;
	tally_frames_done(&session->frames);
	tally_stacks_done(&session->stacks);
	tally_thread_numbers_done(&session->threads_met);
	free(session->left_out);
	tally_chain_images_free(session->chain_images);
	tally_image_store_free(session->images);
	tally_process_table_free(session->processes);
	tally_map_done(&session->build_ids);
	tally_session_drop_early_sums(session);
	tally_session_free_side_bytes(session);
	free(session->pieces);
	free(session->runs);
	free(session->sides);
	free(session->event_samples);
	tally_arena_done(&session->arena);
	free(session);
}

struct tally_data *tally_session_data(const struct tally_session *session)
{
	return session->data;
}

const struct tally_session_counts *tally_session_counts(const struct tally_session *session)
{
	return &session->counts;
}

uint64_t tally_session_event_samples(const struct tally_session *session, size_t event)
{
	return event < session->event_count ? session->event_samples[event] : 0;
}

void tally_session_unwind_most(struct tally_session *session, uint32_t frames)
{
	session->unwind_most = frames < UNWIND_MOST ? frames : UNWIND_MOST;
}

void tally_session_stack_most(struct tally_session *session, uint32_t frames)
{
	session->stack_most = frames;
}

unsigned tally_session_threads(const struct tally_session *session)
{
	return session->threads;
}

struct tally_frame tally_session_frame(const struct tally_session *session, uint32_t number)
{
	return tally_frames_get(&session->frames, number);
}

int tally_session_thread(const struct tally_session *session, uint32_t number,
			 struct tally_thread *ret)
{
	const struct thread_row *row = tally_thread_row(&session->threads_met, number);
	struct tally_thread thread;

	if (!row)
		return -ENOENT;
	thread = (struct tally_thread){
	    .pid = row->pid, .tid = row->tid, .comm = tally_session_string(session, row->comm)};
	return tally_result_copy(ret, sizeof(thread), &thread);
}

bool tally_session_has_time(const struct tally_session *session, size_t event)
{
	return tally_data_event(session->data, event)->attr.sample_type & PERF_SAMPLE_TIME;
}

uint32_t tally_session_thread_comm(const struct tally_session *session, uint32_t thread)
{
	const struct thread_row *row = tally_thread_row(&session->threads_met, thread);

	return row ? row->comm : 0;
}

int tally_session_stack(const struct tally_session *session, uint32_t number,
			struct tally_stack *ret)
{
	uint64_t node = number && number < stacks_count(&session->stacks)
			    ? stacks_node(&session->stacks, number)
			    : 0;

	if (!node)
		return -ENOENT;
	*ret = (struct tally_stack){.caller = (uint32_t)(node >> 32), .frame = (uint32_t)node};
	return 0;
}

uint32_t tally_session_stack_count(const struct tally_session *session)
{
	return stacks_count(&session->stacks);
}

void tally_session_frame_ahead(const struct tally_session *session, uint32_t frame)
{
	tally_frames_ahead(&session->frames, frame);
}

uint32_t tally_session_frame_count(const struct tally_session *session)
{
	return chunks_count(&session->frames.list);
}

const char *tally_session_string(const struct tally_session *session, uint32_t number)
{
	return tally_process_string(session->processes, number);
}

void tally_session_each_missing(const struct tally_session *session, tally_missing_fn visit,
				void *context)
{
	for (uint32_t i = 0; i < chunks_count(&session->frames.images); i++) {
		const struct tally_frame_image *image =
		    chunks_at(&session->frames.images, i, sizeof(*image));
		const char *why = image->image ? tally_image_why_no_symbols(image->image) : NULL;

		if (why)
			visit(context, image->path, why);
	}
}

void tally_session_each_left_out(const struct tally_session *session,
				 void (*visit)(void *context, const char *line), void *context)
{
	for (uint32_t i = 0; i < chunks_count(&session->frames.images); i++) {
		const struct tally_frame_image *image =
		    chunks_at(&session->frames.images, i, sizeof(*image));

		if (image->image)
			tally_image_each_left_out(image->image, visit, context);
	}
}
