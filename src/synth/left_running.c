#include "synth/left_running.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <tally/abi.h>
#include "base/bytes.h"
#include "base/fs.h"
#include "base/table.h"

/* Source: include/linux/threads.h, PID_MAX_LIMIT. */
#define PID_LIMIT (1u << 22)

int tally_left_running_init(struct tally_left_running *left_running)
{
	/* Pages in which no process has a bit use no memory. */
	left_running->begun = calloc(PID_LIMIT / 64, sizeof(*left_running->begun));
	return left_running->begun ? 0 : -ENOMEM;
}

void tally_left_running_done(struct tally_left_running *left_running)
{
	free(left_running->begun);
	left_running->begun = NULL;
}

/* Source: include/uapi/linux/perf_event.h, FORK and EXIT: {u32 pid, ppid, tid, ptid; u64 time}. */
void tally_left_running_note(struct tally_left_running *left_running, const uint8_t *record,
			     size_t size)
{
	uint32_t pid, parent, tid;
	bool began;

	if (!left_running->begun || size < 24)
		return;
	began = load_u32(record) == PERF_RECORD_FORK;
	pid = load_u32(record + 8);
	parent = load_u32(record + 12);
	tid = load_u32(record + 16);
	/* Threads are skipped: they belong to their parent's process, or are not the first thread
	 * of theirs. */
	if (pid >= PID_LIMIT || (began ? pid == parent : pid != tid))
		return;
	/* Another thread may look for what runs. */
	__atomic_fetch_xor(&left_running->begun[pid / 64], 1ULL << pid % 64, __ATOMIC_RELAXED);
}

/* Source: State in proc(5)'s /proc/PID/status. */
static bool is_running(const char *root, pid_t pid)
{
	char *text, *line;
	bool running;

	if (tally_fs_readf(65536, &text, NULL, "%s/proc/%d/status", root, pid))
		return false;
	line = strstr(text, "\nState:\t");
	running = line && line[8] != 'Z' && line[8] != 'X';
	free(text);
	return running;
}

int tally_left_running_find(const struct tally_left_running *left_running, const char *root,
			    pid_t **ret, size_t *ret_count)
{
	pid_t *list = NULL;
	size_t count = 0, room = 0;

	for (uint32_t pid = 0; left_running->begun && pid < PID_LIMIT; pid++) {
		uint64_t begun = __atomic_load_n(&left_running->begun[pid / 64], __ATOMIC_RELAXED);

		if (!(pid % 64) && !begun) {
			pid += 63;
			continue;
		}
		if (!(begun >> pid % 64 & 1) || !is_running(root, (pid_t)pid))
			continue;
		if (!array_next(&list, &room, count, 16, sizeof(*list))) {
			free(list);
			return -ENOMEM;
		}
		list[count++] = (pid_t)pid;
	}
	*ret = list;
	*ret_count = count;
	return 0;
}
