/* The machine's name, kernel, processor and memory.  Sources: proc(5); the "model name" and its
 * like of /proc/cpuinfo by architecture; MIDR_EL1 in
 * Documentation/arch/arm64/cpu-feature-registers.rst. */
#include "write/writer.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include "base/fs.h"
#include "base/text.h"
#include "write/sysfs.h"

#define PROC_LIMIT (16U << 20) /* cpuinfo of thousands of CPUs */

/* For the real machine uname(2) has values that the procfs of an older kernel lacks. */
static void add_line(const struct file_facts *facts, const char *file, const char *fallback,
		     struct tally_buf *to)
{
	char *line = tally_file_line("%s/proc/sys/kernel/%s", facts->root, file);

	if (line && *line)
		tally_file_add_string(to, line);
	else if (!*facts->root)
		tally_file_add_string(to, fallback);
	free(line);
}

void tally_file_write_hostname(const struct file_facts *facts, struct tally_buf *to)
{
	struct utsname name = {0};
	size_t at = to->size;

	uname(&name);
	add_line(facts, "hostname", name.nodename, to);
	/* perf finds the byte order by this section, so it is always written. */
	if (to->size == at)
		tally_file_add_string(to, "");
}

void tally_file_write_osrelease(const struct file_facts *facts, struct tally_buf *to)
{
	struct utsname name = {0};

	uname(&name);
	add_line(facts, "osrelease", name.release, to);
}

void tally_file_write_arch(const struct file_facts *facts, struct tally_buf *to)
{
	struct utsname name = {0};

	uname(&name);
	add_line(facts, "arch", name.machine, to);
}

void tally_file_write_nrcpus(const struct file_facts *facts, struct tally_buf *to)
{
	uint32_t available, online;

	tally_file_cpus(facts->root, &available, &online);
	if (!available || !online)
		return;
	tally_buf_u32(to, available);
	tally_buf_u32(to, online);
}

static char *read_cpuinfo(const struct file_facts *facts)
{
	char *text;

	return tally_fs_readf(PROC_LIMIT, &text, NULL, "%s/proc/cpuinfo", facts->root) ? NULL
										       : text;
}

/* Runs of blanks become one. */
static void squeeze(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (!isspace((unsigned char)*from) || (to > text && to[-1] != ' '))
			*to++ = isspace((unsigned char)*from) ? ' ' : *from;
	*to = 0;
}

void tally_file_write_cpudesc(const struct file_facts *facts, struct tally_buf *to)
{
	/* x86, arm and others; LoongArch; arm before 3.8; MIPS; SH; PowerPC, SPARC; RISC-V; s390 */
	static const char *const keys[] = {"model name", "Model Name", "Processor", "cpu model",
					   "cpu type",   "cpu",        "uarch",     "vendor_id"};
	char *text = read_cpuinfo(facts), *value = NULL;

	for (size_t i = 0; text && !value && i < sizeof(keys) / sizeof(*keys); i++)
		value = tally_file_value(text, keys[i]);
	if (value) {
		squeeze(value);
		tally_file_add_string(to, value);
	}
	free(value);
	free(text);
}

/* "vendor,family,model,stepping" as perf writes it for x86; MIDR of the first CPU for arm64. */
void tally_file_write_cpuid(const struct file_facts *facts, struct tally_buf *to)
{
	static const char *const keys[] = {"vendor_id", "cpu family", "model", "stepping"};
	char *text = read_cpuinfo(facts), *values[4] = {0}, *midr;
	struct tally_buf made = {0};
	bool all = text != NULL;

	for (size_t i = 0; text && i < 4; i++) {
		values[i] = tally_file_value(text, keys[i]);
		all = all && values[i];
	}
	midr = all ? NULL
		   : tally_file_line("%s/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
				     facts->root);
	if (all)
		tally_buf_printf(&made, "%s,%s,%s,%s", values[0], values[1], values[2], values[3]);
	else if (midr)
		tally_buf_text(&made, midr);
	if (made.size && !made.failed)
		tally_file_add_string(to, tally_buf_str(&made));
	tally_buf_done(&made);
	for (size_t i = 0; i < 4; i++)
		free(values[i]);
	free(midr);
	free(text);
}

void tally_file_write_total_mem(const struct file_facts *facts, struct tally_buf *to)
{
	char *text, *value, *end;
	unsigned long long kb;

	if (tally_fs_readf(PROC_LIMIT, &text, NULL, "%s/proc/meminfo", facts->root))
		return;
	value = tally_file_value(text, "MemTotal");
	if (value) {
		kb = strtoull(value, &end, 10);
		if (end != value)
			tally_buf_u64(to, kb);
	}
	free(value);
	free(text);
}
