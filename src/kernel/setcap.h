/* The command that gives a program the capabilities that it lacks. */
#ifndef TALLY_KERNEL_SETCAP_H
#define TALLY_KERNEL_SETCAP_H

#include <tally/limits.h>

/* Bits of CapEff; source: include/uapi/linux/capability.h. */
enum {
	CAP_BIT_IPC_LOCK = 14,
	CAP_BIT_SYS_PTRACE = 19,
	CAP_BIT_SYS_ADMIN = 21,
	CAP_BIT_SYSLOG = 34,
	CAP_BIT_PERFMON = 38,
	CAP_BIT_BPF = 39
};
#define SETCAP_BIT(name) (1ULL << CAP_BIT_##name)

#define SETCAP_TEXT 768

/* "sudo setcap cap_perfmon,cap_syslog+ep $(command -v tally)" with these capabilities, those that
 * the program's file already has, which setcap would remove, and those in use. In a user namespace,
 * where setcap does not help for perf events, what to do instead. Returns `to`. */
const char *tally_setcap_command(const struct tally_limits *limits, uint64_t wanted,
				 char to[SETCAP_TEXT]);

/* The capabilities that security.capability of a file permits; 0: none, or it cannot be read. */
uint64_t tally_setcap_of_file(const char *path);

#endif
