/* The kernel's functions as a sample sees them, for payloads of tracepoints that name them by
 * address. */
#ifndef TALLY_EXPORT_TRACE_SYMBOLS_H
#define TALLY_EXPORT_TRACE_SYMBOLS_H

#include "trace/trace_text.h"
#include "resolve/locate.h"

struct kernel_symbols {
	struct tally_resolver *resolver;
	const struct tally_resolved *sample;
};

/* For struct tally_trace_symbols, whose context is a struct kernel_symbols. */
static inline const char *kernel_symbols_find(void *context, uint64_t address, uint64_t *ret_start)
{
	struct kernel_symbols *symbols = context;
	struct tally_location location;

	if (tally_resolver_location(symbols->resolver, symbols->sample, PERF_RECORD_MISC_KERNEL,
				    address, &location) ||
	    !location.mapped || !location.symbol)
		return NULL;
	*ret_start = address - (location.place - location.symbol_start);
	return location.symbol;
}

#endif
