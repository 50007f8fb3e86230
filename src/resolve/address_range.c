/* Look-ups of addresses in their order: most are where the one before was, in one function or at
 * least in one mapping. */
#include "resolve/resolver.h"

/* What is remembered of many places without a symbol would seldom be met, as addresses come in
 * their order: they are looked up together. */
static void in_gap(const struct resolver_range *last, uint64_t addr,
		   struct tally_address_range *ret)
{
	ret->frame = TALLY_FRAME_NAMELESS;
	ret->place.image = last->extent.image;
	ret->place.place = addr - last->extent.less;
	ret->less = last->extent.less;
	ret->placed = true;
}

/* Remembers that no symbol covers what comes from the address on. */
static void find_gap(struct resolver_range *last, uint64_t addr)
{
	const struct tally_extent *extent = &last->extent;
	uint64_t place = addr - extent->less;
	uint64_t size = tally_image_gap_end(extent->symbols, place) - place;

	last->gap_from = addr;
	last->gap_size = extent->until - addr < size ? extent->until - addr : size;
}

/* The part of the extent around an address that its symbol covers alone. */
static void symbol_span(const struct tally_extent *extent, int64_t symbol, uint64_t addr,
			struct tally_address_range *ret)
{
	uint64_t place = addr - extent->less, from, until;

	tally_image_symbol_span(extent->symbols, symbol, &from, &until);
	if (place < from || place >= until)
		return;
	/* Not beyond the extent, where another image begins. */
	until = extent->until - addr < until - place ? extent->until : addr + (until - place);
	from = addr - extent->from < place - from ? extent->from : addr - (place - from);
	ret->from = from;
	ret->size = until - from;
}

/* The part of the extent from an address on that its function covers, up to the next symbol. */
static void function_span(const struct tally_extent *extent, const struct tally_function *function,
			  uint64_t addr, struct tally_address_range *ret)
{
	uint64_t place = addr - extent->less, until = tally_image_gap_end(extent->symbols, place);

	if (function->end < until)
		until = function->end;
	ret->size = extent->until - addr < until - place ? extent->until - addr : until - place;
}

/* Looks the address up in the extent. */
static void in_extent(struct tally_resolver *resolver, const struct tally_resolved *sample,
		      uint64_t addr, struct tally_address_range *ret)
{
	struct resolver_range *last = &resolver->last_range;
	const struct tally_extent *extent = &last->extent;
	struct tally_frames *frames = &resolver->tables->frames;
	uint64_t place = addr - extent->less;
	struct tally_function function;
	int64_t symbol;

	if (extent->kind != TALLY_EXTENT_SHARED) { /* remembered for its process alone */
		ret->frame = tally_resolver_frame(resolver, sample, last->cpumode, addr);
		return;
	}
	ret->less = extent->less;
	ret->placed = true;
	symbol = tally_image_find_symbol(extent->symbols, place);
	if (symbol >= 0 && symbol < INT32_MAX) {
		symbol_span(extent, symbol, addr, ret);
		ret->frame = tally_frames_symbol_frame(frames, extent->image, symbol);
	} else if (resolver->names_only) {
		ret->frame = tally_frames_find(frames, extent->image, place, true);
	} else if (symbol < 0 && tally_frames_function(frames, extent->image, place, &function)) {
		function_span(extent, &function, addr, ret);
		ret->frame = tally_frames_function_frame(frames, extent->image, &function);
	} else {
		if (symbol < 0)
			find_gap(last, addr);
		in_gap(last, addr, ret);
	}
}

void tally_resolver_range(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_address_range *ret)
{
	struct resolver_range *last = &resolver->last_range;
	uint8_t mode = resolver_cpumode(cpumode, addr);
	uint32_t era = mode == PERF_RECORD_MISC_KERNEL ? sample->kernel_era : sample->era;
	int found;

	*ret = (struct tally_address_range){.from = addr, .size = 1, .era = era, .cpumode = mode};
	if (last->cpumode == mode && last->era == era) {
		if (addr - last->gap_from < last->gap_size) {
			in_gap(last, addr, ret);
			return;
		}
		if (last->has_extent &&
		    addr - last->extent.from < last->extent.until - last->extent.from) {
			in_extent(resolver, sample, addr, ret);
			return;
		}
	}
	*last = (struct resolver_range){.cpumode = mode, .era = era};
	if (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER) {
		found = tally_resolver_extent(resolver, sample, mode, addr, &last->extent);
		if (found < 0)
			return;
		last->has_extent = found;
		if (found) {
			in_extent(resolver, sample, addr, ret);
			return;
		}
	}
	ret->frame = tally_resolver_frame(resolver, sample, mode, addr);
}

int tally_resolver_nameless(struct tally_resolver *resolver, const struct tally_image_place *places,
			    uint32_t count, uint32_t *ret)
{
	return tally_frames_nameless(&resolver->tables->frames, places, count, ret);
}
