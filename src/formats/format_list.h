/* Formats that a recording is exported to: one file and one row each.
 * doc/HOWTO-add-output-format.md says how to add one. */
#ifndef TALLY_FORMATS_FORMAT_LIST_H
#define TALLY_FORMATS_FORMAT_LIST_H

#include "convert/export_format.h"

/* As --help lists them. */
#define EXPORT_FORMATS(FORMAT) \
	FORMAT(folded)         \
	FORMAT(pprof)          \
	FORMAT(speedscope)     \
	FORMAT(callgrind)      \
	FORMAT(csv)            \
	FORMAT(chrome)         \
	FORMAT(firefox)        \
	FORMAT(perfetto)       \
	FORMAT(otlp)           \
	FORMAT(sqlite)         \
	FORMAT(parquet)        \
	FORMAT(autofdo)        \
	FORMAT(profgen)        \
	FORMAT(bolt)

#define EXPORT_FORMAT_DECLARE(name) extern const struct export_format tally_export_format_##name;
EXPORT_FORMATS(EXPORT_FORMAT_DECLARE)
#undef EXPORT_FORMAT_DECLARE

#endif
