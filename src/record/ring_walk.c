#include "record/ring_walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "kernel/ring_parts.h"

static void note_aux(struct tally_walk *walk, uint64_t flags)
{
	walk->counts.aux_cut += (flags & PERF_AUX_FLAG_TRUNCATED) != 0;
	walk->counts.aux_gaps += (flags & (PERF_AUX_FLAG_PARTIAL | PERF_AUX_FLAG_COLLISION)) != 0;
}

/* Counts a record that is not a sample. Returns records lost. */
static uint64_t note_rare(struct tally_walk *walk, const struct tally_ring_bytes *bytes, size_t at,
			  const struct perf_event_header *header)
{
	uint64_t lost = 0;

	/* Source: include/uapi/linux/perf_event.h, enum perf_event_type: LOST is {u64 id, lost},
	 * LOST_SAMPLES {u64 lost}, AUX {u64 aux_offset, aux_size, flags}. */
	if (header->type == PERF_RECORD_LOST && header->size >= 24)
		lost = ring_parts_word(bytes, at + 16);
	else if (header->type == PERF_RECORD_LOST_SAMPLES && header->size >= 16)
		lost = ring_parts_word(bytes, at + 8);
	else if (header->type == PERF_RECORD_THROTTLE)
		walk->counts.throttled++;
	else if (header->type == PERF_RECORD_AUX && header->size >= 32)
		note_aux(walk, ring_parts_word(bytes, at + 24));
	walk->counts.lost += lost;
	walk->counts.types[header->type < TALLY_WALK_TYPES ? header->type : 0]++;
	return lost;
}

static inline void note_time(struct tally_walk *walk, uint64_t time)
{
	if (!walk->counts.first_time || time < walk->counts.first_time)
		walk->counts.first_time = time;
	if (time > walk->counts.last_time)
		walk->counts.last_time = time;
}

int tally_walk_init(struct tally_walk *walk, const struct tally_attr *samples,
		    const struct tally_attr *sideband, struct tally_build_ids *build_ids)
{
	struct tally_layout layout;

	*walk = (struct tally_walk){.build_ids = build_ids};
	if (samples) {
		tally_layout_init(&layout, samples);
		walk->timed = true;
		walk->time_at = (size_t)layout.at[TALLY_FIXED_TIME];
	}
	if (!sideband)
		return 0;
	tally_layout_init(&walk->sideband_layout, sideband);
	walk->joined = malloc(65536); /* header.size is a u16 */
	return walk->joined ? 0 : -ENOMEM;
}

void tally_walk_done(struct tally_walk *walk)
{
	free(walk->joined);
	free(walk->mended);
	walk->joined = walk->mended = NULL;
}

void tally_walk_counts_add(struct tally_walk_counts *to, const struct tally_walk_counts *more)
{
	to->samples += more->samples;
	to->lost += more->lost;
	to->throttled += more->throttled;
	to->sideband_lost += more->sideband_lost;
	to->aux_cut += more->aux_cut;
	to->aux_gaps += more->aux_gaps;
	to->bad_bytes += more->bad_bytes;
	to->records += more->records;
	if (more->first_time && (!to->first_time || more->first_time < to->first_time))
		to->first_time = more->first_time;
	if (more->last_time > to->last_time)
		to->last_time = more->last_time;
	for (size_t i = 0; i < TALLY_WALK_TYPES; i++)
		to->types[i] += more->types[i];
}

size_t tally_walk_samples(struct tally_walk *walk, const struct tally_ring_bytes *bytes,
			  size_t from, size_t most)
{
	size_t total = ring_parts_size(bytes), at = from;
	size_t time_at = walk->time_at, last = total;
	uint64_t samples = 0, records = 0;

	while (at < total && at - from < most) {
		struct perf_event_header header = ring_parts_header(bytes, at);

		if (!header.size)
			break;
		if (header.type == PERF_RECORD_SAMPLE) {
			/* The first and the last sample of a ring are about the earliest and the
			 * latest: the others need no look. */
			if (walk->timed && header.size >= time_at + 8) {
				if (!samples)
					note_time(walk, ring_parts_word(bytes, at + time_at));
				last = at;
			}
			samples++;
		} else {
			note_rare(walk, bytes, at, &header);
		}
		records++;
		at += header.size;
	}
	if (last < total)
		note_time(walk, ring_parts_word(bytes, last + time_at));
	walk->counts.samples += samples;
	walk->counts.types[PERF_RECORD_SAMPLE] += samples;
	walk->counts.records += records;
	return at;
}

/* 0: the record has a build-id instead, or no file. */
static uint64_t file_number(const struct tally_body *body)
{
	return body->mmap2.ino
		   ? hash_mix(hash_pair(body->mmap2.ino, body->mmap2.maj), body->mmap2.min)
		   : 0;
}

