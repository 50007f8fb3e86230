/* libpfm4's own answers: $TALLY_EVENTS/pfm413.tsv, lines of
 *     os <TAB> plm <TAB> string <TAB> code [<TAB> field=value]...
 * that a program linked with libpfm4 4.13 wrote, on a machine whose sysfs had every uncore PMU
 * under the type numbers below. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/pfm.h>
#include <unistd.h>

static const struct {
	const char *name;
	int type;
} pmus[] = {
    {"amd_l3", 1001},        {"amd_nb", 1002},       {"uncore_cbox_0", 1014},
    {"uncore_cbox_3", 1031}, {"uncore_cha_0", 1039}, {"uncore_cha_5", 1084},
    {"uncore_ha_0", 1117},   {"uncore_iio_2", 1121}, {"uncore_imc_1", 1127},
    {"uncore_irp", 1138},    {"uncore_m2m_1", 1147}, {"uncore_m3upi_2", 1156},
    {"uncore_pcu", 1160},    {"uncore_qpi_0", 1161}, {"uncore_upi_0", 1173},
};
#define PMUS (sizeof(pmus) / sizeof(pmus[0]))

static const char *const codes[] = {"SUCCESS",  "NOTSUPP", "INVAL",   "NOINIT", "NOTFOUND",
				    "FEATCOMB", "UMASK",   "NOMEM",   "ATTR",   "ATTR_VAL",
				    "ATTR_SET", "TOOMANY", "TOOSMALL"};

static const char *const folders[] = {"", "/bus", "/bus/event_source", "/bus/event_source/devices"};

static void make_sysfs(char root[64])
{
	char path[256];

	snprintf(root, 64, "%s", "/tmp/tally-pfm-XXXXXX");
	assert_non_null(mkdtemp(root));
	for (size_t i = 1; i < 4; i++) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	for (size_t i = 0; i < PMUS; i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s%s/%s", root, folders[3], pmus[i].name);
		assert_int_equal(mkdir(path, 0700), 0);
		snprintf(path, sizeof(path), "%s%s/%s/type", root, folders[3], pmus[i].name);
		file = fopen(path, "w");
		assert_non_null(file);
		fprintf(file, "%d\n", pmus[i].type);
		fclose(file);
	}
}

static void remove_sysfs(const char *root)
{
	char path[256];

	for (size_t i = 0; i < PMUS; i++) {
		snprintf(path, sizeof(path), "%s%s/%s/type", root, folders[3], pmus[i].name);
		unlink(path);
		snprintf(path, sizeof(path), "%s%s/%s", root, folders[3], pmus[i].name);
		rmdir(path);
	}
	for (size_t i = 4; i-- > 0;) {
		snprintf(path, sizeof(path), "%s%s", root, folders[i]);
		rmdir(path);
	}
}

/* The line as the program wrote it, from its fourth column. */
static void answer(const struct tally_pfm *pfm, enum tally_pfm_os os, int plm, const char *text,
		   char *to, size_t room)
{
	struct tally_pfm_event event = {.size = sizeof(event)};
	struct tally_error error = {0};
	const struct tally_attr *attr = &event.attr;
	int code = tally_pfm_encode(pfm, text, plm, os, &event, &error);
	int at = snprintf(to, room, "%s", codes[-code]);

	if (code) {
		assert_true(error.code < 0 && *error.text);
		return;
	}
	if (os == TALLY_PFM_OS_NONE) {
		for (size_t i = 0; i < event.code_count; i++)
			at += snprintf(to + at, room - (size_t)at, "%s0x%" PRIx64,
				       i ? "," : "\tcodes=", event.codes[i]);
		snprintf(to + at, room - (size_t)at, "\tfstr=%s", event.name);
	} else {
		snprintf(to + at, room - (size_t)at,
			 "\ttype=%u\tconfig=0x%" PRIx64 "\tconfig1=0x%" PRIx64
			 "\tconfig2=0x%" PRIx64
			 "\texclude_user=%d\texclude_kernel=%d\texclude_hv=%d\texclude_host=%d"
			 "\texclude_guest=%d\tprecise_ip=%d\tfreq=%d\tsample_period=%" PRIu64
			 "\tpinned=%d\texclusive=%d\tcpu=%d\tfstr=%s",
			 attr->type, attr->config, attr->config1, attr->config2, attr->exclude_user,
			 attr->exclude_kernel, attr->exclude_hv, attr->exclude_host,
			 attr->exclude_guest, attr->precise_ip, attr->freq, attr->sample_period,
			 attr->pinned, attr->exclusive, event.cpu, event.name);
	}
	tally_pfm_event_done(&event);
}

/* "0,3" is PLM0|PLM3. */
static int levels(const char *text)
{
	int plm = 0;

	for (; *text; text++)
		if (*text >= '0' && *text <= '4')
			plm |= 1 << (*text - '0');
	return plm;
}

static bool is_line_answered(const struct tally_pfm *pfm, char *line)
{
	char got[4096], *columns[4];
	enum tally_pfm_os os;

	line[strcspn(line, "\n")] = 0;
	for (size_t i = 0; i < 4; i++) {
		columns[i] = line;
		if (i == 3)
			break;
		line = strchr(line, '\t');
		assert_non_null(line);
		*line++ = 0;
	}
	os = !strcmp(columns[0], "ext")    ? TALLY_PFM_OS_PERF_EVENT_EXT
	     : !strcmp(columns[0], "perf") ? TALLY_PFM_OS_PERF_EVENT
					   : TALLY_PFM_OS_NONE;
	answer(pfm, os, levels(columns[1]), columns[2], got, sizeof(got));
	if (!strcmp(got, columns[3]))
		return true;
	print_error("%s %s %s\n  expected %s\n  got      %s\n", columns[0], columns[1], columns[2],
		    columns[3], got);
	return false;
}

static void answers_of_libpfm4(void **state)
{
	const char *folder = getenv("TALLY_EVENTS");
	char path[1024], root[64], *line = NULL;
	size_t room = 0, lines = 0, wrong = 0;
	struct tally_pfm_options options = {
	    .size = sizeof(options), .sysfs = root, .cpuid = "GenuineIntel-6-55-7"};
	struct tally_pfm *pfm;
	FILE *file;

	(void)state;
	snprintf(path, sizeof(path), "%.*s/pfm413.tsv", folder ? (int)strcspn(folder, ":") : 0,
		 folder ? folder : "");
	file = folder ? fopen(path, "r") : NULL;
	if (!file) {
		print_message("skipped: TALLY_EVENTS names no folder with pfm413.tsv\n");
		skip();
	}
	make_sysfs(root);
	if (tally_pfm_open(&options, &pfm, NULL)) {
		fclose(file);
		remove_sysfs(root);
		print_message("skipped: libpfm4 is not installed\n");
		skip();
	}
	for (; getline(&line, &room, file) > 0 && wrong < 20; lines++)
		wrong += !is_line_answered(pfm, line);
	free(line);
	fclose(file);
	remove_sysfs(root);
	tally_pfm_close(pfm);
	print_message("%zu strings\n", lines);
	assert_int_equal(wrong, 0);
	assert_true(lines > 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(answers_of_libpfm4)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
