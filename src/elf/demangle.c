#include "elf/demangle.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "base/buf.h"
#include "base/hex.h"
#include "elf/elf_file.h"

/* OCaml's native compiler writes Module.name as camlModule__name_123, and bytes that assemblers
 * refuse as $xx. */
static bool is_ocaml(const char *name)
{
	return !strncmp(name, "caml", 4) && name[4] >= 'A' && name[4] <= 'Z' && strstr(name, "__");
}

bool tally_demangle_wanted(const char *name)
{
	if (name[0] == '_')
		return name[1] == 'Z' || name[1] == 'R' || !strncmp(name, "_GLOBAL_", 8);
	return name[0] == 'c' && is_ocaml(name);
}

/* The length without the compiler's running number, "_" and digits at the end. */
static size_t without_number(const char *name)
{
	size_t length = strlen(name), at = length;

	while (at && name[at - 1] >= '0' && name[at - 1] <= '9')
		at--;
	return at && at < length && name[at - 1] == '_' ? at - 1 : length;
}

static char *ocaml(const char *name)
{
	size_t length = without_number(name), to = 0;
	char *shown = malloc(length + 1);

	if (!shown)
		return NULL;
	for (size_t i = 4; i < length; i++) {
		if (name[i] == '_' && i + 1 < length && name[i + 1] == '_') {
			shown[to++] = '.';
			i++;
		} else if (name[i] == '$' && i + 2 < length && hex_digit(name[i + 1]) > 0 &&
			   hex_digit(name[i + 2]) >= 0) {
			shown[to++] = (char)(hex_digit(name[i + 1]) * 16 + hex_digit(name[i + 2]));
			i += 2;
		} else {
			shown[to++] = name[i];
		}
	}
	shown[to] = 0;
	return shown;
}

/* The part of a name that is written so far.  Demanglers write piece by piece and cannot be
 * stopped, so a name that becomes too long leaves them by longjmp(); they leak only a few bytes
 * then. */
struct writing {
	struct tally_buf text;
	uint64_t most;
	jmp_buf end;
};

static void write_piece(const char *piece, size_t size, void *context)
{
	struct writing *writing = context;

	if (size > writing->most - writing->text.size)
		longjmp(writing->end, 1);
	tally_buf_add(&writing->text, piece, size);
}

/* No DMGL_PARAMS: names without parameters.  Rust is tried before C++, as old Rust has the same
 * prefix. */
static bool demangle(const char *name, struct writing *writing)
{
	if (setjmp(writing->end))
		return false;
	if (rust_demangle_callback(name, DMGL_NO_OPTS, write_piece, writing))
		return true;
	tally_buf_clear(&writing->text);
	return cplus_demangle_v3_callback(name, DMGL_NO_OPTS, write_piece, writing) != 0;
}

static uint64_t smaller(uint64_t one, uint64_t other)
{
	return one < other ? one : other;
}

char *tally_demangle(const char *name, uint64_t *left)
{
	struct writing writing = {0};
	uint64_t length, used;
	char *shown = NULL;

	if (!tally_demangle_wanted(name))
		return NULL;
	length = strnlen(name, TALLY_NAME_MOST);
	if (length == TALLY_NAME_MOST || length > *left)
		return NULL;
	if (name[0] == 'c') {
		*left -= length;
		return ocaml(name);
	}
	writing.most = smaller(TALLY_NAME_MOST, *left - length);
	if (demangle(name, &writing))
		tally_buf_byte(&writing.text, 0);
	else
		writing.text.failed = -EINVAL;
	used = length + writing.text.size;
	*left -= smaller(used, *left);
	if (!writing.text.failed)
		shown = realloc(writing.text.data, writing.text.size);
	if (!shown)
		tally_buf_done(&writing.text);
	return shown;
}
