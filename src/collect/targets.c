#include "collect/targets.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tally/descendants.h>
#include "base/fail.h"
#include "base/fs.h"
#include "base/text.h"

static int by_number(const void *a, const void *b)
{
	pid_t left = *(const pid_t *)a, right = *(const pid_t *)b;

	return (left > right) - (left < right);
}

static int by_cpu(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static int add(pid_t **list, size_t *count, pid_t pid)
{
	/* The room doubles at powers of two, so it needs no variable. */
	if (!(*count & (*count - 1))) {
		pid_t *more = reallocarray(*list, *count ? *count * 2 : 1, sizeof(**list));

		if (!more)
			return -ENOMEM;
		*list = more;
	}
	(*list)[(*count)++] = pid;
	return 0;
}

static void sort_unique(pid_t *list, size_t *count)
{
	size_t kept = 0;

	if (!*count)
		return;
	qsort(list, *count, sizeof(*list), by_number);
	for (size_t i = 0; i < *count; i++)
		if (!i || list[i] != list[i - 1])
			list[kept++] = list[i];
	*count = kept;
}

int tally_targets_list(const char *folder, pid_t **ret, size_t *ret_count)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	pid_t *list = NULL;
	size_t count = 0;

	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		uint64_t number;

		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
		    tally_text_u64(entry->d_name, &number) || number > INT_MAX)
			continue;
		if (add(&list, &count, (pid_t)number)) {
			free(list);
			closedir(dir);
			return -ENOMEM;
		}
	}
	closedir(dir);
	sort_unique(list, &count);
	*ret = list;
	*ret_count = count;
	return 0;
}

/* Adds all threads of a process; none when it has ended. */
static int add_threads(struct tally_targets *targets, const char *root, pid_t pid)
{
	char path[PATH_MAX];
	pid_t *list = NULL;
	size_t count = 0;
	int result;

	snprintf(path, sizeof(path), "%s/proc/%d/task", root, pid);
	result = tally_targets_list(path, &list, &count);
	if (result)
		return result == -ENOMEM ? result : 0;
	for (size_t i = 0; i < count && !result; i++)
		result = add(&targets->tids, &targets->tid_count, list[i]);
	if (count && !result)
		result = add(&targets->pids, &targets->pid_count, pid);
	free(list);
	return result;
}

pid_t tally_targets_of_status(const char *root, pid_t tid, const char *key)
{
	char *text, *line;
	pid_t pid = 0;

	if (tally_fs_readf(65536, &text, NULL, "%s/proc/%d/status", root, tid))
		return 0;
	line = strstr(text, key);
	if (line)
		pid = (pid_t)strtol(line + strlen(key), NULL, 10);
	free(text);
	return pid;
}

/* It exists, but belongs to another user. */
static bool is_hidden(pid_t pid)
{
	return pid > 0 && kill(pid, 0) && errno == EPERM;
}

static int add_pids(struct tally_targets *targets, const struct tally_targets_asked *asked,
		    const pid_t *pids, size_t count, struct tally_error *error)
{
	for (size_t i = 0; i < count; i++) {
		size_t before = targets->tid_count;
		int result = add_threads(targets, asked->root, pids[i]);

		if (result)
			return tally_fail(error, result, -1, "out of memory");
		if (targets->tid_count == before && is_hidden(pids[i]))
			return tally_fail(
			    error, -ESRCH, -1,
			    "/proc hides process %d from this user, as it is another user's "
			    "(mount option hidepid): run it with sudo",
			    (int)pids[i]);
		if (targets->tid_count == before)
			return tally_fail(error, -ESRCH, -1,
					  "no process %d: it has ended or was never there "
					  "(pgrep -l NAME finds the running ones)",
					  pids[i]);
	}
	return 0;
}

/* A process that ends meanwhile is left out. One that starts meanwhile is missed, unless a thread
 * that is open by then starts it. */
