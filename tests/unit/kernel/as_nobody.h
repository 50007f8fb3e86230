/* A child without rights. */
#ifndef TALLY_TESTS_AS_NOBODY_H
#define TALLY_TESTS_AS_NOBODY_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <grp.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs `body` in a child that is nobody, without capabilities; returns its exit status. */
static inline int as_nobody(int (*body)(void))
{
	int status;
	pid_t child = fork();

	if (!child) {
		if (!geteuid() && (setgroups(0, NULL) || setgid(65534) || setuid(65534)))
			_exit(99);
		/* Without this /proc/self belongs to root, and capabilities cannot be read. */
		prctl(PR_SET_DUMPABLE, 1);
		_exit(body());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

#endif
