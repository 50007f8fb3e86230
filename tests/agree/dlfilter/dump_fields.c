/* Prints every field of each sample and the answer of every function, in both callbacks: for
 * comparing hosts.  Arguments: early, late (which callbacks to print in), addr=HEX
 * (resolve_address), code=HEX. */
#include <perf/perf_dlfilter.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct perf_dlfilter_fns perf_dlfilter_fns;

static int early, late;
static unsigned long long extra;

static void print_al(const char *what, const struct perf_dlfilter_al *al)
{
	if (!al) {
		printf(" %s: NULL\n", what);
		return;
	}
	printf(" %s: symoff %x sym %s addr %llx %llx-%llx dso %s bind %u is64 %u kern %u bid %u ",
	       what, al->symoff, al->sym ? al->sym : "NULL", al->addr, al->sym_start, al->sym_end,
	       al->dso ? al->dso : "NULL", al->sym_binding, al->is_64_bit, al->is_kernel_ip,
	       al->buildid_size);
	for (unsigned i = 0; al->buildid && i < al->buildid_size; i++)
		printf("%02x", al->buildid[i]);
	printf(" %s filtered %x comm %s\n", al->buildid ? "id" : "NULL", al->filtered,
	       al->comm ? al->comm : "NULL");
}

static void print_bytes(const void *bytes, unsigned long long size)
{
	for (unsigned long long i = 0; bytes && i < size; i++)
		printf("%02x", ((const unsigned char *)bytes)[i]);
}

static void print_sample(const char *where, const struct perf_dlfilter_sample *s)
{
	printf(
	    "%s: %u ins_lat %u p_stage %u ip %llx pid %d tid %d time %llu addr %llx id %llu stream "
	    "%llu period %llu weight %llx transaction %llx insn %llu cyc %llu cpu %d flags %x "
	    "data_src %llx phys %llx dps %llx cps %llx cgroup %llu cpumode %u correlates %u misc "
	    "%x",
	    where, s->size >= 208, s->ins_lat, s->p_stage_cyc, s->ip, s->pid, s->tid, s->time,
	    s->addr, s->id, s->stream_id, s->period, s->weight, s->transaction, s->insn_cnt,
	    s->cyc_cnt, s->cpu, s->flags, s->data_src, s->phys_addr, s->data_page_size,
	    s->code_page_size, s->cgroup, s->cpumode, s->addr_correlates_sym, s->misc);
	printf(" event %s machine %d vcpu %d raw %u %s ", s->event ? s->event : "NULL",
	       s->machine_pid, s->vcpu, s->raw_size, s->raw_data ? "p" : "NULL");
	print_bytes(s->raw_data, s->raw_size);
	printf(" br %llu %s ", s->brstack_nr, s->brstack ? "p" : "NULL");
	print_bytes(s->brstack, s->brstack ? s->brstack_nr * sizeof(*s->brstack) : 0);
	printf(" chain %llu %s ", s->raw_callchain_nr, s->raw_callchain ? "p" : "NULL");
	print_bytes(s->raw_callchain, s->raw_callchain ? s->raw_callchain_nr * 8 : 0);
	printf("\n");
}

static void print_address(void *ctx, const char *what, unsigned long long address)
{
	struct perf_dlfilter_al al;
	int result;

	memset(&al, 0x5a, sizeof(al));
	al.size = 80; /* what all versions fill */
	result = perf_dlfilter_fns.resolve_address(ctx, address, &al);
	printf(" address %d size %u\n", result, al.size);
	if (!result)
		print_al(what, &al);
#ifdef HAS_CLEANUP
	if (perf_dlfilter_fns.al_cleanup)
		perf_dlfilter_fns.al_cleanup(ctx, &al);
#endif
}

static void print_code(void *ctx, const char *what, unsigned long long ip, unsigned size)
{
	unsigned char code[64];
	int got = perf_dlfilter_fns.object_code(ctx, ip, code, size);

	printf(" code %s %d ", what, got);
	print_bytes(code, got > 0 ? got : 0);
	printf("\n");
}

static void print_all(void *ctx, const struct perf_dlfilter_sample *s)
{
	__u32 length = 77, line = 77;
	const __u8 *insn;
	const char *file;
	struct perf_event_attr *attr;
	int count = 77;
	char **args;
	const struct perf_dlfilter_al *al = perf_dlfilter_fns.resolve_ip(ctx);

	print_al("ip", al);
	printf(" same %d\n", al == perf_dlfilter_fns.resolve_ip(ctx));
	print_al("addr", perf_dlfilter_fns.resolve_addr(ctx));
	args = perf_dlfilter_fns.args(ctx, &count);
	printf(" args %s %d\n", args ? "p" : "NULL", count);
	print_address(ctx, "at addr", s->addr);
	print_address(ctx, "at extra", extra);
	insn = perf_dlfilter_fns.insn(ctx, &length);
	printf(" insn %s %u ", insn ? "p" : "NULL", length);
	print_bytes(insn, length);
	file = perf_dlfilter_fns.srcline(ctx, &line);
	printf("\n srcline %s:%u\n", file ? file : "NULL", line);
	attr = perf_dlfilter_fns.attr(ctx);
	printf(" attr %u %llx %llu %llx\n", attr->type, attr->config, attr->sample_period,
	       attr->sample_type);
	print_code(ctx, "ip", s->ip, 16);
	print_code(ctx, "none", s->ip, 0);
	print_code(ctx, "extra", extra, 8);
}

int start(void **data, void *ctx)
{
	int count = 77;
	char **args = perf_dlfilter_fns.args(ctx, &count);
	__u32 length = 1, line = 1;
	struct perf_dlfilter_al al = {.size = sizeof(al)};

	for (int i = 0; i < count; i++) {
		early |= !strcmp(args[i], "early");
		late |= !strcmp(args[i], "late");
		if (!strncmp(args[i], "at=", 3))
			extra = strtoull(args[i] + 3, NULL, 16);
	}
	printf("start: data %s args %s %d ip %d addr %d address %d insn %d %u srcline %d %u attr "
	       "%d code %d\n",
	       *data ? "p" : "NULL", args ? "p" : "NULL", count, !perf_dlfilter_fns.resolve_ip(ctx),
	       !perf_dlfilter_fns.resolve_addr(ctx), perf_dlfilter_fns.resolve_address(ctx, 1, &al),
	       !perf_dlfilter_fns.insn(ctx, &length), length,
	       !perf_dlfilter_fns.srcline(ctx, &line), line, !perf_dlfilter_fns.attr(ctx),
	       perf_dlfilter_fns.object_code(ctx, 1, &al, 1));
	for (int i = 0; i < count; i++)
		printf(" arg '%s'\n", args[i]);
	*data = &early;
	return 0;
}

int filter_event_early(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	if (data != &early)
		return -9;
	if (early) {
		print_sample("early", sample);
		print_all(ctx, sample);
	}
	return 0;
}

int filter_event(void *data, const struct perf_dlfilter_sample *sample, void *ctx)
{
	if (data != &early)
		return -9;
	if (late) {
		print_sample("late", sample);
		print_all(ctx, sample);
	}
	return 0;
}

int stop(void *data, void *ctx)
{
	int count = 77;

	printf("stop: %d args %s", data == &early,
	       perf_dlfilter_fns.args(ctx, &count) ? "p" : "NULL");
	printf(" %d ip %d null %d\n", count, !perf_dlfilter_fns.resolve_ip(ctx),
	       !perf_dlfilter_fns.args(ctx, NULL));
	return 3;
}
