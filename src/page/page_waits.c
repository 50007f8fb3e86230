#include "page/page_waits.h"

#include <stddef.h>
#include <string.h>

const char *const tally_page_wait_names[PAGE_WAITS] = {
    [PAGE_WAIT_UNKNOWN] = "unknown reasons", [PAGE_WAIT_LOCK] = "locks",
    [PAGE_WAIT_CONDITION] = "other threads", [PAGE_WAIT_FILE] = "files and pipes",
    [PAGE_WAIT_NETWORK] = "the network",     [PAGE_WAIT_EVENT] = "input or events",
    [PAGE_WAIT_SLEEP] = "timers (sleep)",    [PAGE_WAIT_CHILD] = "child processes",
};

/* Source: the names that glibc 2.36 exports or has inside for its blocking functions, and those of
 * the kernel's functions that sleep (kernel/futex, fs/, net/socket.c, kernel/exit.c). */
static const struct {
	const char *name;
	enum page_wait wait;
} table[] = {
    {"lll_lock_wait", PAGE_WAIT_LOCK},
    {"lll_lock_wait_private", PAGE_WAIT_LOCK},
    {"pthread_mutex_lock", PAGE_WAIT_LOCK},
    {"pthread_mutex_timedlock", PAGE_WAIT_LOCK},
    {"pthread_rwlock_rdlock", PAGE_WAIT_LOCK},
    {"pthread_rwlock_wrlock", PAGE_WAIT_LOCK},
    {"mutex_lock", PAGE_WAIT_LOCK},
    {"rwsem_down_read_slowpath", PAGE_WAIT_LOCK},
    {"rwsem_down_write_slowpath", PAGE_WAIT_LOCK},
    {"pthread_cond_wait", PAGE_WAIT_CONDITION},
    {"pthread_cond_timedwait", PAGE_WAIT_CONDITION},
    {"pthread_cond_clockwait", PAGE_WAIT_CONDITION},
    {"pthread_barrier_wait", PAGE_WAIT_CONDITION},
    {"pthread_join", PAGE_WAIT_CONDITION},
    {"pthread_clockjoin_ex", PAGE_WAIT_CONDITION},
    {"pthread_timedjoin_np", PAGE_WAIT_CONDITION},
    {"sem_wait", PAGE_WAIT_CONDITION},
    {"sem_timedwait", PAGE_WAIT_CONDITION},
    {"new_sem_wait", PAGE_WAIT_CONDITION},
    {"futex_wait", PAGE_WAIT_CONDITION},
    {"futex_abstimed_wait_common", PAGE_WAIT_CONDITION},
    {"futex_abstimed_wait_common64", PAGE_WAIT_CONDITION},
    {"futex_abstimed_wait_cancelable64", PAGE_WAIT_CONDITION},
    {"do_futex", PAGE_WAIT_CONDITION},
    {"read", PAGE_WAIT_FILE},
    {"pread64", PAGE_WAIT_FILE},
    {"readv", PAGE_WAIT_FILE},
    {"write", PAGE_WAIT_FILE},
    {"pwrite64", PAGE_WAIT_FILE},
    {"writev", PAGE_WAIT_FILE},
    {"fsync", PAGE_WAIT_FILE},
    {"fdatasync", PAGE_WAIT_FILE},
    {"sync_file_range", PAGE_WAIT_FILE},
    {"msync", PAGE_WAIT_FILE},
    {"open", PAGE_WAIT_FILE},
    {"open64", PAGE_WAIT_FILE},
    {"openat", PAGE_WAIT_FILE},
    {"openat64", PAGE_WAIT_FILE},
    {"io_schedule", PAGE_WAIT_FILE},
    {"io_getevents", PAGE_WAIT_FILE},
    {"accept", PAGE_WAIT_NETWORK},
    {"accept4", PAGE_WAIT_NETWORK},
    {"connect", PAGE_WAIT_NETWORK},
    {"recv", PAGE_WAIT_NETWORK},
    {"recvfrom", PAGE_WAIT_NETWORK},
    {"recvmsg", PAGE_WAIT_NETWORK},
    {"send", PAGE_WAIT_NETWORK},
    {"sendto", PAGE_WAIT_NETWORK},
    {"sendmsg", PAGE_WAIT_NETWORK},
    {"poll", PAGE_WAIT_EVENT},
    {"ppoll", PAGE_WAIT_EVENT},
    {"select", PAGE_WAIT_EVENT},
    {"pselect", PAGE_WAIT_EVENT},
    {"epoll_wait", PAGE_WAIT_EVENT},
    {"epoll_pwait", PAGE_WAIT_EVENT},
    {"epoll_pwait2", PAGE_WAIT_EVENT},
    {"do_epoll_wait", PAGE_WAIT_EVENT},
    {"do_sys_poll", PAGE_WAIT_EVENT},
    {"pause", PAGE_WAIT_EVENT},
    {"sigsuspend", PAGE_WAIT_EVENT},
    {"sigwait", PAGE_WAIT_EVENT},
    {"sigwaitinfo", PAGE_WAIT_EVENT},
    {"sigtimedwait", PAGE_WAIT_EVENT},
    {"nanosleep", PAGE_WAIT_SLEEP},
    {"clock_nanosleep", PAGE_WAIT_SLEEP},
    {"clock_nanosleep_time64", PAGE_WAIT_SLEEP},
    {"usleep", PAGE_WAIT_SLEEP},
    {"sleep", PAGE_WAIT_SLEEP},
    {"hrtimer_nanosleep", PAGE_WAIT_SLEEP},
    {"wait", PAGE_WAIT_CHILD},
    {"wait3", PAGE_WAIT_CHILD},
    {"wait4", PAGE_WAIT_CHILD},
    {"waitid", PAGE_WAIT_CHILD},
    {"waitpid", PAGE_WAIT_CHILD},
    {"do_wait", PAGE_WAIT_CHILD},
    {"vfork", PAGE_WAIT_CHILD},
    {"spawni", PAGE_WAIT_CHILD},
};

/* "__GI___libc_read" and "__pthread_mutex_lock@GLIBC_2.2.5" without what is not the function's. */
static size_t plain(const char **name)
{
	static const char *const before[] = {"_", "GI_", "libc_", "new_", "x64_sys_", "do_sys_"};
	size_t i = 0;

	while (i < sizeof(before) / sizeof(*before)) {
		size_t length = strlen(before[i]);

		if (!strncmp(*name, before[i], length) && (*name)[length]) {
			*name += length;
			i = 0;
		} else {
			i++;
		}
	}
	return strcspn(*name, "@.");
}

enum page_wait tally_page_wait_of(const char *function)
{
	size_t length = plain(&function);

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strncmp(table[i].name, function, length) && !table[i].name[length])
			return table[i].wait;
	return PAGE_WAIT_UNKNOWN;
}
