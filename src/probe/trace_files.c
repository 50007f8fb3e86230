#include "probe/trace_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/fs.h"

#define FILE_MOST   ((size_t)64 * 1024 * 1024)
#define README_MOST ((size_t)1024 * 1024)

static const char *file_name(bool uprobes)
{
	return uprobes ? "uprobe_events" : "kprobe_events";
}

/* --- where it is --- */

/* access(2) would ignore capabilities of who is not root. */
static bool exists(const char *path)
{
	struct stat status;

	return !stat(path, &status);
}

int tally_trace_folder(const char *tracefs, char *path, size_t room, struct tally_error *error)
{
	static const char *const usual[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	const char *forbidden = NULL;

	for (size_t i = 0; i < (tracefs ? 1 : 2); i++) {
		char readme[PATH_MAX];

		if (snprintf(path, room, "%s", tracefs ? tracefs : usual[i]) >= (int)room ||
		    snprintf(readme, sizeof(readme), "%s/uprobe_events", path) >=
			(int)sizeof(readme))
			return tally_fail(error, -ENAMETOOLONG, -1,
					  "the path of tracefs is too long");
		if (exists(readme))
			return 0;
		if (!forbidden && (errno == EACCES || errno == EPERM))
			forbidden = tracefs ? tracefs : usual[i];
		snprintf(readme, sizeof(readme), "%s/kprobe_events", path);
		if (exists(readme))
			return 0;
		snprintf(readme, sizeof(readme), "%s/events", path);
		if (exists(readme))
			return tally_fail(error, -ENOTSUP, -1,
					  "this kernel has no events at places in code: %s has "
					  "neither uprobe_events nor kprobe_events "
					  "(CONFIG_UPROBE_EVENTS, CONFIG_KPROBE_EVENTS)",
					  path);
	}
	if (forbidden)
		return tally_fail(error, -EACCES, -1,
				  "%s is open to root only: run it with sudo, or open it to your "
				  "group with `sudo mount -o remount,mode=770,gid=$(id -g) "
				  "/sys/kernel/tracing`",
				  forbidden);
	return tally_fail(error, -ENOENT, -1,
			  "tracefs is not mounted at %s: `sudo mount -t tracefs nodev "
			  "/sys/kernel/tracing` mounts it",
			  tracefs ? tracefs : usual[0]);
}

int tally_trace_fail(const char *path, bool uprobes, int result, struct tally_error *error)
{
	const char *file = file_name(uprobes);

	if (result == -EACCES || result == -EPERM)
		return tally_fail(error, result, -1,
				  "%s/%s: permission denied: only root may change and list these "
				  "events; run it with sudo",
				  path, file);
	if (result == -ENOENT)
		return tally_fail(error, -ENOTSUP, -1,
				  "this kernel has no %s (CONFIG_%s_EVENTS is off): there are no "
				  "events at places in %s",
				  file, uprobes ? "UPROBE" : "KPROBE",
				  uprobes ? "programs" : "the kernel");
	return tally_fail(error, result, -1, "%s/%s: %s", path, file, strerror(-result));
}

/* --- features --- */

void tally_trace_features(const char *path, struct trace_features *ret)
{
	struct trace_features features = {0};
	size_t size;
	char *text;

	*ret = (struct trace_features){true, true, true, true, true, true};
	if (tally_fs_readf(README_MOST, &text, &size, "%s/README", path))
		return;
	for (char *line = text, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		if (*end)
			*end++ = '\0';
		features.hexadecimal |= strstr(line, "type: ") && strstr(line, " x8/16/32/64,");
		features.return_offset |= strstr(line, "place (kretprobe): ") != NULL;
		features.counter |= strstr(line, "ref_ctr_offset") != NULL;
		features.user_memory |= strstr(line, "u]<offset>") != NULL;
		features.shared_names |= strstr(line, "Create/append/") != NULL;
		features.constants |= strstr(line, "\\imm-value,") != NULL;
	}
	free(text);
	*ret = features;
}

/* --- reading --- */

int tally_trace_read(const char *path, bool uprobes, struct tally_strings *ret)
{
	size_t size;
	char *text;
	int result = tally_fs_readf(FILE_MOST, &text, &size, "%s/%s", path, file_name(uprobes));

	if (result)
		return result;
	for (const char *line = text; *line && !result;) {
		size_t length = strcspn(line, "\n");

		if (length && tally_strings_intern(ret, line, length) < 0)
			result = -ENOMEM;
		line += length + (line[length] == '\n');
	}
	free(text);
	return result;
}

bool tally_trace_line_cut(char *line, struct trace_line *ret)
{
	struct trace_line cut = {.is_return = *line == 'r'};
	char *at = strchr(line, ':'), *slash, *end;

	if ((*line != 'p' && *line != 'r') || !at)
		return false;
	slash = strchr(++at, '/');
	end = slash ? strchr(slash, ' ') : NULL;
	if (!end || slash == at)
		return false;
	*slash = *end = '\0';
	cut.group = at;
	cut.event = slash + 1;
	at = end + 1 + strspn(end + 1, " ");
	cut.place = at;
	while (*(at += strcspn(at, " "))) {
		*at++ = '\0';
		at += strspn(at, " ");
		if (*at && cut.argument_count < 128)
			cut.arguments[cut.argument_count++] = at;
	}
	*ret = cut;
	return *cut.place;
}

/* --- writing --- */

/* error_log has for each mistake "[time] trace_uprobe: error: WHY\n  Command: LINE\n  ^\n".
 *
 * Source: Documentation/trace/ftrace.rst, error_log. */
static bool kernel_reason(const char *path, const char *line, char *to, size_t room)
{
	const char *found = NULL;
	size_t size, length = strlen(line);
	char *text;

	if (tally_fs_readf(README_MOST, &text, &size, "%s/error_log", path))
		return false;
	for (const char *at = text; (at = strstr(at, "error: "));) {
		const char *why = at + 7, *command;

		at += strcspn(at, "\n");
		command = strstr(at, "Command: ");
		if (command && command - at < 16 && !strncmp(command + 9, line, length))
			found = why;
	}
	if (found) {
		size_t most = strcspn(found, "\n");

		snprintf(to, room, "%.*s", (int)(most < room ? most : room - 1), found);
	}
	free(text);
	return found;
}

int tally_trace_write(const char *path, bool uprobes, const char *line, struct tally_error *error)
{
	char file[PATH_MAX], reason[256], *text;
	int fd, result;

	if (snprintf(file, sizeof(file), "%s/%s", path, file_name(uprobes)) >= (int)sizeof(file))
		return tally_fail(error, -ENAMETOOLONG, -1, "the path of tracefs is too long");
	fd = open(file, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return tally_trace_fail(path, uprobes, -errno, error);
	/* In one write, as each write is a definition for the kernel. */
	result = asprintf(&text, "%s\n", line) < 0 ? -ENOMEM : 0;
	if (!result) {
		result = tally_fs_write(fd, text, strlen(text));
		free(text);
	}
	if (close(fd) && !result)
		result = -errno;
	if (!result)
		return 0;
	if (result == -EBUSY)
		return tally_fail(
		    error, result, -1,
		    "the kernel refused `%s`: the event is in use; end the recording of it first",
		    line);
	if (kernel_reason(path, line, reason, sizeof(reason)))
		return tally_fail(
		    error, result, -1, "the kernel refused `%s`: %s%s", line, reason,
		    strstr(reason, "register") ? "; on x86 they are %ax, %di, %r8 and so on" : "");
	return tally_fail(error, result, -1, "the kernel refused `%s`: %s", line,
			  strerror(-result));
}
