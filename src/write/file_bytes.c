#include "write/file_bytes.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <unistd.h>
#include <tally/data.h>
#include <tally/record.h>
#include "base/fs.h"

/* The reader of a stream may have made the pipe non-blocking. */
static bool wait_for_room(int fd, int code)
{
	struct pollfd item = {.fd = fd, .events = POLLOUT};

	return code == EINTR || (code == EAGAIN && poll(&item, 1, -1) >= 0);
}

static ssize_t write_some(int fd, const struct iovec *iov, int count, size_t inside, uint64_t at)
{
	const struct iovec rest = {.iov_base = (uint8_t *)iov->iov_base + inside,
				   .iov_len = iov->iov_len - inside};

	if (inside) {
		iov = &rest;
		count = 1;
	}
	if (count > IOV_MAX)
		count = IOV_MAX;
	return at == TALLY_FILE_BEHIND ? writev(fd, iov, count)
				       : pwritev(fd, iov, count, (off_t)at);
}

int tally_file_write_all(int fd, const struct iovec *iov, int count, uint64_t at,
			 uint64_t *ret_wrote)
{
	uint64_t wrote = 0;
	size_t inside = 0; /* bytes of iov[0] that are already written */
	int code = 0;

	while (count) {
		ssize_t got;

		if (inside == iov->iov_len) {
			iov++;
			count--;
			inside = 0;
			continue;
		}
		got = write_some(fd, iov, count, inside, at == TALLY_FILE_BEHIND ? at : at + wrote);
		if (got < 0 && wait_for_room(fd, errno))
			continue;
		if (got <= 0) {
			code = got ? -errno : -EIO;
			break;
		}
		wrote += (uint64_t)got;
		inside += (size_t)got;
		while (count && inside >= iov->iov_len) {
			inside -= iov->iov_len;
			iov++;
			count--;
		}
	}
	*ret_wrote = wrote;
	return code;
}

uint64_t tally_file_whole_records(int fd, uint64_t at, uint64_t wrote)
{
	uint64_t whole = 0;

	while (wrote - whole >= sizeof(struct perf_event_header)) {
		uint64_t words[2] = {0}; /* header, and the size of bytes that may follow it */
		struct perf_event_header *header = (void *)words;
		struct tally_record record = {.bytes = (const uint8_t *)words};
		ssize_t got = pread(fd, words, sizeof(words), (off_t)(at + whole));
		uint64_t extent;

		if (got < (ssize_t)sizeof(*header))
			break;
		record.type = header->type;
		record.size = header->size;
		extent = tally_record_extent(&record);
		if (header->size < sizeof(*header) || extent > wrote - whole)
			break;
		whole += extent;
	}
	return whole;
}

int tally_file_move_down(int fd, uint64_t from, uint64_t to, uint64_t size)
{
	uint8_t room[16384];

	while (size) {
		ssize_t got =
		    pread(fd, room, size < sizeof(room) ? size : sizeof(room), (off_t)from);
		int code;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EIO;
		code = tally_fs_write_at(fd, room, (size_t)got, to);
		if (code)
			return code;
		from += (uint64_t)got;
		to += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return 0;
}
