/* What the tests of the file layer share: a temporary folder, small recordings, whole files. */
#ifndef TALLY_TESTS_MADE_RECORDING_H
#define TALLY_TESTS_MADE_RECORDING_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <tally/data.h>

#define RECORDING_SAMPLE_SIZE 56
#define RECORDING_SAMPLE_TYPE                                                           \
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | \
	 PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD)

/* cmocka group setup and teardown: *state is the folder's path. */
int recording_folder_make(void **state);
int recording_folder_remove(void **state);

struct bytes {
	uint8_t *data;
	size_t size;
};
struct bytes read_bytes(const char *path);
void write_bytes(const char *path, const void *data, size_t size);
char *path_in(void **state, const char *name); /* free() */

/* Two events, cpu-clock with ids 11 and 12 and dummy:u with 21 and 22. */
struct tally_writer *recording_begin(const char *path, struct tally_writer_options *options);
void recording_comm(struct tally_writer *writer, uint32_t pid, const char *comm);
/* `count` samples with times from `*time` on, which moves; events by turns. */
void recording_samples(struct tally_writer *writer, unsigned count, uint64_t *time);

struct tally_data *open_data(const char *path);
/* Records by type, types from 127 up together. */
void count_records(struct tally_data *data, uint64_t counts[128]);

bool have_perf(void);
/* Runs perf with these arguments; its output (both streams) and status; NULL when there is no perf.
 */
char *run_perf(const char *const *arguments, int *ret_status);

#endif
