/* The tables of real binaries against libdw's reading of the same sections, at every address where
 * a rule changes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "elf/elf_file.h"
#include "unwind/cfi.h"
#include "unwind/cfi_entries.h"

struct library {
	char path[256];
};

static int find_library(struct dl_phdr_info *info, size_t size, void *to)
{
	struct library *library = to;

	(void)size;
	if (strstr(info->dlpi_name, "/libc.so") && strlen(info->dlpi_name) < sizeof(library->path))
		snprintf(library->path, sizeof(library->path), "%s", info->dlpi_name);
	return 0;
}

/* One column as libdw has it: 1 when it is as the rule says.  Where libdw has one word for
 * "undefined" and "no rule", ours may be either. */
static bool agrees(Dwarf_Frame *frame, const struct cfi_rules *set, unsigned column)
{
	const struct cfi_rule *rule = NULL;
	Dwarf_Op space[3], *ops;
	size_t count;

	for (uint32_t i = 0; i < set->count; i++)
		if (set->rules[i].column == column)
			rule = &set->rules[i];
	if (dwarf_frame_register(frame, (int)column, space, &ops, &count))
		return false;
	/* The stack pointer is the CFA unless something else is said, to libdw. */
	if (!rule)
		return !count || column == 7; /* same value: ops is NULL; undefined by default of
				  the ABI: ops is the space */
	switch (rule->how) {
	case CFI_UNDEFINED:
		return !count && ops == space;
	case CFI_AT_CFA:
		return count >= 1 && ops[0].atom == DW_OP_call_frame_cfa &&
		       (rule->value ? count == 2 && ops[1].atom == DW_OP_plus_uconst &&
					  (int64_t)ops[1].number == rule->value
				    : count == 1);
	case CFI_CFA_PLUS:
		return count >= 2 && ops[count - 1].atom == DW_OP_stack_value;
	case CFI_REGISTER:
		return count == 1;
	case CFI_AT_EXPRESSION:
		return count >= 1 && ops[count - 1].atom != DW_OP_stack_value;
	default:
		return count >= 1 && ops[count - 1].atom == DW_OP_stack_value;
	}
}

static bool cfa_agrees(Dwarf_Frame *frame, const struct cfi_rule *cfa)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count))
		return false;
	if (cfa->how == CFI_IS_EXPRESSION)
		return count > 1;
	if (count != 1)
		return false;
	if (ops[0].atom == DW_OP_bregx)
		return ops[0].number == cfa->column && (int64_t)ops[0].number2 == cfa->value;
	return ops[0].atom == DW_OP_breg0 + cfa->column && (int64_t)ops[0].number == cfa->value;
}

struct compared {
	struct tally_cfi *cfi;
	Dwarf_CFI *other;
	size_t rows;
	uint64_t before; /* where the last row starts */
	const struct cfi_rules *last;
};

static void compare_row(struct compared *compared, uint64_t address, const struct cfi_rules *set)
{
	Dwarf_Frame *frame = NULL;
	int column;
	bool signal;

	if (set == &tally_cfi_none)
		return;
	assert_ptr_not_equal(set, &tally_cfi_damaged);
	assert_int_equal(dwarf_cfi_addrframe(compared->other, address, &frame), 0);
	column = dwarf_frame_info(frame, NULL, NULL, &signal);
	if (column != set->return_column || signal != set->signal || !cfa_agrees(frame, &set->cfa))
		fail_msg("at %#llx: the CFA is another", (unsigned long long)address);
	for (unsigned i = 0; i < 17; i++)
		if (!agrees(frame, set, i))
			fail_msg("at %#llx: register %u has another rule",
				 (unsigned long long)address, i);
	compared->rows++;
	free(frame);
}

static int visit_row(void *context, uint64_t from, const struct cfi_rules *rules)
{
	struct compared *compared = context;

	assert_true(!compared->last || from > compared->before);
	assert_ptr_equal(tally_cfi_find(compared->cfi, from), rules);
	if (compared->last)
		assert_ptr_equal(tally_cfi_find(compared->cfi, from - 1), compared->last);
	compare_row(compared, from, rules);
	compared->before = from;
	compared->last = rules;
	return 0;
}

/* A section that is read a part at a time. */
static bool read_part(void *context, uint64_t at, void *to, size_t size)
{
	const struct cfi_section *whole = context;

	assert_true(size <= 65536 && at <= whole->size && size <= whole->size - at);
	memcpy(to, whole->bytes + at, size);
	return true;
}

