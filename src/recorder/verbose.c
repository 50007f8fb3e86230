#include "recorder/verbose.h"

#include <limits.h>
#include <string.h>
#include <sys/param.h>
#include <sys/resource.h>
#include <unistd.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "wire/dump.h"

/* "sample_period=1\nflags=...\n" in one line. */
static void add_attr(struct tally_buf *to, const struct tally_attr *attr)
{
	size_t from = to->size;

	tally_attr_dump(attr, to);
	for (size_t i = from; i < to->size && !to->failed; i++)
		if (to->data[i] == '\n')
			to->data[i] = i + 1 < to->size ? ' ' : 0;
	if (!to->failed && to->size > from && !to->data[to->size - 1])
		to->size--;
}

static void send_event(const struct tally_notice *notice, const struct tally_planned *event)
{
	struct tally_buf text = {0};
	bool any = false;

	tally_buf_printf(&text, "%s: ", event->name);
	add_attr(&text, &event->attr);
	if (event->precise_asked)
		tally_buf_printf(&text, "; precise_ip %u, %u was asked for",
				 (unsigned)event->attr.precise_ip, event->precise_asked);
	for (uint32_t bit = 1; bit && bit <= event->given_up; bit <<= 1)
		if (event->given_up & bit && tally_relaxed_name(bit)) {
			tally_buf_printf(&text, "%s%s",
					 any ? ", " : "; given up: ", tally_relaxed_name(bit));
			any = true;
		}
	tally_buf_printf(&text, "; open %zu time%s", event->id_count,
			 event->id_count == 1 ? "" : "s");
	if (!text.failed)
		tally_notice_send(notice, "%s", tally_buf_str(&text));
	tally_buf_done(&text);
}

static void add_bytes(struct tally_buf *to, uint64_t bytes)
{
	if (bytes == RLIM_INFINITY || bytes >= 1ULL << 50)
		tally_buf_printf(to, "unlimited");
	else if (bytes < 1ULL << 20)
		tally_buf_printf(to, "%llu KiB", (unsigned long long)bytes >> 10);
	else
		tally_buf_printf(to, "%llu MiB", (unsigned long long)bytes >> 20);
}

static void send_limits(const struct tally_notice *notice, const struct tally_limits *limits)
{
	const struct {
		bool has;
		const char *name;
	} rights[] = {
	    {limits->perfmon, "CAP_PERFMON"},       {limits->sys_admin, "CAP_SYS_ADMIN"},
	    {limits->ipc_lock, "CAP_IPC_LOCK"},     {limits->syslog, "CAP_SYSLOG"},
	    {limits->sys_ptrace, "CAP_SYS_PTRACE"},
	};
	struct tally_buf text = {0};
	bool any = false;

	if (limits->paranoid == INT_MIN)
		tally_buf_printf(&text, "limits: no kernel.perf_event_paranoid");
	else
		tally_buf_printf(&text, "limits: kernel.perf_event_paranoid %d", limits->paranoid);
	tally_buf_printf(&text,
			 ", kptr_restrict %d, perf_event_mlock_kb %lld a CPU, "
			 "perf_event_max_sample_rate %lld Hz, perf_event_max_stack %lld; "
			 "RLIMIT_MEMLOCK ",
			 limits->kptr_restrict, (long long)limits->mlock_kb,
			 (long long)limits->max_sample_rate, (long long)limits->max_stack);
	add_bytes(&text, limits->memlock);
	tally_buf_printf(&text, ", RLIMIT_NOFILE %llu (up to %llu); capabilities: ",
			 (unsigned long long)limits->nofile,
			 (unsigned long long)limits->nofile_hard);
	for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++)
		if (rights[i].has) {
			tally_buf_printf(&text, "%s%s", any ? ", " : "", rights[i].name);
			any = true;
		}
	if (!any)
		tally_buf_printf(&text, "none");
	if (!text.failed)
		tally_notice_send(notice, "%s", tally_buf_str(&text));
	tally_buf_done(&text);
}

