/* What code itself says of its caller, against call frame information: at each instruction of the C
 * library's functions. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <errno.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "code/insn_length.h"
#include "elf/elf_file.h"
#include "unwind/cfi.h"
#include "unwind/cfi_entries.h"
#include "unwind/code_walk.h"

#define STACK_AT 0x7ff00000

struct library {
	char path[256];
	struct tally_cfi *cfi;
	struct insn_decoder *decoder;
	uint8_t *text;
	size_t size;
	uint64_t address; /* of the text */
	size_t instructions, known, wrong;
};

static int find_library(struct dl_phdr_info *info, size_t size, void *to)
{
	struct library *library = to;

	(void)size;
	if (strstr(info->dlpi_name, "/libc.so") && strlen(info->dlpi_name) < sizeof(library->path))
		snprintf(library->path, sizeof(library->path), "%s", info->dlpi_name);
	return 0;
}

static int read_text(void *context, uint64_t address, void *ret, size_t size)
{
	const struct library *library = context;
	uint64_t at = address - library->address;

	if (at > library->size || size > library->size - at)
		return -ENOENT;
	memcpy(ret, library->text + at, size);
	return 0;
}

static const struct cfi_rule *rule_of(const struct cfi_rules *rules, unsigned column)
{
	for (uint32_t i = 0; i < rules->count; i++)
		if (rules->rules[i].column == column)
			return &rules->rules[i];
	return NULL;
}

/* A register that functions keep is where its rule says. Until it is changed it is in itself, too:
 * the code may then say this, or clang's rules. */
static bool register_agrees(const struct unwind_state *state, const struct cfi_rules *rules,
			    unsigned column)
{
	const struct unwind_place *place = &state->places[column];
	const struct cfi_rule *rule = rule_of(rules, column);

	return place->where != WHERE_MEMORY || !rule ||
	       (rule->how == CFI_AT_CFA &&
		place->value == state->cfa + (uint64_t)(int64_t)rule->value);
}

static void compare_at(struct library *library, uint64_t address)
{
	static const struct unwind_machine machine = {
	    .word = 8, .pc = 16, .stack_pointer = 7, .frame_pointer = 6, .columns = 17};
	static const uint8_t kept[] = {3, 6, 12, 13, 14, 15};
	const struct cfi_rules *rules = tally_cfi_find(library->cfi, address);
	const struct tally_unwind_world world = {.context = library, .read = read_text};
	const struct tally_unwind_start start = {.arch = TALLY_UNWIND_X86_64};
	struct unwind_state state = {
	    .machine = &machine, .start = &start, .world = &world, .pc = address, .cfa = STACK_AT};
	struct unwind_place place;
	bool right;

	library->instructions++;
	if (!rules->plain || rules->cfa.how != CFI_REGISTER || rules->cfa.column != 7)
		return;
	for (unsigned i = 0; i < machine.columns; i++)
		state.places[i] = (struct unwind_place){WHERE_START, i};
	if (tally_unwind_by_code(&state, false, &place))
		return;
	library->known++;
	right = state.cfa == STACK_AT + (uint64_t)(int64_t)rules->cfa.value &&
		place.value == state.cfa - 8;
	for (size_t i = 0; i < sizeof(kept); i++)
		right &= register_agrees(&state, rules, kept[i]);
	library->wrong += !right;
}

/* Between a return and the next instruction that is jumped to. */
static bool is_padding(const uint8_t *code)
{
	while (*code == 0x66 || *code == 0x2e)
		code++;
	return *code == 0x90 || (code[0] == 0x0f && code[1] == 0x1f);
}

static void compare_function(struct library *library, const struct cfi_function *function)
{
	uint64_t at = function->start - library->address;

	while (at < function->end - library->address && at < library->size) {
		size_t length =
		    tally_insn_length(library->decoder, library->text + at, library->size - at);

		if (!length)
			break;
		if (!is_padding(library->text + at))
			compare_at(library, library->address + at);
		at += length;
	}
}

static void code_agrees_with_its_call_frame_information(void **state)
{
	struct library library = {.decoder = tally_insn_decoder_new(true)};
	struct cfi_section eh_frame = {0}, none = {0};
	const struct tally_elf_section *section, *text;
	struct cfi_entries entries = {0};
	struct tally_elf elf;
	char *bytes, *code;

	(void)state;
	dl_iterate_phdr(find_library, &library);
	if (!library.decoder || !*library.path || tally_elf_open(library.path, &elf)) {
		skip();
		return;
	}
	section = tally_elf_find(&elf, ".eh_frame", SHT_NULL);
	text = tally_elf_find(&elf, ".text", SHT_NULL);
	if (!section || !text || gelf_getclass(elf.elf) != ELFCLASS64)
		skip();
	assert_int_equal(tally_elf_read(&elf, section, &bytes, &eh_frame.size), 0);
	assert_int_equal(tally_elf_read(&elf, text, &code, &library.size), 0);
	eh_frame.bytes = (uint8_t *)bytes;
	eh_frame.address = section->header.sh_addr;
	library.text = (uint8_t *)code;
	library.address = text->header.sh_addr;
	assert_int_equal(tally_cfi_new(&eh_frame, &none, 8, &library.cfi), 0);
	assert_int_equal(tally_cfi_entries_read(&entries, &eh_frame, false, 8), 0);
	assert_int_equal(tally_cfi_entries_sort(&entries), 0);
	for (size_t i = 0; i < entries.function_count; i++)
		if (entries.functions[i].start >= library.address)
			compare_function(&library, &entries.functions[i]);
	print_message("%s: of %zu instructions, %zu are followed, %zu not as their rules\n",
		      library.path, library.instructions, library.known, library.wrong);
	/* Functions that were written by hand push registers without a rule. */
	assert_true(library.wrong < library.known / 200);
	assert_true(library.known > library.instructions / 10);
	tally_cfi_entries_done(&entries);
	tally_cfi_free(library.cfi);
	tally_insn_decoder_free(library.decoder);
	tally_elf_close(&elf);
	free(bytes);
	free(code);
}

/* A call of what is before it, near the start of what is mapped; then pop %rbp; ret. */
static void code_at_the_start_of_a_mapping_is_followed(void **state)
{
	static const struct unwind_machine machine = {.pc = 16, .columns = 17};
	const struct tally_unwind_start start = {.arch = TALLY_UNWIND_X86_64};
	uint8_t code[0x90] = {[0x10] = 0xc3, [0x80] = 0xe8, 0x8b, 0xff, 0xff, 0xff, 0x5d, 0xc3};
	struct library library = {.text = code, .size = sizeof(code), .address = 0x3000};
	const struct tally_unwind_world world = {.context = &library, .read = read_text};
	struct unwind_state at = {
	    .machine = &machine, .start = &start, .world = &world, .pc = 0x3080, .cfa = STACK_AT};
	struct unwind_place place;

	(void)state;
	assert_int_equal(tally_unwind_by_code(&at, false, &place), 0);
	assert_int_equal(at.cfa, STACK_AT + 16);
	assert_int_equal(place.value, STACK_AT + 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(code_agrees_with_its_call_frame_information),
	    cmocka_unit_test(code_at_the_start_of_a_mapping_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