static void note_mapping(struct tally_walk *walk, const uint8_t *bytes,
			 const struct perf_event_header *header)
{
	struct tally_record record = {
	    .bytes = bytes,
	    .type = header->type,
	    .misc = header->misc,
	    .size = header->size,
	};
	uint16_t mode = record.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	struct tally_body body;
	uint8_t size;

	body.size = sizeof(body);
	if (tally_record_decode(&walk->sideband_layout, &record, &body, NULL) ||
	    !body.mmap2.filename)
		return;
	size = record.misc & PERF_RECORD_MISC_MMAP_BUILD_ID ? body.mmap2.build_id_size : (uint8_t)0;
	/* Out of memory costs one entry of a table, not the recording. */
	if (mode == PERF_RECORD_MISC_USER)
		tally_build_ids_map(walk->build_ids, (pid_t)body.mmap2.pid, body.mmap2.filename,
				    file_number(&body), body.mmap2.build_id, size);
	else
		tally_build_ids_add(walk->build_ids, mode, body.mmap2.filename, body.mmap2.build_id,
				    size);
	if (body.type != PERF_RECORD_MMAP2 || !(body.mmap2.prot & PROT_EXEC))
		return;
	tally_build_ids_add_memory(walk->build_ids, body.mmap2.pid, body.mmap2.filename);
	if (walk->see_code && mode == PERF_RECORD_MISC_USER && !body.mmap2.ino &&
	    body.mmap2.filename[0] != '[') /* not the vdso of each process */
		walk->see_code(walk->see_code_context, body.mmap2.pid, body.mmap2.addr,
			       body.mmap2.len);
}

/* Where a record's body ends, of the types that kernels make too long; 0: the type is another one.
 * Source: perf_event.h: KSYMBOL is {u64 addr; u32 len; u16 ksym_type, flags; char name[]}, the name
 * filled up to a multiple of 8; BPF_EVENT {u16 type, flags; u32 id; u8 tag[8]}. */
static size_t body_end(const struct tally_ring_bytes *bytes, size_t at,
		       const struct perf_event_header *header)
{
	size_t end = 24;

	if (header->type == PERF_RECORD_BPF_EVENT)
		return end;
	if (header->type != PERF_RECORD_KSYMBOL)
		return 0;
	while (end < header->size) {
		uint64_t word = ring_parts_word(bytes, at + end);

		end += 8;
		if (memchr(&word, 0, sizeof(word)))
			break;
	}
	return end;
}

/* Where several recorders want them, kernels (6.18, too) write KSYMBOL and BPF_EVENT records that
 * are longer from one to the next by a trailer, behind their own trailer, and what was in the ring
 * before is there.  0: the record is as long as it should be. */
static size_t early_trailer(const struct tally_walk *walk, const struct tally_ring_bytes *bytes,
			    size_t at, const struct perf_event_header *header)
{
	size_t body = body_end(bytes, at, header), trailer = walk->sideband_layout.trailer_size;
	uint64_t any = 0;

	if (!body || !trailer || header->size <= body + trailer)
		return 0;
	for (size_t i = 0; i < trailer; i += 8)
		any |= ring_parts_word(bytes, at + body + i);
	return any ? body : 0; /* 0: the name just has more room */
}

const struct tally_ring_bytes *tally_walk_mended(struct tally_walk *walk,
						 const struct tally_ring_bytes *bytes, size_t *from,
						 size_t *to, struct tally_ring_bytes *room)
{
	size_t size = *to - *from, trailer = walk->sideband_layout.trailer_size;
	uint8_t *copy;

	if (!walk->too_long)
		return bytes;
	copy = realloc(walk->mended, size);
	if (!copy)
		return bytes;
	walk->mended = copy;
	ring_parts_copy(bytes, *from, size, copy);
	*room = (struct tally_ring_bytes){.first = copy, .first_size = size};
	*from = 0;
	*to = size;
	for (size_t at = 0; at < size;) {
		struct perf_event_header header = ring_parts_header(room, at);
		size_t body = early_trailer(walk, room, at, &header);

		if (!header.size)
			break;
		if (body) {
			uint8_t *behind = copy + at + body;
			size_t more = header.size - body - trailer;

			memmove(behind + more, behind, trailer);
			memset(behind, 0, more);
		}
		at += header.size;
	}
	return room;
}

size_t tally_walk_sideband(struct tally_walk *walk, const struct tally_ring_bytes *bytes,
			   size_t from, size_t most)
{
	size_t total = ring_parts_size(bytes), at = from;

	walk->too_long = false;
	while (at < total && at - from < most) {
		struct perf_event_header header = ring_parts_header(bytes, at);

		if (!header.size)
			break;
		if (header.type == PERF_RECORD_MMAP2 && at >= walk->noted)
			note_mapping(walk, ring_parts_whole(bytes, at, header.size, walk->joined),
				     &header);
		else if (walk->left_running &&
			 (header.type == PERF_RECORD_FORK || header.type == PERF_RECORD_EXIT))
			tally_left_running_note(
			    walk->left_running,
			    ring_parts_whole(bytes, at, header.size, walk->joined), header.size);
		else
			walk->too_long |= early_trailer(walk, bytes, at, &header) != 0;
		walk->counts.sideband_lost += note_rare(walk, bytes, at, &header);
		walk->counts.records++;
		at += header.size;
	}
	return at;
}

void tally_walk_mappings(struct tally_walk *walk, const struct tally_ring_bytes *bytes, size_t from)
{
	size_t total = ring_parts_size(bytes);

	for (size_t at = from; at < total;) {
		struct perf_event_header header = ring_parts_header(bytes, at);

		if (!header.size)
			break;
		if (header.type == PERF_RECORD_MMAP2)
			note_mapping(walk, ring_parts_whole(bytes, at, header.size, walk->joined),
				     &header);
		at += header.size;
	}
}
