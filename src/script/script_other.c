/* Records other than samples: --show-*-events. */
#include <errno.h>
#include <string.h>
#include "base/digits.h"
#include "script/script_state.h"
#include "resolve/resolve.h"

unsigned tally_script_show_of(uint32_t type)
{
	switch (type) {
	case PERF_RECORD_COMM:
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return TALLY_SHOW_TASK;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return TALLY_SHOW_MMAP;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		return TALLY_SHOW_SWITCH;
	case PERF_RECORD_NAMESPACES:
		return TALLY_SHOW_NAMESPACE;
	case PERF_RECORD_CGROUP:
		return TALLY_SHOW_CGROUP;
	case PERF_RECORD_LOST:
		return TALLY_SHOW_LOST;
	case PERF_RECORD_FINISHED_ROUND:
		return TALLY_SHOW_ROUND;
	case PERF_RECORD_KSYMBOL:
		return TALLY_SHOW_BPF | TALLY_SHOW_TEXT_POKE;
	case PERF_RECORD_BPF_EVENT:
		return TALLY_SHOW_BPF;
	case PERF_RECORD_TEXT_POKE:
		return TALLY_SHOW_TEXT_POKE;
	default:
		return 0;
	}
}

struct task {
	uint32_t pid, tid;
	uint64_t time; /* of records with a field for it, else 0 */
};

/* The thread of a record. */
static struct task task_of(const struct tally_body *body, const struct tally_sample *trailer)
{
	bool has = trailer->present & PERF_SAMPLE_TID;

	switch (body->type) {
	case PERF_RECORD_COMM:
		return (struct task){body->comm.pid, body->comm.tid, 0};
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		return (struct task){body->task.pid, body->task.tid, body->task.time};
	case PERF_RECORD_MMAP:
		return (struct task){body->mmap.pid, body->mmap.tid, 0};
	case PERF_RECORD_MMAP2:
		return (struct task){body->mmap2.pid, body->mmap2.tid, 0};
	case PERF_RECORD_NAMESPACES:
		return (struct task){body->namespaces.pid, body->namespaces.tid, 0};
	default:
		return (struct task){has ? trailer->pid : UINT32_MAX,
				     has ? trailer->tid : UINT32_MAX, 0};
	}
}

static int learn(struct script *script, uint32_t tid, const char *name)
{
	bool added;
	uint64_t *place = tally_map_put(&script->names, tid, &added);

	if (!place)
		return -ENOMEM;
	*place = (uintptr_t)tally_arena_strndup(&script->arena, name, strlen(name));
	return *place ? 0 : -ENOMEM;
}

/* A thread that never had a name is called by its number, by perf as by us; a new thread has
 * that of the one that made it. */
int tally_script_names_learn(const struct script_out *out)
{
	struct script *script = out->script;
	const struct script_event *event = &script->events[out->at->event];
	const uint64_t *parent;
	struct tally_body body;
	uint64_t *place, name;
	bool added;

	body.size = sizeof(body);
	if ((out->record->type != PERF_RECORD_COMM && out->record->type != PERF_RECORD_FORK) ||
	    tally_record_decode(&event->event->layout, out->record, &body, NULL) < 0)
		return 0;
	if (out->record->type == PERF_RECORD_COMM)
		return learn(script, body.comm.tid, body.comm.comm);
	parent = tally_map_find(&script->names, body.task.ptid);
	if (!parent)
		return body.task.ptid ? 0 : learn(script, body.task.tid, "swapper");
	name = *parent; /* adding may move it */
	place = tally_map_put(&script->names, body.task.tid, &added);
	if (!place)
		return -ENOMEM;
	*place = name;
	return 0;
}

/* The name so far of a record's thread; "" is none. */
static const char *name_of(struct script *script, uint32_t tid, char room[16])
{
	const uint64_t *known;

	if (tid == UINT32_MAX)
		return ":-1";
	known = tally_map_find(&script->names, tid);
	if (known)
		return (const char *)(uintptr_t)*known;
	if (!tid)
		return "swapper";
	room[0] = ':';
	*put_dec(room + 1, tid) = 0;
	return room;
}

int tally_script_other_put(const struct script_out *out)
{
	struct script *script = out->script;
	const struct script_event *event = &script->events[out->at->event];
	struct tally_resolved shown = *out->at;
	struct script_out own = *out;
	struct tally_body body;
	struct task task;
	char name[16];

	body.size = sizeof(body);
	if (tally_record_decode(&event->event->layout, out->record, &body, NULL) < 0)
		return 0; /* counted when the processes were built */
	own.at = &shown;
	task = task_of(&body, &out->at->sample);
	if (!event->event->layout.sample_id_all) {
		shown.sample.present = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU;
		shown.sample.cpu = 0;
		shown.sample.time = task.time;
		shown.sample.pid = task.pid;
		shown.sample.tid = task.tid;
	}
	if (!tally_script_cpu_passes(&script->filter, shown.sample.present & PERF_SAMPLE_CPU
							  ? shown.sample.cpu
							  : UINT32_MAX))
		return 0;
	if (out->record->type != PERF_RECORD_FINISHED_ROUND)
		tally_script_start_put(&own, event, name_of(script, task.tid, name));
	tally_script_record(out->to, &body, NULL);
	return out->to->failed;
}

int tally_script_dump_put(const struct script_out *out)
{
	tally_script_dump_record(out->to, &out->script->dump, out->record,
				 tally_data_event_of(out->script->data, out->record));
	return out->to->failed;
}

int tally_script_dump_location(const struct script_out *out)
{
	const struct tally_resolved *sample = out->at;
	bool known =
	    sample->cpumode == PERF_RECORD_MISC_KERNEL || sample->cpumode == PERF_RECORD_MISC_USER;
	uint64_t has = sample->sample.present;
	struct tally_location at = {0};
	struct tally_labels labels = out->script->labels;
	char room[TALLY_LABEL_ROOM];

	labels.kernel_path = true; /* here perf shows the whole path in any case */
	if (known && tally_resolver_location(out->resolver, sample, sample->cpumode,
					     has & PERF_SAMPLE_IP ? sample->sample.ip : 0, &at))
		return -ENOMEM;
	tally_script_dump_place(out->to, tally_session_string(out->script->session, sample->comm),
				has & PERF_SAMPLE_TID ? sample->sample.tid : UINT32_MAX,
				at.mapped ? tally_label_of(&labels, &at, room) : NULL, !known);
	return out->to->failed;
}
