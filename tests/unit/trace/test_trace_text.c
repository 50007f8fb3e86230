/* Tracepoint payloads as text.  The texts are those that perf 6.1 prints for the same payloads. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include "base/bytes.h"
#include "made_tracing.h"
#include "trace/trace_text.h"

#define COMMON                                                                         \
	"format:\n"                                                                    \
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"         \
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"         \
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n" \
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define FIELD(declaration, offset, size, sign) \
	"\tfield:" declaration ";\toffset:" #offset ";\tsize:" #size ";\tsigned:" #sign ";\n"
/* Fields that most tests get by with. */
#define FIELDS                                                                           \
	COMMON FIELD("u32 a", 8, 4, 0) FIELD("int b", 12, 4, 1) FIELD("u64 c", 16, 8, 0) \
	    FIELD("char name[8]", 24, 8, 0) FIELD("__data_loc char[] text", 32, 4, 0)    \
		FIELD("__data_loc u8[] bytes", 36, 4, 0) FIELD("__u8 ip[16]", 40, 16, 0) \
		    FIELD("u8 mac[6]", 56, 6, 0) FIELD("u8 ip4[4]", 62, 4, 0) "\n"

enum { ID = 300, PAYLOAD = 96 };

/* a=7 b=-3 c=0xffffffff81000010, "comm", "some text" at 66, bytes 01 00 ab cd at 80. */
static void fill(uint8_t *raw)
{
	static const uint8_t ip[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
	static const uint8_t mac[6] = {0x02, 0, 0x5e, 0x10, 0xab, 0xff};

	memset(raw, 0, PAYLOAD);
	store_u16(raw, ID);
	store_u32(raw + 8, 7);
	store_u32(raw + 12, (uint32_t)-3);
	store_u64(raw + 16, 0xffffffff81000010);
	memcpy(raw + 24, "comm", 5);
	store_u32(raw + 32, 66 | 10u << 16);
	store_u32(raw + 36, 80 | 4u << 16);
	memcpy(raw + 40, ip, sizeof(ip));
	memcpy(raw + 56, mac, sizeof(mac));
	memcpy(raw + 62, "\x7f\x00\x00\x01", 4);
	memcpy(raw + 66, "some text", 10);
	memcpy(raw + 80, "\x01\x00\xab\xcd", 4);
}

static const char *find(void *context, uint64_t address, uint64_t *ret_start)
{
	(void)context;
	*ret_start = 0xffffffff81000000;
	return address >= 0xffffffff81000000 && address < 0xffffffff81000100 ? "do_it" : NULL;
}

static const struct tally_trace_symbols symbols = {find, NULL};

struct shown {
	struct tally_buf data, text;
	struct tally_trace_text *trace;
};

static void open_format(struct shown *shown, const char *format, const char *printk)
{
	struct made_format made = {"sys", format};
	struct tally_error error;

	*shown = (struct shown){.trace = NULL};
	made_tracing(&shown->data, &made, 1, printk, false);
	assert_int_equal(
	    tally_trace_text_new(shown->data.data, shown->data.size, &shown->trace, &error), 0);
	assert_null(tally_trace_text_damage(shown->trace));
}

static void close_shown(struct shown *shown)
{
	tally_trace_text_free(shown->trace);
	tally_buf_done(&shown->data);
	tally_buf_done(&shown->text);
}

static void shows(const char *print, const char *want)
{
	char format[4096];
	uint8_t raw[PAYLOAD];
	struct shown shown;

	snprintf(format, sizeof(format), "name: it\nID: 300\n" FIELDS "print fmt: %s\n", print);
	open_format(&shown, format, "0xffffffff81000010 : \"a text of the kernel\\n\"\n");
	fill(raw);
	assert_int_equal(
	    tally_trace_text_add(shown.trace, &shown.text, ID, raw, sizeof(raw), &symbols), 0);
	assert_string_equal(tally_buf_str(&shown.text), want);
	close_shown(&shown);
}

static void numbers_are_as_printf_has_them(void **state)
{
	(void)state;
	shows("\"%d %u %x %X %o|\", REC->a, REC->a, REC->c, REC->c, REC->a",
	      "7 7 81000010 81000010 7|");
	shows("\"%d %u %ld %lld\", REC->b, REC->b, REC->b, REC->b",
	      "-3 4294967293 4294967293 4294967293");
	shows("\"%lx %llu %#lx %#x\", REC->c, REC->c, REC->c, 0",
	      "ffffffff81000010 18446744071578845200 0xffffffff81000010 0");
	shows("\"[%4d] [%-4d] [%04d] [%08lx] [%.3d] [%*d]\", REC->a, REC->a, REC->a, REC->a, "
	      "REC->a, 5, REC->b",
	      "[   7] [7   ] [0007] [00000007] [007] [   -3]");
	shows("\"%hhu %hd 100%%\", REC->b, REC->b", "253 -3 100%");
}

static void a_size_is_cut_to_32_bits_and_a_character_is_not_known_as_in_perf(void **state)
{
	(void)state;
	shows("\"%zd %zu\", REC->b, REC->c", "4294967293 2164260880");
	shows("\"%d%c!\", REC->a", "7>c<!");
}

static void expressions_are_computed(void **state)
{
	(void)state;
	shows("\"%d %d %d\", REC->a + 2 * 3, (REC->a << 4) | 1, REC->a & ~3", "13 113 4");
	shows("\"%d %d %d %d\", REC->a == 7, REC->a != 7, REC->a > 6 && REC->b, !REC->a",
	      "1 0 1 0");
	shows("\"%d %d\", REC->a ? 5 : 6, REC->a == 8 ? 5 : 6", "5 6");
	shows("\"%d,%d\", ((unsigned int) ((REC->c) >> 20)), (u8)(REC->c >> 4)", "-2032,1");
	shows("\"%d %d\", REC->mac[5], __get_dynamic_array_len(bytes)", "255 4");
	shows("\"%d %d %d\", REC->a / REC->mac[1], REC->a / 2, REC->a % 4", "0 3 3");
}

static void strings_are_fields_and_texts_elsewhere(void **state)
{
	(void)state;
	shows("\"%s|%-6s|%6s|%.2s\", REC->name, REC->name, REC->name, REC->name",
	      "comm|comm  |  comm|co");
	shows("\"[%s] [%12s]\", __get_str(text), __get_str(text)", "[some text] [   some text]");
	shows("\"%s\", REC->a ? \"yes\" : \"no\"", "yes");
	shows("\"%s\", REC->c", "a text of the kernel");
	shows("\"a\\tb \\\"%s\\\"\", REC->name", "a\tb \"comm\"");
	shows("\"a\tb %s\", REC->name", "a\tb comm");
}

static void values_have_names(void **state)
{
	(void)state;
	shows(
	    "\"%s\", __print_symbolic(REC->a, { 0, \"ZERO\" }, { 7, \"SEVEN\" }, { 7, \"again\" })",
	    "SEVEN");
	shows("\"%s\", __print_symbolic(REC->a, { 0, \"ZERO\" }, { 70000, \"MANY\" })", "0x7");
	shows("\"%s\", __print_symbolic(REC->a, { RCU_SOFTIRQ, \"RCU\" }, { 7, \"SCHED\" })",
	      "SCHED");
	shows("\"%s\", __print_flags(REC->a, \"|\", { 1, \"A\" }, { 2, \"B\" })", "A|B|0x4");
	shows("\"%s.\", __print_flags(REC->a & 8, \"|\", { 1, \"A\" })", ".");
	shows(
	    "\"%s\", REC->a ? __print_flags(REC->a, \"\", { 4, \"c\" }, { 3, \"ab\" }) : \"none\"",
	    "cab");
}

static void arrays_are_listed(void **state)
{
	(void)state;
	shows("\"%s\", __print_hex(__get_dynamic_array(bytes), __get_dynamic_array_len(bytes))",
	      "01 00 ab cd");
	shows("\"%s\", __print_hex_str(REC->mac, 6)", "02005e10abff");
	shows("\"%s\", __print_array(__get_dynamic_array(bytes), 2, 2)", "1 52651");
	shows("\"%s\", __print_array(REC->ip4, 4, 1)", "127 0 0 1");
	shows("\"%s\", __get_bitmask(bytes)", "cdab0001");
}

static void pointers_have_the_kernels_forms(void **state)
{
	(void)state;
	shows("\"%p %p\", REC->a, (void *)0", "0x7 (nil)");
	shows("\"%pS %ps %pS\", (void *)REC->c, (void *)REC->c, REC->a", "do_it+0x10 do_it 0x7");
	shows("\"%pM %pm %pMF\", REC->mac, REC->mac, REC->mac",
	      "02:00:5e:10:ab:ff 02005e10abff 02-00-5e-10-ab-ff");
	shows("\"%pI4 %pi4 %pI6c\", REC->ip4, REC->ip4, REC->ip",
	      "127.0.0.1 127.000.000.001 2001:db8::1");
	shows("\"%pI6 %pI4\", REC->ip, REC->ip",
	      "2001:0db8:0000:0000:0000:0000:0000:0001 INVALIDIPv4");
	shows("\"%pU %pUL\", REC->ip, REC->ip",
	      "20010db8-0000-0000-0000-000000000001 B80D0120-0000-0000-0000-000000000001");
	shows("\"%*ph\", 6, REC->mac", "ARG TYPE NOT FIELD BUT 2");
	shows("\"%*phC %*phN\", 9, __get_dynamic_array(bytes), 2, __get_dynamic_array(bytes)",
	      "01:00:ab:cd 0100");
}

static void what_cannot_be_parsed_is_listed_by_field(void **state)
{
	(void)state;
	shows("\"%d\", mystery(REC->a)",
	      "[FAILED TO PARSE] a=7 b=-3 c=18446744071578845200 name=comm text=some text "
	      "bytes=ARRAY[01, 00, ab, cd] ip=ARRAY[20, 01, 0d, b8, 00, 00, 00, 00, 00, 00, 00, "
	      "00, 00, 00, 00, 01] mac=ARRAY[02, 00, 5e, 10, ab, ff] ip4=ARRAY[7f, 00, 00, 01]");
}

static const char simple[] =
    "name: it\nID: 300\n" FIELDS "print fmt: \"a=%d name=%s text=%s\", REC->a, REC->name, "
    "__get_str(text)\n";

static void a_payload_that_is_too_short_reads_as_zeros(void **state)
{
	uint8_t raw[PAYLOAD];
	struct shown shown;

	(void)state;
	open_format(&shown, simple, NULL);
	fill(raw);
	for (uint32_t size = 0; size < PAYLOAD; size++) {
		uint8_t *exact = malloc(size + !size); /* an address sanitizer watches its end */

		memcpy(exact, raw, size);
		tally_buf_clear(&shown.text);
		assert_int_equal(
		    tally_trace_text_add(shown.trace, &shown.text, ID, exact, size, &symbols), 0);
		free(exact);
		if (size == 12)
			assert_string_equal(tally_buf_str(&shown.text), "a=7 name= text=,\x01");
		if (size == 70)
			assert_string_equal(tally_buf_str(&shown.text), "a=7 name=comm text=some");
	}
	close_shown(&shown);
}

static void the_payload_says_whose_it_is_before_the_caller_does(void **state)
{
	uint8_t raw[PAYLOAD];
	struct shown shown;

	(void)state;
	open_format(&shown, simple, NULL);
	fill(raw);
	assert_int_equal(
	    tally_trace_text_add(shown.trace, &shown.text, 999, raw, sizeof(raw), &symbols), 0);
	store_u16(raw, 999);
	assert_int_equal(
	    tally_trace_text_add(shown.trace, &shown.text, ID, raw, sizeof(raw), &symbols), 0);
	assert_int_equal(
	    tally_trace_text_add(shown.trace, &shown.text, 999, raw, sizeof(raw), &symbols),
	    -ENOENT);
	assert_string_equal(tally_trace_text_name(shown.trace, ID), "sys:it");
	assert_null(tally_trace_text_name(shown.trace, 299));
	assert_null(tally_trace_text_name(shown.trace, UINT64_MAX));
	close_shown(&shown);
}

static void the_other_byte_order_gives_the_same_text(void **state)
{
	struct made_format made = {"sys", "name: it\nID: 300\n" FIELDS
					  "print fmt: \"%d %lx %s\", REC->b, REC->c, "
					  "__get_str(text)\n"};
	struct tally_buf data = {0}, text = {0};
	struct tally_trace_text *trace;
	uint8_t raw[PAYLOAD];

	(void)state;
	made_tracing(&data, &made, 1, NULL, true);
	assert_int_equal(tally_trace_text_new(data.data, data.size, &trace, NULL), 0);
	fill(raw);
	store_u16(raw, __builtin_bswap16(ID));
	store_u32(raw + 12, __builtin_bswap32((uint32_t)-3));
	store_u64(raw + 16, __builtin_bswap64(0xffffffff81000010));
	store_u32(raw + 32, __builtin_bswap32(66 | 10u << 16));
	assert_int_equal(tally_trace_text_add(trace, &text, 0, raw, sizeof(raw), &symbols), 0);
	assert_string_equal(tally_buf_str(&text), "-3 ffffffff81000010 some text");
	tally_trace_text_free(trace);
	tally_buf_done(&data);
	tally_buf_done(&text);
}

/* At every length: an answer, and from the format's end on the event. */
static void cut_data_is_read_as_far_as_it_goes(void **state)
{
	struct made_format made[] = {{"sys", simple}, {"other", simple}};
	struct tally_buf data = {0};
	const char *end;

	(void)state;
	made_tracing(&data, made, 2, NULL, false);
	end = memmem(data.data, data.size, "__get_str(text)\n", 16);
	assert_non_null(end);
	for (size_t size = 0; size < data.size; size++) {
		struct tally_trace_text *trace;
		uint8_t *exact = malloc(size + !size);
		bool whole = size >= (size_t)(end + 16 - (const char *)data.data);
		int result;

		memcpy(exact, data.data, size);
		result = tally_trace_text_new(exact, size, &trace, NULL);
		assert_int_equal(result, !size ? -ENOENT : whole ? 0 : -EBADMSG);
		if (!result) {
			assert_string_equal(tally_trace_text_name(trace, ID), "sys:it");
			tally_trace_text_free(trace);
		}
		free(exact);
	}
	tally_buf_done(&data);
}

static void damaged_formats_are_left_out_or_listed_by_field(void **state)
{
	char *damaged = strdup(simple);
	uint8_t raw[PAYLOAD];
	struct shown shown;

	(void)state;
	fill(raw);
	for (size_t i = 0; simple[i]; i++) {
		struct made_format made = {"sys", damaged};

		damaged[i] = (char)(simple[i] ^ 1 << i % 7);
		if (!damaged[i])
			damaged[i] = 1;
		shown = (struct shown){.trace = NULL};
		made_tracing(&shown.data, &made, 1, NULL, false);
		if (!tally_trace_text_new(shown.data.data, shown.data.size, &shown.trace, NULL))
			tally_trace_text_add(shown.trace, &shown.text, ID, raw, sizeof(raw),
					     &symbols);
		close_shown(&shown);
		damaged[i] = simple[i];
	}
	free(damaged);
}

struct visited {
	unsigned count;
	uint64_t pid, c;
	bool common;
	char name[16], text[16];
	uint32_t mac_size;
};

static int visit(void *context, const struct tally_trace_field *field)
{
	struct visited *visited = context;

	visited->count++;
	if (!strcmp(field->name, "common_pid"))
		visited->common = field->common && field->kind == TALLY_TRACE_SIGNED;
	if (!strcmp(field->name, "b"))
		visited->pid = field->kind == TALLY_TRACE_SIGNED ? field->number : 0;
	if (!strcmp(field->name, "c"))
		visited->c = field->kind == TALLY_TRACE_UNSIGNED ? field->number : 0;
	if (!strcmp(field->name, "name") && field->kind == TALLY_TRACE_STRING)
		snprintf(visited->name, sizeof(visited->name), "%.*s", (int)field->size,
			 (const char *)field->bytes);
	if (!strcmp(field->name, "text") && field->kind == TALLY_TRACE_STRING)
		snprintf(visited->text, sizeof(visited->text), "%.*s", (int)field->size,
			 (const char *)field->bytes);
	if (!strcmp(field->name, "mac") && field->kind == TALLY_TRACE_BYTES)
		visited->mac_size = field->size;
	return visited->count == 12 ? -ECANCELED : 0;
}

static void fields_are_visited_with_their_types(void **state)
{
	struct visited visited = {0};
	struct tally_trace_place place;
	uint8_t raw[PAYLOAD];
	struct shown shown;

	(void)state;
	open_format(&shown, simple, NULL);
	fill(raw);
	assert_int_equal(
	    tally_trace_text_each_field(shown.trace, ID, raw, sizeof(raw), visit, &visited),
	    -ECANCELED);
	assert_int_equal(visited.count, 12);
	assert_true(visited.common);
	assert_int_equal((int64_t)visited.pid, -3);
	assert_int_equal(visited.c, 0xffffffff81000010);
	assert_string_equal(visited.name, "comm");
	assert_string_equal(visited.text, "some text");
	assert_int_equal(visited.mac_size, 6);
	assert_int_equal(tally_trace_text_find_field(shown.trace, ID, "text", &place), 0);
	assert_int_equal(place.offset, 32);
	assert_true(place.is_dynamic && place.is_string && !place.is_signed);
	assert_int_equal(tally_trace_text_find_field(shown.trace, ID, "none", &place), -ESRCH);
	assert_int_equal(tally_trace_text_find_field(shown.trace, 1, "text", &place), -ENOENT);
	close_shown(&shown);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(numbers_are_as_printf_has_them),
	    cmocka_unit_test(a_size_is_cut_to_32_bits_and_a_character_is_not_known_as_in_perf),
	    cmocka_unit_test(expressions_are_computed),
	    cmocka_unit_test(strings_are_fields_and_texts_elsewhere),
	    cmocka_unit_test(values_have_names),
	    cmocka_unit_test(arrays_are_listed),
	    cmocka_unit_test(pointers_have_the_kernels_forms),
	    cmocka_unit_test(what_cannot_be_parsed_is_listed_by_field),
	    cmocka_unit_test(a_payload_that_is_too_short_reads_as_zeros),
	    cmocka_unit_test(the_payload_says_whose_it_is_before_the_caller_does),
	    cmocka_unit_test(the_other_byte_order_gives_the_same_text),
	    cmocka_unit_test(cut_data_is_read_as_far_as_it_goes),
	    cmocka_unit_test(damaged_formats_are_left_out_or_listed_by_field),
	    cmocka_unit_test(fields_are_visited_with_their_types),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
