/* --smi-cost: the time of the firmware's interrupts (system management mode). aperf counts during
 * them, cycles do not while the PMU's freeze_on_smi is 1; the difference is their cost. Source:
 * arch/x86/events/intel/core.c of Linux, freeze_on_smi; perf-stat(1). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "command.h"
#include "say.h"
#include "stat_command.h"

#define FREEZE "/sys/devices/cpu/freeze_on_smi"

static bool has_msr(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/msr/events/%s", name);
	return !access(path, F_OK);
}

/* The file's content, 0 or 1; -errno. */
static int read_freeze(void)
{
	FILE *file = fopen(FREEZE, "re");
	int byte;

	if (!file)
		return -errno;
	byte = fgetc(file);
	fclose(file);
	return byte == '0' || byte == '1' ? byte - '0' : -EINVAL;
}

static int write_freeze(bool on)
{
	FILE *file = fopen(FREEZE, "we");
	int result;

	if (!file)
		return -errno;
	result = fputs(on ? "1" : "0", file) < 0 ? -errno : 0;
	if (fclose(file) && !result)
		result = -errno;
	return result;
}

int stat_smi_add(struct stat_ask *ask)
{
	static const char events[] = "{msr/aperf/,msr/smi/,cycles}";
	const struct tally_event_options options = {.size = sizeof(options), .command = "stat"};
	struct tally_error error;

	if (read_freeze() < 0) {
		cli_say("stat",
			"--smi-cost: this CPU's counters cannot be stopped during SMIs (no %s)",
			FREEZE);
		return CLI_FAILED;
	}
	if (!has_msr("aperf") || !has_msr("smi")) {
		cli_say("stat",
			"--smi-cost: it needs the events msr/aperf/ and msr/smi/, and this "
			"CPU has no %s",
			has_msr("aperf") ? "msr/smi/" : "msr/aperf/");
		return CLI_FAILED;
	}
	ask->metric_only = !ask->no_metric_only;
	if (!tally_event_list_append(&ask->events, events, &options, &error))
		return CLI_OK;
	cli_say("stat", "--smi-cost: %s", error.text);
	return CLI_FAILED;
}

int stat_smi_freeze(struct stat_ask *ask)
{
	int result;

	if (!ask->smi_cost || read_freeze() == 1)
		return CLI_OK;
	result = write_freeze(true);
	if (result) {
		cli_say("stat", "--smi-cost: 1 cannot be written to %s: %s", FREEZE,
			strerror(-result));
		return CLI_FAILED;
	}
	ask->smi_frozen = true;
	return CLI_OK;
}

void stat_smi_done(const struct stat_ask *ask)
{
	int result = ask->smi_frozen ? write_freeze(false) : 0;

	if (result)
		cli_say("stat", "--smi-cost: %s is still 1: %s", FREEZE, strerror(-result));
}
