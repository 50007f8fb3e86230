/* Each kind is what its name says, and something else may be drawn at random. */
#include "hostile.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "elf_made.h"
#include "hostile_dwarf.h"

#define CODE_SIZE 0x10000ULL

uint64_t hostile_draw(struct hostile *hostile, uint64_t most)
{
	hostile->random ^= hostile->random << 13;
	hostile->random ^= hostile->random >> 7;
	hostile->random ^= hostile->random << 17;
	return most ? hostile->random * 0x2545f4914f6cdd1dULL % most : 0;
}

static uint64_t scaled(const struct hostile *hostile, uint64_t of_thousand)
{
	uint64_t count = of_thousand * hostile->scale / 1000;

	return count ? count : 1;
}

/* Code that is not run: what the kinds say of it differs. */
static void add_code(struct hostile *hostile, struct elf_made *elf, uint64_t size)
{
	uint8_t *code = calloc(1, size);

	hostile->code = elf_made_end(elf);
	hostile->code_end = hostile->code + size;
	elf_made_add(elf, ".text",
		     (Elf64_Shdr){.sh_type = SHT_PROGBITS, .sh_flags = SHF_ALLOC | SHF_EXECINSTR},
		     code, size);
	free(code);
}

static void fill(struct tally_buf *buf, int byte, size_t size)
{
	size_t at = buf->size;

	tally_buf_zero(buf, size);
	memset(buf->data + at, byte, size);
}

static void add_symbol(struct tally_buf *symbols, uint32_t name, uint64_t value, uint64_t size)
{
	Elf64_Sym symbol = {.st_name = name,
			    .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
			    .st_shndx = 1,
			    .st_value = value,
			    .st_size = size};

	tally_buf_add(symbols, &symbol, sizeof(symbol));
}

static uint32_t add_strings(struct elf_made *elf, const char *name, struct tally_buf *text)
{
	uint32_t index =
	    elf_made_add(elf, name, (Elf64_Shdr){.sh_type = SHT_STRTAB}, text->data, text->size);

	tally_buf_done(text);
	return index;
}

static void add_symbols(struct elf_made *elf, const char *name, uint32_t type,
			struct tally_buf *symbols, uint32_t strings)
{
	elf_made_add(
	    elf, name,
	    (Elf64_Shdr){.sh_type = type, .sh_link = strings, .sh_entsize = sizeof(Elf64_Sym)},
	    symbols->data, symbols->size);
	tally_buf_done(symbols);
}

static void add_table(struct elf_made *elf, struct tally_buf *symbols, struct tally_buf *text)
{
	add_symbols(elf, ".symtab", SHT_SYMTAB, symbols, add_strings(elf, ".strtab", text));
}

/* One symbol, so that there is something beside what is left out. */
static void add_plain(struct hostile *hostile, struct elf_made *elf)
{
	struct tally_buf symbols = {0}, text = {0};

	tally_buf_add(&text, "\0plain", 7);
	add_symbol(&symbols, 0, 0, 0);
	add_symbol(&symbols, 1, hostile->code, hostile->code_end - hostile->code);
	add_table(elf, &symbols, &text);
}

/* --- paths --- */

static void make_fifo(const struct hostile *hostile, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", hostile->folder, name);
	if (mkfifo(path, 0600))
		exit(2);
}

static void write_fifo(struct hostile *hostile)
{
	if (mkfifo(hostile->path, 0600))
		exit(2);
	hostile->code_end = 0x1000;
}

static void write_link(struct hostile *hostile)
{
	static const char *const to[] = {"/proc/self/mem", "/dev/zero", "/dev/tty", "/proc/kmsg",
					 "/proc/self/pagemap"};

	if (symlink(to[hostile_draw(hostile, 5)], hostile->path))
		exit(2);
	hostile->code_end = 0x1000;
}

