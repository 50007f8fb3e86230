/* Records other than samples, as --show-*-events and -D print them. */
#include <string.h>
#include <sys/mman.h>
#include "base/text.h"
#include "dump/value_text.h"

static void add_name(struct tally_buf *buf, const char *name)
{
	if (name)
		tally_text_add_escaped(buf, name, strlen(name));
}

/* " PID/TID" */
static void add_ids(struct tally_buf *buf, uint32_t pid, uint32_t tid)
{
	buf_int(buf, pid);
	tally_buf_byte(buf, '/');
	buf_int(buf, tid);
}

static void add_comm(struct tally_buf *buf, const struct tally_body *body)
{
	tally_buf_text(buf, body->misc & PERF_RECORD_MISC_COMM_EXEC ? " exec: " : ": ");
	add_name(buf, body->comm.comm);
	tally_buf_byte(buf, ':');
	add_ids(buf, body->comm.pid, body->comm.tid);
}

static void add_task(struct tally_buf *buf, const struct tally_record_task *task)
{
	const uint32_t ids[] = {task->pid, task->tid, task->ppid, task->ptid};
	static const char *const before[] = {"(", ":", "):(", ":"};

	for (size_t i = 0; i < 4; i++) {
		tally_buf_text(buf, before[i]);
		buf_int(buf, ids[i]);
	}
	tally_buf_byte(buf, ')');
}

/* " PID/TID: [START(LENGTH) @ OFFSET" */
static void add_range(struct tally_buf *buf, uint32_t pid, uint32_t tid, uint64_t addr,
		      uint64_t len, uint64_t pgoff)
{
	tally_buf_byte(buf, ' ');
	add_ids(buf, pid, tid);
	tally_buf_text(buf, ": [");
	buf_0x(buf, addr);
	tally_buf_byte(buf, '(');
	buf_0x(buf, len);
	tally_buf_text(buf, ") @ ");
	buf_0x(buf, pgoff);
}

static void add_mmap(struct tally_buf *buf, const struct tally_body *body)
{
	const struct tally_record_mmap *mmap = &body->mmap;

	add_range(buf, mmap->pid, mmap->tid, mmap->addr, mmap->len, mmap->pgoff);
	tally_buf_text(buf, body->misc & PERF_RECORD_MISC_MMAP_DATA ? "]: r " : "]: x ");
	add_name(buf, mmap->filename);
}

static void add_mmap2(struct tally_buf *buf, const struct tally_body *body)
{
	const struct tally_record_mmap2 *mmap = &body->mmap2;
	char rights[] = "]: ---p ";

	add_range(buf, mmap->pid, mmap->tid, mmap->addr, mmap->len, mmap->pgoff);
	tally_buf_byte(buf, ' ');
	if (body->misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
		size_t size = mmap->build_id_size <= sizeof(mmap->build_id)
				  ? mmap->build_id_size
				  : sizeof(mmap->build_id);

		tally_buf_byte(buf, '<');
		for (size_t i = 0; i < size; i++)
			buf_hex_zeros(buf, mmap->build_id[i], 2);
		tally_buf_byte(buf, '>');
	} else {
		buf_hex_zeros(buf, mmap->maj, 2);
		tally_buf_byte(buf, ':');
		buf_hex_zeros(buf, mmap->min, 2);
		tally_buf_byte(buf, ' ');
		buf_dec(buf, mmap->ino);
		tally_buf_byte(buf, ' ');
		buf_dec(buf, mmap->ino_generation);
	}
	if (mmap->prot & PROT_READ)
		rights[3] = 'r';
	if (mmap->prot & PROT_WRITE)
		rights[4] = 'w';
	if (mmap->prot & PROT_EXEC)
		rights[5] = 'x';
	if (mmap->flags & MAP_SHARED)
		rights[6] = 's';
	tally_buf_text(buf, rights);
	add_name(buf, mmap->filename);
}

