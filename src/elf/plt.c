#include "elf/plt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/bytes.h"
#include "base/sorted.h"
#include "elf/demangle.h"

struct slot { /* a relocation that fills a slot of the global offset table */
	uint64_t address;
	uint64_t target; /* IRELATIVE: address of the resolver */
	uint32_t name;   /* in .dynstr; 0: by target */
};

struct plt {
	const struct tally_elf *elf;
	const struct tally_elf_section *strings; /* large, and few of them are of slots */
	Elf_Data *symbols;
	struct slot *slots;     /* of .rela.plt in its order, then of .rela.dyn */
	size_t count, in_order; /* in_order: how many are of .rela.plt */
	uint32_t *by_address;
	struct tally_symbol_list *list;
	size_t known; /* symbols of the list, without those that are added here */
	bool demangled;
	struct tally_budget *budget;
};

static bool is_irelative(const struct tally_elf *elf, uint64_t type)
{
	return (elf->header.e_machine == EM_X86_64 && type == R_X86_64_IRELATIVE) ||
	       (elf->header.e_machine == EM_AARCH64 && type == R_AARCH64_IRELATIVE);
}

/* Of .rela.dyn only slots of the offset table are needed; a large library has 100,000 other
 * entries. */
static bool is_got_slot(uint64_t type)
{
	return type == R_X86_64_GLOB_DAT || type == R_X86_64_JUMP_SLOT ||
	       type == R_X86_64_IRELATIVE;
}

static void add_slot(struct plt *plt, const GElf_Rela *relocation, bool all)
{
	uint64_t symbol_index = GELF_R_SYM(relocation->r_info);
	struct slot slot = {.address = relocation->r_offset};
	GElf_Sym symbol;

	if (!all && !is_got_slot(GELF_R_TYPE(relocation->r_info)))
		return;
	if (is_irelative(plt->elf, GELF_R_TYPE(relocation->r_info)))
		slot.target = (uint64_t)relocation->r_addend;
	else if (symbol_index && symbol_index <= INT32_MAX &&
		 gelf_getsym(plt->symbols, (int)symbol_index, &symbol) &&
		 symbol.st_name < plt->strings->header.sh_size)
		slot.name = symbol.st_name;
	else if (!all)
		return;
	plt->slots[plt->count++] = slot;
}

/* `all`: also keep those without a name, because their order matters. */
static int read_slots(struct plt *plt, const char *name, bool all)
{
	const struct tally_elf_section *section = NULL;
	bool with_addend;
	Elf_Data *data;
	size_t entry, count;
	void *grown;

	for (size_t i = 1; i < plt->elf->section_count && !section; i++)
		if ((plt->elf->sections[i].header.sh_type == SHT_RELA &&
		     !strncmp(plt->elf->sections[i].name, ".rela", 5) &&
		     !strcmp(plt->elf->sections[i].name + 5, name)) ||
		    (plt->elf->sections[i].header.sh_type == SHT_REL &&
		     !strncmp(plt->elf->sections[i].name, ".rel", 4) &&
		     !strcmp(plt->elf->sections[i].name + 4, name)))
			section = &plt->elf->sections[i];
	if (!section || !section->scn)
		return 0;
	with_addend = section->header.sh_type == SHT_RELA;
	data = tally_elf_data(plt->elf, section);
	entry = gelf_fsize(plt->elf->elf, with_addend ? ELF_T_RELA : ELF_T_REL, 1, EV_CURRENT);
	if (!data || !data->d_buf || !entry || data->d_size / entry > INT32_MAX)
		return 0;
	count = data->d_size / entry;
	grown = reallocarray(plt->slots, plt->count + count + 1, sizeof(*plt->slots));
	if (!grown)
		return -ENOMEM;
	plt->slots = grown;
	for (size_t i = 0; i < count; i++) {
		GElf_Rela relocation = {0};
		GElf_Rel plain;

		if (with_addend ? !gelf_getrela(data, (int)i, &relocation)
				: !gelf_getrel(data, (int)i, &plain))
			break;
		if (!with_addend) {
			relocation.r_offset = plain.r_offset;
			relocation.r_info = plain.r_info;
		}
		add_slot(plt, &relocation, all);
	}
	return 0;
}

static int compare_slots(const void *a, const void *b, void *context)
{
	const struct slot *slots = context;
	uint64_t left = slots[*(const uint32_t *)a].address;
	uint64_t right = slots[*(const uint32_t *)b].address;

	return (left > right) - (left < right);
}

static int sort_slots(struct plt *plt)
{
	plt->by_address = calloc(plt->count + 1, sizeof(*plt->by_address));
	if (!plt->by_address)
		return -ENOMEM;
	for (size_t i = 0; i < plt->count; i++)
		plt->by_address[i] = (uint32_t)i;
	qsort_r(plt->by_address, plt->count, sizeof(*plt->by_address), compare_slots, plt->slots);
	return 0;
}

static const struct slot *slot_at(const struct plt *plt, uint64_t address)
{
	const struct slot *slots = plt->slots;
	size_t low = SORTED_BOUND(at, 0, plt->count, slots[plt->by_address[at]].address < address);

	if (low == plt->count || slots[plt->by_address[low]].address != address)
		return NULL;
	return &slots[plt->by_address[low]];
}

/* A resolver has the name of the function that it chooses. */
static const char *target_name(const struct plt *plt, uint64_t address)
{
	uint64_t place;
	size_t low;

	if (tally_elf_offset(plt->elf, address, &place))
		return NULL;
	low = SORTED_BOUND(at, 0, plt->known, plt->list->starts[at] < place);
	if (low == plt->known || plt->list->starts[low] != place)
		return NULL;
	return tally_symbol_list_name(plt->list, low);
}

