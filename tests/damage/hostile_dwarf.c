/* Sources: DWARF 4, 7.5 (units and abbreviations) and 6.2.4 (lines); LSB 5.0, 10.6 (.eh_frame). */
#include "hostile_dwarf.h"

#include <dwarf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#ifdef MADE_LZMA
#include <lzma.h>
#endif

/* --- abbreviations: the same for all --- */

enum {
	UNIT = 1,  /* name, lines, low, high as a size; has children */
	FUNCTION,  /* low, high in a byte */
	INLINED,   /* origin, low, size, file, line; has children */
	NAMED_ALT, /* inlined, its name in the other file */
	ABSTRACT,  /* origin */
	BLOCK,     /* has children, next */
	BARE,      /* a function with nothing */
	NESTED,    /* a block with children, and nothing */
	RANGED,    /* a unit without children: name, lines, ranges */
};

static const uint8_t abbreviations[] = {
    UNIT,
    DW_TAG_compile_unit,
    1,
    DW_AT_name,
    DW_FORM_string,
    DW_AT_stmt_list,
    DW_FORM_sec_offset,
    DW_AT_low_pc,
    DW_FORM_addr,
    DW_AT_high_pc,
    DW_FORM_data8,
    0,
    0,
    FUNCTION,
    DW_TAG_subprogram,
    0,
    DW_AT_low_pc,
    DW_FORM_addr,
    DW_AT_high_pc,
    DW_FORM_data1,
    0,
    0,
    INLINED,
    DW_TAG_inlined_subroutine,
    1,
    DW_AT_abstract_origin,
    DW_FORM_ref4,
    DW_AT_low_pc,
    DW_FORM_addr,
    DW_AT_high_pc,
    DW_FORM_data8,
    DW_AT_call_file,
    DW_FORM_data1,
    DW_AT_call_line,
    DW_FORM_data1,
    0,
    0,
    NAMED_ALT,
    DW_TAG_inlined_subroutine,
    0,
    DW_AT_linkage_name,
    0xa1,
    0x3e /* GNU_strp_alt */,
    DW_AT_abstract_origin,
    0xa0,
    0x3e /* GNU_ref_alt */,
    DW_AT_low_pc,
    DW_FORM_addr,
    DW_AT_high_pc,
    DW_FORM_data8,
    0,
    0,
    ABSTRACT,
    DW_TAG_subprogram,
    0,
    DW_AT_abstract_origin,
    DW_FORM_ref4,
    0,
    0,
    BLOCK,
    DW_TAG_lexical_block,
    1,
    DW_AT_sibling,
    DW_FORM_ref4,
    0,
    0,
    BARE,
    DW_TAG_subprogram,
    0,
    0,
    0,
    NESTED,
    DW_TAG_lexical_block,
    1,
    0,
    0,
    RANGED,
    DW_TAG_compile_unit,
    0,
    DW_AT_name,
    DW_FORM_string,
    DW_AT_stmt_list,
    DW_FORM_sec_offset,
    DW_AT_ranges,
    DW_FORM_sec_offset,
    0,
    0,
    0,
};

static const Elf64_Shdr plain = {.sh_type = SHT_PROGBITS};

static uint64_t scaled(uint64_t scale, uint64_t of_thousand)
{
	uint64_t count = of_thousand * scale / 1000;

	return count ? count : 1;
}

static void begin_unit(struct tally_buf *info)
{
	tally_buf_u32(info, 0); /* its length */
	tally_buf_add(info, "\4\0", 2);
	tally_buf_u32(info, 0);
	tally_buf_byte(info, 8);
}

static void end_unit(struct tally_buf *info, size_t start)
{
	store_u32(info->data + start, (uint32_t)(info->size - start - 4));
}

static void begin(struct tally_buf *info, const struct hostile *hostile)
{
	begin_unit(info);
	tally_buf_byte(info, UNIT);
	tally_buf_add(info, "a.c", 4);
	tally_buf_u32(info, 0);
	tally_buf_u64(info, hostile->code);
	tally_buf_u64(info, hostile->code_end - hostile->code);
}

/* A head of the table of lines: folders and files are still to come. */
static void begin_lines(struct tally_buf *lines)
{
	tally_buf_u32(lines, 0);
	tally_buf_add(lines, "\4\0", 2);
	tally_buf_u32(lines, 0);
	tally_buf_add(lines, "\1\1\1\xfb\16\15\0\1\1\1\1\0\0\0\1\0\0\1", 18);
}

static void end_head(struct tally_buf *lines)
{
	store_u32(lines->data + 6, (uint32_t)(lines->size - 10));
}

