#include "resolve/resolver.h"

#include <errno.h>
#include <stdlib.h>
#include "base/table.h"
#include "code/insn_length.h"

int tally_resolver_init(struct tally_resolver *resolver, struct tally_resolve_tables *tables)
{
	*resolver = (struct tally_resolver){
	    .tables = tables,
	    .source = {.data = tables->source->data,
		       .processes = tables->source->processes,
		       .images = tables->images,
		       .build_ids = &tables->build_ids},
	    .pairs = RESOLVER_PAIRS_LEAST,
	};
	resolver->slots = table_new((size_t)resolver->pairs * 2, sizeof(*resolver->slots));
	resolver->tasks = calloc(RESOLVER_TASKS, sizeof(*resolver->tasks));
	if (!resolver->slots || !resolver->tasks) {
		tally_resolver_done(resolver);
		return -ENOMEM;
	}
	return 0;
}

void tally_resolver_done(struct tally_resolver *resolver)
{
	free(resolver->slots);
	free(resolver->places);
	free(resolver->tasks);
	free(resolver->words);
	free(resolver->modes);
	free(resolver->hashes);
	free(resolver->nodes);
	free(resolver->frames);
	free(resolver->path);
	free(resolver->prefixes);
	tally_resolver_runs_done(&resolver->runs);
	tally_map_done(&resolver->sources);
	for (size_t i = 0; i < 2; i++)
		tally_insn_decoder_free(resolver->decoders[i]);
	tally_unwinding_free(resolver->unwinding);
	*resolver = (struct tally_resolver){0};
}

int tally_resolver_task_miss(struct tally_resolver *resolver, struct resolver_task *task,
			     uint32_t pid, uint32_t tid, uint64_t time)
{
	const struct tally_process_table *processes = resolver->tables->source->processes;
	struct tally_task_view view;
	struct thread_row row = {.pid = pid, .tid = tid};
	uint32_t thread;

	tally_process_view(processes, pid, tid, time, &view);
	row.comm = tally_process_counted_comm(processes, tid, view.comm);
	row.space = tally_space_id(view.space);
	thread = view.comm == UINT32_MAX
		     ? UINT32_MAX
		     : tally_thread_number(&resolver->tables->threads_met, &row);
	if (thread == UINT32_MAX)
		return -ENOMEM;
	*task = (struct resolver_task){
	    .from = view.from,
	    .until = view.until,
	    .space = view.space,
	    .pid = pid,
	    .tid = tid,
	    .comm = view.comm,
	    .era = view.era,
	    .thread = thread,
	};
	return 0;
}

void tally_resolver_kernel_miss(struct tally_resolver *resolver, uint64_t time)
{
	const struct tally_space *kernel =
	    tally_process_kernel_space(resolver->tables->source->processes);

	resolver->kernel_era =
	    tally_space_era_span(kernel, time, &resolver->kernel_from, &resolver->kernel_until);
}

static void grow(struct tally_resolver *resolver)
{
	uint32_t old_pairs = resolver->pairs;
	struct resolver_slot *old = resolver->slots;
	struct resolver_slot *slots = table_new((size_t)old_pairs * 4, sizeof(*slots));

	resolver->misses = 0;
	if (!slots)
		return; /* the old one still does */
	resolver->slots = slots;
	resolver->pairs = old_pairs * 2;
	for (size_t i = (size_t)old_pairs * 2; i-- > 0;) {
		struct resolver_slot *pair = resolver_pair(resolver, old[i].era, old[i].addr);

		if (!old[i].frame)
			continue;
		pair[1] = pair[0];
		pair[0] = old[i];
	}
	free(old);
}

void tally_resolver_keep(struct tally_resolver *resolver, uint32_t era, uint64_t addr,
			 uint32_t frame)
{
	struct resolver_slot *pair;

	if (++resolver->misses > resolver->pairs && resolver->pairs < RESOLVER_PAIRS_MOST)
		grow(resolver);
	pair = resolver_pair(resolver, era, addr);
	pair[1] = pair[0];
	pair[0] = (struct resolver_slot){.addr = addr, .era = era, .frame = frame};
}

