/* What a mapping's name says: which kind of image, and what perf calls it. */
#ifndef TALLY_IMAGE_IMAGE_KIND_H
#define TALLY_IMAGE_IMAGE_KIND_H

#include <stdbool.h>
#include <stdint.h>
#include "base/buf.h"
#include "image/image.h"

enum tally_image_kind tally_image_kind_of(const char *path, bool kernel);

/* Memory without a file, by the names that perf takes for such: //anon, [heap], /SYSV...  Other
 * memory, as that of a memfd or of a name that its program gave ([anon:v8]), counts as a file
 * there. */
bool tally_image_is_anon(const char *path);

/* Whether code was made at run time: that of memory without a file, also with a name that its
 * program gave, and what dumps, maps and the files made of them (jitted-PID-N.so) have of it.  Of a
 * memfd it is not known: whole programs are run from such. */
bool tally_image_is_made(enum tally_image_kind kind, const char *path);

/* "[kernel.kallsyms]" for all names of the kernel ("[kernel.kallsyms]_text"). */
const char *tally_image_kernel_path(const char *path);

/* "ext4" of "[ext4]" and of ".../ext4.ko.xz", into ret of `size` bytes; '-' becomes '_' as in the
 * kernel.  False: no module's name. */
bool tally_image_module_name(const char *path, char *ret, size_t size);

/* The short name.  `pid` 0: no JIT name; `inner_pid` is what a perf map would be called by. */
void tally_image_kind_name(enum tally_image_kind kind, const char *path, uint32_t pid,
			   uint32_t inner_pid, const char *vmlinux, struct tally_buf *to);

#endif