static void put_program(struct tally_buf *lines, const struct hostile *hostile, uint64_t rows)
{
	tally_buf_add(lines, "\0\11\2", 3); /* DW_LNE_set_address */
	tally_buf_u64(lines, hostile->code);
	for (uint64_t i = 0; i < rows; i++)
		tally_buf_byte(lines, 0x20);
	tally_buf_add(lines, "\2\1\0\1\1", 5); /* DW_LNE_end_sequence */
	store_u32(lines->data, (uint32_t)(lines->size - 4));
}

static void usual_lines(struct tally_buf *lines, const struct hostile *hostile, uint64_t rows)
{
	begin_lines(lines);
	tally_buf_add(lines, "\0a.c\0\0\0\0", 9);
	end_head(lines);
	put_program(lines, hostile, rows);
}

static void add_all(struct elf_made *elf, struct tally_buf *info, struct tally_buf *lines,
		    bool packed)
{
	elf_made_add(elf, ".debug_abbrev", plain, abbreviations, sizeof(abbreviations));
	if (packed) {
		elf_made_add_packed(elf, ".debug_info", info->data, info->size);
		elf_made_add_packed(elf, ".debug_line", lines->data, lines->size);
	} else {
		elf_made_add(elf, ".debug_info", plain, info->data, info->size);
		elf_made_add(elf, ".debug_line", plain, lines->data, lines->size);
	}
	tally_buf_done(info);
	tally_buf_done(lines);
}

static void put_inlined(struct tally_buf *info, const struct hostile *hostile, uint32_t origin)
{
	tally_buf_byte(info, INLINED);
	tally_buf_u32(info, origin);
	tally_buf_u64(info, hostile->code);
	tally_buf_u64(info, hostile->code_end - hostile->code);
	tally_buf_add(info, "\1\1", 2);
}

void hostile_dwarf_alt(struct elf_made *elf, uint64_t code, uint64_t code_end)
{
	struct hostile hostile = {.code = code, .code_end = code_end};
	struct tally_buf info = {0}, lines = {0};

	begin(&info, &hostile);
	tally_buf_byte(&info, NAMED_ALT);
	tally_buf_u32(&info, 1);
	tally_buf_u32(&info, 11);
	tally_buf_u64(&info, code);
	tally_buf_u64(&info, code_end - code);
	tally_buf_byte(&info, 0);
	end_unit(&info, 0);
	usual_lines(&lines, &hostile, 100);
	elf_made_add(elf, ".debug_str", plain, "\0name of itself", 16);
	add_all(elf, &info, &lines, false);
}

static void add_functions(struct hostile *hostile, struct elf_made *elf, uint64_t count,
			  bool packed)
{
	struct tally_buf info = {0}, lines = {0};
	bool bare = hostile_draw(hostile, 2) != 0;

	begin(&info, hostile);
	for (uint64_t i = 0; i < count; i++) {
		tally_buf_byte(&info, bare ? BARE : FUNCTION);
		if (bare)
			continue;
		tally_buf_u64(&info, hostile->code + i % 256);
		tally_buf_byte(&info, 200);
	}
	tally_buf_byte(&info, 0);
	end_unit(&info, 0);
	usual_lines(&lines, hostile, 100);
	add_all(elf, &info, &lines, packed);
}

void hostile_functions(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	add_functions(hostile, elf, scaled(scale, 400000), false);
}

void hostile_functions_packed(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	add_functions(hostile, elf, scaled(scale, 12000000), true);
}

static void add_rows(struct hostile *hostile, struct elf_made *elf, uint64_t count, bool packed)
{
	struct tally_buf info = {0}, lines = {0};

	begin(&info, hostile);
	put_inlined(&info, hostile, 11);
	tally_buf_add(&info, "\0\0", 2);
	end_unit(&info, 0);
	usual_lines(&lines, hostile, count);
	add_all(elf, &info, &lines, packed);
}

void hostile_rows(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	add_rows(hostile, elf, scaled(scale, 6000000), false);
}

void hostile_rows_packed(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	add_rows(hostile, elf, scaled(scale, 100000000), true);
}

/* A reader that makes the whole path of each file needs their product. */
void hostile_files(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	struct tally_buf info = {0}, lines = {0};
	uint64_t count = scaled(scale, 40000), length = scaled(scale, 500000);

	begin(&info, hostile);
	put_inlined(&info, hostile, 11);
	tally_buf_add(&info, "\0\0", 2);
	end_unit(&info, 0);
	begin_lines(&lines);
	for (uint64_t i = 0; i < length; i++)
		tally_buf_byte(&lines, 'd');
	tally_buf_add(&lines, "\0", 2);
	for (uint64_t i = 0; i < count; i++)
		tally_buf_add(&lines, "f\0\1\0\0", 5);
	tally_buf_byte(&lines, 0);
	end_head(&lines);
	put_program(&lines, hostile, 100);
	add_all(elf, &info, &lines, false);
}