/* All rings of a kind have one size, unless the limits made some smaller. */
static void send_rings(const struct tally_notice *notice, const struct tally_openset *set)
{
	static const char *const names[TALLY_RING_KINDS] = {"samples", "side-band"};
	struct tally_ring *const *off_cpu = set->off_cpu;
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct tally_buf text = {0};

	if (set->targets->per_thread)
		tally_buf_printf(&text, "rings of each thread for ");
	else
		tally_buf_printf(&text, "rings on %zu CPU%s for ", set->targets->cpu_count,
				 set->targets->cpu_count == 1 ? "" : "s");
	if (set->targets->system_wide)
		tally_buf_printf(&text, "all that runs there:");
	else
		tally_buf_printf(&text, "%zu thread%s:", set->threads_open,
				 set->threads_open == 1 ? "" : "s");
	for (size_t kind = 0; kind < TALLY_RING_KINDS; kind++) {
		size_t least = SIZE_MAX, most = 0;

		for (size_t i = kind; i < set->ring_count; i += TALLY_RING_KINDS)
			if (set->rings[i]) {
				least = MIN(least, tally_ring_pages(set->rings[i]));
				most = MAX(most, tally_ring_pages(set->rings[i]));
			}
		if (!most)
			continue;
		tally_buf_printf(&text, "%s ", kind ? "," : "");
		add_bytes(&text, most * page);
		if (least != most) {
			tally_buf_printf(&text, " down to ");
			add_bytes(&text, least * page);
		}
		tally_buf_printf(&text, " of %s each", names[kind]);
	}
	if (set->targets->cpu_count && off_cpu[0]) {
		tally_buf_printf(&text, ", ");
		add_bytes(&text, tally_ring_pages(off_cpu[0]) * page);
		tally_buf_printf(&text, " of context switches each");
	}
	if (!text.failed)
		tally_notice_send(notice, "%s", tally_buf_str(&text));
	tally_buf_done(&text);
}

void tally_verbose_opened(const struct tally_notice *notice, const struct tally_limits *limits,
			  const struct tally_openset *set)
{
	send_limits(notice, limits);
	for (size_t i = 0; i < set->plan->count; i++)
		send_event(notice, &set->plan->events[i]);
	send_rings(notice, set);
}

void tally_verbose_described(const struct tally_notice *notice, const struct tally_buf *records)
{
	size_t processes = 0, threads = 0, maps = 0;

	for (size_t at = 0; at + sizeof(struct perf_event_header) <= records->size;) {
		struct perf_event_header header;

		memcpy(&header, records->data + at, sizeof(header));
		if (header.size < sizeof(header) || header.size > records->size - at)
			break;
		/* Source: include/uapi/linux/perf_event.h, COMM: {u32 pid, tid; char comm[]}. */
		if (header.type == PERF_RECORD_COMM && header.size >= 16) {
			threads++;
			processes +=
			    load_u32(records->data + at + 8) == load_u32(records->data + at + 12);
		}
		maps += header.type == PERF_RECORD_MMAP2;
		at += header.size;
	}
	tally_notice_send(notice, "found running: %zu process%s, %zu thread%s and %zu map%s",
			  processes, processes == 1 ? "" : "es", threads, threads == 1 ? "" : "s",
			  maps, maps == 1 ? "" : "s");
}

void tally_verbose_drained(const struct tally_notice *notice, const struct tally_drain *drain)
{
	const struct tally_walk_counts *counts = &drain->walk.counts;
	struct tally_buf text = {0};

	if (drain->shared)
		tally_notice_send(notice,
				  "rings read in %llu passes, %llu of them by up to %u threads",
				  (unsigned long long)drain->passes,
				  (unsigned long long)drain->shared, drain->workers_widest);
	else
		tally_notice_send(notice, "rings read in %llu pass%s by one thread",
				  (unsigned long long)drain->passes,
				  drain->passes == 1 ? "" : "es");
	tally_buf_printf(&text, "records taken: %llu", (unsigned long long)counts->records);
	for (uint32_t type = 0; type < TALLY_WALK_TYPES; type++) {
		const char *name = type ? tally_record_type_name(type) : NULL;

		if (!counts->types[type])
			continue;
		tally_buf_printf(&text, ", %llu ", (unsigned long long)counts->types[type]);
		if (name)
			tally_buf_printf(&text, "%s", name);
		else
			tally_buf_printf(&text, "of type %u", type);
	}
	if (counts->bad_bytes)
		tally_buf_printf(&text, "; %llu bytes skipped, which are no valid records",
				 (unsigned long long)counts->bad_bytes);
	if (!text.failed)
		tally_notice_send(notice, "%s", tally_buf_str(&text));
	tally_buf_done(&text);
}
