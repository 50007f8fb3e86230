/* Capabilities of a file, and the command that gives it more.
 *
 * Sources: capabilities(7), "File capability extended attribute versioning"; user_namespaces(7);
 * include/uapi/linux/capability.h for numbers and layout. */
#include "kernel/setcap.h"

#include <stdio.h>
#include <string.h>
#include <sys/xattr.h>
#include "base/bytes.h"

/* By number. */
static const char names[][24] = {
    "chown",
    "dac_override",
    "dac_read_search",
    "fowner",
    "fsetid",
    "kill",
    "setgid",
    "setuid",
    "setpcap",
    "linux_immutable",
    "net_bind_service",
    "net_broadcast",
    "net_admin",
    "net_raw",
    "ipc_lock",
    "ipc_owner",
    "sys_module",
    "sys_rawio",
    "sys_chroot",
    "sys_ptrace",
    "sys_pacct",
    "sys_admin",
    "sys_boot",
    "sys_nice",
    "sys_resource",
    "sys_time",
    "sys_tty_config",
    "mknod",
    "lease",
    "audit_write",
    "audit_control",
    "setfcap",
    "mac_override",
    "mac_admin",
    "syslog",
    "wake_alarm",
    "block_suspend",
    "audit_read",
    "perfmon",
    "bpf",
    "checkpoint_restore",
};

#define NAME_COUNT (sizeof(names) / sizeof(*names))

/* The attribute: u32 magic with the revision in its upper byte, then {u32 permitted, u32
 * inheritable} of the lower and of the upper 32 capabilities, little endian; revision 1 has the
 * lower only, revision 3 the user id of a namespace's root behind it. */
#define REVISION_SHIFT 24
#define ATTRIBUTE_MOST 24

static uint32_t load_little(const uint8_t *at)
{
	return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 |
	       (uint32_t)at[3] << 24;
}

uint64_t tally_setcap_of_file(const char *path)
{
	uint8_t bytes[ATTRIBUTE_MOST];
	ssize_t size = getxattr(path, "security.capability", bytes, sizeof(bytes));
	uint64_t caps;

	if (size < 12)
		return 0;
	caps = load_little(bytes + 4);
	if (load_little(bytes) >> REVISION_SHIFT >= 2 && size >= 20)
		caps |= (uint64_t)load_little(bytes + 12) << 32;
	return caps;
}

const char *tally_setcap_command(const struct tally_limits *limits, uint64_t wanted,
				 char to[SETCAP_TEXT])
{
	size_t at = 0;

	if (limits->user_namespace) {
		snprintf(to, SETCAP_TEXT,
			 "a container that root of the host starts without a user namespace and "
			 "with `--cap-add` (capabilities of this user namespace do not count for "
			 "perf events, so setcap does not help; sysctl works only on the host)");
		return to;
	}
	at += (size_t)snprintf(to, SETCAP_TEXT, "sudo setcap ");
	wanted |= limits->file_caps;
	/* A file with capabilities of its own gets no ambient ones: those in use are named, too. */
	wanted |= limits->perfmon ? SETCAP_BIT(PERFMON) : 0;
	wanted |= limits->ipc_lock ? SETCAP_BIT(IPC_LOCK) : 0;
	wanted |= limits->sys_ptrace ? SETCAP_BIT(SYS_PTRACE) : 0;
	wanted |= limits->syslog ? SETCAP_BIT(SYSLOG) : 0;
	for (size_t i = 0; i < NAME_COUNT; i++)
		if (wanted >> i & 1)
			at += (size_t)snprintf(to + at, SETCAP_TEXT - at, "%scap_%s",
					       to[at - 1] == ' ' ? "" : ",", names[i]);
	snprintf(to + at, SETCAP_TEXT - at, "+ep $(command -v tally)");
	return to;
}
