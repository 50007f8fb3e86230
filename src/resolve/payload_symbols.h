/* The kernel's functions as a sample sees them, for payloads of tracepoints that name them by
 * address. */
#ifndef TALLY_RESOLVE_PAYLOAD_SYMBOLS_H
#define TALLY_RESOLVE_PAYLOAD_SYMBOLS_H

#include <stdint.h>

struct tally_resolved;
struct tally_resolver;

struct kernel_symbols {
	struct tally_resolver *resolver;
	const struct tally_resolved *sample;
};

/* The function that holds an address, and where it starts; NULL: none is known.  `symbols` is a
 * struct kernel_symbols, and the context of a struct tally_trace_symbols (trace/trace_text.h). */
const char *tally_kernel_symbol(void *symbols, uint64_t address, uint64_t *ret_start);

#endif
