#include "image/code_space.h"

#include <elf.h>
#include <endian.h>
#include "image/code.h"
#include "image/image_state.h"
#include "jit/jitdump.h"

static struct tally_code_machine own_machine(void)
{
	struct tally_code_machine machine = {
	    .is_64_bit = sizeof(void *) == 8,
	    .big_endian = __BYTE_ORDER == __BIG_ENDIAN,
	};

#if defined(__x86_64__)
	machine.machine = EM_X86_64;
#elif defined(__i386__)
	machine.machine = EM_386;
#elif defined(__aarch64__)
	machine.machine = EM_AARCH64;
#elif defined(__arm__)
	machine.machine = EM_ARM;
#elif defined(__powerpc64__)
	machine.machine = EM_PPC64;
#elif defined(__s390x__)
	machine.machine = EM_S390;
#elif defined(__mips__)
	machine.machine = EM_MIPS;
#endif
	return machine;
}

int tally_code_space_open(struct tally_image *image, struct tally_code_space *ret)
{
	struct tally_code_space space = {.image = image, .machine = own_machine()};
	int error = tally_image_code_map(image, &space.map);

	if (error)
		return error;
	if (image->dump)
		space.machine = (struct tally_code_machine){
		    .machine = image->dump->machine,
		    .is_64_bit = image->dump->machine != EM_386 && image->dump->machine != EM_ARM,
		    .big_endian = space.machine.big_endian != image->dump->swapped,
		};
	else if (space.map.machine)
		space.machine = (struct tally_code_machine){
		    .machine = space.map.machine,
		    .is_64_bit = space.map.is_64_bit,
		    .big_endian = space.map.big_endian,
		};
	*ret = space;
	return 0;
}

void tally_code_space_close(struct tally_code_space *space)
{
	tally_code_map_done(&space->map);
}

uint64_t tally_code_space_address(const struct tally_code_space *space, uint64_t place)
{
	const struct tally_elf_load *load = tally_code_map_load(&space->map, place);
	const struct tally_jitdump *dump = space->image->dump;
	int64_t code = dump ? tally_jitdump_find(dump, place) : -1;

	if (code >= 0)
		return dump->codes[code].address + (place - dump->codes[code].place);
	return load ? load->address + (place - load->offset) : place;
}

uint64_t tally_code_space_place(const struct tally_code_space *space, uint64_t address)
{
	const struct tally_elf_load *load = tally_code_map_load_at(&space->map, address);

	return load ? load->offset + (address - load->address) : address;
}
