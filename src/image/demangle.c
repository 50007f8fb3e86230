#include "image/demangle.h"

#include <stdlib.h>
#include <string.h>
#include <libiberty/demangle.h>

/* Deeper or longer names are made to exhaust a demangler, not to be read. */
#define NAME_LIMIT 65536

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

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
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

char *tally_demangle(const char *name)
{
	if (!tally_demangle_wanted(name) || strnlen(name, NAME_LIMIT) == NAME_LIMIT)
		return NULL;
	if (name[0] == 'c')
		return ocaml(name);
	/* no DMGL_PARAMS: bare names; auto tries Rust before C++, whose prefix old Rust shares */
	return cplus_demangle(name, DMGL_NO_OPTS | DMGL_AUTO);
}
