#include "annotate/listing.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/fail.h"
#include "base/option_struct.h"
#include "base/sorted.h"
#include "base/table.h"
#include "image/code.h"
#include "image/code_space.h"
#include "image/image.h"
#include "image/inlines.h"

struct making {
	struct tally_listing *listing;
	struct tally_image *image;
	struct tally_code_space space;
	struct tally_disassembler *disassembler;
	struct tally_buf text;
	const char *symbol;      /* the function's; NULL: it has none */
	const uint64_t *nothing; /* samples of an instruction without any */
	size_t sum;              /* the next of the function's sums */
};

static int fail_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "not enough memory for the instructions");
}

static int fail_code(struct tally_image *image, struct tally_error *error)
{
	const char *why = image ? tally_image_why_no_symbols(image) : NULL;

	switch (image ? tally_image_kind(image) : TALLY_IMAGE_ANON) {
	case TALLY_IMAGE_KERNEL:
	case TALLY_IMAGE_MODULE:
		return tally_fail(
		    error, -ENOENT, -1,
		    "the kernel's code cannot be read: there is no vmlinux of its build, and "
		    "/proc/kcore needs CAP_SYS_RAWIO and the recorded kernel to run; give "
		    "the file with --vmlinux");
	case TALLY_IMAGE_ANON:
		return tally_fail(error, -ENOENT, -1,
				  "the code was made at run time, and nothing has kept it; let the "
				  "compiler write a dump (jitdump)");
	default:
		return tally_fail(error, -ENOENT, -1, "its code cannot be read: %s",
				  why ? why
				      : "the file of this build is not here, or the archive was "
					"made without --binaries");
	}
}

/* The function's bytes, as many as there are. */
static int read_code(struct making *making, struct tally_error *error)
{
	struct tally_listing *listing = making->listing;
	const struct annotated *function = listing->function;
	uint64_t size = function->end - function->start;
	int64_t got;

	listing->cut = size > LISTING_CODE_MOST;
	size = listing->cut ? LISTING_CODE_MOST : size;
	listing->bytes = malloc(size + 1);
	if (!listing->bytes)
		return fail_memory(error);
	got = making->image ? tally_image_read(making->image, function->start, listing->bytes, size)
			    : -ENOENT;
	if (got <= 0)
		return fail_code(making->image, error);
	listing->size = (size_t)got;
	return 0;
}

/* Appends "1210 <name+0x8>", as objdump shows it. */
static void put_target(struct making *making, uint64_t address)
{
	uint64_t place = tally_code_space_place(&making->space, address);
	int64_t index = tally_image_find_symbol(making->image, place);
	struct tally_buf *text = &making->text;

	tally_buf_printf(text, "%llx", (unsigned long long)address);
	if (index >= 0) {
		const struct tally_symbol *symbol = tally_image_symbol(making->image, index);

		tally_buf_printf(text, " <%s", symbol->name);
		if (place != symbol->start)
			tally_buf_printf(text, "+0x%llx",
					 (unsigned long long)(place - symbol->start));
		tally_buf_byte(text, '>');
	}
}

static const char *operands_text(struct making *making, const struct tally_insn *insn)
{
	const char *comma = strrchr(insn->operands, ',');
	struct tally_buf *text = &making->text;

	tally_buf_clear(text);
	if (insn->has_target) {
		/* other machines than x86 have registers before it */
		if (comma) {
			tally_buf_add(text, insn->operands, (size_t)(comma + 1 - insn->operands));
			tally_buf_byte(text, ' ');
		}
		put_target(making, insn->target);
	} else {
		tally_buf_text(text, insn->operands);
		if (insn->has_reference) {
			tally_buf_text(text, "  # ");
			put_target(making, insn->reference);
		}
	}
	return tally_buf_str(text);
}

static const char *keep_text(struct tally_listing *listing, const char *text)
{
	return tally_arena_strndup(&listing->arena, text, strlen(text));
}

static const char *known(const char *text)
{
	return text && strcmp(text, "??") != 0 ? text : NULL;
}

