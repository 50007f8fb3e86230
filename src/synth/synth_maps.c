/* The maps of a process, from procfs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <tally/abi.h>
#include "process/map_line.h"
#include "synth/synth.h"

#define MAPS_MOST (256u << 20) /* for /proc/PID/maps: more is not read */
#define PIECE     (64u << 10)
#define NS_PER_MS 1000000LL

static int64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000LL + now.tv_nsec;
}

static int add_map(const struct tally_synth *synth, pid_t pid, const struct map_line *map,
		   uint16_t more_misc, struct tally_buf *to)
{
	/* perf's name for memory without a file. */
	bool anonymous = !*map->path || !strncmp(map->path, "/anon_hugepage", 14);
	uint32_t prot = (map->read ? PROT_READ : 0u) | (map->write ? PROT_WRITE : 0u) |
			(map->exec ? PROT_EXEC : 0u);
	struct tally_body body = {
	    .size = sizeof(body),
	    .type = PERF_RECORD_MMAP2,
	    .misc = (uint16_t)(PERF_RECORD_MISC_USER | more_misc |
			       (map->exec ? 0 : PERF_RECORD_MISC_MMAP_DATA)),
	    .mmap2 =
		{
		    .pid = (uint32_t)pid,
		    .tid = (uint32_t)pid,
		    .addr = map->start,
		    .len = map->end - map->start,
		    .pgoff = map->pgoff,
		    .maj = map->maj,
		    .min = map->min,
		    .ino = map->ino,
		    .prot = prot,
		    .flags = map->shared ? MAP_SHARED : MAP_PRIVATE,
		    .filename = anonymous ? "//anon" : map->path,
		},
	};
	int result = 0;

	if (anonymous && map->exec)
		result = tally_build_ids_add_memory(synth->build_ids, (uint32_t)pid,
						    body.mmap2.filename);
	if (result)
		return result;
	if (map->exec && !anonymous && map->ino && map->path[0] == '/') {
		struct tally_mapped_file file = {synth->root, pid,      map->path,
						 map->maj,    map->min, map->ino};

		result = tally_build_ids_read(synth->build_ids, &file, body.mmap2.build_id,
					      &body.mmap2.build_id_size);
		if (result)
			return result;
		if (body.mmap2.build_id_size) {
			body.misc |= PERF_RECORD_MISC_MMAP_BUILD_ID;
			result = tally_build_ids_map(synth->build_ids, pid, map->path, 0,
						     body.mmap2.build_id, body.mmap2.build_id_size);
			if (result)
				return result;
		}
	}
	return tally_synth_add(synth, &body, to);
}

/* Reads maps until their end or the time limit; *ret_cut: the limit came first. */
static int read_maps(const struct tally_synth *synth, pid_t pid, struct tally_buf *to,
		     bool *ret_cut)
{
	int64_t until = now_ns() + (int64_t)synth->maps_timeout_ms * NS_PER_MS;
	char path[PATH_MAX];
	ssize_t got = 1;
	int fd;

	*ret_cut = false;
	snprintf(path, sizeof(path), "%s/proc/%d/maps", synth->root, pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (got > 0 && to->size < MAPS_MOST) {
		if (tally_buf_reserve(to, PIECE))
			break;
		got = read(fd, to->data + to->size, PIECE);
		to->size += got > 0 ? (size_t)got : 0;
		if (got > 0 && synth->maps_timeout_ms && now_ns() >= until) {
			*ret_cut = true;
			break;
		}
	}
	close(fd);
	return to->failed;
}

static bool is_wanted(const struct tally_synth *synth, const struct map_line *map)
{
	return map->exec || (synth->data_maps && map->read);
}

int tally_synth_maps(const struct tally_synth *synth, pid_t pid, struct tally_buf *to)
{
	struct tally_buf text = {0};
	bool cut;
	char *line, *end;
	int result = read_maps(synth, pid, &text, &cut);

	if (result || !text.size) {
		tally_buf_done(&text);
		return result == -ENOMEM ? result
					 : 0; /* it has ended, or this user may not read it */
	}
	line = (char *)(uintptr_t)tally_buf_str(&text);
	for (; *line && !result; line = end) {
		struct map_line map = {0};
		bool last;

		end = strchrnul(line, '\n');
		if (*end)
			*end++ = 0;
		else if (cut)
			break; /* a part of a line */
		last = cut && !strchr(end, '\n');
		/* With the limit's mark on the last one: readers know that maps are missing. */
		if (tally_map_line_parse(line, &map) && (is_wanted(synth, &map) || last))
			result = add_map(synth, pid, &map,
					 last ? PERF_RECORD_MISC_PROC_MAP_PARSE_TIMEOUT : 0, to);
	}
	if (!result)
		result = text.failed;
	tally_buf_done(&text);
	return result;
}
