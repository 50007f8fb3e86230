/* The copy of the kernel beside a recording (record --kcore): made of a made-up /proc, and read by
 * the store. */
#include "workdir.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <tally/error.h>
#include "image/code.h"
#include "image/image.h"
#include "write/kernel_copy.h"
#include "write/target_folder.h"

#define TEXT    0xffffffff81000000ULL
#define MODULES 0xffffffffc0000000ULL
#define FAR     0xffff888000000000ULL

static const char table[] = "ffffffff81000000 T _text\n"
			    "ffffffff81000000 T _stext\n"
			    "ffffffff81000800 T do_work\n"
			    "ffffffff81002000 T _etext_of_another\n"
			    "ffffffff81001800 T _etext\n"
			    "ffffffffc0000010 t modf\t[mod_a]\n";
static const char modules[] = "mod_b 4096 1 mod_a, Live 0xffffffffc0001000 (E)\n"
			      "mod_a 2000 0 - Live 0xffffffffc0000000\n"
			      "gone 4096 0 - Live 0xffffffffd0000000\n"
			      "hidden 4096 0 - Live 0x0000000000000000\n";

/* A byte of memory that its address says. */
static uint8_t byte_at(uint64_t address)
{
	return (uint8_t)(address * 31 + (address >> 8) + 7);
}

static void write_segment(FILE *file, uint64_t address, size_t size)
{
	for (size_t i = 0; i < size; i++)
		fputc(byte_at(address + i), file);
}

static void make_proc(const struct workdir *workdir, const char *kallsyms)
{
	const Elf64_Phdr segments[] = {
	    {.p_type = PT_NOTE},
	    {.p_type = PT_LOAD, .p_offset = 4096, .p_vaddr = FAR, .p_memsz = 4096},
	    {.p_type = PT_LOAD, .p_offset = 8192, .p_vaddr = TEXT - 4096, .p_memsz = 4 * 4096},
	    {.p_type = PT_LOAD, .p_offset = 6 * 4096, .p_vaddr = MODULES, .p_memsz = 4096 * 2},
	};
	Elf64_Ehdr header = {.e_type = ET_CORE,
			     .e_machine = EM_X86_64,
			     .e_phoff = sizeof(header),
			     .e_phentsize = sizeof(*segments),
			     .e_phnum = 4};
	char path[128];
	FILE *file;

	assert_int_equal(workdir_run(workdir, "rm -rf proc rec && mkdir -p proc rec"), 0);
	workdir_write(workdir, "proc/kallsyms", kallsyms);
	workdir_write(workdir, "proc/modules", modules);
	memcpy(header.e_ident, ELFMAG, SELFMAG);
	header.e_ident[EI_CLASS] = ELFCLASS64;
	header.e_ident[EI_DATA] = ELFDATA2LSB;
	snprintf(path, sizeof(path), "%s/proc/kcore", workdir->path);
	file = fopen(path, "w");
	assert_non_null(file);
	fwrite(&header, sizeof(header), 1, file);
	fwrite(segments, sizeof(segments), 1, file);
	fseek(file, 4096, SEEK_SET);
	write_segment(file, FAR, 4096);
	write_segment(file, TEXT - 4096, 4 * 4096);
	write_segment(file, MODULES, 2 * 4096);
	assert_int_equal(fclose(file), 0);
}

static const char *in(const struct workdir *workdir, const char *name, char room[128])
{
	snprintf(room, 128, "%s/%s", workdir->path, name);
	return room;
}

/* Reads the header and the segments of the copy. */
static unsigned read_core(const struct workdir *workdir, Elf64_Phdr segments[8], FILE **ret)
{
	Elf64_Ehdr header;
	char path[128];

	*ret = fopen(in(workdir, "rec/kcore_dir/kcore", path), "r");
	assert_non_null(*ret);
	assert_int_equal(fread(&header, sizeof(header), 1, *ret), 1);
	assert_int_equal(header.e_type, ET_CORE);
	assert_int_equal(header.e_machine, EM_X86_64);
	assert_true(header.e_phnum <= 8);
	fseek(*ret, (long)header.e_phoff, SEEK_SET);
	assert_int_equal(fread(segments, sizeof(*segments), header.e_phnum, *ret), header.e_phnum);
	return header.e_phnum;
}

static void text_and_modules_are_copied(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_error error;
	Elf64_Phdr segments[8];
	char recording[128];
	unsigned count;
	FILE *file;

	make_proc(workdir, table);
	assert_int_equal(tally_kernel_copy_check(workdir->path, &error), 0);
	assert_int_equal(
	    tally_kernel_copy_make(workdir->path, in(workdir, "rec", recording), &error), 0);
	assert_int_equal(workdir_run(workdir, "cmp proc/kallsyms rec/kcore_dir/kallsyms && "
					      "cmp proc/modules rec/kcore_dir/modules"),
			 0);
	/* for the owner alone */
	assert_int_equal(workdir_run(workdir, "test \"$(stat -c %%a rec/kcore_dir "
					      "rec/kcore_dir/kcore | tr '\\n' ' ')\" = '700 600 '"),
			 0);
	count = read_core(workdir, segments, &file);
	assert_int_equal(count, 2); /* both modules are one; one is not in memory */
	assert_true(segments[0].p_vaddr == TEXT && segments[0].p_filesz == 0x2000);
	assert_true(segments[1].p_vaddr == MODULES && segments[1].p_filesz == 0x2000);
	for (unsigned i = 0; i < count; i++) {
		assert_int_equal(segments[i].p_offset % 4096, 0);
		fseek(file, (long)segments[i].p_offset, SEEK_SET);
		for (uint64_t at = 0; at < segments[i].p_filesz; at++)
			assert_int_equal(fgetc(file), byte_at(segments[i].p_vaddr + at));
	}
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
}

