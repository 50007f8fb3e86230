/* -D: the records that the perf tool writes itself (types from 64 up).
 *
 * Of attrs, event types, build-ids, tracing data and features perf script prints only the bytes,
 * and of a `stat record` only the table; its fields are printed here as perf report does. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include "base/bytes.h"
#include "base/text.h"
#include "dump/dump_record.h"

/* CPUs in their order, ranges as FIRST-LAST. */
struct cpu_list {
	struct tally_buf *buf;
	int64_t first, last; /* of the range that is not written yet */
	bool any, comma;
};

static void end_run(struct cpu_list *list)
{
	if (!list->any)
		return;
	if (list->comma)
		tally_buf_byte(list->buf, ',');
	buf_int(list->buf, (uint32_t)list->first);
	if (list->last != list->first) {
		tally_buf_byte(list->buf, '-');
		buf_int(list->buf, (uint32_t)list->last);
	}
	list->comma = true;
}

static void add_cpu(struct cpu_list *list, int64_t cpu)
{
	if (list->any && cpu == list->last + 1) {
		list->last = cpu;
		return;
	}
	end_run(list);
	list->first = list->last = cpu;
	list->any = true;
}

static void add_cpu_map(struct tally_buf *buf, const struct tally_record_cpu_map *map)
{
	struct cpu_list list = {.buf = buf};
	unsigned bits = map->long_size == 4 ? 32 : 64;

	if (map->type == 2) {
		if (map->any_cpu)
			add_cpu(&list, -1);
		for (uint32_t cpu = map->start_cpu; cpu <= map->end_cpu; cpu++)
			add_cpu(&list, cpu);
	}
	for (size_t i = 0; map->type == 0 && map->data && i < map->nr; i++) {
		uint16_t cpu = load_u16(map->data + i * 2);

		add_cpu(&list, cpu == UINT16_MAX ? -1 : cpu);
	}
	for (size_t i = 0; map->type == 1 && map->data && i < map->nr; i++) {
		uint64_t word =
		    bits == 32 ? load_u32(map->data + i * 4) : load_u64(map->data + i * 8);

		for (; word; word &= word - 1)
			add_cpu(&list, (int64_t)(i * bits) + __builtin_ctzll(word));
	}
	end_run(&list);
	tally_buf_byte(buf, '\n');
}

/* The cpus of an EVENT_UPDATE are laid out as those of a CPU_MAP record. */
static void add_update_cpus(struct tally_buf *buf, const uint8_t *data, size_t size)
{
	static const struct tally_layout none;
	uint8_t bytes[1 << 16];
	struct tally_record record = {.bytes = bytes, .type = PERF_RECORD_CPU_MAP};
	struct perf_event_header header = {.type = PERF_RECORD_CPU_MAP};
	struct tally_body body;

	tally_buf_text(buf, "... ");
	if (size <= UINT16_MAX - sizeof(header)) {
		header.size = record.size = (uint16_t)(sizeof(header) + size);
		memcpy(bytes, &header, sizeof(header));
		if (size)
			memcpy(bytes + sizeof(header), data, size);
		body = (struct tally_body){.size = sizeof(body)};
		if (!tally_record_decode(&none, &record, &body, NULL)) {
			add_cpu_map(buf, &body.cpu_map);
			return;
		}
	}
	tally_buf_text(buf, "failed to get cpus\n");
}

static void add_update_text(struct tally_buf *buf, const char *what, const uint8_t *data,
			    size_t size)
{
	tally_buf_text(buf, what);
	if (data)
		tally_text_add_escaped(buf, (const char *)data, strnlen((const char *)data, size));
	tally_buf_byte(buf, '\n');
}

static void add_update(struct tally_buf *buf, const struct tally_record_event_update *update)
{
	double scale = 0;

	tally_buf_printf(buf, "\n... id:    %" PRIu64 "\n", update->id);
	switch (update->type) {
	case 0:
		add_update_text(buf, "... unit:  ", update->data, update->data_size);
		break;
	case 1:
		if (update->data && update->data_size >= sizeof(scale))
			memcpy(&scale, update->data, sizeof(scale));
		tally_buf_printf(buf, "... scale: %f\n", scale);
		break;
	case 2:
		add_update_text(buf, "... name:  ", update->data, update->data_size);
		break;
	case 3:
		add_update_cpus(buf, update->data, update->data_size);
		break;
	default:
		tally_buf_text(buf, "... unknown type\n");
	}
}

static void add_id_index(struct tally_buf *buf, const struct tally_record_id_index *index)
{
	const uint64_t *guest = index->guests;

	tally_buf_printf(buf, " nr: %" PRIu64 "\n", index->nr);
	for (uint64_t i = 0; index->entries && i < index->nr; i++) {
		const struct tally_id_index_entry *entry = &index->entries[i];

		tally_buf_printf(
		    buf, " ... id: %" PRIu64 "  idx: %" PRIu64 "  cpu: %" PRId64 "  tid: %" PRId64,
		    entry->id, entry->idx, (int64_t)entry->cpu, (int64_t)entry->tid);
		if (guest) {
			tally_buf_printf(buf, "  machine_pid: %" PRId64 "  vcpu: %" PRIu64,
					 (int64_t)guest[0], guest[1]);
			guest += 2;
		}
		tally_buf_byte(buf, '\n');
	}
}

