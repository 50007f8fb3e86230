/* Branches of one binary as counts, for tools that lay out its code or compile it again.
 *
 * Sources: autofdo, the text profile of create_llvm_prof and create_gcov (sample_reader.cc of
 * github.com/google/autofdo: three lists, of ranges, addresses and branches, each behind its
 * length); profgen, what llvm-profgen takes as --unsymbolized-profile (two of these lists); bolt,
 * the pre-aggregated profile of perf2bolt -pa (DataAggregator.h of LLVM: B, F and f lines).
 * Addresses are in hex, and those of the file; llvm-profgen takes them from the first page of code
 * on. */
#include "convert/branch_counts.h"
#include "formats/format_list.h"

/* Of branches within the binary. */
static bool is_inside(const struct branch_count *count)
{
	return !count->from_outside && !count->to_outside;
}

static void put_number(struct tally_buf *to, uint64_t number)
{
	tally_buf_printf(to, "%llu\n", (unsigned long long)number);
}

static int put_list(struct convert *convert, const struct branch_count *list, uint32_t count,
		    uint64_t base, const char *between)
{
	int result = 0;

	for (uint32_t i = 0; i < count && !result; i++) {
		if (between[1] && !is_inside(&list[i]))
			continue;
		tally_buf_printf(&convert->text, "%llx%s%llx:%llu\n",
				 (unsigned long long)(list[i].from - base), between,
				 (unsigned long long)(list[i].to - base),
				 (unsigned long long)list[i].count);
		result = convert_pour(convert);
	}
	return result;
}

static int put_ranges(struct convert *convert, const struct branch_counts *counts, uint64_t base)
{
	put_number(&convert->text, counts->range_count);
	return put_list(convert, counts->ranges, counts->range_count, base, "-");
}

static int put_branches(struct convert *convert, const struct branch_counts *counts, uint64_t base)
{
	uint64_t inside = 0;

	for (uint32_t i = 0; i < counts->branch_count; i++)
		inside += is_inside(&counts->branches[i]);
	put_number(&convert->text, inside);
	return put_list(convert, counts->branches, counts->branch_count, base, "->");
}

static int write_lists(struct convert *convert, bool addresses)
{
	struct branch_counts counts;
	int result = tally_branch_counts_make(convert, &counts);
	uint64_t base = addresses ? 0 : counts.code_base;

	if (!result)
		result = put_ranges(convert, &counts, base);
	if (addresses)
		put_number(&convert->text, 0);
	if (!result)
		result = put_branches(convert, &counts, base);
	tally_branch_counts_done(&counts);
	return result;
}

static int write_autofdo(struct convert *convert)
{
	return write_lists(convert, true);
}

static int write_profgen(struct convert *convert)
{
	return write_lists(convert, false);
}

/* An end in another binary is 0. */
static int write_bolt(struct convert *convert)
{
	struct branch_counts counts;
	int result = tally_branch_counts_make(convert, &counts);

	for (uint32_t i = 0; i < counts.branch_count && !result; i++) {
		const struct branch_count *branch = &counts.branches[i];

		tally_buf_printf(&convert->text, "B %llx %llx %llu %llu\n",
				 (unsigned long long)branch->from, (unsigned long long)branch->to,
				 (unsigned long long)branch->count,
				 (unsigned long long)branch->mispredicted);
		result = convert_pour(convert);
	}
	for (uint32_t i = 0; i < counts.range_count && !result; i++) {
		const struct branch_count *range = &counts.ranges[i];

		tally_buf_printf(&convert->text, "%c %llx %llx %llu\n",
				 range->from_outside ? 'f' : 'F', (unsigned long long)range->from,
				 (unsigned long long)range->to, (unsigned long long)range->count);
		result = convert_pour(convert);
	}
	tally_branch_counts_done(&counts);
	return result;
}

const struct export_format tally_export_format_autofdo = {
    .name = "autofdo",
    .help = "branches of a binary for create_llvm_prof --profiler=text",
    .places = true,
    .only_samples = true,
    .write = write_autofdo,
};

const struct export_format tally_export_format_profgen = {
    .name = "profgen",
    .help = "branches of a binary for llvm-profgen --unsymbolized-profile",
    .places = true,
    .only_samples = true,
    .write = write_profgen,
};

const struct export_format tally_export_format_bolt = {
    .name = "bolt",
    .help = "branches of a binary for perf2bolt -pa",
    .places = true,
    .only_samples = true,
    .write = write_bolt,
};