static void the_store_reads_it(void **state)
{
	const struct workdir *workdir = *state;
	char root[128], kallsyms[128], kcore[128], recording[128];
	struct tally_image_options options = {
	    .size = sizeof(options), .cache_dir = "", .build_id_dir = "/nonexistent"};
	struct tally_image_key key = {.path = "[kernel.kallsyms]_text", .kernel = true};
	struct tally_image_store *store;
	struct tally_image *kernel, *module;
	struct tally_error error;
	uint8_t bytes[64];

	make_proc(workdir, table);
	assert_int_equal(
	    tally_kernel_copy_make(workdir->path, in(workdir, "rec", recording), &error), 0);
	/* on another machine: another /proc */
	assert_int_equal(workdir_run(workdir, "rm -rf other && mkdir -p other/proc"), 0);
	options.root = in(workdir, "other", root);
	options.kallsyms = in(workdir, "rec/kcore_dir/kallsyms", kallsyms);
	options.kcore = in(workdir, "rec/kcore_dir/kcore", kcore);
	assert_int_equal(tally_image_store_new(&options, &store), 0);
	kernel = tally_image_get(store, &key);
	assert_int_equal(tally_image_find_symbol(kernel, TEXT + 0x810) >= 0, true);
	assert_string_equal(
	    tally_image_symbol(kernel, tally_image_find_symbol(kernel, TEXT + 0x810))->name,
	    "do_work");
	assert_int_equal(tally_image_read(kernel, TEXT + 0x800, bytes, sizeof(bytes)),
			 sizeof(bytes));
	for (size_t i = 0; i < sizeof(bytes); i++)
		assert_int_equal(bytes[i], byte_at(TEXT + 0x800 + i));
	key.path = "[mod_a]";
	module = tally_image_get(store, &key);
	assert_int_equal(tally_image_read(module, MODULES + 0x10, bytes, 16), 16);
	assert_int_equal(bytes[0], byte_at(MODULES + 0x10));
	assert_true(tally_image_read(kernel, FAR, bytes, 16) <= 0);
	tally_image_store_free(store);
}

static void what_is_missing_is_said(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_error error;
	char recording[128];

	make_proc(workdir, "0000000000000000 T _stext\n0000000000000000 T _etext\n");
	in(workdir, "rec", recording);
	assert_int_equal(tally_kernel_copy_make(workdir->path, recording, &error), -EPERM);
	assert_non_null(strstr(error.text, "kptr_restrict"));
	make_proc(workdir, "ffffffffa1000000 T _stext\nffffffffa1001000 T _etext\n");
	workdir_write(workdir, "proc/modules", "");
	assert_int_equal(tally_kernel_copy_make(workdir->path, recording, &error), -ENODATA);
	workdir_write(workdir, "proc/kcore", "no ELF file");
	assert_int_equal(tally_kernel_copy_make(workdir->path, recording, &error), -ENOEXEC);
	assert_int_equal(workdir_run(workdir, "rm proc/kcore"), 0);
	assert_int_equal(tally_kernel_copy_check(workdir->path, &error), -ENOENT);
	assert_non_null(strstr(error.text, "CAP_SYS_RAWIO"));
	assert_int_equal(workdir_run(workdir, "test ! -e rec/kcore_dir"), 0);
}

static void it_goes_with_its_recording(void **state)
{
	const struct workdir *workdir = *state;
	struct tally_error error;
	char recording[128];

	make_proc(workdir, table);
	workdir_write(workdir, "rec/data", "PERFILE2");
	in(workdir, "rec", recording);
	assert_int_equal(tally_kernel_copy_make(workdir->path, recording, &error), 0);
	assert_int_equal(tally_file_folder_remove(recording), 0);
	assert_int_equal(workdir_run(workdir, "test ! -e rec"), 0);
	/* what somebody else has put there stays */
	make_proc(workdir, table);
	workdir_write(workdir, "rec/data", "PERFILE2");
	assert_int_equal(tally_kernel_copy_make(workdir->path, recording, &error), 0);
	workdir_write(workdir, "rec/kcore_dir/notes", "mine");
	assert_int_equal(tally_file_folder_remove(recording), -ENOTEMPTY);
	assert_int_equal(workdir_run(workdir, "test -e rec/kcore_dir/notes"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(text_and_modules_are_copied),
	    cmocka_unit_test(the_store_reads_it),
	    cmocka_unit_test(what_is_missing_is_said),
	    cmocka_unit_test(it_goes_with_its_recording),
	};

	return cmocka_run_group_tests(tests, workdir_make, workdir_remove);
}
