/* The code at an address, with everything that text needs. */
#ifndef TALLY_RESOLVE_LOCATE_H
#define TALLY_RESOLVE_LOCATE_H

#include <stdbool.h>
#include <stdint.h>
#include "resolve/resolve.h"

struct tally_image;

/* The code at an address, with everything that a line of text needs. */
struct tally_located {
	uint32_t frame;        /* as tally_resolver_frame() gives; 0: out of memory */
	bool mapped;           /* the address is in a mapping (or in the kernel) */
	uint64_t place;        /* what perf prints as the address in its image (map_ip): file offset
				* based for user space, the address itself in the kernel */
	uint64_t symbol_start; /* counts as `place` does; equal to symbol_end: no symbol */
	uint64_t symbol_end;
	uint64_t map_start, map_end; /* of the mapping */
};

/* The same look-up as tally_resolver_frame(), with the details.  The result is not cached here: the
 * caller keeps the text that it makes of it. 0 or -ENOMEM. */
int tally_resolver_locate(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_located *ret);

/* The place alone, for many addresses. */
int tally_resolver_place_of(struct tally_resolver *resolver, const struct tally_resolved *sample,
			    uint8_t cpumode, uint64_t addr, uint64_t *ret);

/* The same by names and without a number, for text: nothing that other threads share is written. */
struct tally_location {
	bool mapped;
	bool executable;                              /* the mapping */
	uint8_t binding;                              /* of the symbol, STB_* */
	char level;                                   /* as struct tally_frame has it */
	const char *image_name, *image_path, *symbol; /* symbol: NULL when unknown */
	uint64_t place, symbol_start, symbol_end;     /* as struct tally_located has them */
	uint64_t map_start, map_end, map_pgoff;
	uint32_t map_pid;          /* of the process that made the mapping, perhaps a parent */
	struct tally_image *image; /* NULL: none that can be read */
};
int tally_resolver_location(struct tally_resolver *resolver, const struct tally_resolved *sample,
			    uint8_t cpumode, uint64_t addr, struct tally_location *ret);

/* A function that has no symbol. */
struct tally_function_place {
	const char *image_name;
	uint64_t address; /* of its start, by the file's own addresses, as objdump shows them */
	uint64_t offset;  /* of the address that was asked for, from its start */
};
/* The function around an address without a symbol, as call frame information and the symbols around
 * it say; false: its start is unknown.  Text for it is image_name, "+0x" and `address`. */
bool tally_resolver_function(struct tally_resolver *resolver, const struct tally_resolved *sample,
			     uint8_t cpumode, uint64_t addr, struct tally_function_place *ret);

/* Addresses from here up are the kernel's. */
#define TALLY_KERNEL_START (1ULL << 63)

/* The mode of an address by its value, instead of another mode of the host. */
static inline uint8_t tally_addr_mode(uint8_t mode, uint64_t addr)
{
	if (mode == PERF_RECORD_MISC_KERNEL || mode == PERF_RECORD_MISC_USER)
		return addr >= TALLY_KERNEL_START ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_USER;
	return mode;
}

/* Finds the same as perf for an address: nothing if the mode has no known maps; with `fall_back` it
 * then tries the mode of the address's value, as perf does for addresses of data. */
int tally_resolver_perf_location(struct tally_resolver *resolver,
				 const struct tally_resolved *sample, uint8_t mode, uint64_t addr,
				 bool fall_back, struct tally_location *ret);

/* Whether a process itself mapped, at any time, a file that is here too, or (`vdso`) a vDSO.  It
 * searches all mappings, so a caller that needs it for each sample should keep the answer. */
bool tally_resolver_pid_readable(const struct tally_resolver *resolver, uint32_t pid, bool vdso);

struct tally_frames;
struct tally_mapping;
struct tally_process_table;
/* The newest mapping that holds a frame's place; NULL: none is known.  It looks at all of them. */
const struct tally_mapping *tally_mapping_of_frame(const struct tally_frames *frames,
						   const struct tally_process_table *processes,
						   uint32_t frame);

/* A range of addresses in all of which a process, or the kernel, has nothing, or one mapping. */
enum tally_extent_kind {
	TALLY_EXTENT_NOTHING,
	TALLY_EXTENT_SHARED, /* all processes that map the image have the same code at its places */
	TALLY_EXTENT_OWN,    /* the code at an address depends on the process */
};

struct tally_extent {
	uint64_t from, until; /* [from, until) */
	uint64_t less;        /* if shared: an address less this is the place in the image */
	uint32_t image;       /* its number */
	enum tally_extent_kind kind;
	/* If shared: where the symbols of its places are found, and how many there are. */
	struct tally_image *symbols;
	uint32_t symbol_count;
};

/* The one around an address, as the sample's process or (PERF_RECORD_MISC_KERNEL) the kernel has it
 * as long as its era holds.  1; 0: that is not plain; -ENOMEM. */
int tally_resolver_extent(struct tally_resolver *resolver, const struct tally_resolved *sample,
			  uint8_t cpumode, uint64_t addr, struct tally_extent *ret);
/* The number of the symbol at a place of such an image; below 0: there is none. */
int64_t tally_extent_symbol(struct tally_image *symbols, uint64_t place);

#endif