/* The source line, and the inlined function, of a place. */
static int find_line(struct making *making, uint64_t place, struct listing_row *row)
{
	const struct tally_inline *inlines;
	struct tally_line line;
	size_t count = 0;
	int error = tally_image_line(making->image, place, &line);

	if (!error) {
		row->file = known(line.file);
		row->line = line.line;
	}
	if (error == -ENOMEM || tally_image_kind(making->image) != TALLY_IMAGE_FILE)
		return error == -ENOMEM ? error : 0;
	error = tally_image_inlines(making->image, place, &inlines, &count);
	if (!error && count > 1 && inlines[0].inlined)
		row->function = known(inlines[0].name);
	return error;
}

/* The sums at the places of one instruction. */
static int add_sums(struct making *making, uint64_t until, struct listing_row *row)
{
	struct tally_listing *listing = making->listing;
	const struct tally_annotation *annotation = listing->annotation;
	const struct annotated *function = listing->function;
	size_t events = annotation->event_count, end = function->first + function->count;
	uint64_t *numbers = NULL;

	row->samples = making->nothing;
	row->periods = making->nothing + events;
	for (; making->sum < end && annotation->sums.sums[making->sum].place < until;
	     making->sum++) {
		const struct place_sum *sum = &annotation->sums.sums[making->sum];

		if (!numbers) {
			numbers = tally_arena_alloc(&listing->arena, 2 * events * sizeof(*numbers));
			if (!numbers)
				return -ENOMEM;
			memset(numbers, 0, 2 * events * sizeof(*numbers));
			row->samples = numbers;
			row->periods = numbers + events;
		}
		numbers[sum->event] += sum->samples;
		numbers[events + sum->event] += sum->period;
	}
	return 0;
}

static int add_row(struct making *making, const struct tally_insn *insn, uint32_t offset)
{
	struct tally_listing *listing = making->listing;
	uint64_t place = listing->function->start + offset;
	struct listing_row row = {
	    .address = insn->address,
	    .target = insn->target,
	    .offset = offset,
	    .size = (uint8_t)insn->size,
	    .kind = (uint8_t)insn->kind,
	    .has_target = insn->has_target,
	    .mnemonic = keep_text(listing, insn->mnemonic),
	    .operands = keep_text(listing, operands_text(making, insn)),
	};

	if (!row.mnemonic || !row.operands || making->text.failed ||
	    find_line(making, place, &row) || add_sums(making, place + insn->size, &row))
		return -ENOMEM;
	if (!array_next(&listing->rows, &listing->room, listing->count, 256,
			sizeof(*listing->rows)))
		return -ENOMEM;
	listing->rows[listing->count++] = row;
	return 0;
}

static int disassemble(struct making *making)
{
	struct tally_listing *listing = making->listing;
	uint32_t at = 0;
	int error = 0;

	while (at < listing->size && !error) {
		struct tally_insn insn;

		tally_disassemble(
		    making->disassembler, listing->bytes + at, listing->size - at,
		    tally_code_space_address(&making->space, listing->function->start + at), &insn);
		error = add_row(making, &insn, at);
		at += insn.size;
	}
	return error;
}

/* The number of the instruction at an address; UINT32_MAX: none begins there. */
static uint32_t row_at(const struct tally_listing *listing, uint64_t address)
{
	size_t low =
	    SORTED_BOUND(middle, 0, listing->count, listing->rows[middle].address < address);

	return low < listing->count && listing->rows[low].address == address ? (uint32_t)low
									     : UINT32_MAX;
}

static int draw_jumps(struct tally_listing *listing)
{
	struct tally_jump *jumps = malloc((listing->count + 1) * sizeof(*jumps));
	struct jump_row *rows = malloc((listing->count + 1) * sizeof(*rows));
	size_t count = 0;
	int lanes = -ENOMEM;

	for (size_t i = 0; jumps && i < listing->count; i++) {
		const struct listing_row *row = &listing->rows[i];
		uint32_t to = row->kind == TALLY_INSN_JUMP && row->has_target
				  ? row_at(listing, row->target)
				  : UINT32_MAX;

		if (to != UINT32_MAX)
			jumps[count++] = (struct tally_jump){.from = (uint32_t)i, .to = to};
	}
	if (jumps && rows)
		lanes = tally_jump_lanes(jumps, count, rows, listing->count);
	for (size_t i = 0; lanes >= 0 && i < listing->count; i++)
		listing->rows[i].jumps = rows[i];
	free(jumps);
	free(rows);
	listing->lanes = lanes < 0 ? 0 : (unsigned)lanes;
	return lanes < 0 ? lanes : 0;
}

