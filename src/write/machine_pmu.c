/* The machine's performance monitoring units.
 * Sources: Documentation/ABI/testing/sysfs-bus-event_source-devices*; the sections' layouts: the
 * perf.data format. */
#include "write/writer.h"

#include <stdlib.h>
#include <string.h>
#include "write/sysfs.h"

#define PMU_DIR "%s/sys/bus/event_source/devices"

/* Adds a count and its rows; nothing if there are none. Frees `rows`. */
static void add_rows(struct tally_buf *to, uint32_t count, struct tally_buf *rows)
{
	if (rows->failed)
		to->failed = rows->failed;
	if (count) {
		tally_buf_u32(to, count);
		tally_buf_add(to, rows->data, rows->size);
	}
	tally_buf_done(rows);
}

/* {u32 n, n x {u32 type, str name}} */
void tally_file_write_pmu_mappings(const struct file_facts *facts, struct tally_buf *to)
{
	size_t count = 0;
	char **names = tally_file_names(&count, PMU_DIR, facts->root);
	struct tally_buf rows = {0};
	uint32_t written = 0;

	for (size_t i = 0; i < count; i++) {
		int64_t type;

		if (!tally_file_number(&type, PMU_DIR "/%s/type", facts->root, names[i]))
			continue;
		tally_buf_u32(&rows, (uint32_t)type);
		tally_file_add_string(&rows, names[i]);
		written++;
	}
	add_rows(to, written, &rows);
	tally_file_names_free(names);
}

/* {u32 n, n x {str name, str value}}; returns how many were written */
static uint32_t write_caps(const struct file_facts *facts, const char *pmu, struct tally_buf *to)
{
	size_t count = 0;
	char **names = tally_file_names(&count, PMU_DIR "/%s/caps", facts->root, pmu);
	struct tally_buf rows = {0};
	uint32_t written = 0;

	for (size_t i = 0; i < count; i++) {
		char *value = tally_file_line(PMU_DIR "/%s/caps/%s", facts->root, pmu, names[i]);

		if (value) {
			tally_file_add_string(&rows, names[i]);
			tally_file_add_string(&rows, value);
			written++;
		}
		free(value);
	}
	add_rows(to, written, &rows);
	tally_file_names_free(names);
	return written;
}

void tally_file_write_cpu_pmu_caps(const struct file_facts *facts, struct tally_buf *to)
{
	write_caps(facts, "cpu", to);
}

/* {u32 n, n x {str pmu, str cpus}}: the core PMUs of a machine that has several kinds of core,
 * which have a file "cpus", unlike the single core PMU of other machines. */
void tally_file_write_hybrid_topology(const struct file_facts *facts, struct tally_buf *to)
{
	size_t count = 0;
	char **names = tally_file_names(&count, PMU_DIR, facts->root);
	struct tally_buf rows = {0};
	uint32_t written = 0;

	for (size_t i = 0; i < count; i++) {
		char *cpus;

		if (strncmp(names[i], "cpu_", 4))
			continue;
		cpus = tally_file_line(PMU_DIR "/%s/cpus", facts->root, names[i]);
		if (cpus) {
			tally_file_add_string(&rows, names[i]);
			tally_file_add_string(&rows, cpus);
			written++;
		}
		free(cpus);
	}
	add_rows(to, written, &rows);
	tally_file_names_free(names);
}

/* {u32 pmus, each {u32 n, n x {str name, str value}, str pmu}}: all but "cpu", which has its own.
 */
void tally_file_write_pmu_caps(const struct file_facts *facts, struct tally_buf *to)
{
	size_t count = 0;
	char **names = tally_file_names(&count, PMU_DIR, facts->root);
	struct tally_buf rows = {0};
	uint32_t written = 0;

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(names[i], "cpu") || !write_caps(facts, names[i], &rows))
			continue;
		tally_file_add_string(&rows, names[i]);
		written++;
	}
	add_rows(to, written, &rows);
	tally_file_names_free(names);
}
