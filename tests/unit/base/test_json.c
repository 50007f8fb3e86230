/* JSON text, letter by letter. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>
#include "base/json.h"

static void values_nest_with_their_commas(void **state)
{
	struct tally_buf buf = {0};
	struct json json = {.to = &buf};

	(void)state;
	json_object(&json);
	json_key_u64(&json, "version", 1);
	json_key(&json, "list");
	json_array(&json);
	json_array_end(&json);
	json_key(&json, "more");
	json_array(&json);
	json_u64(&json, UINT64_MAX);
	json_i64(&json, INT64_MIN);
	json_i64(&json, 7);
	json_object(&json);
	json_object_end(&json);
	json_null(&json);
	json_hex(&json, 0x7f00);
	json_hex(&json, 0);
	json_raw(&json, "[1]", 3);
	json_array_end(&json);
	json_key_bool(&json, "yes", true);
	json_key_bool(&json, "no", false);
	json_key_string(&json, "none", NULL);
	json_key_text(&json, "a\"b");
	json_text(&json, "");
	json_object_end(&json);
	assert_string_equal(tally_buf_str(&buf),
			    "{\"version\":1,\"list\":[],\"more\":[18446744073709551615,"
			    "-9223372036854775808,7,{},null,\"0x7f00\",\"0x0\",[1]],"
			    "\"yes\":true,\"no\":false,\"none\":null,\"a\\\"b\":\"\"}");
	tally_buf_done(&buf);
}

static void is(const char *bytes, size_t length, const char *expected)
{
	struct tally_buf buf = {0};
	struct json json = {.to = &buf};

	json_string(&json, bytes, length);
	assert_int_equal(buf.failed, 0);
	assert_string_equal(tally_buf_str(&buf), expected);
	tally_buf_done(&buf);
}
#define IS(text, expected) is(text, sizeof(text) - 1, expected)

static void strings_are_escaped(void **state)
{
	(void)state;
	IS("plain text, longer than eight bytes", "\"plain text, longer than eight bytes\"");
	IS("\"\\/", "\"\\\"\\\\/\"");
	IS("\b\t\n\v\f\r", "\"\\b\\t\\n\\u000b\\f\\r\"");
	IS("nul\0in it", "\"nul\\u0000in it\"");
	IS("\x1b[2J\x7f", "\"\\u001b[2J\\u007f\"");
	IS("12345678901234\"", "\"12345678901234\\\"\"");
	IS("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
	   "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80\"");
	IS("\xc2\x9b"
	   "2J",
	   "\"\\u009b2J\"");
	IS("\xff\xc0\xaf", "\"\\ufffd\\ufffd\\ufffd\"");
	IS("cut \xe2\x82", "\"cut \\ufffd\\ufffd\"");
	IS("\xed\xa0\x80", "\"\\ufffd\\ufffd\\ufffd\"");
}

/* Every byte at every place of a word: what is found special eight at a time is what is special
 * alone. */
static void each_byte_at_each_place(void **state)
{
	(void)state;
	for (unsigned byte = 0; byte < 256; byte++) {
		for (size_t place = 0; place < 17; place++) {
			char text[] = "abcdefghijklmnopq", expected[32];
			char alone[8];
			int length;

			text[place] = (char)byte;
			if (byte == '"' || byte == '\\')
				snprintf(alone, sizeof(alone), "\\%c", (int)byte);
			else if (byte >= 0x80)
				snprintf(alone, sizeof(alone), "\\ufffd");
			else if (byte && strchr("\b\t\n\f\r", (int)byte))
				snprintf(alone, sizeof(alone), "\\%c", "btn?fr"[byte - '\b']);
			else if (byte < 0x20 || byte == 0x7f)
				snprintf(alone, sizeof(alone), "\\u%04x", byte);
			else
				snprintf(alone, sizeof(alone), "%c", (int)byte);
			length = snprintf(expected, sizeof(expected), "\"%.*s%s%s\"", (int)place,
					  text, alone, text + place + 1);
			assert_true(length < (int)sizeof(expected));
			is(text, 17, expected);
		}
	}
}

static void doubles_read_back(void **state)
{
	static const struct {
		double value;
		const char *text;
	} cases[] = {{0, "0"},
		     {0.5, "0.5"},
		     {-2, "-2"},
		     {0.1, "0.1"},
		     {1.0 / 3, "0.3333333333333333"},
		     {1e300, "1e+300"},
		     {HUGE_VAL, "null"},
		     {(double)NAN, "null"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tally_buf buf = {0};
		struct json json = {.to = &buf};

		json_double(&json, cases[i].value);
		assert_string_equal(tally_buf_str(&buf), cases[i].text);
		tally_buf_done(&buf);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(values_nest_with_their_commas),
	    cmocka_unit_test(strings_are_escaped),
	    cmocka_unit_test(each_byte_at_each_place),
	    cmocka_unit_test(doubles_read_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
