#include "resolve/payload_symbols.h"

#include "resolve/locate.h"

const char *tally_kernel_symbol(void *symbols, uint64_t address, uint64_t *ret_start)
{
	const struct kernel_symbols *from = symbols;
	struct tally_location location;

	if (tally_resolver_location(from->resolver, from->sample, PERF_RECORD_MISC_KERNEL, address,
				    &location) ||
	    !location.mapped || !location.symbol)
		return NULL;
	*ret_start = address - (location.place - location.symbol_start);
	return location.symbol;
}