static void write_debug_link(struct hostile *hostile)
{
	struct elf_made elf = {0};

	make_fifo(hostile, "fifo");
	add_code(hostile, &elf, CODE_SIZE);
	elf_made_add(&elf, ".gnu_debuglink", (Elf64_Shdr){.sh_type = SHT_PROGBITS},
		     "fifo\0\0\0\0\0\0\0", 12);
	elf_made_write(&elf, hostile->path);
}

/* Names are of another file, which is a FIFO or the binary itself. */
static void write_alt(struct hostile *hostile, const char *other)
{
	struct elf_made elf = {0};
	struct tally_buf link = {0};
	static const uint8_t id[20] = {1, 2, 3};

	add_code(hostile, &elf, CODE_SIZE);
	add_plain(hostile, &elf);
	tally_buf_add(&link, other, strlen(other) + 1);
	tally_buf_add(&link, id, sizeof(id));
	hostile_dwarf_alt(&elf, hostile->code, hostile->code_end);
	elf_made_add(&elf, ".gnu_debugaltlink", (Elf64_Shdr){.sh_type = SHT_PROGBITS}, link.data,
		     link.size);
	tally_buf_done(&link);
	elf_made_add(&elf, ".note.gnu.build-id", (Elf64_Shdr){.sh_type = SHT_NOTE},
		     "\4\0\0\0\24\0\0\0\3\0\0\0GNU\0\1\2\3\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 36);
	elf_made_write(&elf, hostile->path);
}

static void write_alt_fifo(struct hostile *hostile)
{
	make_fifo(hostile, "fifo");
	write_alt(hostile, "fifo");
}

static void write_alt_itself(struct hostile *hostile)
{
	write_alt(hostile, strrchr(hostile->path, '/') + 1);
}

/* --- names --- */

static void put_base62(struct tally_buf *text, uint64_t value)
{
	static const char digits[] =
	    "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
	char room[16];
	size_t at = sizeof(room);

	if (value--) {
		do {
			room[--at] = digits[value % 62];
			value /= 62;
		} while (value);
		tally_buf_add(text, room + at, sizeof(room) - at);
	}
	tally_buf_byte(text, '_');
}

/* Each pair holds the pair before twice, so that each doubles what is written of them. */
static void put_rust(struct tally_buf *text, unsigned pairs)
{
	size_t start = text->size + 2, before;

	tally_buf_text(text, "_RINvC1a1b");
	before = text->size - start;
	tally_buf_text(text, "TuuE");
	for (unsigned i = 0; i < pairs; i++) {
		size_t here = text->size - start;

		tally_buf_text(text, "TB");
		put_base62(text, before);
		tally_buf_text(text, "B");
		put_base62(text, before);
		tally_buf_text(text, "E");
		before = here;
	}
	tally_buf_add(text, "E", 2);
}

/* The same of C++, by substitutions. */
static void put_cxx(struct tally_buf *text, unsigned pairs)
{
	tally_buf_text(text, "_Z1fI1aIiiE");
	for (unsigned i = 0; i < pairs; i++) {
		tally_buf_text(text, "1aIS");
		if (i)
			tally_buf_byte(
			    text, (uint8_t)("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36]));
		tally_buf_text(text, "_S");
		if (i)
			tally_buf_byte(
			    text, (uint8_t)("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36]));
		tally_buf_text(text, "_E");
	}
	tally_buf_add(text, "EvT_", 5);
}

static void write_mangled(struct hostile *hostile)
{
	struct elf_made elf = {0};
	struct tally_buf symbols = {0}, text = {0};
	uint64_t count = 1 + hostile_draw(hostile, 40), at_once = hostile_draw(hostile, 2);
	unsigned pairs = 20 + (unsigned)scaled(hostile, 600);

	add_code(hostile, &elf, CODE_SIZE);
	tally_buf_byte(&text, 0);
	add_symbol(&symbols, 0, 0, 0);
	for (uint64_t i = 0; i < count; i++) {
		uint32_t name = (uint32_t)text.size;

		if (hostile_draw(hostile, 3))
			put_rust(&text, pairs);
		else
			put_cxx(&text, pairs > 100 ? 100 : pairs);
		add_symbol(&symbols, name, hostile->code + (at_once ? 0 : i * 64), CODE_SIZE);
	}
	add_table(&elf, &symbols, &text);
	elf_made_write(&elf, hostile->path);
}

/* All names are one, each begins a byte later. */
static void write_long_names(struct hostile *hostile)
{
	static const char *const starts[] = {"", "_ZN", "_R", "____", "camlA__"};
	const char *start = starts[hostile_draw(hostile, 5)];
	struct elf_made elf = {0};
	struct tally_buf symbols = {0}, text = {0};
	uint64_t count = scaled(hostile, 60000), at_once = hostile_draw(hostile, 2);
	size_t length = scaled(hostile, 4000000);

	add_code(hostile, &elf, CODE_SIZE);
	tally_buf_byte(&text, 0);
	tally_buf_text(&text, start);
	for (size_t i = 0; i < length; i++)
		tally_buf_byte(&text, *start ? (uint8_t)start[i % strlen(start)] : 'x');
	tally_buf_byte(&text, 0);
	add_symbol(&symbols, 0, 0, 0);
	for (uint64_t i = 0; i < count; i++)
		add_symbol(&symbols, 1 + (uint32_t)(i % (length / 2 + 1)),
			   hostile->code + (at_once ? 0 : i % CODE_SIZE), 16);
	add_table(&elf, &symbols, &text);
	elf_made_write(&elf, hostile->path);
}

/* Each symbol begins within the one before, and ends before it does, or just behind. */
static void write_nested(struct hostile *hostile)
{
	struct elf_made elf = {0};
	struct tally_buf symbols = {0}, text = {0};
	uint64_t count = scaled(hostile, 300000), how = hostile_draw(hostile, 3);

	add_code(hostile, &elf, count * 4);
	tally_buf_add(&text, "\0f", 3);
	add_symbol(&symbols, 0, 0, 0);
	for (uint64_t i = 0; i < count; i++) {
		uint64_t size = how == 0 ? 2 * (count - i) : how == 1 ? 2 * (count + i) + 1 : 1;

		add_symbol(&symbols, 1, hostile->code + i, size);
	}
	if (how == 2) /* around all, so that it is the only one for what is behind */
		add_symbol(&symbols, 1, hostile->code, count * 4);
	add_table(&elf, &symbols, &text);
	elf_made_write(&elf, hostile->path);
}

/* --- stubs --- */

static void write_plt(struct hostile *hostile)
{
	struct elf_made elf = {0};
	struct tally_buf symbols = {0}, text = {0}, relocations = {0};
	uint64_t count = scaled(hostile, 1500);
	uint8_t *stubs = calloc(count + 1, 16);
	uint32_t strings;

	add_code(hostile, &elf, CODE_SIZE);
	hostile->code = elf_made_end(&elf);
	hostile->code_end = hostile->code + count * 16;
	elf_made_add(&elf, ".plt",
		     (Elf64_Shdr){.sh_type = SHT_PROGBITS,
				  .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
				  .sh_entsize = 16},
		     stubs, (count + 1) * 16);
	free(stubs);
	tally_buf_add(&text, "\0_RC", 4);
	fill(&text, 'x', scaled(hostile, 4000000));
	tally_buf_byte(&text, 0);
	add_symbol(&symbols, 0, 0, 0);
	add_symbol(&symbols, hostile_draw(hostile, 2) ? 1 : 4, 0, 0);
	add_symbol(&symbols, 5, hostile->code - 16, 16);
	for (uint64_t i = 0; i < count; i++) {
		Elf64_Rela relocation = {.r_offset = 0x1000 + i * 8,
					 .r_info = ELF64_R_INFO(1, R_X86_64_JUMP_SLOT)};

		tally_buf_add(&relocations, &relocation, sizeof(relocation));
	}
	strings = add_strings(&elf, ".dynstr", &text);
	add_symbols(&elf, ".dynsym", SHT_DYNSYM, &symbols, strings);
	elf_made_add(&elf, ".rela.plt",
		     (Elf64_Shdr){.sh_type = SHT_RELA, .sh_entsize = sizeof(Elf64_Rela)},
		     relocations.data, relocations.size);
	tally_buf_done(&relocations);
	elf_made_write(&elf, hostile->path);
}

/* --- sections --- */

static void write_sections(struct hostile *hostile)
{
	static const char *const names[] = {".note.x", "text", ".debug_info", ".rela.plt"};
	static const uint32_t types[] = {SHT_NOTE, SHT_PROGBITS, SHT_SYMTAB, SHT_RELA};
	uint64_t count = scaled(hostile, 20000), which = hostile_draw(hostile, 4);
	size_t length = scaled(hostile, 1000000);
	char *name = malloc(length + 1);
	struct elf_made elf = {0};

	add_code(hostile, &elf, CODE_SIZE);
	add_plain(hostile, &elf);
	memset(name, 'a', length);
	name[length] = 0;
	elf_made_add(&elf, name, (Elf64_Shdr){.sh_type = SHT_PROGBITS}, name, length);
	free(name);
	for (uint64_t i = 0; i < count; i++) {
		uint32_t index = elf_made_add(
		    &elf, "", (Elf64_Shdr){.sh_type = types[which], .sh_flags = SHF_ALLOC}, NULL,
		    0);
		Elf64_Shdr *section = elf_made_section(&elf, index);

		/* The whole file, from an odd byte on, and a name that does not end. */
		section->sh_offset = 0x41 + i % 16;
		section->sh_size = elf.bytes.size - 0x60;
		section->sh_name = i % 3 ? 60 : (Elf64_Word)elf.names.size;
		if (i % 3 == 0 && i < 100)
			tally_buf_add(&elf.names, names[which], strlen(names[which]) + 1);
	}
	elf_made_write(&elf, hostile->path);
}

/* A file of nothing, of any size, with tables in it. */
static void write_sparse(struct hostile *hostile)
{
	struct elf_made elf = {0};
	uint64_t size = 1ULL << (20 + hostile_draw(hostile, 22));
	uint32_t strings, table;

	add_code(hostile, &elf, CODE_SIZE);
	strings = elf_made_add(&elf, ".strtab", (Elf64_Shdr){.sh_type = SHT_STRTAB}, NULL, 0);
	table = elf_made_add(&elf, hostile_draw(hostile, 2) ? ".symtab" : ".eh_frame",
			     (Elf64_Shdr){.sh_type = SHT_SYMTAB,
					  .sh_link = strings,
					  .sh_entsize = sizeof(Elf64_Sym)},
			     NULL, 0);
	elf_made_section(&elf, strings)->sh_size = elf_made_section(&elf, table)->sh_size =
	    size - 0x20000;
	elf_made_write(&elf, hostile->path);
	if (truncate(hostile->path, (off_t)size) && truncate(hostile->path, 1 << 20))
		exit(2);
}

/* --- debug information and call frame information --- */

static void write_debugdata(struct hostile *hostile)
{
	struct elf_made elf = {0};
	struct tally_buf symbols = {0}, text = {0};

	add_code(hostile, &elf, CODE_SIZE);
	tally_buf_add(&text, "\0_start", 8);
	add_symbol(&symbols, 0, 0, 0);
	add_symbol(&symbols, 1, hostile->code, 16);
	add_symbols(&elf, ".dynsym", SHT_DYNSYM, &symbols, add_strings(&elf, ".dynstr", &text));
	hostile_debugdata(&elf, scaled(hostile, 240) << 20);
	elf_made_write(&elf, hostile->path);
}

typedef void (*add_fn)(struct hostile *hostile, struct elf_made *elf, uint64_t scale);

static void write_with(struct hostile *hostile, add_fn add)
{
	struct elf_made elf = {0};

	add_code(hostile, &elf, CODE_SIZE);
	add_plain(hostile, &elf);
	add(hostile, &elf, hostile->scale);
	elf_made_write(&elf, hostile->path);
}

#define DEBUG_KIND(name)                                  \
	static void write_##name(struct hostile *hostile) \
	{                                                 \
		write_with(hostile, hostile_##name);      \
	}
DEBUG_KIND(functions)
DEBUG_KIND(functions_packed)
DEBUG_KIND(rows)
DEBUG_KIND(rows_packed)
DEBUG_KIND(files)
DEBUG_KIND(origins)
DEBUG_KIND(siblings)
DEBUG_KIND(depth)
DEBUG_KIND(units)
DEBUG_KIND(bases)
DEBUG_KIND(cfi_commons)
DEBUG_KIND(cfi_sets)
DEBUG_KIND(cfi_expressions)
DEBUG_KIND(cfi_packed)

/* Any binary, with a few wrong bytes: this program. */
static void write_wrong_bytes(struct hostile *hostile)
{
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int to = open(hostile->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct stat about;

	if (from < 0 || to < 0 || fstat(from, &about))
		exit(2);
	for (off_t at = 0; at < about.st_size;) {
		char room[65536];
		ssize_t got = pread(from, room, sizeof(room), at);

		if (got <= 0 || pwrite(to, room, (size_t)got, at) != got)
			exit(2);
		at += got;
	}
	for (uint64_t i = 1 + hostile_draw(hostile, 200); i > 0; i--) {
		uint64_t word = hostile_draw(hostile, UINT64_MAX);
		uint64_t at = hostile_draw(hostile, 3)
				  ? hostile_draw(hostile, (uint64_t)about.st_size - 8)
				  : (uint64_t)about.st_size - 8 - hostile_draw(hostile, 4096);

		if (pwrite(to, &word, 1 + hostile_draw(hostile, 8), (off_t)at) < 0)
			exit(2);
	}
	hostile->code_end = (uint64_t)about.st_size;
	close(from);
	close(to);
}

static const struct {
	const char *name;
	void (*write)(struct hostile *hostile);
} kinds[] = {
    {"a FIFO", write_fifo},
    {"a link to a device or to memory", write_link},
    {"a debuglink to a FIFO", write_debug_link},
    {"names in a FIFO", write_alt_fifo},
    {"names in the binary itself", write_alt_itself},
    {"mangled names that double", write_mangled},
    {"names without end", write_long_names},
    {"symbols within each other", write_nested},
    {"stubs with one long name", write_plt},
    {"sections over each other", write_sections},
    {"a sparse file", write_sparse},
    {"a small table that expands", write_debugdata},
    {"functions", write_functions},
    {"functions, compressed", write_functions_packed},
    {"rows of lines", write_rows},
    {"rows of lines, compressed", write_rows_packed},
    {"files in one long folder", write_files},
    {"origins that go round", write_origins},
    {"entries beside themselves", write_siblings},
    {"entries within each other", write_depth},
    {"units that share ranges", write_units},
    {"runs of base entries in ranges", write_bases},
    {"call frames with a common part each", write_cfi_commons},
    {"call frames with rules for all registers", write_cfi_sets},
    {"call frames with long expressions", write_cfi_expressions},
    {"call frames, compressed", write_cfi_packed},
    {"wrong bytes", write_wrong_bytes},
};

size_t hostile_count(void)
{
	return sizeof(kinds) / sizeof(*kinds);
}

const char *hostile_name(size_t which)
{
	return kinds[which].name;
}

void hostile_write(size_t which, struct hostile *hostile)
{
	hostile->code = 0;
	kinds[which].write(hostile);
}
