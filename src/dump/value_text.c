/* Text of a sample's single values. */
#include "dump/value_text.h"

#include <string.h>
#include "base/text.h"

/* As in perf for bpf-output: the upper half of Latin-1 is printable too. */
static bool is_print(uint8_t byte)
{
	return (byte >= 0x20 && byte < 0x7f) || byte >= 0xa0;
}

void tally_script_page_size(struct tally_buf *buf, uint64_t bytes)
{
	unsigned unit = 0;

	if (!bytes) {
		tally_buf_text(buf, " N/A");
		return;
	}
	/* perf uses a larger unit only from two of it on: 1024 bytes are 1024B */
	for (; bytes / 1024 > 1 && unit < 3; unit++)
		bytes /= 1024;
	tally_buf_byte(buf, ' ');
	buf_dec(buf, bytes);
	tally_buf_byte(buf, (uint8_t) "BKMG"[unit]);
}

void tally_script_cgroup(struct tally_buf *buf, const char *path)
{
	tally_buf_byte(buf, ' ');
	if (path)
		tally_text_add_escaped(buf, path, strlen(path));
	else
		tally_buf_text(buf, "unknown");
}

void tally_script_misc(struct tally_buf *buf, uint32_t record_type, uint16_t misc)
{
	/* the modes are numbers, but perf treats them as bits: a hypervisor's is K, U and H */
	static const struct {
		uint16_t bits;
		char letter;
	} modes[] = {{PERF_RECORD_MISC_KERNEL, 'K'},
		     {PERF_RECORD_MISC_USER, 'U'},
		     {PERF_RECORD_MISC_HYPERVISOR, 'H'},
		     {PERF_RECORD_MISC_GUEST_KERNEL, 'G'},
		     {PERF_RECORD_MISC_GUEST_USER, 'g'}};
	size_t start = buf->size, length;

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if ((misc & modes[i].bits) == modes[i].bits)
			tally_buf_byte(buf, (uint8_t)modes[i].letter);
	switch (record_type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		if (misc & PERF_RECORD_MISC_MMAP_DATA)
			tally_buf_byte(buf, 'M');
		break;
	case PERF_RECORD_COMM:
		if (misc & PERF_RECORD_MISC_COMM_EXEC)
			tally_buf_byte(buf, 'E');
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		if (!(misc & PERF_RECORD_MISC_SWITCH_OUT))
			break;
		tally_buf_byte(buf, 'S');
		if (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT)
			tally_buf_byte(buf, 'p');
		break;
	default:
		break;
	}
	length = buf->size - start;
	buf_pad(buf, ' ', length < 5 ? 6 - length : 1);
}