static int same_row(void *context, uint64_t from, const struct cfi_rules *rules)
{
	const struct cfi_rules *other = tally_cfi_find(context, from);

	assert_int_equal(other->size, rules->size);
	assert_memory_equal(other, rules, rules->size ? rules->size : sizeof(*rules));
	return 0;
}

static void compare_in_parts(struct tally_cfi *cfi, struct cfi_section *whole)
{
	const struct cfi_section parts = {.size = whole->size,
					  .address = whole->address,
					  .read = read_part,
					  .context = whole},
				 none = {0};
	struct tally_cfi *other;

	assert_int_equal(tally_cfi_new(&parts, &none, 8, &other), 0);
	assert_int_equal(tally_cfi_function_count(other), tally_cfi_function_count(cfi));
	assert_int_equal(tally_cfi_each(cfi, same_row, other), 0);
	assert_int_equal(tally_cfi_each(other, same_row, cfi), 0);
	tally_cfi_free(other);
}

/* All rows, and how many functions libdw has rules at the start of that are here too. */
static void compare(const char *path, size_t least)
{
	struct compared compared = {0};
	struct tally_elf elf;
	struct cfi_entries entries = {0};
	const struct tally_elf_section *section;
	struct cfi_section eh_frame = {0}, none = {0};
	char *bytes;

	assert_int_equal(tally_elf_open(path, &elf), 0);
	section = tally_elf_find(&elf, ".eh_frame", SHT_NULL);
	assert_non_null(section);
	assert_int_equal(tally_elf_read(&elf, section, &bytes, &eh_frame.size), 0);
	eh_frame.bytes = (uint8_t *)bytes;
	eh_frame.address = section->header.sh_addr;
	assert_int_equal(tally_cfi_new(&eh_frame, &none, 8, &compared.cfi), 0);
	compared.other = dwarf_getcfi_elf(elf.elf);
	assert_non_null(compared.other);
	assert_int_equal(tally_cfi_entries_read(&entries, &eh_frame, false, 8), 0);
	tally_cfi_entries_sort(&entries);
	assert_int_equal(tally_cfi_function_count(compared.cfi), entries.function_count);
	/* In no order, before all is compiled. */
	for (size_t i = 0; i < entries.function_count; i++) {
		const struct cfi_function *function =
		    &entries.functions[(i * 7919) % entries.function_count];

		compare_row(&compared, function->start,
			    tally_cfi_find(compared.cfi, function->start));
		compare_row(&compared, function->end - 1,
			    tally_cfi_find(compared.cfi, function->end - 1));
	}
	assert_int_equal(tally_cfi_each(compared.cfi, visit_row, &compared), 0);
	compare_in_parts(compared.cfi, &eh_frame);
	print_message("%s: %zu rows compared, %zu functions, %zu bytes of tables\n", path,
		      compared.rows, entries.function_count, tally_cfi_memory(compared.cfi));
	assert_true(entries.function_count >= least);
	assert_true(compared.rows >= 2 * entries.function_count);
	dwarf_cfi_end(compared.other);
	tally_cfi_entries_done(&entries);
	tally_cfi_free(compared.cfi);
	tally_elf_close(&elf);
	free(bytes);
}

static void rules_of_the_c_library_are_libdws(void **state)
{
	struct library library = {""};

	(void)state;
	dl_iterate_phdr(find_library, &library);
	if (!*library.path)
		skip();
	compare(library.path, 2000);
}

static void rules_of_a_cpp_library_are_libdws(void **state)
{
	static const char path[] = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
	struct tally_elf elf;

	(void)state;
	if (tally_elf_open(path, &elf))
		skip();
	tally_elf_close(&elf);
	compare(path, 4000);
}

/* Debian's libc6-arm64-cross: another machine's registers and ways of writing rules. */
static void rules_of_arm64_are_libdws(void **state)
{
	static const char path[] = "/usr/aarch64-linux-gnu/lib/libc.so.6";
	struct tally_elf elf;

	(void)state;
	if (tally_elf_open(path, &elf)) {
		print_message("skipped: libc6-arm64-cross is not installed\n");
		skip();
	}
	tally_elf_close(&elf);
	compare(path, 2000);
}

static void rules_of_this_program_are_libdws(void **state)
{
	(void)state;
	compare("/proc/self/exe", 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rules_of_the_c_library_are_libdws),
	    cmocka_unit_test(rules_of_a_cpp_library_are_libdws),
	    cmocka_unit_test(rules_of_arm64_are_libdws),
	    cmocka_unit_test(rules_of_this_program_are_libdws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