static int add_with_descendants(struct tally_targets *targets,
				const struct tally_targets_asked *asked, struct tally_error *error)
{
	pid_t *list = NULL;
	size_t count = 0;
	int result = add_pids(targets, asked, asked->parents, asked->parent_count, error);

	if (result)
		return result;
	result = tally_descendants(asked->root, asked->parents, asked->parent_count, &list, &count);
	for (size_t i = 0; i < count && !result; i++)
		result = add_threads(targets, asked->root, list[i]);
	free(list);
	return result ? tally_fail(error, result, -1,
				   "the children of the processes cannot be read: %s",
				   strerror(-result))
		      : 0;
}

static int add_tids(struct tally_targets *targets, const struct tally_targets_asked *asked,
		    struct tally_error *error)
{
	for (size_t i = 0; i < asked->tid_count; i++) {
		pid_t pid = tally_targets_of_status(asked->root, asked->tids[i], "\nTgid:");

		if (pid <= 0)
			return tally_fail(error, -ESRCH, -1,
					  "no thread %d: it has ended or was never there "
					  "(ls /proc/PID/task shows a process's threads)",
					  asked->tids[i]);
		if (add(&targets->tids, &targets->tid_count, asked->tids[i]) ||
		    add(&targets->pids, &targets->pid_count, pid))
			return tally_fail(error, -ENOMEM, -1, "out of memory");
	}
	return 0;
}

static int fail_idle_user(uid_t uid, struct tally_error *error)
{
	struct passwd room, *user;
	char text[1024];

	if (!getpwuid_r(uid, &room, text, sizeof(text), &user) && user)
		return tally_fail(error, -ESRCH, -1, "user %s (%u) runs no process now",
				  user->pw_name, (unsigned)uid);
	return tally_fail(error, -ESRCH, -1, "user %u runs no process now", (unsigned)uid);
}

static int add_user(struct tally_targets *targets, const struct tally_targets_asked *asked,
		    struct tally_error *error)
{
	char path[PATH_MAX];
	pid_t *list = NULL;
	size_t count = 0;
	int result;

	snprintf(path, sizeof(path), "%s/proc", asked->root);
	result = tally_targets_list(path, &list, &count);
	if (result)
		return tally_fail(error, result, -1, "%s: %s", path, strerror(-result));
	for (size_t i = 0; i < count && !result; i++) {
		struct stat status;

		snprintf(path, sizeof(path), "%s/proc/%d", asked->root, list[i]);
		if (!stat(path, &status) && status.st_uid == asked->uid)
			result = add_threads(targets, asked->root, list[i]);
	}
	free(list);
	if (result)
		return tally_fail(error, result, -1, "out of memory");
	return targets->tid_count ? 0 : fail_idle_user(asked->uid, error);
}

static int choose_any_cpu(struct tally_targets *targets, const struct tally_targets_asked *asked,
			  struct tally_error *error)
{
	if (asked->system_wide || asked->cpu_count)
		return tally_fail(error, -EINVAL, -1,
				  "rings of threads and the whole system or CPUs exclude each "
				  "other: give one of them");
	targets->cpus = malloc(sizeof(*targets->cpus));
	if (!targets->cpus)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	targets->cpus[0] = TALLY_ANY_CPU;
	targets->cpu_count = 1;
	targets->per_thread = true;
	return 0;
}

/* The lines "cpu0 ..." of /proc/stat are the CPUs that are online: proc(5). */
static int cpus_of_stat(const char *root, uint32_t **ret, size_t *ret_count)
{
	char *text, *list = NULL, path[PATH_MAX];
	size_t size = 0;
	FILE *numbers;
	int result;

	snprintf(path, sizeof(path), "%s/proc/stat", root);
	result = tally_fs_read(path, 16 << 20, &text, NULL);
	if (result)
		return result;
	numbers = open_memstream(&list, &size);
	if (!numbers) {
		free(text);
		return -ENOMEM;
	}
	for (const char *at = text; *at; at += *at != '\0') {
		if (!strncmp(at, "cpu", 3) && at[3] >= '0' && at[3] <= '9')
			fprintf(numbers, "%s%lu", ftell(numbers) ? "," : "",
				strtoul(at + 3, NULL, 10));
		at += strcspn(at, "\n");
	}
	free(text);
	if (fclose(numbers))
		result = -ENOMEM;
	else
		result = tally_text_cpu_list(list, ret, ret_count);
	free(list);
	return result;
}

/* The CPUs that are online: sysfs' list, or where it is not mounted, as in some chroots, that of
 * /proc. */