static const char *flow_name(uint32_t flags)
{
	static const struct {
		uint32_t flags;
		const char *name;
	} names[] = {
	    {TALLY_IP_CALL, "call"},
	    {TALLY_IP_RETURN, "return"},
	    {TALLY_IP_CONDITIONAL, "jcc"},
	    {0, "jmp"},
	    {TALLY_IP_CALL | TALLY_IP_INTERRUPT, "int"},
	    {TALLY_IP_RETURN | TALLY_IP_INTERRUPT, "iret"},
	    {TALLY_IP_CALL | TALLY_IP_SYSCALLRET, "syscall"},
	    {TALLY_IP_RETURN | TALLY_IP_SYSCALLRET, "sysret"},
	    {TALLY_IP_ASYNC, "async"},
	    {TALLY_IP_CALL | TALLY_IP_ASYNC | TALLY_IP_INTERRUPT, "hw int"},
	    {TALLY_IP_TX_ABORT, "tx abrt"},
	    {TALLY_IP_TRACE_BEGIN, "tr strt"},
	    {TALLY_IP_TRACE_END, "tr end"},
	    {TALLY_IP_CALL | TALLY_IP_VMENTRY, "vmentry"},
	    {TALLY_IP_CALL | TALLY_IP_VMEXIT, "vmexit"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (flags == (TALLY_IP_BRANCH | names[i].flags))
			return names[i].name;
	return NULL;
}

static void pad_to(struct tally_buf *buf, size_t start, size_t width)
{
	if (buf->size - start < width)
		buf_pad(buf, ' ', width - (buf->size - start));
}

/* The name of a kind of branch, with the begin or end of a trace; false: it has none. */
static bool add_flow(struct tally_buf *buf, uint32_t flags)
{
	static const struct {
		uint32_t flag;
		const char *before;
	} ends[] = {{0, ""}, {TALLY_IP_TRACE_BEGIN, "tr strt "}, {TALLY_IP_TRACE_END, "tr end  "}};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		const char *name;

		if (ends[i].flag && !(flags & ends[i].flag))
			continue;
		name = flow_name(flags & ~ends[i].flag);
		if (!name)
			continue;
		tally_buf_text(buf, ends[i].before);
		tally_buf_text(buf, name);
		return true;
	}
	return false;
}

void tally_script_flags(struct tally_buf *buf, uint32_t flags)
{
	static const char letters[] = "bcrosyiABExghDt";
	uint32_t extra = TALLY_IP_IN_TX | TALLY_IP_INTR_DISABLE | TALLY_IP_INTR_TOGGLE;
	size_t start;

	buf_pad(buf, ' ', 2);
	start = buf->size;
	if (add_flow(buf, flags & ~extra)) {
		char brackets[8];
		size_t length = 0;

		pad_to(buf, start, 15);
		if (flags & extra) {
			brackets[length++] = '(';
			if (flags & TALLY_IP_IN_TX)
				brackets[length++] = 'x';
			if (flags & TALLY_IP_INTR_DISABLE)
				brackets[length++] = 'D';
			if (flags & TALLY_IP_INTR_TOGGLE)
				brackets[length++] = 't';
			brackets[length++] = ')';
		}
		buf_pad(buf, ' ', 6 - length);
		tally_buf_add(buf, brackets, length);
	} else {
		for (unsigned bit = 0; bit < 32; bit++)
			if (flags >> bit & 1)
				tally_buf_byte(
				    buf, (uint8_t)(bit < sizeof(letters) - 1 ? letters[bit] : '?'));
	}
	pad_to(buf, start, 21);
	tally_buf_byte(buf, ' ');
}

/* Bits 20 to 23 are the type, 26 to 29 what it is extended to; source: struct perf_branch_entry and
 * PERF_BR_* of perf_event.h. */
const char *tally_script_branch_type(uint64_t flags)
{
	static const char types[][12] = {"",         "COND", "UNCOND",  "IND",    "CALL",
					 "IND_CALL", "RET",  "SYSCALL", "SYSRET", "COND_CALL",
					 "COND_RET", "ERET", "IRQ",     "SERROR", "NO_TX"};
	/* perf prints the names of its own machine for the last five; these are all others' */
	static const char *const more[] = {"FAULT_ALGN", "FAULT_DATA", "FAULT_INST", "ARCH_1",
					   "ARCH_2",     "ARCH_3",     "ARCH_4",     "ARCH_5"};
	unsigned type = flags >> 20 & 15, extended = flags >> 26 & 15;

	if (type < sizeof(types) / sizeof(types[0]))
		return types[type];
	return extended < sizeof(more) / sizeof(more[0]) ? more[extended] : "(null)";
}

void tally_script_branch_flags(struct tally_buf *buf, uint64_t flags)
{
	char text[16] = "/-/-/-/";
	const char *type;

	if (flags & 3)
		text[1] = flags & 2 ? 'P' : 'M';
	if (flags & 4)
		text[3] = 'X';
	if (flags & 8)
		text[5] = 'A';
	tally_buf_add(buf, text, 7);
	buf_dec(buf, flags >> 4 & 0xffff);
	tally_buf_byte(buf, '/');
	type = tally_script_branch_type(flags);
	if (*type)
		tally_buf_text(buf, type);
	tally_buf_byte(buf, ' ');
}

/* A string is printable bytes, one or more NULs, and nothing else. */
static bool is_string(const uint8_t *raw, size_t size)
{
	size_t length = strnlen((const char *)raw, size);

	for (size_t i = 0; i < size; i++)
		if (i < length ? !is_print(raw[i]) : raw[i])
			return false;
	return length < size;
}

void tally_script_bpf_output(struct tally_buf *buf, const uint8_t *raw, size_t size)
{
	tally_buf_byte(buf, '\n');
	if (!raw)
		return;
	for (size_t at = 0; at < size; at += 8) {
		size_t count = size - at < 8 ? size - at : 8;

		tally_buf_text(buf, at ? "                 " : "      BPF output:");
		tally_buf_byte(buf, ' ');
		buf_hex_zeros(buf, at, 4);
		tally_buf_byte(buf, ':');
		for (size_t i = 0; i < count; i++) {
			tally_buf_byte(buf, ' ');
			buf_hex_zeros(buf, raw[at + i], 2);
		}
		buf_pad(buf, ' ', (8 - count) * 3 + 2);
		for (size_t i = 0; i < count; i++)
			tally_buf_byte(buf, is_print(raw[at + i]) ? raw[at + i] : '.');
		buf_pad(buf, ' ', 8 - count);
		tally_buf_byte(buf, '\n');
	}
	if (is_string(raw, size)) {
		tally_buf_text(buf, "      BPF string: \"");
		tally_buf_text(buf, (const char *)raw);
		tally_buf_text(buf, "\"\n");
	}
}
