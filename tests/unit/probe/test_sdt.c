/* Notes of markers: what is in them, whatever the byte order, and where they are damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "probe/sdt_notes.h"

struct section {
	char bytes[512];
	size_t size;
	bool wide, big;
};

static void put(struct section *section, uint64_t value, size_t width)
{
	for (size_t i = 0; i < width; i++) {
		size_t place = section->big ? width - 1 - i : i;

		section->bytes[section->size++] = (char)(value >> 8 * place);
	}
}

static void put_text(struct section *section, const char *text, size_t size)
{
	memcpy(section->bytes + section->size, text, size);
	section->size += size;
}

static void pad(struct section *section)
{
	while (section->size % 4)
		section->bytes[section->size++] = 0;
}

/* A note of `owner`; `texts` is three texts with their NULs. */
static void put_note(struct section *section, const char *owner, uint32_t type, uint64_t address,
		     uint64_t counter, const char *texts, size_t texts_size)
{
	size_t width = section->wide ? 8 : 4;

	put(section, strlen(owner) + 1, 4);
	put(section, 3 * width + texts_size, 4);
	put(section, type, 4);
	put_text(section, owner, strlen(owner) + 1);
	pad(section);
	put(section, address, width);
	put(section, 0x2000, width);
	put(section, counter, width);
	put_text(section, texts, texts_size);
	pad(section);
}

#define TEXTS         \
	"toy\0tick\0" \
	"8@%rax"

static void notes_are_read(void **state)
{
	(void)state;
	for (int kind = 0; kind < 4; kind++) {
		struct section section = {.wide = kind & 1, .big = kind & 2};
		struct tally_sdt_notes notes = {.wide = section.wide, .big_endian = section.big};
		struct tally_sdt_note note;

		put_note(&section, "stapsdt", 3, 0x1234, 0, TEXTS, sizeof(TEXTS));
		put_note(&section, "GNU", 3, 1, 0, "other", 6); /* another's */
		put_note(&section, "stapsdt", 3, 0x5678, 0x9abc, "a\0b\0", 5);
		notes.bytes = section.bytes;
		notes.size = section.size;
		assert_int_equal(tally_sdt_notes_next(&notes, &note), 1);
		assert_int_equal(note.address, 0x1234);
		assert_int_equal(note.base, 0x2000);
		assert_int_equal(note.counter, 0);
		assert_string_equal(note.provider, "toy");
		assert_string_equal(note.name, "tick");
		assert_string_equal(note.arguments, "8@%rax");
		assert_int_equal(tally_sdt_notes_next(&notes, &note), 1);
		assert_int_equal(note.address, 0x5678);
		assert_int_equal(note.counter, 0x9abc);
		assert_string_equal(note.arguments, "");
		assert_int_equal(tally_sdt_notes_next(&notes, &note), 0);
		assert_int_equal(tally_sdt_notes_next(&notes, &note), 0);
	}
}

/* Cut anywhere it gives an error or fewer notes, and reads nothing behind. */
static void cut_notes_are_damaged(void **state)
{
	struct section section = {.wide = true};

	(void)state;
	put_note(&section, "stapsdt", 3, 0x1234, 0, TEXTS, sizeof(TEXTS));
	for (size_t size = 0; size < section.size; size++) {
		char exact[512];
		struct tally_sdt_notes notes = {.bytes = exact, .size = size, .wide = true};
		struct tally_sdt_note note;
		int result;

		memset(exact, 'x', sizeof(exact));
		memcpy(exact, section.bytes, size);
		result = tally_sdt_notes_next(&notes, &note);
		if (size < 12)
			assert_int_equal(result, 0);
		else if (section.size - size >= 4) /* more than padding is missing */
			assert_int_equal(result, -EBADMSG);
	}
}

static void wrong_texts_are_damage(void **state)
{
	static const struct {
		const char *texts;
		size_t size;
	} cases[] = {{"toy\0tick\0x", 10}, {"\0tick\0", 7}, {"toy\0\0", 6}, {"toy", 4}, {"", 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct section section = {.wide = true};
		struct tally_sdt_notes notes = {.wide = true};
		struct tally_sdt_note note;

		put_note(&section, "stapsdt", 3, 1, 0, cases[i].texts, cases[i].size);
		notes.bytes = section.bytes;
		notes.size = section.size;
		assert_int_equal(tally_sdt_notes_next(&notes, &note), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(notes_are_read),
	    cmocka_unit_test(cut_notes_are_damaged),
	    cmocka_unit_test(wrong_texts_are_damage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
