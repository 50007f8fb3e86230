/* -D: the description of the tracing hardware in an AUXTRACE_INFO record.  Sources: the private
 * parts of perf.data's auxtrace_info by type (intel-pt.h, intel-bts.h, arm-spe.h, cs-etm.h of
 * tools/perf/util), and what perf 6.1 prints of them. */
#include <inttypes.h>
#include <string.h>
#include "base/bytes.h"
#include "base/text.h"
#include "dump/dump_record.h"

struct info_line {
	uint8_t index;
	char format; /* d: signed, u: unsigned, x: 0x... unless 0 */
	const char *name;
};

static uint64_t word(const struct tally_record_auxtrace_info *info, uint64_t index)
{
	return index < info->priv_count ? load_u64(info->priv + index) : 0;
}

static void add_lines(struct tally_buf *buf, const struct tally_record_auxtrace_info *info,
		      const struct info_line *lines, size_t count, int width)
{
	for (size_t i = 0; i < count && lines[i].index < info->priv_count; i++) {
		uint64_t value = word(info, lines[i].index);

		tally_buf_printf(buf, "  %-*s", width, lines[i].name);
		if (lines[i].format == 'x')
			buf_0x(buf, value);
		else if (lines[i].format == 'd')
			tally_buf_printf(buf, "%" PRId64, (int64_t)value);
		else
			buf_dec(buf, value);
		tally_buf_byte(buf, '\n');
	}
}

static void add_intel_pt(struct tally_buf *buf, const struct tally_record_auxtrace_info *info)
{
	static const struct info_line lines[] = {
	    {0, 'd', "PMU Type"},
	    {1, 'u', "Time Shift"},
	    {2, 'u', "Time Muliplier"},
	    {3, 'u', "Time Zero"},
	    {4, 'd', "Cap Time Zero"},
	    {5, 'x', "TSC bit"},
	    {6, 'x', "NoRETComp bit"},
	    {7, 'd', "Have sched_switch"},
	    {8, 'd', "Snapshot mode"},
	    {9, 'd', "Per-cpu maps"},
	    {10, 'x', "MTC bit"},
	    {11, 'x', "MTC freq bits"},
	    {12, 'u', "TSC:CTC numerator"},
	    {13, 'u', "TSC:CTC denominator"},
	    {14, 'x', "CYC bit"},
	    {15, 'u', "Max non-turbo ratio"},
	    {16, 'u', "Filter string len."},
	};
	uint64_t length = word(info, 16), words = length ? length / 8 + 1 : 0;

	add_lines(buf, info, lines, sizeof(lines) / sizeof(lines[0]), 20);
	if (info->priv_count <= 16 || words > info->priv_count - 17)
		return;
	tally_buf_printf(buf, "  %-20s", "Filter string");
	if (words) {
		const char *filter = (const char *)(info->priv + 17);

		tally_text_add_escaped(buf, filter, strnlen(filter, words * 8));
	}
	tally_buf_byte(buf, '\n');
	if (info->priv_count > 17 + words)
		tally_buf_printf(buf, "  Cap Event Trace     %d\n", word(info, 17 + words) != 0);
}

static void add_intel_bts(struct tally_buf *buf, const struct tally_record_auxtrace_info *info)
{
	static const struct info_line lines[] = {
	    {0, 'd', "PMU Type"},  {1, 'u', "Time Shift"},    {2, 'u', "Time Muliplier"},
	    {3, 'u', "Time Zero"}, {4, 'd', "Cap Time Zero"}, {5, 'd', "Snapshot mode"},
	};

	add_lines(buf, info, lines, sizeof(lines) / sizeof(lines[0]), 19);
}

static void add_arm_spe(struct tally_buf *buf, const struct tally_record_auxtrace_info *info)
{
	static const struct info_line line = {0, 'd', "PMU Type"};

	add_lines(buf, info, &line, 1, 19);
}

/* One CPU's block: its words from *at on; false when its length is unknown. */
static bool add_etm_cpu(struct tally_buf *buf, const struct tally_record_auxtrace_info *info,
			uint64_t *at)
{
	static const char *const etm3[] = {"\tMagic number\t\t       ",  "\tCPU\t\t\t       ",
					   "\tNR_TRC_PARAMS\t\t       ", "\tETMCR\t\t\t       ",
					   "\tETMTRACEIDR\t\t       ",   "\tETMCCER\t\t\t       ",
					   "\tETMIDR\t\t\t       "};
	static const char *const etm4[] = {
	    "\tMagic number\t\t       ",        "\tCPU\t\t\t       ",
	    "\tNR_TRC_PARAMS\t\t       ",       "\tTRCCONFIGR\t\t       ",
	    "\tTRCTRACEIDR\t\t       ",         "\tTRCIDR0\t\t\t       ",
	    "\tTRCIDR1\t\t\t       ",           "\tTRCIDR2\t\t\t       ",
	    "\tTRCIDR8\t\t\t       ",           "\tTRCAUTHSTATUS\t\t       ",
	    "\tTRCDEVARCH                     "};
	uint64_t magic = word(info, *at), version = word(info, 0), count;
	bool v3 = magic == 0x3030303030303030;
	const char *const *names = v3 ? etm3 : etm4;
	size_t known = v3 ? sizeof(etm3) / sizeof(etm3[0]) : sizeof(etm4) / sizeof(etm4[0]);

	if (!v3 && magic != 0x4040404040404040 && magic != 0x5050505050505050) {
		tally_buf_printf(buf, "\tMagic number Unknown\t       %" PRIx64 "\n", magic);
		return false;
	}
	/* the first version has no count of parameters: 4 of ETMv3, 7 of ETMv4 */
	count = version ? word(info, *at + 2) : v3 ? 4 : 7;
	if (count > info->priv_count)
		return false;
	count += 3;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t value;

		if (!version && i == 2)
			continue;
		if (*at >= info->priv_count)
			return false;
		value = word(info, (*at)++);
		if (i >= known)
			tally_buf_printf(buf, "\tUnknown parameter [%d]\t       ", (int)i);
		else
			tally_buf_text(buf, names[i]);
		if (i == 1)
			buf_dec(buf, value);
		else
			buf_hex(buf, value);
		tally_buf_byte(buf, '\n');
	}
	return true;
}

static void add_cs_etm(struct tally_buf *buf, const struct tally_record_auxtrace_info *info)
{
	static const char *const names[] = {
	    "\tHeader version\t\t       ", "\tPMU type/num cpus\t       ", "\tSnapshot\t\t       "};
	uint64_t at = 0, cpus = word(info, 1) & UINT32_MAX;

	if (word(info, 0) > 1) {
		tally_buf_printf(buf, "\tUnknown Header Version = %x, Version supported <= 1\n",
				 (unsigned)word(info, 0));
		return;
	}
	for (; at < 3; at++) {
		tally_buf_text(buf, names[at]);
		buf_hex(buf, word(info, at));
		tally_buf_byte(buf, '\n');
	}
	for (uint64_t cpu = 0; cpu < cpus && at < info->priv_count; cpu++)
		if (!add_etm_cpu(buf, info, &at))
			return;
}

void tally_script_dump_auxtrace_info(struct tally_buf *buf,
				     const struct tally_record_auxtrace_info *info)
{
	if (!info->priv)
		return;
	switch (info->type) {
	case 1:
		add_intel_pt(buf, info);
		break;
	case 2:
		add_intel_bts(buf, info);
		break;
	case 3:
		add_cs_etm(buf, info);
		break;
	case 4:
		add_arm_spe(buf, info);
		break;
	default:
		break;
	}
}
