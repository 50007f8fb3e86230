/* A name for an event without a name in the file, made from the attr as perf does.  Source of types
 * and ids: include/uapi/linux/perf_event.h. */
#include "file/data_file.h"

#include "abi/event_names.h"
#include "base/buf.h"

/* Source: the config of PERF_TYPE_HW_CACHE: id, operation << 8, result << 16. */
static void add_cache(struct tally_buf *to, uint64_t config)
{
	uint64_t id = config & 0xff, operation = config >> 8 & 0xff, result = config >> 16 & 0xff;

	if (id >= PERF_COUNT_HW_CACHE_MAX)
		tally_buf_text(to, "unknown-ext-hardware-cache-type");
	else if (operation >= PERF_COUNT_HW_CACHE_OP_MAX)
		tally_buf_text(to, "unknown-ext-hardware-cache-op");
	else if (result >= PERF_COUNT_HW_CACHE_RESULT_MAX)
		tally_buf_text(to, "unknown-ext-hardware-cache-result");
	else if (!(tally_abi_caches[id].operations >> operation & 1))
		tally_buf_text(to, "invalid-cache");
	else
		tally_buf_printf(to, "%s-%s", tally_abi_caches[id].words[0],
				 tally_abi_cache_counts[operation][result]);
}

static void add_breakpoint(struct tally_buf *to, const struct tally_attr *attr)
{
	tally_buf_printf(to, "mem:0x%llx", (unsigned long long)attr->bp_addr);
	if (attr->bp_type & 7)
		tally_buf_printf(to, ":%s%s%s", attr->bp_type & 1 ? "r" : "",
				 attr->bp_type & 2 ? "w" : "", attr->bp_type & 4 ? "x" : "");
}

/* False if the type belongs to a PMU of that machine. */
static bool add_known(struct tally_buf *to, const struct tally_attr *attr)
{
	/* Since Linux 5.13 the high half may name the PMU of a hybrid machine. */
	uint64_t config = attr->config & 0xffffffff;
	const char *name;

	switch (attr->type) {
	case PERF_TYPE_HARDWARE:
		name = tally_abi_event_name(attr->type, config);
		tally_buf_text(to, name ? name : "unknown-hardware");
		return true;
	case PERF_TYPE_SOFTWARE:
		name = tally_abi_event_name(attr->type, attr->config);
		tally_buf_text(to, name ? name : "unknown-software");
		return true;
	case PERF_TYPE_HW_CACHE:
		add_cache(to, config);
		return true;
	case PERF_TYPE_RAW:
		tally_buf_printf(to, "raw 0x%llx", (unsigned long long)attr->config);
		return true;
	case PERF_TYPE_BREAKPOINT:
		add_breakpoint(to, attr);
		return true;
	default:
		return false;
	}
}

/* As perf writes them: G and H only if they differ from the default, which without other modifiers
 * is the host alone. */
static void add_modifiers(struct tally_buf *to, const struct tally_attr *attr)
{
	bool guests_out = attr->precise_ip;
	size_t at;

	tally_buf_text(to, ":");
	at = to->size;
	if (attr->exclude_user || attr->exclude_kernel || attr->exclude_hv) {
		if (!attr->exclude_kernel)
			tally_buf_text(to, "k");
		if (!attr->exclude_user)
			tally_buf_text(to, "u");
		if (!attr->exclude_hv)
			tally_buf_text(to, "h");
		guests_out = true;
	}
	for (unsigned i = 0; i < attr->precise_ip; i++)
		tally_buf_text(to, "p");
	if (attr->exclude_host || attr->exclude_guest == guests_out) {
		if (!attr->exclude_host)
			tally_buf_text(to, "H");
		if (!attr->exclude_guest)
			tally_buf_text(to, "G");
	}
	if (!to->failed && to->size == at)
		to->size = at - 1; /* none: without the colon */
}

const char *tally_file_event_name(struct tally_arena *arena, const struct tally_attr *attr)
{
	struct tally_buf made = {0};
	const char *name = NULL;

	if (attr->type == PERF_TYPE_TRACEPOINT) /* its name is in the formats of tracepoints */
		tally_buf_printf(&made, "tracepoint:%llu", (unsigned long long)attr->config);
	else if (add_known(&made, attr))
		add_modifiers(&made, attr);
	else
		tally_buf_printf(&made, "unknown attr type: %d", (int)attr->type);
	if (!made.failed)
		name = tally_arena_strndup(arena, (const char *)made.data, made.size);
	tally_buf_done(&made);
	return name;
}