void hostile_origins(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	struct tally_buf info = {0}, lines = {0};
	uint64_t count = scaled(scale, 2000);
	uint32_t first, at;

	begin(&info, hostile);
	first = at = (uint32_t)info.size;
	for (int i = 0; i < 3; i++) {
		tally_buf_byte(&info, ABSTRACT);
		at += 5;
		tally_buf_u32(&info, i < 2 ? at : first);
	}
	for (uint64_t i = 0; i < count; i++)
		put_inlined(&info, hostile, hostile_draw(hostile, 2) ? first : (uint32_t)info.size);
	for (uint64_t i = 0; i <= count; i++)
		tally_buf_byte(&info, 0);
	end_unit(&info, 0);
	usual_lines(&lines, hostile, 100);
	add_all(elf, &info, &lines, false);
}

/* The entry beside each is the first within it, so that a walk comes to it twice, to the next four
 * times, and so on. */
void hostile_siblings(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	struct tally_buf info = {0}, lines = {0};
	uint64_t count = scaled(scale, 200);

	begin(&info, hostile);
	for (uint64_t i = 0; i < count; i++) {
		tally_buf_byte(&info, BLOCK);
		tally_buf_u32(&info, (uint32_t)info.size + 4);
	}
	put_inlined(&info, hostile, 11);
	for (uint64_t i = 0; i < count + 2; i++)
		tally_buf_byte(&info, 0);
	end_unit(&info, 0);
	usual_lines(&lines, hostile, 100);
	add_all(elf, &info, &lines, false);
}

void hostile_depth(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	struct tally_buf info = {0}, lines = {0};
	uint64_t count = scaled(scale, 1500000), deep = 1 + hostile_draw(hostile, 100000);

	begin(&info, hostile);
	for (uint64_t i = 0; i < count; i++)
		tally_buf_byte(&info, i < deep ? NESTED : BARE);
	for (uint64_t i = 0; i <= deep; i++)
		tally_buf_byte(&info, 0);
	end_unit(&info, 0);
	usual_lines(&lines, hostile, 100);
	add_all(elf, &info, &lines, hostile_draw(hostile, 2) != 0);
}

void hostile_units(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	struct tally_buf info = {0}, lines = {0}, ranges = {0};
	uint64_t count = scaled(scale, 30000), each = scaled(scale, 30000);
	bool empty = hostile_draw(hostile, 2) != 0;

	for (uint64_t i = 0; i < count; i++) {
		size_t start = info.size;

		begin_unit(&info);
		tally_buf_byte(&info, RANGED);
		tally_buf_byte(&info, 0);
		tally_buf_u32(&info, 0);
		tally_buf_u32(&info, 0);
		end_unit(&info, start);
	}
	for (uint64_t i = 0; i < each; i++) {
		tally_buf_u64(&ranges, hostile->code + i + 1);
		tally_buf_u64(&ranges, hostile->code + i + 1 + !empty * 3);
	}
	tally_buf_zero(&ranges, 16);
	elf_made_add(elf, ".debug_ranges", plain, ranges.data, ranges.size);
	tally_buf_done(&ranges);
	usual_lines(&lines, hostile, 100);
	add_all(elf, &info, &lines, false);
}

void hostile_bases(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	struct tally_buf info = {0}, lines = {0}, ranges = {0};
	uint64_t count = scaled(scale, 150000), each = scaled(scale, 300000);

	for (uint64_t i = 0; i < count; i++) {
		size_t start = info.size;

		begin_unit(&info);
		tally_buf_byte(&info, RANGED);
		tally_buf_byte(&info, 0);
		tally_buf_u32(&info, 0);
		tally_buf_u32(&info, 0);
		end_unit(&info, start);
	}
	for (uint64_t i = 0; i < each; i++) {
		tally_buf_u64(&ranges, UINT64_MAX);
		tally_buf_u64(&ranges, hostile->code + i);
	}
	tally_buf_u64(&ranges, 1);
	tally_buf_u64(&ranges, 4);
	tally_buf_zero(&ranges, 16);
	elf_made_add(elf, ".debug_ranges", plain, ranges.data, ranges.size);
	tally_buf_done(&ranges);
	usual_lines(&lines, hostile, 100);
	add_all(elf, &info, &lines, false);
}

/* --- call frame information --- */

static size_t begin_common(struct tally_buf *frames)
{
	size_t start = frames->size;

	tally_buf_u32(frames, 0);
	tally_buf_u32(frames, 0);
	tally_buf_add(frames, "\1zR\0\1\x78\20\1\0", 9); /* absolute addresses */
	tally_buf_add(frames, "\14\7\10\220\1", 5);
	return start;
}

