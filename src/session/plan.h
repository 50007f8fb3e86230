/* How one event's samples are read: the fields at fixed places by their offset, what lies behind
 * fields of varying size by the decoder. */
#ifndef TALLY_SESSION_PLAN_H
#define TALLY_SESSION_PLAN_H

#include <stdbool.h>
#include <tally/record.h>
#include "base/bytes.h"
#include "session/unwinding.h"

struct event_plan {
	const struct tally_layout *layout;
	uint64_t want; /* of the fields asked for, those that it has */
	int16_t ip_at, tid_at, time_at, cpu_at, period_at; /* below 0: not wanted */
	int16_t chain_at; /* below 0: it is not there, or what is wanted does not stand behind it */
	enum plan_chain chain; /* how the chain is completed, when it is wanted */
	bool raw;              /* wanted, behind the chain or in its place */
	uint16_t least;        /* bytes; a sample is never shorter */
	bool decode;           /* some wanted field needs the decoder */
};

struct tally_session;

/* One for each event, for the fields of `want` (PERF_SAMPLE_*); for free().  NULL: out of memory.
 */
struct event_plan *tally_session_plans(const struct tally_session *session, uint64_t want);

/* Samples that do not tell their thread are of thread -1, as in perf. */
static inline void plan_read_task(const struct event_plan *plan, const uint8_t *bytes,
				  uint32_t *ret_pid, uint32_t *ret_tid)
{
	*ret_pid = plan->tid_at >= 0 ? load_u32(bytes + plan->tid_at) : UINT32_MAX;
	*ret_tid = plan->tid_at >= 0 ? load_u32(bytes + plan->tid_at + 4) : UINT32_MAX;
}

/* Reads the wanted fields; false when the record does not hold them. */
static inline bool plan_read(const struct event_plan *plan, const struct tally_record *record,
			     struct tally_sample *sample)
{
	const uint8_t *bytes = record->bytes;

	if (record->size < plan->least)
		return false;
	if (plan->decode) {
		sample->size = sizeof(*sample);
		sample->time = 0;
		if (tally_sample_decode(plan->layout, record, plan->want, sample, NULL) < 0)
			return false;
		if (plan->tid_at < 0)
			sample->pid = sample->tid = UINT32_MAX;
		return true;
	}
	sample->present = plan->want;
	sample->ip = plan->ip_at >= 0 ? load_u64(bytes + plan->ip_at) : 0;
	plan_read_task(plan, bytes, &sample->pid, &sample->tid);
	if (plan->time_at >= 0)
		sample->time = load_u64(bytes + plan->time_at);
	if (plan->cpu_at >= 0)
		sample->cpu = load_u32(bytes + plan->cpu_at);
	if (plan->period_at >= 0)
		sample->period = load_u64(bytes + plan->period_at);
	if (plan->chain_at >= 0 || plan->raw) {
		size_t at = plan->least, left = record->size - at;

		if (plan->chain_at >= 0) {
			uint64_t count;

			if (left < 8)
				return false;
			count = load_u64(bytes + at);
			if (count > left / 8 - 1)
				return false;
			sample->callchain_nr = count;
			sample->callchain = (const void *)(bytes + at + 8);
			at += 8 + count * 8;
			left -= 8 + count * 8;
		}
		if (plan->raw) {
			if (left < 4 || load_u32(bytes + at) > left - 4)
				return false;
			sample->raw_size = load_u32(bytes + at);
			sample->raw = bytes + at + 4;
		}
	}
	return true;
}

#endif
