/* Whether stacks and names of programs are complete: frame pointers and debug files, checked for
 * the C library of this process, which is in most stacks. */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/fs.h"
#include "doctor/checkup.h"
#include "elf/elf_file.h"
#include "elf/build_id.h"

#define FUNCTIONS_MOST 4000

static int find_libc(struct dl_phdr_info *info, size_t size, void *to)
{
	const char *base = strrchr(info->dlpi_name, '/');

	(void)size;
	if (!base || strncmp(base, "/libc.so", 8))
		return 0;
	snprintf(to, 4096, "%s", info->dlpi_name);
	return 1;
}

/* Whether a function begins by saving its caller's frame pointer, in the first bytes of its code.
 */
static bool keeps_frame(const unsigned char *code, size_t size)
{
#if defined(__x86_64__)
	static const unsigned char prologue[] = {0x55, 0x48, 0x89,
						 0xe5}; /* push %rbp; mov %rsp,%rbp */

	return memmem(code, size, prologue, sizeof(prologue)) != NULL;
#elif defined(__aarch64__)
	/* stp x29, x30, [sp, #-N]! or [sp, #N] */
	for (size_t i = 0; i + 4 <= size; i += 4)
		if (code[i] == 0xfd && (code[i + 1] & 0x7f) == 0x7b && (code[i + 3] == 0xa9))
			return true;
	return false;
#else
	(void)code;
	(void)size;
	return false;
#endif
}

/* Percent of its larger functions that do; -1: unknown. */
static int frames_percent(const char *path)
{
	const struct tally_elf_section *symbols, *text;
	char *table = NULL, *code = NULL;
	size_t size = 0, code_size = 0;
	unsigned seen = 0, kept = 0;
	struct tally_elf elf;

	if (tally_elf_open(path, &elf))
		return -1;
	symbols = tally_elf_find(&elf, ".dynsym", SHT_DYNSYM);
	text = tally_elf_find(&elf, ".text", SHT_PROGBITS);
	if (symbols && text && !tally_elf_read(&elf, symbols, &table, &size) &&
	    !tally_elf_read(&elf, text, &code, &code_size)) {
		for (size_t at = 0; at + sizeof(ElfW(Sym)) <= size && seen < FUNCTIONS_MOST;
		     at += sizeof(ElfW(Sym))) {
			ElfW(Sym) symbol;
			uint64_t from;

			memcpy(&symbol, table + at, sizeof(symbol));
			from = symbol.st_value - text->header.sh_addr;
			/* Small ones call nothing, and save no frame pointer in any build. */
			if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size < 128 ||
			    from >= code_size || code_size - from < 32)
				continue;
			seen++;
			kept += keeps_frame((const unsigned char *)code + from, 32);
		}
	}
	free(table);
	free(code);
	tally_elf_close(&elf);
	return seen < 50 ? -1 : (int)(kept * 100 / seen);
}

static void check_frames(struct tally_checkup *checkup, const char *libc)
{
	struct tally_finding finding = {.id = "frame_pointers", .group = TALLY_FINDING_PROGRAMS};
	int percent = frames_percent(libc);

	if (percent < 0)
		return;
	if (percent >= 50) {
		tally_checkup_add(checkup, &finding, "%s is built with frame pointers", libc);
		return;
	}
	finding.state = TALLY_FINDING_LIMITED;
	finding.cost =
	    "with --call-graph fp, and with perf record -g, a sample within the C library or under "
	    "it may lack its callers";
	finding.remedy =
	    "tally record -g, which unwinds by call frame information; your own programs: gcc "
	    "-fno-omit-frame-pointer -mno-omit-leaf-frame-pointer";
	tally_checkup_add(checkup, &finding, "%s is built without frame pointers", libc);
}

static void check_debug_files(struct tally_checkup *checkup, const char *libc)
{
	struct tally_finding finding = {.id = "debug_files", .group = TALLY_FINDING_PROGRAMS};
	char path[256] = "/usr/lib/debug/.build-id/", remedy[CHECKUP_TEXT];
	uint8_t id[20], size = 0;
	size_t length;

	if (tally_image_read_build_id(libc, id, &size) || size < 2)
		return;
	length = strlen(path);
	for (uint8_t i = 0; i < size; i++)
		length += (size_t)snprintf(path + length, sizeof(path) - length, "%02x%s", id[i],
					   i ? "" : "/");
	snprintf(path + length, sizeof(path) - length, ".debug");
	if (!access(path, R_OK)) {
		tally_checkup_add(checkup, &finding, "debug files of the C library are installed");
		return;
	}
	finding.state = TALLY_FINDING_LIMITED;
	finding.cost = "its inner functions have no names, and no lines (-F +srcline)";
	snprintf(remedy, sizeof(remedy),
		 "Debian, Ubuntu: sudo apt install libc6-dbg; Fedora: sudo dnf debuginfo-install "
		 "glibc; from a debuginfod server: sudo install -D \"$(debuginfod-find debuginfo "
		 "%s)\" %s",
		 libc, path);
	finding.remedy = remedy;
	tally_checkup_add(checkup, &finding, "no debug file of %s (%s)", libc, path);
}

/* Servers that give debug files by build-id, and the program that asks them. No server is asked
 * here: that takes time, and would show others what runs. */
static void check_debuginfod(struct tally_checkup *checkup)
{
	struct tally_finding finding = {.id = "debuginfod", .group = TALLY_FINDING_PROGRAMS};
	const char *urls = getenv("DEBUGINFOD_URLS");
	char path[PATH_MAX];
	bool named = urls && *urls, installed = !tally_fs_search_program("debuginfod-find", path);

	if (named && installed) {
		tally_checkup_add(checkup, &finding, "debuginfod-find fetches debug files from %s",
				  urls);
		return;
	}
	finding.state = TALLY_FINDING_ABSENT;
	finding.cost = "debug files are available from packages only";
	finding.remedy = !installed
			     ? "Debian, Ubuntu: sudo apt install debuginfod; Fedora: sudo dnf "
			       "install elfutils-debuginfod-client; it sets DEBUGINFOD_URLS in new "
			       "shells"
			     : "export DEBUGINFOD_URLS=https://debuginfod.elfutils.org/, or your "
			       "distribution's server";
	tally_checkup_add(checkup, &finding, "%s",
			  installed ? "no debuginfod server is named (DEBUGINFOD_URLS)"
				    : "debuginfod-find is not installed");
}

void tally_check_programs(struct tally_checkup *checkup)
{
	char libc[4096] = "";

	if (!checkup->live)
		return;
	check_debuginfod(checkup);
	dl_iterate_phdr(find_libc, libc);
	if (!*libc)
		return; /* a static build: it says nothing about other programs */
	check_frames(checkup, libc);
	check_debug_files(checkup, libc);
}
