#include "jit/jit_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"

#define NATIVE_ORDER (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? ELFDATA2MSB : ELFDATA2LSB)

/* No compiler makes a larger function. */
#define CODE_MOST ((uint64_t)64 << 20)

enum {
	NONE,
	TEXT,
	EH_FRAME,
	EH_FRAME_HDR,
	SYMTAB,
	STRTAB,
	NOTE,
	DEBUG_ABBREV,
	DEBUG_INFO,
	DEBUG_LINE,
	SHSTRTAB,
	SECTIONS
};

static const struct {
	const char *name;
	uint32_t type, flags, align;
} kinds[SECTIONS] = {
    [TEXT] = {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 16},
    [EH_FRAME] = {".eh_frame", SHT_PROGBITS, SHF_ALLOC, 8},
    [EH_FRAME_HDR] = {".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, 4},
    [SYMTAB] = {".symtab", SHT_SYMTAB, 0, 8},
    [STRTAB] = {".strtab", SHT_STRTAB, 0, 1},
    [NOTE] = {".note.gnu.build-id", SHT_NOTE, 0, 4},
    [DEBUG_ABBREV] = {".debug_abbrev", SHT_PROGBITS, 0, 1},
    [DEBUG_INFO] = {".debug_info", SHT_PROGBITS, 0, 1},
    [DEBUG_LINE] = {".debug_line", SHT_PROGBITS, 0, 1},
    [SHSTRTAB] = {".shstrtab", SHT_STRTAB, 0, 1},
};

struct making {
	const struct tally_jitdump *dump;
	const struct tally_jit_code *code;
	struct tally_buf *to;
	size_t start; /* of the file in the buffer */
	Elf64_Shdr headers[SECTIONS];
};

static void add_u16(struct tally_buf *to, uint16_t value)
{
	tally_buf_add(to, &value, sizeof(value));
}

static void add_uleb(struct tally_buf *to, uint64_t value)
{
	do {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		tally_buf_byte(to, value ? byte | 0x80 : byte);
	} while (value);
}

static void add_sleb(struct tally_buf *to, int64_t value)
{
	bool more = true;

	while (more) {
		uint8_t byte = value & 0x7f;

		value >>= 7;
		more = !(value == 0 && !(byte & 0x40)) && !(value == -1 && (byte & 0x40));
		tally_buf_byte(to, more ? byte | 0x80 : byte);
	}
}

static void store_at(struct tally_buf *to, size_t at, uint32_t value)
{
	if (!to->failed)
		store_u32(to->data + at, value);
}

static void begin(struct making *making, unsigned section)
{
	size_t size = making->to->size - making->start;

	tally_buf_zero(making->to, align_up(size, kinds[section].align) - size);
	making->headers[section] = (Elf64_Shdr){
	    .sh_type = kinds[section].type,
	    .sh_flags = kinds[section].flags,
	    .sh_addralign = kinds[section].align,
	    .sh_offset = making->to->size - making->start,
	};
	if (kinds[section].flags & SHF_ALLOC)
		making->headers[section].sh_addr = making->headers[section].sh_offset;
}

static void end(struct making *making, unsigned section)
{
	making->headers[section].sh_size =
	    making->to->size - making->start - making->headers[section].sh_offset;
}

/* --- sections --- */

static int add_code(struct making *making)
{
	struct tally_buf *to = making->to;
	size_t size = making->code->size;
	int result;

	begin(making, TEXT);
	if (tally_buf_reserve(to, size))
		return -ENOMEM;
	result = tally_jitdump_read(making->dump, making->code->place, to->data + to->size, size);
	if (result)
		return result;
	to->size += size;
	end(making, TEXT);
	return 0;
}

static int add_unwinding(struct making *making, size_t code)
{
	struct tally_jit_unwind unwind = {0};
	int result = making->dump->swapped ? 0 : tally_jitdump_unwind(making->dump, code, &unwind);

	if (result || !unwind.bytes)
		return result;
	begin(making, EH_FRAME);
	tally_buf_add(making->to, unwind.bytes, unwind.frame_size);
	end(making, EH_FRAME);
	/* it follows at once, as the compiler laid it out */
	making->headers[EH_FRAME_HDR] = (Elf64_Shdr){
	    .sh_type = SHT_PROGBITS,
	    .sh_flags = SHF_ALLOC,
	    .sh_addralign = 1,
	    .sh_offset = making->to->size - making->start,
	    .sh_addr = making->to->size - making->start,
	};
	tally_buf_add(making->to, unwind.bytes + unwind.frame_size, unwind.header_size);
	end(making, EH_FRAME_HDR);
	free(unwind.bytes);
	return 0;
}

static void add_symbol(struct making *making)
{
	const Elf64_Sym symbols[2] = {
	    {0},
	    {.st_name = 1,
	     .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
	     .st_shndx = TEXT,
	     .st_value = TALLY_JIT_ELF_TEXT,
	     .st_size = making->code->size},
	};

	begin(making, SYMTAB);
	tally_buf_add(making->to, symbols, sizeof(symbols));
	end(making, SYMTAB);
	making->headers[SYMTAB].sh_link = STRTAB;
	making->headers[SYMTAB].sh_info = 1; /* the first that is global */
	making->headers[SYMTAB].sh_entsize = sizeof(*symbols);
	begin(making, STRTAB);
	tally_buf_byte(making->to, 0);
	tally_buf_add(making->to, making->code->name, strlen(making->code->name) + 1);
	end(making, STRTAB);
}

/* Of all that comes before it. */
static void add_build_id(struct making *making)
{
	uint64_t first, second;

	begin(making, NOTE);
	if (making->to->failed)
		return;
	first =
	    tally_hash_bytes(making->to->data + making->start, making->to->size - making->start);
	second = hash_mix(first, making->code->address);
	tally_buf_u32(making->to, 4);
	tally_buf_u32(making->to, 20);
	tally_buf_u32(making->to, NT_GNU_BUILD_ID);
	tally_buf_add(making->to, "GNU", 4);
	tally_buf_u64(making->to, first);
	tally_buf_u64(making->to, second);
	tally_buf_u32(making->to, (uint32_t)making->code->index);
	end(making, NOTE);
}

/* --- lines: DWARF 2, which every reader has --- */

static int by_offset(const void *one, const void *other)
{
	const struct tally_jit_line *a = one, *b = other;

	if (a->offset != b->offset)
		return a->offset < b->offset ? -1 : 1;
	return a < b ? -1 : a > b; /* as they came */
}

/* One unit without children: where its lines are, its name, and its addresses. */
static void add_unit(struct making *making, const char *file)
{
	static const uint8_t abbreviations[] = {1,
						0x11 /* compile_unit */,
						0,
						0x10 /* stmt_list */,
						6 /* data4 */,
						3 /* name */,
						8 /* string */,
						0x11 /* low_pc */,
						1 /* addr */,
						0x12 /* high_pc */,
						1,
						0,
						0,
						0};
	struct tally_buf *to = making->to;
	size_t at;

	begin(making, DEBUG_ABBREV);
	tally_buf_add(to, abbreviations, sizeof(abbreviations));
	end(making, DEBUG_ABBREV);
	begin(making, DEBUG_INFO);
	at = to->size;
	tally_buf_u32(to, 0);
	add_u16(to, 2);       /* version */
	tally_buf_u32(to, 0); /* of the abbreviations */
	tally_buf_byte(to, 8);
	tally_buf_byte(to, 1);
	tally_buf_u32(to, 0); /* of the lines */
	tally_buf_add(to, file, strlen(file) + 1);
	tally_buf_u64(to, TALLY_JIT_ELF_TEXT);
	tally_buf_u64(to, TALLY_JIT_ELF_TEXT + making->code->size);
	store_at(to, at, (uint32_t)(to->size - at - 4));
	end(making, DEBUG_INFO);
}

static void add_files(struct tally_buf *to, const struct tally_jit_lines *lines)
{
	const char *last = NULL;

	tally_buf_byte(to, 0); /* no folders: files have their whole names */
	for (size_t i = 0; i < lines->count; i++) {
		const char *file = lines->lines[i].file;

		if (last && !strcmp(last, file))
			continue;
		last = file;
		tally_buf_add(to, file, strlen(file) + 1);
		tally_buf_add(to, "\0\0", 3); /* folder, time, size */
	}
	tally_buf_byte(to, 0);
}

/* Each file that differs from the one before has a number of its own. */
static void add_rows(struct making *making, const struct tally_jit_lines *lines)
{
	struct tally_buf *to = making->to;
	uint64_t offset = 0;
	uint32_t line = 1, number = 0, current = 1;
	const char *last = NULL;

	tally_buf_add(to, "\0\x09\x02", 3); /* set_address */
	tally_buf_u64(to, TALLY_JIT_ELF_TEXT);
	for (size_t i = 0; i < lines->count; i++) {
		const struct tally_jit_line *row = &lines->lines[i];

		if (!last || strcmp(last, row->file) != 0)
			number++;
		last = row->file;
		if (row->offset >= making->code->size)
			continue;
		if (number != current) {
			tally_buf_byte(to, 4); /* set_file */
			add_uleb(to, number);
			current = number;
		}
		tally_buf_byte(to, 2); /* advance_pc */
		add_uleb(to, row->offset - offset);
		tally_buf_byte(to, 3); /* advance_line */
		add_sleb(to, (int64_t)row->line - line);
		tally_buf_byte(to, 1); /* copy */
		offset = row->offset;
		line = row->line;
	}
	tally_buf_byte(to, 2);
	add_uleb(to, making->code->size - offset);
	tally_buf_add(to, "\0\x01\x01", 3); /* end_sequence */
}

static void add_line_program(struct making *making, const struct tally_jit_lines *lines)
{
	/* least instruction, is_stmt, line base and range, opcodes and their operands */
	static const uint8_t facts[] = {1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1};
	struct tally_buf *to = making->to;
	size_t at, header;

	begin(making, DEBUG_LINE);
	at = to->size;
	tally_buf_u32(to, 0);
	add_u16(to, 2);
	header = to->size;
	tally_buf_u32(to, 0);
	tally_buf_add(to, facts, sizeof(facts));
	add_files(to, lines);
	store_at(to, header, (uint32_t)(to->size - header - 4));
	add_rows(making, lines);
	store_at(to, at, (uint32_t)(to->size - at - 4));
	end(making, DEBUG_LINE);
}

static int add_lines(struct making *making, size_t code)
{
	struct tally_jit_lines lines;
	int result = tally_jitdump_lines(making->dump, code, &lines);

	if (result)
		return result;
	if (lines.count) {
		qsort(lines.lines, lines.count, sizeof(*lines.lines), by_offset);
		add_unit(making, lines.lines[0].file);
		add_line_program(making, &lines);
	}
	tally_jit_lines_done(&lines);
	return 0;
}

/* --- headers --- */

static void add_names(struct making *making)
{
	size_t at;

	begin(making, SHSTRTAB);
	at = making->to->size;
	tally_buf_byte(making->to, 0);
	for (unsigned i = 0; i < SECTIONS; i++) {
		if (making->headers[i].sh_type == SHT_NULL)
			continue; /* this function has none */
		making->headers[i].sh_name = (uint32_t)(making->to->size - at);
		tally_buf_add(making->to, kinds[i].name, strlen(kinds[i].name) + 1);
	}
	end(making, SHSTRTAB);
}

static void add_headers(struct making *making)
{
	const Elf64_Shdr *headers = making->headers, *text = &headers[TEXT];
	uint64_t mapped = headers[EH_FRAME_HDR].sh_size
			      ? headers[EH_FRAME_HDR].sh_offset + headers[EH_FRAME_HDR].sh_size
			      : text->sh_offset + text->sh_size;
	Elf64_Ehdr header = {
	    .e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, NATIVE_ORDER, EV_CURRENT},
	    .e_type = ET_DYN,
	    .e_machine = making->dump->machine,
	    .e_version = EV_CURRENT,
	    .e_entry = TALLY_JIT_ELF_TEXT,
	    .e_phoff = sizeof(Elf64_Ehdr),
	    .e_ehsize = sizeof(Elf64_Ehdr),
	    .e_phentsize = sizeof(Elf64_Phdr),
	    .e_phnum = 1,
	    .e_shentsize = sizeof(Elf64_Shdr),
	    .e_shnum = SECTIONS,
	    .e_shstrndx = SHSTRTAB,
	};
	const Elf64_Phdr load = {
	    .p_type = PT_LOAD,
	    .p_flags = PF_R | PF_X,
	    .p_offset = TALLY_JIT_ELF_TEXT,
	    .p_vaddr = TALLY_JIT_ELF_TEXT,
	    .p_paddr = TALLY_JIT_ELF_TEXT,
	    .p_filesz = mapped - TALLY_JIT_ELF_TEXT,
	    .p_memsz = mapped - TALLY_JIT_ELF_TEXT,
	    .p_align = 8,
	};
	size_t size = making->to->size - making->start;

	tally_buf_zero(making->to, align_up(size, 8) - size);
	header.e_shoff = making->to->size - making->start;
	tally_buf_add(making->to, making->headers, sizeof(making->headers));
	if (making->to->failed)
		return;
	memcpy(making->to->data + making->start, &header, sizeof(header));
	memcpy(making->to->data + making->start + sizeof(header), &load, sizeof(load));
}

int tally_jit_elf_make(const struct tally_jitdump *dump, size_t code, struct tally_buf *to)
{
	struct making making = {
	    .dump = dump, .code = &dump->codes[code], .to = to, .start = to->size};
	int result = making.code->size > CODE_MOST ? -EFBIG : 0;

	tally_buf_zero(to, TALLY_JIT_ELF_TEXT);
	if (!result)
		result = add_code(&making);
	if (!result)
		result = add_unwinding(&making, code);
	if (!result)
		add_symbol(&making);
	if (!result)
		result = add_lines(&making, code);
	if (result)
		return result;
	add_build_id(&making);
	add_names(&making);
	add_headers(&making);
	return to->failed;
}