static void end_entry(struct tally_buf *frames, size_t start)
{
	store_u32(frames->data + start, (uint32_t)(frames->size - start - 4));
}

static size_t begin_function(struct tally_buf *frames, size_t common, uint64_t from, uint64_t size)
{
	size_t start = frames->size;

	tally_buf_u32(frames, 0);
	tally_buf_u32(frames, (uint32_t)(start + 4 - common));
	tally_buf_u64(frames, from);
	tally_buf_u64(frames, size);
	tally_buf_byte(frames, 0);
	return start;
}

static void add_frames(struct elf_made *elf, struct tally_buf *frames, bool packed)
{
	if (packed)
		elf_made_add_packed(elf, ".debug_frame", frames->data, frames->size);
	else
		elf_made_add(elf, ".eh_frame",
			     (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC},
			     frames->data, frames->size);
	tally_buf_done(frames);
}

/* Two common parts with long programs, in turn. */
void hostile_cfi_commons(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	struct tally_buf frames = {0};
	uint64_t count = scaled(scale, 40000), length = scaled(scale, 500000);
	size_t commons[2], function;

	for (int i = 0; i < 2; i++) {
		commons[i] = begin_common(&frames);
		for (uint64_t n = 0; n < length; n++)
			tally_buf_byte(&frames, 0xd0); /* DW_CFA_restore */
		end_entry(&frames, commons[i]);
	}
	for (uint64_t i = 0; i < count; i++) {
		function = begin_function(&frames, commons[i & 1], hostile->code + i, 1);
		end_entry(&frames, function);
	}
	add_frames(elf, &frames, false);
}

static void add_sets(struct hostile *hostile, struct elf_made *elf, uint64_t count, bool packed)
{
	struct tally_buf frames = {0};
	size_t common = begin_common(&frames), function;

	end_entry(&frames, common);
	function = begin_function(&frames, common, hostile->code, count + 1);
	for (uint8_t column = 0; column < 33; column++)
		tally_buf_add(&frames, (uint8_t[]){0x80 | column, 1}, 2);
	for (uint64_t i = 0; i < count; i++) {
		uint8_t code[] = {0x0e, 0x80 | (i & 0x7f), 0x80 | (i >> 7 & 0x7f), i >> 14 & 0x7f,
				  0x41};

		tally_buf_add(&frames, code, sizeof(code)); /* DW_CFA_def_cfa_offset, advance */
	}
	end_entry(&frames, function);
	if (packed) /* .debug_frame: the id of a common part, and where it is */
		store_u32(frames.data + common + 4, UINT32_MAX);
	if (packed)
		store_u32(frames.data + function + 4, 0);
	add_frames(elf, &frames, packed);
}

void hostile_cfi_sets(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	add_sets(hostile, elf, scaled(scale, 1000000), false);
}

void hostile_cfi_packed(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	add_sets(hostile, elf, scaled(scale, 20000000), true);
}

void hostile_cfi_expressions(struct hostile *hostile, struct elf_made *elf, uint64_t scale)
{
	struct tally_buf frames = {0};
	size_t common = begin_common(&frames), function;
	uint64_t count = scaled(scale, 1000000), length = scaled(scale, 60000);

	end_entry(&frames, common);
	function = begin_function(&frames, common, hostile->code, count + 1);
	for (uint8_t column = 0; column < 16; column++) {
		tally_buf_add(&frames, (uint8_t[]){0x10, column}, 2);
		tally_buf_add(&frames,
			      (uint8_t[]){0x80 | (length & 0x7f), 0x80 | (length >> 7 & 0x7f),
					  length >> 14 & 0x7f},
			      3);
		for (uint64_t i = 0; i < length; i++)
			tally_buf_byte(&frames, 0x96); /* DW_OP_nop */
	}
	for (uint64_t i = 0; i < count; i++)
		tally_buf_byte(&frames, 0x41);
	end_entry(&frames, function);
	add_frames(elf, &frames, false);
}

/* --- a small table --- */

void hostile_debugdata(struct elf_made *elf, uint64_t size)
{
#ifdef MADE_LZMA
	size_t room = lzma_stream_buffer_bound(size), packed = 0;
	uint8_t *zeros = calloc(1, size), *bytes = malloc(room);

	if (!zeros || !bytes ||
	    lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, zeros, size, bytes, &packed, room))
		exit(2);
	elf_made_add(elf, ".gnu_debugdata", plain, bytes, packed);
	free(zeros);
	free(bytes);
#else
	elf_made_add(elf, ".gnu_debugdata", plain, "", size > 0);
#endif
}