static int online_cpus(const char *root, const char *path, uint32_t **ret, size_t *ret_count)
{
	char *text;
	int result = tally_fs_read(path, 65536, &text, NULL);

	if (result)
		return cpus_of_stat(root, ret, ret_count) ? result : 0;
	result = tally_text_cpu_list(text, ret, ret_count);
	free(text);
	return result;
}

static int choose_cpus(struct tally_targets *targets, const struct tally_targets_asked *asked,
		       struct tally_error *error)
{
	char path[PATH_MAX];
	int result;

	snprintf(path, sizeof(path), "%s/sys/devices/system/cpu/online", asked->root);
	result = online_cpus(asked->root, path, &targets->cpus, &targets->cpu_count);
	if (result || !targets->cpu_count)
		return tally_fail(error, result ? result : -ENOENT, -1,
				  "%s: the list of CPUs cannot be read (is /sys mounted?): %s",
				  path, strerror(result ? -result : ENOENT));
	if (!asked->cpu_count)
		return 0;
	for (size_t i = 0; i < asked->cpu_count; i++)
		if (!bsearch(&asked->cpus[i], targets->cpus, targets->cpu_count, sizeof(uint32_t),
			     by_cpu))
			return tally_fail(error, -ENODEV, -1,
					  "CPU %u is not online (%s lists those that are)",
					  asked->cpus[i], path);
	/* Keeps those that were asked for, ascending, once each. */
	result = 0;
	for (size_t i = 0; i < targets->cpu_count; i++)
		for (size_t j = 0; j < asked->cpu_count; j++)
			if (asked->cpus[j] == targets->cpus[i]) {
				targets->cpus[result++] = targets->cpus[i];
				break;
			}
	targets->cpu_count = (size_t)result;
	return 0;
}

static int choose_threads(struct tally_targets *targets, const struct tally_targets_asked *asked,
			  struct tally_error *error)
{
	bool tasks = asked->pid_count || asked->tid_count || asked->parent_count || asked->by_uid;
	int result = 0;

	/* A list of CPUs without threads or processes measures all that runs on them, as in perf.
	 */
	targets->system_wide = asked->system_wide || (asked->cpu_count && !tasks);
	if (targets->system_wide) {
		if (tasks)
			return tally_fail(error, -EINVAL, -1,
					  "the whole system and single processes or threads "
					  "exclude each other: give one of them");
		return add(&targets->tids, &targets->tid_count, -1)
			   ? tally_fail(error, -ENOMEM, -1, "out of memory")
			   : 0;
	}
	if (asked->pid_count)
		result = add_pids(targets, asked, asked->pids, asked->pid_count, error);
	if (!result && asked->parent_count)
		result = add_with_descendants(targets, asked, error);
	if (!result && asked->tid_count)
		result = add_tids(targets, asked, error);
	if (!result && asked->by_uid)
		result = add_user(targets, asked, error);
	if (result)
		return result;
	if (!targets->tid_count) {
		if (!asked->command)
			return tally_fail(error, -EINVAL, -1,
					  "nothing to measure: give a command, processes, "
					  "threads, a user or the whole system");
		targets->command = true;
		return add(&targets->tids, &targets->tid_count, asked->command)
			   ? tally_fail(error, -ENOMEM, -1, "out of memory")
			   : 0;
	}
	sort_unique(targets->tids, &targets->tid_count);
	sort_unique(targets->pids, &targets->pid_count);
	return 0;
}

int tally_targets_make(const struct tally_targets_asked *asked, struct tally_targets *ret,
		       struct tally_error *error)
{
	struct tally_targets targets = {0};
	int result = asked->per_thread ? choose_any_cpu(&targets, asked, error)
		     : asked->any_cpu  ? 0
				       : choose_cpus(&targets, asked, error);

	if (!result)
		result = choose_threads(&targets, asked, error);
	if (result) {
		tally_targets_done(&targets);
		return result;
	}
	*ret = targets;
	return 0;
}

void tally_targets_done(struct tally_targets *targets)
{
	free(targets->tids);
	free(targets->pids);
	free(targets->cpus);
	*targets = (struct tally_targets){0};
}
