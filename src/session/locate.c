/* Where an address leads, in all that a line of text needs. */
#include <errno.h>
#include <sys/mman.h>
#include "session/ordered.h"
#include "session/resolver.h"

int tally_resolver_locate(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_located *ret)
{
	struct tally_frames *frames = &resolver->session->frames;
	struct tally_located found = {.place = addr};
	const struct tally_mapping *mapping;
	uint32_t image;
	char level;

	cpumode = resolver_cpumode(cpumode, addr);
	found.frame = tally_resolver_frame(resolver, sample, cpumode, addr);
	if (!found.frame)
		return -ENOMEM;
	mapping = tally_resolver_mapping(resolver, sample, cpumode, addr, &level);
	if (mapping) {
		found.mapped = true;
		found.map_start = mapping->start;
		found.map_end = mapping->end;
		found.map_pid = mapping->pid;
		found.executable = mapping->prot & PROT_EXEC;
	}
	if (mapping && mapping->ksymbol) {
		/* All of it is one symbol. */
		found.symbol_start = mapping->start;
		found.symbol_end = mapping->end;
	} else if (mapping) {
		if (tally_frames_place(frames, &resolver->source, mapping, level, addr, &image,
				       &found.place))
			return -ENOMEM;
		(void)tally_frames_symbol(frames, found.frame, &found.symbol_start,
					  &found.symbol_end);
	} else if (tally_frames_symbol(frames, found.frame, &found.symbol_start,
				       &found.symbol_end)) {
		/* The kernel's, beyond the text that is told of. */
		found.mapped = true;
		found.map_end = UINT64_MAX;
	}
	*ret = found;
	return 0;
}
