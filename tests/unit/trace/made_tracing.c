#include "made_tracing.h"

#include <string.h>

const char *__lsan_default_suppressions(void);

/* libtraceevent forgets some of the formats that it refuses. */
const char *__lsan_default_suppressions(void)
{
	return "leak:tep_parse_format\nleak:libtraceevent\n";
}

static void add_u32(struct tally_buf *to, uint32_t value, bool big_endian)
{
	tally_buf_u32(to, big_endian ? __builtin_bswap32(value) : value);
}

static void add_u64(struct tally_buf *to, uint64_t value, bool big_endian)
{
	tally_buf_u64(to, big_endian ? __builtin_bswap64(value) : value);
}

static void add_sized(struct tally_buf *to, const char *text, bool big_endian)
{
	add_u64(to, strlen(text), big_endian);
	tally_buf_text(to, text);
}

void made_tracing(struct tally_buf *to, const struct made_format *formats, size_t count,
		  const char *printk, bool big_endian)
{
	static const char start[] = "\x17\x08\x44tracing0.6";
	static const char page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
				   "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n";

	tally_buf_add(to, start, sizeof(start));
	tally_buf_byte(to, big_endian);
	tally_buf_byte(to, 8);
	add_u32(to, 4096, big_endian);
	tally_buf_add(to, "header_page", sizeof("header_page"));
	add_sized(to, page, big_endian);
	tally_buf_add(to, "header_event", sizeof("header_event"));
	add_sized(to, "# compressed entry header\n", big_endian);
	add_u32(to, 0, big_endian);
	add_u32(to, (uint32_t)count, big_endian);
	for (size_t i = 0; i < count; i++) {
		tally_buf_add(to, formats[i].system, strlen(formats[i].system) + 1);
		add_u32(to, 1, big_endian);
		add_sized(to, formats[i].text, big_endian);
	}
	add_u32(to, 0, big_endian);
	add_u32(to, printk ? (uint32_t)strlen(printk) : 0, big_endian);
	if (printk)
		tally_buf_text(to, printk);
	add_u64(to, 0, big_endian);
}
