#include "collect/workload.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/fail.h"
#include "base/fs.h"
#include "collect/workload_similar.h"

int tally_workload_hold(char *const *command, bool to_stderr, struct tally_workload *ret,
			struct tally_error *error)
{
	struct tally_workload_stack stack;
	int go[2], failed[2], result;
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return tally_fail(error, -errno, -1, "pipe: %s", strerror(errno));
	if (pipe2(failed, O_CLOEXEC)) {
		result = -errno;
		close(go[0]);
		close(go[1]);
		return tally_fail(error, result, -1, "pipe: %s", strerror(-result));
	}
	pid = tally_workload_child_start(&(struct tally_workload_child){.command = command,
									.to_stderr = to_stderr,
									.go_fd = go[0],
									.go_write_fd = go[1],
									.failed_fd = failed[1]},
					 &stack);
	close(go[0]);
	close(failed[1]);
	if (pid < 0) {
		close(go[1]);
		close(failed[0]);
		tally_workload_stack_free(&stack);
		return tally_fail(error, pid, -1, "clone for '%s': %s", command[0], strerror(-pid));
	}
	*ret = (struct tally_workload){
	    .pid = pid,
	    .go_fd = go[1],
	    .failed_fd = failed[0],
	    .pid_fd = (int)syscall(SYS_pidfd_open, pid, 0), /* is close-on-exec */
	    .stack = stack,
	};
	return 0;
}

int tally_workload_find(const char *name)
{
	char path[PATH_MAX];

	if (!*name)
		return -ENOENT;
	return strchr(name, '/') ? tally_fs_is_file(name, true)
				 : tally_fs_search_program(name, path);
}

/* The interpreter in the file's first line, without arguments; false: it is not a script. */
static bool interpreter_of(const char *path, char *ret, size_t room)
{
	FILE *file = fopen(path, "re");
	bool found = file && fgets(ret, (int)room, file) && !strncmp(ret, "#!", 2);

	if (file)
		fclose(file);
	if (!found)
		return false;
	memmove(ret, ret + 2, strlen(ret + 2) + 1);
	memmove(ret, ret + strspn(ret, " \t"), strlen(ret + strspn(ret, " \t")) + 1);
	ret[strcspn(ret, " \t\r\n")] = 0;
	return true;
}

/* exec's ENOENT: no such file, or its interpreter or loader does not exist. */
static int explain_missing(const char *name, struct tally_error *error)
{
	char interpreter[256], here[PATH_MAX];
	struct stat status;

	if (strchr(name, '/') && !stat(name, &status) && S_ISREG(status.st_mode))
		return interpreter_of(name, interpreter, sizeof(interpreter))
			   ? tally_fail(error, -ENOENT, -1,
					"cannot run '%s': its interpreter '%s' (first line) does "
					"not exist",
					name, interpreter)
			   : tally_fail(error, -ENOENT, -1,
					"cannot run '%s': its loader does not exist (`file %s` "
					"shows which); it was built for another system",
					name, name);
	if (strchr(name, '/'))
		return tally_fail(error, -ENOENT, -1, "cannot run '%s': no such file", name);
	snprintf(here, sizeof(here), "./%s", name);
	if (!tally_fs_is_file(here, true))
		return tally_fail(error, -ENOENT, -1,
				  "cannot run '%s': no such program in PATH, but there is one in "
				  "this folder: write ./%s",
				  name, name);
	if (tally_workload_similar(name, here))
		return tally_fail(error, -ENOENT, -1,
				  "cannot run '%s': no such program in PATH (did you mean %s?)",
				  name, here);
	return tally_fail(error, -ENOENT, -1, "cannot run '%s': no such program in PATH", name);
}

int tally_workload_explain(const char *name, int code, struct tally_error *error)
{
	struct stat status;

	/* exec's EACCES may be of a folder of PATH that may not be searched. */
	if (code == -EACCES && tally_workload_find(name) == -ENOENT)
		code = -ENOENT;
	if (code == -ENOENT)
		return explain_missing(name, error);
	if (code == -EACCES && strchr(name, '/') && !stat(name, &status)) {
		if (S_ISDIR(status.st_mode))
			return tally_fail(error, code, -1, "cannot run '%s': it is a directory",
					  name);
		if (S_ISREG(status.st_mode) && !(status.st_mode & 0111))
			return tally_fail(error, code, -1,
					  "cannot run '%s': it is not executable: `chmod +x %s`, "
					  "or name the program that reads it: sh %s",
					  name, name, name);
	}
	return tally_fail(error, code, -1, "cannot run '%s': %s", name, strerror(-code));
}

int tally_workload_start(struct tally_workload *workload)
{
	int error = 0;
	ssize_t got;

	while (write(workload->go_fd, "", 1) < 0)
		if (errno != EINTR)
			return -errno;
	close(workload->go_fd);
	workload->go_fd = -1;
	do
		got = read(workload->failed_fd, &error, sizeof(error));
	while (got < 0 && errno == EINTR);
	close(workload->failed_fd);
	workload->failed_fd = -1;
	if (got != sizeof(error) || error <= 0)
		return 0;
	/* It exits with the status of the failed exec; a signal now would hide that. */
	while (!workload->ended && wait4(workload->pid, &workload->status, 0, &workload->usage) < 0)
		if (errno != EINTR)
			break;
	workload->ended = true;
	return -error;
}

bool tally_workload_check(struct tally_workload *workload)
{
	if (workload->pid && !workload->ended) {
		pid_t got = wait4(workload->pid, &workload->status, WNOHANG, &workload->usage);

		/* -1: another part of the program has waited for it, and its status is lost. */
		if (got < 0 && errno == ECHILD)
			workload->status = 0;
		workload->ended = got == workload->pid || (got < 0 && errno == ECHILD);
	}
	return workload->ended;
}

void tally_workload_done(struct tally_workload *workload)
{
	if (!workload->pid)
		return;
	if (workload->go_fd >= 0)
		close(workload->go_fd); /* a held child exits */
	else if (!tally_workload_check(workload))
		kill(workload->pid, SIGTERM);
	if (workload->failed_fd >= 0)
		close(workload->failed_fd);
	while (!workload->ended)
		if (wait4(workload->pid, &workload->status, 0, &workload->usage) == workload->pid ||
		    errno != EINTR)
			workload->ended = true;
	if (workload->pid_fd >= 0)
		close(workload->pid_fd);
	tally_workload_stack_free(&workload->stack);
	workload->pid = 0;
}
