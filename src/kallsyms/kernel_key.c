#include "kallsyms/kernel_key.h"

#include <assert.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/bytes.h"
#include "base/fs.h"
#include "elf/build_id.h"

#define MODULES_LIMIT ((size_t)16 << 20)

static_assert(sizeof(struct tally_kernel_key) == 80, "no padding: keys are compared as bytes");

/* A line is "name size uses users state address [taint]" (proc(5), kernel/module/procfs.c); uses
 * and users change all the time and say nothing of symbols. */
static uint64_t hash_modules(const char *text)
{
	uint64_t hash = 0;

	while (*text) {
		size_t line = strcspn(text, "\n");
		const char *end = text + line;

		for (unsigned field = 0; text < end; field++) {
			size_t length = strcspn(text, " \n");

			if (field != 2 && field != 3)
				hash = hash_mix(hash, tally_hash_bytes(text, length));
			text += length;
			text += text < end;
		}
		text += *text == '\n';
	}
	return hash;
}

static uint32_t number_of(const char *root, const char *name)
{
	char *path;
	int64_t value = -1;

	if (asprintf(&path, "%s/proc/sys/kernel/%s", root, name) < 0)
		return 0xff;
	tally_fs_read_number(path, &value);
	free(path);
	return (uint32_t)value & 0xff;
}

/* Addresses are shown by kptr_restrict, perf_event_paranoid and CAP_SYSLOG (kernel/ksyms_common.c,
 * kallsyms_show_value). */
static uint32_t reader(const char *root)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};
	uint32_t capable = 0;

	if (!syscall(SYS_capget, &header, data))
		capable = data[CAP_TO_INDEX(CAP_SYSLOG)].effective >> (CAP_SYSLOG & 31) & 1;
	return capable | number_of(root, "kptr_restrict") << 8 |
	       number_of(root, "perf_event_paranoid") << 16;
}

int tally_kernel_key_read(const char *root, struct tally_kernel_key *ret)
{
	struct tally_kernel_key key = {0};
	struct stat stat_of;
	uint8_t size;
	char *text;
	size_t length;
	int error = tally_fs_readf(4096, &text, NULL, "%s/proc/sys/kernel/random/boot_id", root);

	if (error)
		return error;
	length = strspn(text, "0123456789abcdef-");
	if (length && length < sizeof(key.boot))
		memcpy(key.boot, text, length);
	free(text);
	if (!key.boot[0])
		return -EINVAL;
	/* none: a kernel without modules */
	error = tally_fs_readf(MODULES_LIMIT, &text, NULL, "%s/proc/modules", root);
	if (error && error != -ENOENT)
		return error;
	if (!error) {
		key.modules = hash_modules(text);
		free(text);
	}
	if (tally_image_kernel_build_id(root, key.build_id, &size))
		memset(key.build_id, 0, sizeof(key.build_id));
	if (!stat("/proc/self/ns/user", &stat_of))
		key.namespace = stat_of.st_ino;
	key.reader = reader(root);
	*ret = key;
	return 0;
}
