/* Where an address leads, in all that a line of text needs. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "resolve/locate.h"
#include "resolve/resolver.h"

int tally_resolver_locate(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_located *ret)
{
	struct tally_frames *frames = &resolver->tables->frames;
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
		/* The kernel's, beyond the text that records describe. */
		found.mapped = true;
		found.map_end = UINT64_MAX;
	}
	*ret = found;
	return 0;
}

int tally_resolver_place_of(struct tally_resolver *resolver, const struct tally_resolved *sample,
			    uint8_t cpumode, uint64_t addr, uint64_t *ret)
{
	uint32_t image;
	char level;
	const struct tally_mapping *mapping =
	    tally_resolver_mapping(resolver, sample, resolver_cpumode(cpumode, addr), addr, &level);

	*ret = addr;
	return mapping && !mapping->ksymbol
		   ? tally_frames_place(&resolver->tables->frames, &resolver->source, mapping,
					level, addr, &image, ret)
		   : 0;
}

/* Code of the kernel beyond the text that records describe. */
static int kernel_location(struct tally_resolver *resolver, uint64_t addr,
			   struct tally_location *ret)
{
	struct tally_resolve_tables *tables = resolver->tables;
	struct tally_location found = {.place = addr, .level = 'k'};
	struct tally_frame frame;
	uint32_t number =
	    tally_frames_find_kernel(&tables->frames, &resolver->source, tables->kernel, addr);

	if (!number)
		return -ENOMEM;
	if (tally_frames_symbol(&tables->frames, number, &found.symbol_start, &found.symbol_end)) {
		frame = tally_frames_get(&tables->frames, number);
		found.mapped = true;
		found.image_name = frame.image_name;
		found.image_path = frame.image_path;
		found.symbol = frame.symbol;
		found.map_end = UINT64_MAX;
	}
	*ret = found;
	return 0;
}

bool tally_resolver_pid_readable(const struct tally_resolver *resolver, uint32_t pid, bool vdso)
{
	const struct tally_process_table *processes = resolver->source.processes;

	for (size_t i = tally_process_mapping_count(processes); i-- > 0;) {
		const struct tally_mapping *mapping = tally_process_mapping(processes, (uint32_t)i);
		const char *name = tally_process_string(processes, mapping->file->filename);

		if (mapping->pid != pid)
			continue;
		if (vdso && !strcmp(name, "[vdso]"))
			return true;
		if (name[0] == '/' && (mapping->prot & PROT_EXEC) && !access(name, R_OK))
			return true;
	}
	return false;
}

int tally_resolver_location(struct tally_resolver *resolver, const struct tally_resolved *sample,
			    uint8_t cpumode, uint64_t addr, struct tally_location *ret)
{
	struct tally_resolve_tables *tables = resolver->tables;
	struct tally_location found = {.place = addr};
	const struct tally_frame_image *image;
	const struct tally_mapping *mapping;
	uint32_t number;
	int64_t index;

	mapping = tally_resolver_mapping(resolver, sample, resolver_cpumode(cpumode, addr), addr,
					 &found.level);
	if (!mapping) {
		if (found.level == 'k' && (tables->kernel || tables->kernel_guessed))
			return kernel_location(resolver, addr, ret);
		*ret = found;
		return 0;
	}
	if (tally_frames_place(&tables->frames, &resolver->source, mapping, found.level, addr,
			       &number, &found.place))
		return -ENOMEM;
	image = tally_frames_image_at(&tables->frames, number);
	found.mapped = true;
	found.executable = mapping->prot & PROT_EXEC;
	found.image_name = image->name;
	found.image_path = image->path;
	found.map_start = mapping->start;
	found.map_end = mapping->end;
	found.map_pgoff = mapping->pgoff;
	found.map_pid = mapping->pid;
	found.image = image->image;
	if (mapping->ksymbol) {
		/* All of it is one symbol. */
		found.place = addr;
		found.symbol = image->symbol;
		found.symbol_start = mapping->start;
		found.symbol_end = mapping->end;
	} else if (image->image) {
		index = tally_image_find_symbol(image->image, found.place);
		if (index >= 0) {
			const struct tally_symbol *symbol = tally_image_symbol(image->image, index);

			found.symbol = symbol->name;
			found.symbol_start = symbol->start;
			found.symbol_end = symbol->end;
			found.binding = symbol->binding;
		}
	}
	*ret = found;
	return 0;
}

