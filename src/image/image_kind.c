#include "image/image_kind.h"

#include <string.h>
#include "jit/jit_file.h"

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* kernel/events/core.c gives //anon, /dev/zero, [heap], [stack]; /SYSV is System V shared memory.
 */
bool tally_image_is_anon(const char *path)
{
	return starts(path, "//anon") || starts(path, "/dev/zero") ||
	       starts(path, "/anon_hugepage") || starts(path, "[stack") || starts(path, "/SYSV") ||
	       starts(path, "[heap]");
}

bool tally_image_is_made(enum tally_image_kind kind, const char *path)
{
	const char *base = strrchr(path, '/');
	uint32_t pid;

	if (kind == TALLY_IMAGE_ANON)
		return tally_image_is_anon(path) || starts(path, "[anon") ||
		       starts(path, "[JIT]") || tally_jit_is_map(path, &pid);
	return kind == TALLY_IMAGE_DUMP ||
	       (kind == TALLY_IMAGE_FILE &&
		(starts(base ? base + 1 : path, "jitted-") || tally_jit_is_map(path, &pid)));
}

static bool is_module_file(const char *path)
{
	const char *base = strrchr(path, '/'), *dot;

	base = base ? base + 1 : path;
	dot = strstr(base, ".ko");
	return dot && (!dot[3] || dot[3] == '.');
}

enum tally_image_kind tally_image_kind_of(const char *path, bool kernel)
{
	uint32_t pid;

	if (starts(path, "[kernel.") || starts(path, "[guest.kernel.kallsyms"))
		return TALLY_IMAGE_KERNEL;
	if (kernel)
		return TALLY_IMAGE_MODULE;
	if (!strcmp(path, "[vdso]") || !strcmp(path, "[vdso32]") || !strcmp(path, "[vdsox32]"))
		return TALLY_IMAGE_VDSO;
	/* memfd has no name that can be opened; compilers of .NET and others put code there.
	 * Bracketed names ([anon:jit], [vsyscall], [uprobes]) are the kernel's for memory. */
	if (tally_image_is_anon(path) || starts(path, "/memfd:") || path[0] == '[' || !path[0])
		return TALLY_IMAGE_ANON;
	return tally_jit_is_dump(path, &pid) ? TALLY_IMAGE_DUMP : TALLY_IMAGE_FILE;
}

const char *tally_image_kernel_path(const char *path)
{
	return starts(path, "[guest") ? "[guest.kernel.kallsyms]" : "[kernel.kallsyms]";
}

bool tally_image_module_name(const char *path, char *ret, size_t size)
{
	const char *base = strrchr(path, '/'), *end;
	size_t length;

	base = base ? base + 1 : path;
	if (base[0] == '[') {
		end = strchr(++base, ']');
	} else {
		end = is_module_file(path) ? strstr(base, ".ko") : NULL;
	}
	if (!end || end == base || (size_t)(end - base) >= size)
		return false;
	length = (size_t)(end - base);
	for (size_t i = 0; i < length; i++)
		ret[i] = base[i] == '-' ? '_' : base[i];
	ret[length] = 0;
	return true;
}

void tally_image_kind_name(enum tally_image_kind kind, const char *path, uint32_t pid,
			   uint32_t inner_pid, const char *vmlinux, struct tally_buf *to)
{
	const char *base = strrchr(path, '/');
	char module[128];

	base = base && base[1] ? base + 1 : path;
	if (kind == TALLY_IMAGE_KERNEL && vmlinux && strstr(vmlinux, "vmlinux"))
		tally_buf_text(to, "[kernel.vmlinux]");
	else if (kind == TALLY_IMAGE_MODULE &&
		 tally_image_module_name(path, module, sizeof(module)))
		tally_buf_printf(to, "[%s]", module);
	else if (kind == TALLY_IMAGE_DUMP && tally_jit_is_dump(path, &inner_pid))
		tally_buf_printf(to, "[JIT] tid %u", inner_pid);
	else if (kind == TALLY_IMAGE_ANON && pid && tally_image_is_anon(path))
		tally_buf_printf(to, "[JIT] tid %u", inner_pid);
	else
		tally_buf_text(to, base);
}
