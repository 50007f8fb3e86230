#include <tally/version.h>

/* TALLY_WITH_*, 1 or 0, are of src/meson.build. */
static const struct tally_version_part parts[] = {
    {"dwarf", "HAVE_DWARF_SUPPORT", true},
    {"libelf", "HAVE_LIBELF_SUPPORT", true},
    {"libdw-dwarf-unwind", "HAVE_DWARF_SUPPORT", true},
    {"libbfd", "HAVE_LIBBFD_SUPPORT", false},
    {"libtraceevent", "HAVE_LIBTRACEEVENT", TALLY_WITH_TRACEEVENT},
    {"zstd", "HAVE_ZSTD_SUPPORT", TALLY_WITH_ZSTD},
    {"lzma", "HAVE_LZMA_SUPPORT", TALLY_WITH_LZMA},
    {"libbz2", "HAVE_LIBBZ2_SUPPORT", TALLY_WITH_BZIP2},
    {"libcapstone", "HAVE_LIBCAPSTONE_SUPPORT", TALLY_WITH_CAPSTONE},
    {"sqlite3", "HAVE_SQLITE3_SUPPORT", TALLY_WITH_SQLITE},
    {"libperl", "HAVE_LIBPERL_SUPPORT", false},
    {"libpython", "HAVE_LIBPYTHON_SUPPORT", false},
    {"libslang", "HAVE_SLANG_SUPPORT", false},
    {"debuginfod", "HAVE_DEBUGINFOD_SUPPORT", TALLY_WITH_DEBUGINFOD},
    {"libcurl", "HAVE_LIBCURL_SUPPORT", TALLY_WITH_CURL},
    {"bpf", "HAVE_LIBBPF_SUPPORT", false},
};

const char *tally_version(void)
{
	return TALLY_VERSION;
}

const struct tally_version_part *tally_version_parts(size_t *ret_count)
{
	*ret_count = sizeof(parts) / sizeof(*parts);
	return parts;
}
