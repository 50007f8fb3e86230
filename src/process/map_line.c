#include "process/map_line.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static bool take_hex(const char **at, uint64_t *ret)
{
	uint64_t value = 0;
	const char *start = *at;

	for (; isxdigit((unsigned char)**at); (*at)++)
		value = value << 4 | (uint64_t)(**at <= '9' ? **at - '0' : (**at | 32) - 'a' + 10);
	*ret = value;
	return *at > start;
}

static bool take_char(const char **at, char wanted)
{
	if (**at != wanted)
		return false;
	(*at)++;
	return true;
}

bool tally_map_line_parse(const char *line, struct map_line *ret)
{
	uint64_t maj, min;
	char *end;

	if (!take_hex(&line, &ret->start) || !take_char(&line, '-') ||
	    !take_hex(&line, &ret->end) || !take_char(&line, ' ') || strlen(line) < 5)
		return false;
	ret->read = line[0] == 'r';
	ret->write = line[1] == 'w';
	ret->exec = line[2] == 'x';
	ret->shared = line[3] == 's';
	line += 4;
	if (!take_char(&line, ' ') || !take_hex(&line, &ret->pgoff) || !take_char(&line, ' ') ||
	    !take_hex(&line, &maj) || !take_char(&line, ':') || !take_hex(&line, &min) ||
	    !take_char(&line, ' '))
		return false;
	ret->maj = (uint32_t)maj;
	ret->min = (uint32_t)min;
	ret->ino = strtoull(line, &end, 10);
	while (*end == ' ')
		end++;
	ret->path = end;
	return ret->end > ret->start;
}