static void add_auxtrace_error(struct tally_buf *buf,
			       const struct tally_record_auxtrace_error *record)
{
	tally_buf_printf(buf, " %s error type %u",
			 record->type == 1 ? "instruction trace" : "unknown AUX", record->type);
	if (record->fmt && record->time)
		tally_buf_printf(buf, " time %" PRIu64 ".%09" PRIu64, record->time / 1000000000,
				 record->time % 1000000000);
	else
		tally_buf_text(buf, " time 0");
	if (record->fmt >= 2 && record->machine_pid)
		tally_buf_printf(buf, " machine_pid %d vcpu %d", (int)record->machine_pid,
				 (int)record->vcpu);
	tally_buf_printf(buf, " cpu %d pid %d tid %d ip ", (int)record->cpu, (int)record->pid,
			 (int)record->tid);
	buf_0x(buf, record->ip);
	tally_buf_printf(buf, " code %u: ", record->code);
	if (record->msg)
		tally_text_add_escaped(buf, record->msg, strlen(record->msg));
	tally_buf_byte(buf, '\n');
}

static void add_thread_map(struct tally_buf *buf, const struct tally_record_thread_map *map)
{
	tally_buf_printf(buf, " nr: %" PRIu64 " thread%s: ", map->nr, map->nr > 1 ? "s" : "");
	for (uint64_t i = 0; map->entries && i < map->nr; i++)
		tally_buf_printf(buf, "%s%d", i ? ", " : "", (int)map->entries[i].pid);
	tally_buf_byte(buf, '\n');
}

static void add_time_conv(struct tally_buf *buf, const struct tally_record_time_conv *conv)
{
	tally_buf_printf(buf,
			 "\n... Time Shift      %" PRIu64 "\n... Time Muliplier  %" PRIu64
			 "\n... Time Zero       %" PRIu64 "\n",
			 conv->time_shift, conv->time_mult, conv->time_zero);
	if (conv->has_cycles)
		tally_buf_printf(buf,
				 "... Time Cycles     %" PRIu64 "\n... Time Mask       %#" PRIx64
				 "\n... Cap Time Zero   %d\n... Cap Time Short  %d\n",
				 conv->time_cycles, conv->time_mask, conv->cap_user_time_zero,
				 conv->cap_user_time_short);
	tally_buf_text(buf, ": unhandled!\n");
}

/* Source of tags: the perf.data format; 0 is aggr_mode, 1 interval, 2 scale. */
static void add_stat_config(struct tally_buf *buf, const struct tally_record_stat_config *config)
{
	uint64_t values[4] = {0};

	for (uint64_t i = 0; config->entries && i < config->nr; i++)
		if (config->entries[i].tag < 4)
			values[config->entries[i].tag] = config->entries[i].value;
	tally_buf_printf(buf, "\n... aggr_mode %d\n... scale     %d\n... interval  %u\n",
			 (int)values[0], (int)values[2], (unsigned)values[1]);
}

static void add_stat(struct tally_buf *buf, const struct tally_record_stat *stat)
{
	tally_buf_printf(buf,
			 "\n... id %" PRIu64 ", cpu %d, thread %d\n... value %" PRIu64
			 ", enabled %" PRIu64 ", running %" PRIu64 "\n",
			 stat->id, (int)stat->cpu, (int)stat->thread, stat->value, stat->enabled,
			 stat->running);
}

void tally_script_dump_tool(struct tally_buf *buf, const struct tally_body *body)
{
	const struct tally_record_auxtrace *auxtrace = &body->auxtrace;

	switch (body->type) {
	case PERF_RECORD_FINISHED_ROUND:
		tally_buf_byte(buf, '\n');
		break;
	case PERF_RECORD_ID_INDEX:
		add_id_index(buf, &body->id_index);
		break;
	case PERF_RECORD_AUXTRACE_INFO:
		tally_buf_printf(buf, " type: %u\n", body->auxtrace_info.type);
		tally_script_dump_auxtrace_info(buf, &body->auxtrace_info);
		break;
	case PERF_RECORD_AUXTRACE:
		tally_buf_printf(buf,
				 " size: %#" PRIx64 "  offset: %#" PRIx64 "  ref: %#" PRIx64
				 "  idx: %u  tid: %d  cpu: %d\n",
				 auxtrace->size, auxtrace->trace_offset, auxtrace->reference,
				 auxtrace->idx, (int)auxtrace->tid, (int)auxtrace->cpu);
		break;
	case PERF_RECORD_AUXTRACE_ERROR:
		add_auxtrace_error(buf, &body->auxtrace_error);
		break;
	case PERF_RECORD_THREAD_MAP:
		add_thread_map(buf, &body->thread_map);
		break;
	case PERF_RECORD_CPU_MAP:
		tally_buf_text(buf, ": ");
		add_cpu_map(buf, &body->cpu_map);
		break;
	case PERF_RECORD_STAT_CONFIG:
		add_stat_config(buf, &body->stat_config);
		break;
	case PERF_RECORD_STAT:
		add_stat(buf, &body->stat);
		break;
	case PERF_RECORD_STAT_ROUND:
		tally_buf_printf(buf, "\n... time %" PRIu64 ", type %s\n", body->stat_round.time,
				 body->stat_round.type == 1 ? "FINAL" : "INTERVAL");
		break;
	case PERF_RECORD_EVENT_UPDATE:
		add_update(buf, &body->event_update);
		break;
	case PERF_RECORD_TIME_CONV:
		add_time_conv(buf, &body->time_conv);
		break;
	case PERF_RECORD_FINISHED_INIT:
		tally_buf_text(buf, ": unhandled!\n");
		break;
	default:
		break;
	}
}
