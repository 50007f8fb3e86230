/* Expressions of where variables are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include "dwarf/dwarf_locations.h"
#include "types/location.h"

static const struct dwarf_file no_file;
static const struct dwarf_unit unit = {
    .file = &no_file, .addresses = &no_file, .version = 5, .address_size = 8, .offset_size = 4};

static void assert_location(const uint8_t *bytes, size_t size, enum location_kind kind, uint8_t reg,
			    int64_t offset)
{
	struct location found = tally_location_parse(&unit, (struct dwarf_bytes){bytes, size});

	assert_int_equal(found.kind, kind);
	if (kind == LOCATION_UNKNOWN)
		return;
	assert_int_equal(found.reg, reg);
	assert_true(found.offset == offset);
}

#define LOCATION(kind, reg, offset, ...)                                                        \
	assert_location((const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}), \
			kind, reg, offset)

/* Numbers of operations: DWARF 5, 7.7.1. */
static void forms_of_compilers_are_known(void **state)
{
	(void)state;
	LOCATION(LOCATION_REGISTER, 5, 0, 0x55);
	LOCATION(LOCATION_REGISTER, 12, 0, 0x90, 12);
	LOCATION(LOCATION_BASED, 7, 24, 0x77, 24);
	LOCATION(LOCATION_BASED, 6, -8, 0x76, 0x78);
	LOCATION(LOCATION_FUNCTION, 0, -20, 0x91, 0x6c);
	LOCATION(LOCATION_FRAME, 0, 0, 0x9c);
	LOCATION(LOCATION_FRAME, 0, 16, 0x9c, 0x23, 16);
	LOCATION(LOCATION_ADDRESS, 0, 0x4030, 0x03, 0x30, 0x40, 0, 0, 0, 0, 0, 0);
	/* the pointer is r5 + 8: r5 is 8 less */
	LOCATION(LOCATION_REGISTER, 5, 8, 0x75, 8, 0x9f);
	/* of this thread: const8u 16, form_tls_address */
	LOCATION(LOCATION_THREAD, 0, 16, 0x0e, 16, 0, 0, 0, 0, 0, 0, 0, 0x9b);
}

static void others_and_cut_ones_are_unknown(void **state)
{
	(void)state;
	assert_location(NULL, 0, LOCATION_UNKNOWN, 0, 0);
	LOCATION(LOCATION_UNKNOWN, 0, 0, 0x55, 0x93, 8); /* a part */
	LOCATION(LOCATION_UNKNOWN, 0, 0, 0x75);          /* no offset */
	LOCATION(LOCATION_UNKNOWN, 0, 0, 0x03, 0x30);    /* half an address */
	LOCATION(LOCATION_UNKNOWN, 0, 0, 0x90, 77);      /* no register for addresses */
	LOCATION(LOCATION_UNKNOWN, 0, 0, 0x75, 0, 0x06); /* what is in memory there */
	LOCATION(LOCATION_UNKNOWN, 0, 0, 0x0e, 16, 0, 0, 0, 0, 0, 0, 0); /* a number */
	LOCATION(LOCATION_UNKNOWN, 0, 0, 0x55, 0x9f);
}

struct seen {
	uint64_t low[8], high[8];
	uint8_t op[8]; /* 0: no expression */
	size_t count;
};

static int see(void *context, uint64_t low, uint64_t high, struct dwarf_bytes expression)
{
	struct seen *seen = context;

	if (seen->count == 8)
		return -1;
	seen->low[seen->count] = low;
	seen->high[seen->count] = high;
	seen->op[seen->count++] = expression.size ? expression.data[0] : 0;
	return 0;
}

/* Kinds of entries: DWARF 5, 7.7.3. */
static void lists_of_version_5_are_read(void **state)
{
	static const uint8_t list[] = {
	    4, 0x10, 0x20, 1, 0x55,                         /* offsets from the unit's start */
	    9, 0,    0,                                     /* gcc's numbers of views */
	    6, 0,    0x50, 0, 0,    0, 0, 0, 0,             /* base_address 0x5000 */
	    4, 1,    3,    1, 0x50,                         /* offsets from it */
	    8, 0,    0x60, 0, 0,    0, 0, 0, 0, 8, 1, 0x51, /* start and length */
	    5, 1,    0x52,                                  /* the default */
	    0,
	};
	const struct dwarf_file file = {.sections[DWARF_LOCLISTS] = {list, sizeof(list)}};
	const struct dwarf_file cut = {.sections[DWARF_LOCLISTS] = {list, 4}};
	const struct dwarf_value value = {.class = CLASS_CONSTANT, .number = 0};
	struct dwarf_unit of = unit;
	struct seen seen = {.count = 0};

	(void)state;
	of.file = &file;
	of.low = 0x1000;
	assert_int_equal(tally_dwarf_locations(&of, &value, see, &seen), 0);
	assert_int_equal(seen.count, 6);
	assert_true(seen.low[0] == 0x1010 && seen.high[0] == 0x1020 && seen.op[0] == 0x55);
	assert_int_equal(seen.op[1], 0);
	assert_int_equal(seen.op[2], 0);
	assert_true(seen.low[3] == 0x5001 && seen.high[3] == 0x5003 && seen.op[3] == 0x50);
	assert_true(seen.low[4] == 0x6000 && seen.high[4] == 0x6008 && seen.op[4] == 0x51);
	assert_true(seen.low[5] == 0 && seen.high[5] == UINT64_MAX && seen.op[5] == 0x52);
	of.file = &cut;
	assert_true(tally_dwarf_locations(&of, &value, see, &seen) < 0);
}

static void lists_of_version_4_are_read(void **state)
{
	static const uint8_t list[] = {
	    0x10, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0, 0, 0, 0, 1, 0,
	    0x55, 0, 0, 0, 0, 0, 0, 0, 0,    0, 0, 0, 0, 0, 0, 0, 0,
	};
	const struct dwarf_file file = {.sections[DWARF_LOC] = {list, sizeof(list)}};
	const struct dwarf_value value = {.class = CLASS_CONSTANT, .number = 0};
	struct dwarf_unit of = unit;
	struct seen seen = {.count = 0};

	(void)state;
	of.file = &file;
	of.version = 4;
	of.low = 0x1000;
	assert_int_equal(tally_dwarf_locations(&of, &value, see, &seen), 0);
	assert_int_equal(seen.count, 1);
	assert_true(seen.low[0] == 0x1010 && seen.high[0] == 0x1020 && seen.op[0] == 0x55);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(forms_of_compilers_are_known),
	    cmocka_unit_test(others_and_cut_ones_are_unknown),
	    cmocka_unit_test(lists_of_version_5_are_read),
	    cmocka_unit_test(lists_of_version_4_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
