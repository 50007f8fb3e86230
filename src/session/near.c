/* Look-ups of addresses in their order: most are where the one before was, in one function or at
 * least in one mapping. */
#include "session/resolver.h"

/* Looks the address up in the extent; 0: out of memory. */
static uint32_t in_extent(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint64_t addr)
{
	struct resolver_near *near = &resolver->near;
	const struct tally_extent *extent = &near->extent;
	uint64_t place = addr - extent->less, from, until;
	int64_t symbol;

	near->from = addr;
	near->size = 1;
	if (extent->kind != TALLY_EXTENT_SHARED) /* remembered for its process alone */
		return tally_resolver_frame(resolver, sample, near->cpumode, addr);
	symbol = tally_image_find_symbol(extent->symbols, place);
	if (symbol >= 0 && symbol < INT32_MAX) {
		tally_image_symbol_span(extent->symbols, symbol, &from, &until);
		if (place >= from && place < until) {
			/* Not beyond the extent, where another image begins. */
			until = extent->until - addr < until - place ? extent->until
								     : addr + (until - place);
			from = addr - extent->from < place - from ? extent->from
								  : addr - (place - from);
			near->from = from;
			near->size = until - from;
		}
		return tally_frames_symbol_frame(&resolver->session->frames, extent->image, symbol);
	}
	/* As addresses come in their order, what is remembered of many places would seldom be met.
	 */
	return tally_frames_nameless(&resolver->session->frames, extent->image,
				     resolver->names_only ? 0 : place);
}

uint32_t tally_resolver_near(struct tally_resolver *resolver, const struct tally_resolved *sample,
			     uint8_t cpumode, uint64_t addr)
{
	struct resolver_near *near = &resolver->near;
	uint32_t era;
	int found;

	cpumode = resolver_cpumode(cpumode, addr);
	era = cpumode == PERF_RECORD_MISC_KERNEL ? sample->kernel_era : sample->era;
	if (near->cpumode == cpumode && near->era == era) {
		if (addr - near->from < near->size)
			return near->frame;
		if (near->has_extent &&
		    addr - near->extent.from < near->extent.until - near->extent.from)
			return near->frame = in_extent(resolver, sample, addr);
	}
	*near = (struct resolver_near){.cpumode = cpumode, .era = era};
	if (cpumode != PERF_RECORD_MISC_KERNEL && cpumode != PERF_RECORD_MISC_USER)
		return tally_resolver_frame(resolver, sample, cpumode, addr);
	found = tally_resolver_extent(resolver, sample, cpumode, addr, &near->extent);
	if (found < 0)
		return 0;
	near->has_extent = found;
	if (found)
		return near->frame = in_extent(resolver, sample, addr);
	near->from = addr;
	near->size = 1;
	return near->frame = tally_resolver_frame(resolver, sample, cpumode, addr);
}