uint32_t tally_resolver_place(struct tally_resolver *resolver, uint32_t image, uint64_t place)
{
	uint64_t hash = hash_u64(place ^ (uint64_t)image << 44);
	struct resolver_place *known;

	if (!resolver->places &&
	    !(resolver->places = table_new(RESOLVER_PLACES, sizeof(*resolver->places))))
		return 0;
	known = &resolver->places[hash & (RESOLVER_PLACES - 1)];
	if (known->place == place && known->image == image && known->frame)
		return known->frame;
	if (resolver_keeps_places(resolver))
		tally_frames_fetch_place(&resolver->tables->frames, place);
	*known = (struct resolver_place){
	    .place = place,
	    .image = image,
	    .frame = resolver_at_place(
		resolver,
		tally_frames_find(&resolver->tables->frames, image, place, resolver->names_only),
		place),
	};
	return known->frame;
}

const struct tally_mapping *tally_resolver_mapping(const struct tally_resolver *resolver,
						   const struct tally_resolved *sample,
						   uint8_t cpumode, uint64_t addr, char *ret_level)
{
	const struct tally_resolve_tables *tables = resolver->tables;
	uint64_t time = tables->source->by_offset ? sample->offset : sample->sample.time;

	switch (cpumode) {
	case PERF_RECORD_MISC_KERNEL:
		*ret_level = 'k';
		return tally_space_find(tally_process_kernel_space(tables->source->processes), addr,
					time);
	case PERF_RECORD_MISC_GUEST_KERNEL:
		*ret_level = 'g';
		return NULL;
	case PERF_RECORD_MISC_GUEST_USER:
		*ret_level = 'u';
		return NULL;
	case PERF_RECORD_MISC_HYPERVISOR:
		*ret_level = 'H';
		return NULL;
	default:
		*ret_level = '.';
		return sample->space ? tally_space_find(sample->space, addr, time) : NULL;
	}
}

uint32_t tally_resolver_miss(struct tally_resolver *resolver, const struct tally_resolved *sample,
			     uint8_t cpumode, uint32_t era, uint64_t addr,
			     struct tally_image_place *ret_nowhere)
{
	struct tally_resolve_tables *tables = resolver->tables;
	const struct tally_mapping *mapping;
	uint32_t frame = 0;
	char level;

	mapping = tally_resolver_mapping(resolver, sample, cpumode, addr, &level);
	/* Records describe the text of the kernel; its code from booting is beyond. */
	if (!mapping && level == 'k' && (tables->kernel || tables->kernel_guessed))
		frame =
		    resolver_at_place(resolver,
				      tally_frames_find_kernel(&tables->frames, &resolver->source,
							       tables->kernel, addr),
				      addr);
	if (!frame) {
		uint32_t image;
		uint64_t place;

		if (tally_frames_place(&tables->frames, &resolver->source, mapping, level, addr,
				       &image, &place))
			return 0;
		/* Not remembered: such words hardly come again, and would drive out others. */
		if (!mapping && resolver->names_only)
			return tally_resolver_place(resolver, image, 0);
		if (!mapping && ret_nowhere && !tables->places) {
			*ret_nowhere = (struct tally_image_place){.place = place, .image = image};
			return TALLY_FRAME_NAMELESS;
		}
		frame = tally_resolver_place(resolver, image, place);
	}
	if (!frame)
		return 0;
	tally_resolver_keep(resolver, era, addr, frame);
	return frame;
}

uint32_t tally_resolver_unwound(struct tally_resolver *resolver,
				const struct tally_resolved *sample, uint64_t addr,
				const uint32_t **ret)
{
	struct resolver_run run;

	if (!resolver_run(resolver, sample, addr, &resolver->single, &run))
		return 0;
	*ret = run.frames;
	return run.count;
}

uint32_t tally_resolver_frame(struct tally_resolver *resolver, const struct tally_resolved *sample,
			      uint8_t cpumode, uint64_t addr)
{
	return resolver_frame(resolver, sample, cpumode, addr);
}

struct tally_resolver *tally_resolver_new(struct tally_resolve_tables *tables)
{
	struct tally_resolver *resolver = table_apart(1, sizeof(*resolver));

	if (resolver && tally_resolver_init(resolver, tables)) {
		free(resolver);
		return NULL;
	}
	if (resolver)
		resolver->names_only = true;
	return resolver;
}

void tally_resolver_free(struct tally_resolver *resolver)
{
	if (resolver)
		tally_resolver_done(resolver);
	free(resolver);
}
