/* What the readers of feature sections share.
 *
 * A reader takes the values of one section from a cursor and stores them in data->info.  It returns
 * 0 or -ENOMEM; for an invalid section it sets cursor->failed, and keeps what was read before. */
#ifndef TALLY_FILE_FEATURE_READ_H
#define TALLY_FILE_FEATURE_READ_H

#include <errno.h>
#include "file/data_file.h"
#include "file/feature.h"

/* Room for `count` things in the arena; counts come from cursor_count(), so that they cannot be
 * more than the section's bytes. */
#define feature_list(data, type, count) \
	((type *)tally_arena_alloc(&(data)->arena, ((size_t)(count) + !(count)) * sizeof(type)))

/* A string of the format: u32 length with NUL and padding, bytes.  The arena's copy; NULL when it
 * is no string (`failed`) or out of memory. */
const char *tally_feature_string(struct tally_data *data, struct file_cursor *cursor);

/* What a reader returns after tally_feature_string() gave NULL. */
static inline int feature_no_string(const struct file_cursor *cursor)
{
	return cursor->failed ? 0 : -ENOMEM;
}

/* u32 n, n strings. */
int tally_feature_strings(struct tally_data *data, struct file_cursor *cursor,
			  struct tally_data_strings *ret);

/* u32 n, n x {string, string}. */
int tally_feature_pairs(struct tally_data *data, struct file_cursor *cursor,
			struct tally_data_pairs *ret);

/* feature_events.c */
int tally_feature_event_desc(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_group_desc(struct tally_data *data, struct file_cursor *cursor);
/* feature_build_ids.c */
int tally_feature_build_ids(struct tally_data *data, struct file_cursor *cursor);
/* feature_machine.c */
int tally_feature_cpu_topology(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_numa_topology(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_pmu_mappings(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_cache(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_mem_topology(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_cpu_pmu_caps(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_pmu_caps(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_hybrid_topology(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_cpu_domain_info(struct tally_data *data, struct file_cursor *cursor);
/* feature_bpf.c: types first, the programs' functions have their names from them. */
int tally_feature_bpf_btf(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_bpf_prog_info(struct tally_data *data, struct file_cursor *cursor);
/* feature_recordings.c */
int tally_feature_recordings(struct tally_data *data, struct file_cursor *cursor);
/* feature_simpleperf.c */
int tally_feature_simpleperf_meta_info(struct tally_data *data, struct file_cursor *cursor);
/* Makes tracing data that is within one of the first records a section. 0 or -ENOMEM. */
int tally_feature_simpleperf_tracing(struct tally_data *data);
/* feature_symbols.c */
int tally_feature_simpleperf_file(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_simpleperf_file2(struct tally_data *data, struct file_cursor *cursor);
int tally_feature_hiperf_symbols(struct tally_data *data, struct file_cursor *cursor);

#endif