static void add_namespaces(struct tally_buf *buf, const struct tally_record_namespaces *record)
{
	static const char *const names[] = {"net", "uts", "ipc", "pid", "user", "mnt", "cgroup"};
	uint64_t count = record->link_info ? record->nr_namespaces : 0;

	tally_buf_byte(buf, ' ');
	add_ids(buf, record->pid, record->tid);
	tally_buf_text(buf, " - nr_namespaces: ");
	buf_dec(buf, record->nr_namespaces);
	tally_buf_text(buf, "\n\t\t[");
	for (uint64_t i = 0; i < count; i++) {
		if (i)
			tally_buf_text(buf, i % 4 ? ", " : ", \n\t\t ");
		buf_dec(buf, i);
		tally_buf_byte(buf, '/');
		tally_buf_text(buf, i < sizeof(names) / sizeof(names[0]) ? names[i] : "UNKNOWN");
		tally_buf_text(buf, ": ");
		buf_dec(buf, record->link_info[i].dev);
		tally_buf_byte(buf, '/');
		buf_0x(buf, record->link_info[i].ino);
	}
	if (count)
		tally_buf_text(buf, "]\n");
}

static void add_cgroup(struct tally_buf *buf, const struct tally_record_cgroup *cgroup)
{
	tally_buf_text(buf, " cgroup: ");
	buf_dec(buf, cgroup->id);
	tally_buf_byte(buf, ' ');
	add_name(buf, cgroup->path);
}

static void add_aux(struct tally_buf *buf, const struct tally_record_aux *aux)
{
	tally_buf_text(buf, " offset: ");
	buf_0x(buf, aux->aux_offset);
	tally_buf_text(buf, " size: ");
	buf_0x(buf, aux->aux_size);
	tally_buf_text(buf, " flags: ");
	buf_0x(buf, aux->flags);
	tally_buf_text(buf, " [");
	if (aux->flags & PERF_AUX_FLAG_TRUNCATED)
		tally_buf_byte(buf, 'T');
	if (aux->flags & PERF_AUX_FLAG_OVERWRITE)
		tally_buf_byte(buf, 'O');
	if (aux->flags & PERF_AUX_FLAG_PARTIAL)
		tally_buf_byte(buf, 'P');
	tally_buf_byte(buf, ']');
}

/* printf's %5d; -1 is a process outside of this namespace */
static void add_right(struct tally_buf *buf, uint32_t value, size_t width)
{
	uint32_t size = value > INT32_MAX ? 0 - value : value;
	size_t length = digits_dec_length(size) + (value > INT32_MAX);

	if (length < width)
		buf_pad(buf, ' ', width - length);
	buf_int(buf, value);
}

static void add_switch(struct tally_buf *buf, const struct tally_body *body)
{
	bool out = body->misc & PERF_RECORD_MISC_SWITCH_OUT;
	uint32_t pid = body->switch_cpu_wide.next_prev_pid;
	uint32_t tid = body->switch_cpu_wide.next_prev_tid;
	size_t start;

	tally_buf_text(buf, !out                                               ? " IN         "
			    : body->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? " OUT preempt"
									       : " OUT        ");
	if (body->type == PERF_RECORD_SWITCH)
		return;
	tally_buf_text(buf, out ? "  next pid/tid: " : "  prev pid/tid: ");
	add_right(buf, pid, 5);
	tally_buf_byte(buf, '/');
	start = buf->size;
	buf_int(buf, tid);
	if (buf->size - start < 5)
		buf_pad(buf, ' ', 5 - (buf->size - start));
}

static void add_ksymbol(struct tally_buf *buf, const struct tally_record_ksymbol *ksymbol)
{
	tally_buf_text(buf, " addr ");
	buf_hex(buf, ksymbol->addr);
	tally_buf_text(buf, " len ");
	buf_dec(buf, ksymbol->len);
	tally_buf_text(buf, " type ");
	buf_dec(buf, ksymbol->ksym_type);
	tally_buf_text(buf, " flags 0x");
	buf_hex(buf, ksymbol->flags);
	tally_buf_text(buf, " name ");
	add_name(buf, ksymbol->name);
}

