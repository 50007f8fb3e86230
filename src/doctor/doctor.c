/* The list of findings, and what the checks share. */
#include <tally/doctor.h>
#include <tally/limits.h>
#include <tally/open.h>

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fs.h"
#include "base/option_struct.h"
#include "doctor/checkup.h"

#define FINDINGS_MOST 64

struct tally_doctor {
	struct tally_finding findings[FINDINGS_MOST];
	size_t count;
	struct tally_arena arena;
	int failed; /* 0 or -ENOMEM */
};

static char *copy_text(struct tally_doctor *doctor, const char *text)
{
	char *kept = text ? tally_arena_strndup(&doctor->arena, text, strlen(text)) : NULL;

	if (text && !kept)
		doctor->failed = -ENOMEM;
	return kept;
}

void tally_checkup_add(struct tally_checkup *checkup, const struct tally_finding *finding,
		       const char *found, ...)
{
	struct tally_doctor *doctor = checkup->doctor;
	struct tally_finding *to = &doctor->findings[doctor->count];
	char text[CHECKUP_TEXT];
	va_list list;

	if (doctor->count == FINDINGS_MOST)
		return;
	va_start(list, found);
	vsnprintf(text, sizeof(text), found, list);
	va_end(list);
	*to = *finding;
	to->found = copy_text(doctor, text);
	to->cost = copy_text(doctor, finding->cost);
	to->remedy = copy_text(doctor, finding->remedy);
	if (!doctor->failed)
		doctor->count++;
}

int tally_checkup_try(const struct tally_checkup *checkup, const struct tally_attr *attr)
{
	const struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	int fd;

	if (checkup->refused) /* a filter may kill this process */
		return -EPERM;
	fd = tally_open(attr, &self, &checkup->limits, NULL);
	if (fd < 0)
		return fd;
	close(fd);
	return 0;
}

bool tally_checkup_line(const struct tally_checkup *checkup, const char *path, char *to,
			size_t room)
{
	char *text;
	size_t size;

	if (tally_fs_readf(1 << 16, &text, &size, "%s%s", checkup->root, path))
		return false;
	text[strcspn(text, "\n")] = '\0';
	snprintf(to, room, "%s", text);
	free(text);
	return true;
}

int64_t tally_checkup_number(const struct tally_checkup *checkup, const char *path,
			     int64_t otherwise)
{
	char whole[PATH_MAX];
	int64_t value;

	if (snprintf(whole, sizeof(whole), "%s%s", checkup->root, path) >= (int)sizeof(whole) ||
	    tally_fs_read_number(whole, &value))
		return otherwise;
	return value;
}

const char *tally_checkup_give(const struct tally_checkup *checkup, uint64_t wanted,
			       const char *otherwise, char to[CHECKUP_TEXT])
{
	char setcap[SETCAP_TEXT];

	snprintf(to, CHECKUP_TEXT, "%s%s", tally_setcap_command(&checkup->limits, wanted, setcap),
		 otherwise);
	return to;
}

bool tally_checkup_has(const struct tally_checkup *checkup, const char *path)
{
	char whole[PATH_MAX];

	return snprintf(whole, sizeof(whole), "%s%s", checkup->root, path) < (int)sizeof(whole) &&
	       !access(whole, F_OK);
}

int tally_doctor_new(const struct tally_doctor_options *options, struct tally_doctor **ret)
{
	struct tally_doctor_options use = {.size = sizeof(use)};
	struct tally_checkup checkup = {.root = ""};
	int result = tally_options_take(&use, sizeof(use), options);

	if (result)
		return result;
	checkup.live = !use.root;
	if (use.root)
		checkup.root = use.root;
	checkup.doctor = calloc(1, sizeof(*checkup.doctor));
	if (!checkup.doctor)
		return -ENOMEM;
	checkup.limits.size = sizeof(checkup.limits);
	tally_limits_read(use.root, &checkup.limits);
	checkup.privileged = checkup.limits.perfmon || checkup.limits.sys_admin;
	tally_check_rights(&checkup);
	tally_check_limits(&checkup);
	tally_check_kernel(&checkup);
	tally_check_hardware(&checkup);
	tally_check_programs(&checkup);
	if (checkup.doctor->failed) {
		result = checkup.doctor->failed;
		tally_doctor_free(checkup.doctor);
		return result;
	}
	*ret = checkup.doctor;
	return 0;
}

void tally_doctor_free(struct tally_doctor *doctor)
{
	if (!doctor)
		return;
	tally_arena_done(&doctor->arena);
	free(doctor);
}

const struct tally_finding *tally_doctor_at(const struct tally_doctor *doctor, size_t at)
{
	return at < doctor->count ? &doctor->findings[at] : NULL;
}

size_t tally_doctor_count(const struct tally_doctor *doctor, enum tally_finding_state state)
{
	size_t count = 0;

	for (size_t i = 0; i < doctor->count; i++)
		count += doctor->findings[i].state == state;
	return count;
}

const char *tally_finding_state_name(enum tally_finding_state state)
{
	static const char *const names[TALLY_FINDING_STATES] = {"good", "limited", "blocked",
								"absent", "unknown"};

	return state < TALLY_FINDING_STATES ? names[state] : NULL;
}

const char *tally_finding_group_name(enum tally_finding_group group)
{
	static const char *const names[TALLY_FINDING_GROUPS] = {"rights", "limits", "kernel",
								"hardware", "programs"};

	return group < TALLY_FINDING_GROUPS ? names[group] : NULL;
}
