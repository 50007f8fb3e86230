/* What `tally record` watches. */
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "ids.h"
#include "record_options.h"
#include "say.h"

/* The next names go to the next events; a single one to all so far. */
static int take_cgroups(void *to, const char *value, bool on, struct tally_error *error)
{
	struct record *record = to;
	struct tally_event_list *list = &record->events;
	bool single = on && !record->cgroup_at && !strchr(value, ',');

	if (!on) {
		for (size_t i = 0; i < list->count; i++) {
			free(list->events[i].cgroup);
			list->events[i].cgroup = NULL;
		}
		record->cgroup_at = 0;
		return 0;
	}
	if (!list->count) {
		record->cgroup_first = true;
		return 0;
	}
	while (on) {
		size_t length = strcspn(value, ","),
		       end = single ? list->count : record->cgroup_at + 1;

		if (end > list->count)
			return cli_refuse(error,
					  "there are more cgroups than events before them (%zu)",
					  list->count);
		for (size_t i = record->cgroup_at; i < end && length; i++) {
			free(list->events[i].cgroup);
			list->events[i].cgroup = strndup(value, length);
			if (!list->events[i].cgroup)
				return -ENOMEM;
		}
		record->cgroup_at++;
		on = value[length];
		value += length + on;
	}
	return 0;
}

size_t record_target_rows(struct record *record, struct cli_option *to)
{
	const struct cli_option rows[] = {
	    {CLI_GROUP, .help = "What to watch"},
	    {CLI_LIST, 'p', "pid", "PID",
	     "processes with all their threads, and the children that they start from now on",
	     &record->pids},
	    {CLI_LIST, 0, "children-of", "PID", "processes with all their descendants",
	     &record->parents},
	    {CLI_LIST, 't', "tid", "TID", "single threads", &record->tids},
	    {CLI_LIST, 'u', "uid", "USER", "the processes of a user (name or number)",
	     &record->users},
	    {CLI_FLAG, 'a', "all-cpus", NULL, "the whole system", &record->system_wide},
	    {CLI_STRING, 'C', "cpu", "LIST",
	     "only on these CPUs: 0-3,7; without other targets: everything that runs there",
	     &record->cpus},
	    {CLI_FLAG, 'i', "no-inherit", NULL, "no children and no new threads",
	     &record->no_inherit},
	    {CLI_FLAG, 0, "per-thread", NULL,
	     "a ring for each thread instead of each CPU; no children and no new threads",
	     &record->per_thread},
	    {CLI_CALL, 'G', "cgroup", "NAME,...",
	     "the events before it only in these cgroups, one each, or all in one", record,
	     .call = take_cgroups},
	    {CLI_LIST, 0, "for-each-cgroup", "NAME,...",
	     "all events in each of these cgroups, names or patterns", &record->cgroups},
	};

	memcpy(to, rows, sizeof(rows));
	return sizeof(rows) / sizeof(*rows);
}

static bool parse_user(const struct record *record, struct tally_recorder_options *options)
{
	const char *text = record->users.items[0];
	struct passwd *user = getpwnam(text);
	uint64_t number;

	options->by_uid = true;
	if (user) {
		options->uid = user->pw_uid;
	} else if (!tally_text_u64(text, &number) && number < UINT_MAX) {
		options->uid = (uid_t)number;
	} else {
		cli_say(record->command, "unknown user '%s'", text);
		return false;
	}
	return true;
}

bool record_targets_take(struct record *record, struct tally_recorder_options *to)
{
	if (cli_parse_ids(record->command, &record->pids, "process", &record->pid_numbers) ||
	    cli_parse_ids(record->command, &record->tids, "thread", &record->tid_numbers) ||
	    cli_parse_ids(record->command, &record->parents, "process", &record->parent_numbers))
		return false;
	to->pids = record->pid_numbers;
	to->pid_count = record->pids.count;
	to->tids = record->tid_numbers;
	to->tid_count = record->tids.count;
	to->parents = record->parent_numbers;
	to->parent_count = record->parents.count;
	to->system_wide = record->system_wide;
	to->no_inherit = record->no_inherit;
	to->per_thread = record->per_thread;
	if (record->cgroup_first) {
		cli_say(record->command, "-G: give the events (-e) before their cgroups");
		return false;
	}
	if (record->users.count > 1) {
		cli_say(record->command, "-u: only one user can be recorded at a time");
		return false;
	}
	if (record->users.count && !parse_user(record, to))
		return false;
	if (!record->cpus)
		return true;
	if (tally_text_cpu_list(record->cpus, &record->cpu_numbers, &record->cpu_count) ||
	    !record->cpu_count) {
		cli_say(record->command, "'%s' is not a list of CPUs: give one as 0-3,7",
			record->cpus);
		return false;
	}
	to->cpus = record->cpu_numbers;
	to->cpu_count = record->cpu_count;
	return true;
}

void record_targets_done(struct record *record)
{
	cli_list_done(&record->cgroups);
	cli_list_done(&record->pids);
	cli_list_done(&record->tids);
	cli_list_done(&record->parents);
	cli_list_done(&record->users);
	free(record->pid_numbers);
	free(record->tid_numbers);
	free(record->parent_numbers);
	free(record->cpu_numbers);
}