int tally_resolver_perf_location(struct tally_resolver *resolver,
				 const struct tally_resolved *sample, uint8_t mode, uint64_t addr,
				 bool fall_back, struct tally_location *ret)
{
	uint8_t other = fall_back ? tally_addr_mode(mode, addr) : mode;
	const struct tally_resolve_tables *tables = resolver->tables;
	int result;

	*ret = (struct tally_location){.place = addr};
	/* perf does not take the running kernel for one that the recording does not tell of. */
	if (other == PERF_RECORD_MISC_KERNEL && !tables->kernel && tables->kernel_guessed)
		return 0;
	if (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER) {
		result = tally_resolver_location(resolver, sample, mode, addr, ret);
		if (result || ret->mapped || other == mode)
			return result;
	}
	return other == mode ? 0 : tally_resolver_location(resolver, sample, other, addr, ret);
}

int tally_resolver_extent(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_extent *ret)
{
	struct tally_resolve_tables *tables = resolver->tables;
	struct tally_frames *frames = &tables->frames;
	uint64_t time = tables->source->by_offset ? sample->offset : sample->sample.time;
	bool kernel = cpumode == PERF_RECORD_MISC_KERNEL;
	const struct tally_space *space =
	    kernel ? tally_process_kernel_space(tables->source->processes) : sample->space;
	struct tally_extent found = {.until = UINT64_MAX, .kind = TALLY_EXTENT_NOTHING};
	const struct tally_mapping *mapping = NULL;
	const struct tally_frame_image *image;
	uint64_t place;

	if (space && !tally_space_extent(space, addr, time, &found.from, &found.until, &mapping))
		return 0;
	/* The kernel's code may be beyond the text that records describe. */
	if (addr >= found.until || (kernel && !mapping))
		return 0;
	if (mapping) {
		found.kind = TALLY_EXTENT_OWN;
		if (tally_frames_place(frames, &resolver->source, mapping, kernel ? 'k' : '.', addr,
				       &found.image, &place))
			return -ENOMEM;
		found.less = addr - place;
		image = tally_frames_image_at(frames, found.image);
		if (!mapping->ksymbol && image->image && (kernel || !image->places_are_addresses)) {
			found.kind = TALLY_EXTENT_SHARED;
			found.symbols = image->image;
			found.symbol_count = (uint32_t)tally_image_symbol_count(image->image);
		}
	}
	*ret = found;
	return 1;
}

int64_t tally_extent_symbol(struct tally_image *symbols, uint64_t place)
{
	return tally_image_find_symbol(symbols, place);
}

bool tally_resolver_function(struct tally_resolver *resolver, const struct tally_resolved *sample,
			     uint8_t cpumode, uint64_t addr, struct tally_function_place *ret)
{
	struct tally_frames *frames = &resolver->tables->frames;
	const struct tally_mapping *mapping;
	struct tally_function function;
	uint64_t place;
	uint32_t image;
	char level;

	mapping =
	    tally_resolver_mapping(resolver, sample, resolver_cpumode(cpumode, addr), addr, &level);
	if (!mapping || mapping->ksymbol ||
	    tally_frames_place(frames, &resolver->source, mapping, level, addr, &image, &place) ||
	    !tally_frames_function_around(frames, image, place, &function))
		return false;
	*ret =
	    (struct tally_function_place){.image_name = tally_frames_image_at(frames, image)->name,
					  .address = function.address,
					  .offset = place - function.start};
	return true;
}

const struct tally_mapping *tally_mapping_of_frame(const struct tally_frames *frames,
						   const struct tally_process_table *processes,
						   uint32_t frame)
{
	struct tally_frame_place at;
	bool addresses;

	tally_frames_placed(frames, frame, &at);
	addresses = tally_frames_image_at(frames, at.image)->places_are_addresses;
	for (uint32_t i = (uint32_t)tally_process_mapping_count(processes); i-- > 0;) {
		const struct tally_mapping *mapping = tally_process_mapping(processes, i);
		uint64_t from = addresses ? mapping->start : mapping->pgoff;

		if (atomic_load_explicit(&frames->by_mapping[mapping->number],
					 memory_order_relaxed) == at.image + 1 &&
		    at.place >= from && at.place - from < mapping->end - mapping->start)
			return mapping;
	}
	return NULL;
}