/* Adds the name of a stub to the list's text. */
static int stub_name(const struct plt *plt, const struct slot *slot, uint32_t *ret)
{
	struct tally_buf *text = &plt->list->text;
	const char *target;
	char *name = NULL, *shown = NULL;
	size_t before = text->size, at = symbol_list_text_end(plt->list);

	if (slot->name && tally_elf_read_string(plt->elf, plt->strings, slot->name, &name))
		name = NULL;
	if ((!name || !*name) && slot->target) {
		target = target_name(plt, slot->target);
		free(name);
		/* copied, as it may be in the text, which may move when it grows */
		name = target ? strndup(target, TALLY_NAME_MOST) : NULL;
	}
	if (name && plt->demangled)
		shown = tally_demangle(name, &plt->budget->left);
	if (!budget_take(plt->budget, strlen(shown ? shown : name ? name : ""))) {
		free(name);
		free(shown);
		return -EFBIG;
	}
	tally_buf_text(text, shown ? shown : name ? name : "");
	tally_buf_add(text, "@plt", sizeof("@plt"));
	free(name);
	free(shown);
	if (!text->failed && symbol_list_text_end(plt->list) > UINT32_MAX) {
		text->size = before;
		return -EOVERFLOW;
	}
	*ret = (uint32_t)at;
	return text->failed;
}

static int add_stub(struct plt *plt, const struct slot *slot, uint64_t place, uint64_t size)
{
	uint32_t name;
	int error = stub_name(plt, slot, &name);

	if (error)
		return error == -EOVERFLOW || error == -EFBIG ? 0 : error;
	return tally_symbol_list_add(plt->list, place, place + size, name,
				     ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
}

/* The slot that an x86-64 stub jumps through: `jmp *offset(%rip)` (ff 25, the offset from the end
 * of the instruction), behind an endbr64 (f3 0f 1e fa) and a bnd prefix (f2) where there are such.
 */
static const struct slot *stub_slot(const struct plt *plt, const uint8_t *code, size_t size,
				    uint64_t address)
{
	size_t at = 0;

	if (plt->elf->header.e_machine != EM_X86_64)
		return NULL;
	if (size >= 4 && !memcmp(code, "\xf3\x0f\x1e\xfa", 4))
		at = 4;
	if (at < size && code[at] == 0xf2)
		at++;
	if (size < at + 6 || code[at] != 0xff || code[at + 1] != 0x25)
		return NULL;
	return slot_at(plt, address + at + 6 + (uint64_t)(int64_t)(int32_t)load_u32(code + at + 2));
}

/* The sizes of stubs that binutils and lld write, if the section header does not have them. */
static void stub_sizes(const struct tally_elf *elf, const struct tally_elf_section *section,
		       uint64_t *ret_header, uint64_t *ret_stub)
{
	uint64_t entry = section->header.sh_entsize;

	*ret_stub = entry >= 8 && entry <= 64 ? entry : 16;
	*ret_header = *ret_stub;
	if (elf->header.e_machine == EM_AARCH64) {
		*ret_stub = 16;
		*ret_header = 32;
	} else if (elf->header.e_machine == EM_ARM) {
		*ret_stub = 12;
		*ret_header = 20;
	}
}

static int add_stubs(struct plt *plt, const char *name, bool ordered)
{
	const struct tally_elf_section *section = tally_elf_find(plt->elf, name, SHT_PROGBITS);
	uint64_t header, stub;
	char *code;
	size_t size, index = 0;
	int error = 0;

	if (!section || tally_elf_read(plt->elf, section, &code, &size))
		return 0;
	stub_sizes(plt->elf, section, &header, &stub);
	for (uint64_t at = ordered ? header : 0; at + stub <= size && !error && !plt->budget->spent;
	     at += stub, index++) {
		const struct slot *slot = stub_slot(plt, (const uint8_t *)code + at, (size_t)stub,
						    section->header.sh_addr + at);

		if (!slot && ordered && index < plt->in_order)
			slot = &plt->slots[index];
		if (slot)
			error = add_stub(plt, slot, section->header.sh_offset + at, stub);
	}
	free(code);
	return error;
}

static int run(struct plt *plt)
{
	int error = read_slots(plt, ".plt", true);

	plt->in_order = plt->count;
	if (!error && plt->elf->header.e_machine == EM_X86_64)
		error = read_slots(plt, ".dyn", false);
	if (!error && plt->count)
		error = sort_slots(plt);
	if (error || !plt->count)
		return error;
	error = add_stubs(plt, ".plt", true);
	if (!error)
		error = add_stubs(plt, ".plt.sec", false);
	if (!error)
		error = add_stubs(plt, ".plt.got", false);
	return error;
}

int tally_plt_add(const struct tally_elf *elf, bool demangled, struct tally_budget *budget,
		  struct tally_symbol_list *list)
{
	const struct tally_elf_section *section = tally_elf_find(elf, ".dynsym", SHT_DYNSYM);
	struct plt plt = {.elf = elf,
			  .list = list,
			  .known = list->count,
			  .demangled = demangled,
			  .budget = budget};
	int error;

	if (!section || section->header.sh_link >= elf->section_count)
		return 0;
	plt.symbols = tally_elf_data(elf, section);
	plt.strings = &elf->sections[section->header.sh_link];
	if (!plt.symbols || !plt.symbols->d_buf)
		return 0;
	error = run(&plt);
	free(plt.slots);
	free(plt.by_address);
	return error;
}