static void add_bpf(struct tally_buf *buf, const struct tally_record_bpf_event *bpf)
{
	tally_buf_text(buf, " type ");
	buf_dec(buf, bpf->type);
	tally_buf_text(buf, ", flags ");
	buf_dec(buf, bpf->flags);
	tally_buf_text(buf, ", id ");
	buf_dec(buf, bpf->id);
}

static void add_bytes(struct tally_buf *buf, const char *before, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (i % 16 == 0) {
			tally_buf_byte(buf, '\n');
			tally_buf_text(buf, before);
		}
		tally_buf_byte(buf, ' ');
		buf_hex_zeros(buf, bytes[i], 2);
	}
}

static void add_text_poke(struct tally_buf *buf, const struct tally_record_text_poke *poke,
			  const char *symbol)
{
	tally_buf_byte(buf, ' ');
	buf_hex(buf, poke->addr);
	tally_buf_byte(buf, ' ');
	add_name(buf, symbol);
	tally_buf_text(buf, " old len ");
	buf_dec(buf, poke->old_len);
	tally_buf_text(buf, " new len ");
	buf_dec(buf, poke->new_len);
	if (!poke->bytes)
		return;
	add_bytes(buf, "            Old bytes:", poke->bytes, poke->old_len);
	add_bytes(buf, "            New bytes:", poke->bytes + poke->old_len, poke->new_len);
}

const char *tally_script_record_name(uint32_t type)
{
	static const char header[] = "HEADER_";
	const char *name = type ? tally_record_type_name(type) : "TOTAL";

	if (!name)
		return type > PERF_RECORD_FINISHED_INIT ? "INVALID" : "UNKNOWN";
	return strncmp(name, header, sizeof(header) - 1) ? name : name + sizeof(header) - 1;
}

void tally_script_record_tail(struct tally_buf *buf, const struct tally_body *body,
			      const char *symbol)
{
	switch (body->type) {
	case PERF_RECORD_COMM:
		add_comm(buf, body);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		add_task(buf, &body->task);
		break;
	case PERF_RECORD_MMAP:
		add_mmap(buf, body);
		break;
	case PERF_RECORD_MMAP2:
		add_mmap2(buf, body);
		break;
	case PERF_RECORD_NAMESPACES:
		add_namespaces(buf, &body->namespaces);
		return;
	case PERF_RECORD_CGROUP:
		add_cgroup(buf, &body->cgroup);
		break;
	case PERF_RECORD_AUX:
		add_aux(buf, &body->aux);
		break;
	case PERF_RECORD_ITRACE_START:
		tally_buf_text(buf, " pid: ");
		buf_dec(buf, body->itrace_start.pid);
		tally_buf_text(buf, " tid: ");
		buf_dec(buf, body->itrace_start.tid);
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		add_switch(buf, body);
		break;
	case PERF_RECORD_LOST:
		tally_buf_text(buf, " lost ");
		buf_dec(buf, body->lost.lost);
		break;
	case PERF_RECORD_KSYMBOL:
		add_ksymbol(buf, &body->ksymbol);
		break;
	case PERF_RECORD_BPF_EVENT:
		add_bpf(buf, &body->bpf_event);
		break;
	case PERF_RECORD_TEXT_POKE:
		add_text_poke(buf, &body->text_poke, symbol);
		break;
	case PERF_RECORD_AUX_OUTPUT_HW_ID:
		tally_buf_text(buf, " hw_id: ");
		buf_0x(buf, body->aux_output_hw_id.hw_id);
		break;
	default:
		break;
	}
	tally_buf_byte(buf, '\n');
}

void tally_script_record(struct tally_buf *buf, const struct tally_body *body, const char *symbol)
{
	tally_buf_text(buf, "PERF_RECORD_");
	tally_buf_text(buf, tally_script_record_name(body->type));
	tally_script_record_tail(buf, body, symbol);
}