static int open_disassembler(struct making *making, bool intel, struct tally_error *error)
{
	const struct tally_code_machine *machine = &making->space.machine;
	int result = tally_disassembler_new(machine, intel, &making->disassembler);

	if (result == -ENOSYS)
		return tally_fail(
		    error, result, -1,
		    "tally was built without libcapstone, which disassembles code; build "
		    "it with libcapstone-dev");
	if (result == -ENOTSUP)
		return tally_fail(
		    error, result, -1,
		    "libcapstone does not know the code of this machine (ELF's number %u)",
		    machine->machine);
	return result ? fail_memory(error) : 0;
}

static int fill(struct making *making, bool intel, struct tally_error *error)
{
	struct tally_listing *listing = making->listing;
	size_t events = listing->annotation->event_count;
	uint64_t *nothing = tally_arena_alloc(&listing->arena, (2 * events + 1) * sizeof(*nothing));
	int result;

	if (!nothing)
		return fail_memory(error);
	memset(nothing, 0, (2 * events + 1) * sizeof(*nothing));
	making->nothing = nothing;
	result = read_code(making, error);
	if (result)
		return result;
	if (tally_code_space_open(making->image, &making->space))
		return fail_memory(error);
	result = open_disassembler(making, intel, error);
	if (!result && (disassemble(making) || draw_jumps(listing)))
		result = fail_memory(error);
	tally_disassembler_free(making->disassembler);
	tally_code_space_close(&making->space);
	return result;
}

int tally_listing_make(const struct tally_annotation *annotation, const struct annotated *function,
		       bool intel, struct tally_listing **ret, struct tally_error *error)
{
	struct tally_listing *listing = calloc(1, sizeof(*listing));
	struct making making = {
	    .listing = listing, .image = function->image, .sum = function->first};
	int result;

	if (!listing)
		return fail_memory(error);
	listing->annotation = annotation;
	listing->function = function;
	result = fill(&making, intel, error);
	tally_buf_done(&making.text);
	if (result)
		tally_listing_free(listing);
	else
		*ret = listing;
	return result;
}

int tally_listing_new(const struct tally_annotation *annotation, size_t function, bool intel,
		      struct tally_listing **ret, struct tally_error *error)
{
	if (function >= annotation->function_count)
		return tally_fail(error, -EINVAL, -1, "there is no function %zu", function);
	return tally_listing_make(annotation, &annotation->functions[function], intel, ret, error);
}

void tally_listing_free(struct tally_listing *listing)
{
	if (!listing)
		return;
	free(listing->rows);
	free(listing->bytes);
	tally_arena_done(&listing->arena);
	free(listing);
}

size_t tally_listing_count(const struct tally_listing *listing)
{
	return listing->count;
}

int tally_listing_instruction(const struct tally_listing *listing, size_t index,
			      struct tally_instruction *ret)
{
	static const enum tally_instruction_kind kinds[] = {
	    [TALLY_INSN_PLAIN] = TALLY_INSTRUCTION_PLAIN,
	    [TALLY_INSN_JUMP] = TALLY_INSTRUCTION_JUMP,
	    [TALLY_INSN_CALL] = TALLY_INSTRUCTION_CALL,
	    [TALLY_INSN_RETURN] = TALLY_INSTRUCTION_RETURN,
	    [TALLY_INSN_UNKNOWN] = TALLY_INSTRUCTION_UNKNOWN,
	};
	const struct listing_row *row;
	struct tally_instruction made;

	if (index >= listing->count)
		return -EINVAL;
	row = &listing->rows[index];
	made = (struct tally_instruction){
	    .address = row->address,
	    .place = listing->function->start + row->offset,
	    .length = row->size,
	    .kind = kinds[row->kind],
	    .mnemonic = row->mnemonic,
	    .operands = row->operands,
	    .has_target = row->has_target,
	    .target = row->target,
	    .bytes = listing->bytes + row->offset,
	    .file = row->file,
	    .line = row->line,
	    .function = row->function,
	    .samples = row->samples,
	    .periods = row->periods,
	};
	return tally_result_copy(ret, sizeof(made), &made);
}
