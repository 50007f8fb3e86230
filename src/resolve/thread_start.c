#include "resolve/thread_start.h"

#include <string.h>
#include "base/bytes.h"
#include "resolve/frames.h"

/* Of a program's first thread, of others, and of what else has a stack of its own. In the midst of
 * execve() the old program's stack is gone, so that its callers are.  Sources: glibc
 * (csu/, nptl/, sysdeps/unix/sysv/linux), musl (crt/, src/thread), bionic (libc/bionic), the Go
 * runtime (asm_*.s, rt0_*.s). */
static const char names[][32] = {
    "_start",
    "__libc_start_main",
    "_start_c",
    "__libc_start_call_main",
    "_dl_start",
    "__libc_start_main_impl",
    "_dl_start_user",
    "generic_start_main",
    "__libc_init",
    "__libc_start_main_stage2",
    "clone",
    "clone3",
    "__clone",
    "__clone3",
    "__bionic_clone",
    "__clone_internal",
    "start_thread",
    "__start_thread",
    "__pthread_start",
    "__start_context",
    "runtime.goexit",
    "runtime.rt0_go",
    "runtime.mstart",
    "runtime.mcall",
    "runtime.morestack",
    "runtime.systemstack",
    "execve",
    "__execve",
    "__GI_execve",
    "__GI___execve",
};

bool tally_thread_start_name(const char *symbol)
{
	/* "clone@@GLIBC_2.2.5"; Go's "runtime.goexit.abi0". */
	size_t length;

	if (!*symbol || !strchr("_cegrs", *symbol)) /* what they begin with */
		return false;
	length = strcspn(symbol, "@");
	if (length > 5 && !memcmp(symbol + length - 5, ".abi0", 5))
		length -= 5;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(names[i], symbol, length) && !names[i][length])
			return true;
	return false;
}

/* In a C library without its local symbols the functions where threads start have no names; each is
 * right before the function of its source file that has one.  Source: glibc 2.34 and later,
 * csu/libc-start.c (__libc_start_call_main) and nptl/pthread_create.c (start_thread). */
static bool is_before_start(struct tally_image *image, const struct tally_function *function)
{
	uint64_t behind = align_up(function->end, 16);
	int64_t index = tally_image_find_symbol(image, behind);
	const struct tally_symbol *next;

	if (behind < function->end || index < 0)
		return false;
	next = tally_image_symbol(image, index);
	return next && next->start == behind &&
	       (!strncmp(next->name, "__libc_start_main", 17) ||
		!strncmp(next->name, "pthread_create", 14));
}

enum tally_thread_start tally_thread_start_of(const struct tally_frames *frames, uint32_t frame)
{
	const struct tally_frame facts = tally_frames_get(frames, frame);
	struct tally_image *image;
	struct tally_function function;

	/* The kernel follows its own stacks to their end. */
	if (facts.level != '.')
		return TALLY_START_YES;
	if (facts.symbol)
		return tally_thread_start_name(facts.symbol) ? TALLY_START_YES : TALLY_START_NO;
	if (facts.image == UINT32_MAX) /* no code at all: of chains that go astray most are */
		return TALLY_START_NO;
	image = tally_frames_image(frames, frame);
	if (!image || tally_image_places_are_addresses(image))
		return TALLY_START_NO;
	if (!tally_image_symbol_count(image))
		return TALLY_START_UNKNOWN;
	return !tally_frames_function_at(frames, frame, &function) &&
		       is_before_start(image, &function)
		   ? TALLY_START_YES
		   : TALLY_START_NO;
}
