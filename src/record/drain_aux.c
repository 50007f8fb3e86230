/* The order of a snapshot: the trace stops on all CPUs, all areas are read, it starts again.  The
 * order of a pass, a CPU after the other: the area's bytes are written, aux_tail moves, and the
 * event is enabled again, as the kernel disables it when an area is full.  Source:
 * perf_event_open(2), "MMAP layout"; perf_aux_output_end() of kernel/events/ring_buffer.c. */
#include "record/drain_aux.h"

#include <string.h>
#include <sys/uio.h>
#include "aux/aux_records.h"
#include "base/fail.h"

int tally_drain_aux_describe(const struct tally_openset *set, struct tally_buf *to)
{
	const struct tally_aux_plan *plan = &set->plan->aux;
	struct tally_record_time_conv conv;
	bool known = false;
	int result;

	if (!plan->kind)
		return 0;
	for (size_t i = 0; i < set->ring_count && !known; i++)
		known = set->rings[i] && !tally_ring_time_conv(set->rings[i], &conv);
	result =
	    tally_aux_add_info(plan, &set->plan->events[plan->event].attr,
			       set->plan->events[plan->event].filter, known ? &conv : NULL, to);
	if (!result && known)
		result = tally_aux_add_time_conv(&conv, to);
	return result;
}

static int append(struct tally_drain_aux *aux, size_t place, const struct tally_aux_bytes *bytes,
		  size_t size, struct tally_error *error)
{
	const struct tally_aux_plan *plan = &aux->set->plan->aux;
	const struct tally_record_auxtrace record = {
	    .size = size,
	    .trace_offset = bytes->offset,
	    .reference = plan->kind->reference(),
	    .idx = (uint32_t)place,
	    .tid = (uint32_t)aux->set->targets->tids[plan->per_cpu ? 0 : place],
	    .cpu = plan->per_cpu ? plan->cpus[place] : UINT32_MAX,
	};
	const struct iovec parts[2] = {
	    {(void *)(uintptr_t)bytes->first, bytes->first_size},
	    {(void *)(uintptr_t)bytes->second, bytes->second_size},
	};
	int result =
	    tally_writer_append_aux(aux->writer, &record, parts, bytes->second_size ? 2 : 1, error);

	if (!result)
		aux->bytes += size;
	return result;
}

/* A part of an entry stays for the next pass. */
static size_t cut_to_entries(struct tally_aux_bytes *bytes, size_t size, size_t align)
{
	size_t rest = size % align,
	       of_second = rest < bytes->second_size ? rest : bytes->second_size;

	bytes->second_size -= of_second;
	bytes->first_size -= rest - of_second;
	return size - rest;
}

int tally_drain_aux_pass(struct tally_drain_aux *aux, struct tally_error *error)
{
	const struct tally_aux_plan *plan = &aux->set->plan->aux;
	int result = 0;

	if (!plan->kind || plan->mode != TALLY_AUX_WHOLE)
		return 0;
	for (size_t i = 0; i < tally_openset_places(aux->set) && !result; i++) {
		struct tally_aux_area *area = &aux->set->aux[i];
		struct tally_aux_bytes bytes;
		size_t size = area->size ? tally_aux_area_peek(area, &bytes) : 0;

		size = size ? cut_to_entries(&bytes, size, plan->kind->align) : 0;
		if (!size)
			continue;
		result = append(aux, i, &bytes, size, error);
		if (result)
			break;
		tally_aux_area_consume(area, size);
		if (aux->running)
			tally_openset_trace(aux->set, i, true);
	}
	return result;
}

int tally_drain_aux_snapshot(struct tally_drain_aux *aux, bool last, struct tally_error *error)
{
	const struct tally_aux_plan *plan = &aux->set->plan->aux;
	size_t places = tally_openset_places(aux->set);
	int result = 0;

	if (!plan->kind || plan->mode != TALLY_AUX_SNAPSHOT)
		return 0;
	for (size_t i = 0; i < places; i++)
		tally_openset_trace(aux->set, i, false);
	for (size_t i = 0; i < places && !result; i++) {
		struct tally_aux_area *area = &aux->set->aux[i];
		struct tally_aux_bytes bytes;
		size_t size = 0;

		if (area->size)
			result = tally_aux_area_snapshot(area, plan->snapshot_size,
							 plan->kind->align, &bytes, &size);
		if (result)
			result = tally_fail(error, result, -1, "out of memory");
		else if (size)
			result = append(aux, i, &bytes, size, error);
	}
	for (size_t i = 0; i < places && !last && aux->running; i++)
		tally_openset_trace(aux->set, i, true);
	return result;
}
