/* Recordings cut at many places and with many wrong bytes, each through everything that reads them.
 *
 * A recording is copied into memory and damaged there, so that a round costs no file.  What must
 * hold: no crash (the signal names the input), no hang (an alarm does), an error has words, and
 * what stands whole in front of a cut is read.
 * Usage: damage [--cuts N] [--flips N] [--seed N] [--made] [FILE...]
 *        damage --write FOLDER: the recordings that --made damages */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <tally/data.h>
#include <tally/evlist.h>
#include <tally/header.h>
#include <tally/merge.h>
#include <tally/profile.h>
#include <tally/repair.h>
#include <tally/report.h>
#include <tally/script.h>
#include <tally/session.h>
#include <tally/summary.h>
#include "made.h"

/* --- what is going on, for when it goes wrong --- */

static char now[512]; /* the input in words; the handler has no other way to know it */
static bool failed;

static void on_end(int signal)
{
	static const char hang[] = "damage: HANGS: ", crash[] = "damage: CRASHES: ";
	const char *what = signal == SIGALRM ? hang : crash;

	if (write(STDERR_FILENO, what, strlen(what)) < 0 ||
	    write(STDERR_FILENO, now, strlen(now)) < 0 || write(STDERR_FILENO, "\n", 1) < 0)
		_exit(3);
	if (signal == SIGALRM)
		_exit(3);
	raise(signal); /* the action was for once only: now it ends, with a core or a report */
}

static void catch_ends(void)
{
	static const int signals[] = {SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGALRM};
	struct sigaction action = {.sa_handler = on_end, .sa_flags = (int)SA_RESETHAND};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		sigaction(signals[i], &action, NULL);
}

static void complain(const char *what)
{
	fprintf(stderr, "damage: %s: %s\n", now, what);
	failed = true;
}

static uint64_t cpu_us(void)
{
	struct timespec time;

	/* What others do on the machine is not counted. */
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

static uint64_t random_state;

static uint64_t draw(uint64_t most)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state * 0x2545f4914f6cdd1dULL % most;
}

/* --- everything that reads --- */

struct outcome {
	bool opened;
	uint64_t records;
};

static FILE *nowhere;

static void read_header(struct tally_data *data)
{
	const struct tally_evlist_options verbose = {.size = sizeof(verbose), .verbose = true};
	const struct tally_evlist_options groups = {.size = sizeof(groups), .group = true};
	const struct tally_summary_options options = {.size = sizeof(options)};
	struct tally_summary *summary;

	tally_header_text(data, TALLY_HEADER_FULL, nowhere);
	tally_header_stream_text(data, TALLY_HEADER_FULL, nowhere);
	tally_evlist_text(data, &verbose, nowhere);
	tally_evlist_text(data, &groups, nowhere);
	tally_evlist_json(data, nowhere);
	if (!tally_summary_new(data, &options, &summary, NULL)) {
		tally_info_text(data, summary, nowhere);
		tally_info_json(data, summary, nowhere);
		tally_summary_free(summary);
	}
}

static uint64_t read_records(struct tally_data *data)
{
	struct tally_record record;
	struct tally_body body = {.size = sizeof(body)};
	uint64_t count = 0;

	tally_data_rewind(data);
	while (tally_data_next_record(data, &record, NULL) > 0) {
		int event = tally_data_event_of(data, &record);

		tally_record_decode(&tally_data_event(data, event < 0 ? 0 : (size_t)event)->layout,
				    &record, &body, NULL);
		count++;
	}
	return count;
}

static void read_profile(struct tally_session *session)
{
	static const char *const keys[] = {"comm", "dso", "symbol"};
	const struct tally_profile_options options = {.size = sizeof(options),
						      .keys = keys,
						      .key_count = 3,
						      .callchains = true,
						      .children = true};
	const struct tally_report_options report = {.size = sizeof(report), .trees = true};
	struct tally_profile *profile;

	if (tally_profile_new(session, &options, &profile, NULL))
		return;
	tally_report_write(profile, &report, nowhere);
	tally_profile_free(profile);
}

static void read_script(struct tally_session *session)
{
	struct tally_script_options script = {.size = sizeof(script), .show = (1u << 9) - 1};

	tally_script_write(session, &script, nowhere, NULL);
}

static void read_session(struct tally_data *data, unsigned round)
{
	/* Binaries of this machine have nothing to do with it, and would take the time. */
	const struct tally_session_options options = {
	    .size = sizeof(options),
	    .symfs = "/nowhere",
	    .kallsyms = "/dev/null",
	    .threads = round % 4 ? 1 : 2,
	    .columns = round % 3 == 0 ? TALLY_COLUMN_COUNT : 0,
	};
	struct tally_session *session;

	tally_data_rewind(data);
	if (tally_session_new(data, &options, &session, NULL))
		return;
	read_profile(session);
	read_script(session);
	tally_session_free(session);
}

/* With itself. */
static void merge(struct tally_data *data, const char *path)
{
	const struct tally_merge_options options = {.size = sizeof(options)};
	struct tally_merge_result result = {.size = sizeof(result)};
	struct tally_data *both[2] = {data, NULL};
	struct tally_error error = {0};

	if (tally_data_open(path, NULL, &both[1], NULL))
		return;
	if (tally_data_merge(both, 2, "/dev/null", &options, &result, &error) && !error.text[0])
		complain("not merged without a word");
	tally_data_close(both[1]);
}

static struct outcome read_all(const char *path, unsigned round)
{
	const struct tally_repair_options repair = {.size = sizeof(repair)};
	struct tally_repair_result repaired = {.size = sizeof(repaired)};
	struct outcome outcome = {.opened = false};
	struct tally_error error = {0};
	struct tally_data *data;

	if (tally_data_open(path, NULL, &data, &error)) {
		if (!error.code || !error.text[0])
			complain("refused without a word");
		return outcome;
	}
	outcome.opened = true;
	read_header(data);
	outcome.records = read_records(data);
	if (read_records(data) != outcome.records)
		complain("a second pass gives other records");
	read_session(data, round);
	tally_data_repair(data, "/dev/null", &repair, &repaired, NULL);
	merge(data, path);
	tally_data_close(data);
	return outcome;
}

/* --- one recording --- */

struct subject {
	const char *name;
	const uint8_t *bytes;
	size_t size;
	bool made; /* by this test: all that is in it can be read */
	int fd;    /* the copy that is damaged */
	char path[32];
	uint64_t *ends; /* of whole records in a plain file; else NULL */
	size_t count;
	uint64_t data_end;
	uint64_t refused, slowest_us;
	char slowest[sizeof(now)];
};

static void note(struct subject *subject, const char *what, uint64_t a, uint64_t b)
{
	snprintf(now, sizeof(now), "%s: %s %llu, %llu", subject->name, what, (unsigned long long)a,
		 (unsigned long long)b);
}

static struct outcome measured(struct subject *subject, unsigned round)
{
	uint64_t start = cpu_us(), took;
	struct outcome outcome;

	/* A second per megabyte, and much for machines that have other things to do. */
	alarm(20 + (unsigned)(subject->size >> 20));
	outcome = read_all(subject->path, round);
	alarm(0);
	took = cpu_us() - start;
	if (took > subject->slowest_us) {
		subject->slowest_us = took;
		memcpy(subject->slowest, now, sizeof(now));
	}
	if (took > 1000000 + subject->size)
		complain("takes over a second a megabyte");
	subject->refused += !outcome.opened;
	return outcome;
}

/* Where whole records end, when they are read from the file itself. */
static void find_ends(struct subject *subject)
{
	struct tally_record record;
	struct tally_data *data;
	size_t room = 0;

	if (tally_data_open(subject->path, NULL, &data, NULL))
		return;
	if (tally_data_kind(data) == TALLY_DATA_FILE && !tally_data_damage(data)->no_end)
		while (tally_data_next_record(data, &record, NULL) > 0) {
			struct tally_data_place place = {.size = sizeof(place)};

			tally_data_place(data, record.offset, &place);
			if (place.packed || place.offset != record.offset)
				break;
			if (subject->count == room) {
				room = room ? room * 2 : 1024;
				subject->ends =
				    reallocarray(subject->ends, room, sizeof(*subject->ends));
				if (!subject->ends)
					exit(2);
			}
			subject->ends[subject->count++] =
			    record.offset + tally_record_extent(&record);
		}
	if (subject->made && tally_data_damage(data)->lost_bytes > subject->size / 8)
		complain("much of it is refused before it is damaged");
	/* Those of a copy have no places of their own to be compared with. */
	if (subject->count && tally_data_offset_end(data) != tally_data_file_size(data))
		subject->count = 0;
	if (tally_data_damage(data)->count)
		subject->count = 0;
	tally_data_close(data);
}

static uint64_t whole_before(const struct subject *subject, uint64_t cut)
{
	uint64_t count = 0;

	while (count < subject->count && subject->ends[count] <= cut)
		count++;
	return count;
}

static void cut_all(struct subject *subject, unsigned cuts)
{
	uint64_t before = UINT64_MAX, most = UINT64_MAX;

	/* From the back, so that the copy only gets shorter. */
	for (unsigned i = cuts; i-- > 0;) {
		uint64_t step = subject->size / cuts + 1;
		uint64_t cut = subject->size * i / cuts + draw(step);
		struct outcome outcome;

		if (cut >= subject->size)
			continue;
		if (cut >= before) /* two draws that passed each other */
			cut = before;
		before = cut;
		note(subject, "cut at byte", cut, 0);
		if (ftruncate(subject->fd, (off_t)cut))
			exit(2);
		outcome = measured(subject, i);
		if (subject->count && outcome.opened &&
		    outcome.records != whole_before(subject, cut))
			complain("what stands before the cut is not what is read");
		/* Of streams and compressed records it is known at least that less cannot hold
		 * more.
		 */
		if (outcome.opened && outcome.records > most)
			complain("a shorter piece has more records");
		if (outcome.opened)
			most = outcome.records;
		if (subject->count && !outcome.opened && whole_before(subject, cut))
			complain("refused, with whole records in front of the cut");
	}
	if (pwrite(subject->fd, subject->bytes, subject->size, 0) != (ssize_t)subject->size)
		exit(2);
}

/* A place: often in what stands in front, or behind the records, for there is most to break. */
static uint64_t draw_place(const struct subject *subject)
{
	uint64_t end = subject->count ? subject->ends[subject->count - 1] : subject->size;

	switch (draw(4)) {
	case 0:
		return draw(subject->size < 1024 ? subject->size : 1024);
	case 1:
		return end < subject->size ? end + draw(subject->size - end) : draw(subject->size);
	default:
		return draw(subject->size);
	}
}

static size_t draw_damage(uint8_t bytes[8], const uint8_t *old, size_t most)
{
	size_t size = 1;

	memcpy(bytes, old, most);
	switch (draw(6)) {
	case 0:
		bytes[0] ^= (uint8_t)(1u << draw(8));
		break;
	case 1:
		bytes[0] = (uint8_t)draw(256);
		break;
	case 2:
		bytes[0] = 0;
		break;
	case 3:
		bytes[0] = 0xff;
		break;
	default:
		size = most;
		for (size_t i = 0; i < size; i++)
			bytes[i] = (uint8_t)draw(256);
	}
	return size;
}

static void flip_all(struct subject *subject, unsigned flips)
{
	for (unsigned i = 0; i < flips; i++) {
		uint64_t at = draw_place(subject), left = subject->size - at;
		uint8_t bytes[8];
		size_t size = draw_damage(bytes, subject->bytes + at, left < 8 ? (size_t)left : 8);

		note(subject, "wrong bytes (flip, place)", i, at);
		if (pwrite(subject->fd, bytes, size, (off_t)at) != (ssize_t)size)
			exit(2);
		measured(subject, i);
		if (pwrite(subject->fd, subject->bytes + at, size, (off_t)at) != (ssize_t)size)
			exit(2);
	}
}

static void damage(const char *name, const char *path, bool made, unsigned cuts, unsigned flips,
		   uint64_t seed)
{
	struct subject subject = {.name = name, .made = made};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) || !status.st_size) {
		fprintf(stderr, "damage: %s: not a file that can be read\n", path);
		failed = true;
		return;
	}
	subject.size = (size_t)status.st_size;
	subject.bytes = mmap(NULL, subject.size, PROT_READ, MAP_PRIVATE, fd, 0);
	subject.fd = memfd_create("damage", MFD_CLOEXEC);
	if (subject.bytes == MAP_FAILED || subject.fd < 0 ||
	    write(subject.fd, subject.bytes, subject.size) != (ssize_t)subject.size)
		exit(2);
	snprintf(subject.path, sizeof(subject.path), "/proc/self/fd/%d", subject.fd);
	random_state = seed * 0x9e3779b97f4a7c15ULL + 1;
	note(&subject, "as it is", 0, 0);
	if (!read_all(subject.path, 0).opened)
		complain("cannot be read before it is damaged");
	find_ends(&subject);
	cut_all(&subject, cuts);
	flip_all(&subject, flips);
	printf("%s: %zu bytes, %zu records compared; %u cuts and %u flips, %llu refused, the "
	       "slowest (%s) took %llu us\n",
	       name, subject.size, subject.count, cuts, flips, (unsigned long long)subject.refused,
	       subject.slowest, (unsigned long long)subject.slowest_us);
	fflush(stdout);
	free(subject.ends);
	munmap((void *)(uintptr_t)subject.bytes, subject.size);
	close(subject.fd);
	close(fd);
}

/* --- */

static void damage_made(unsigned cuts, unsigned flips, uint64_t seed)
{
	char folder[] = "/tmp/tally-damage-XXXXXX", path[64], old[80];

	if (!mkdtemp(folder))
		exit(2);
	snprintf(path, sizeof(path), "%s/data", folder);
	snprintf(old, sizeof(old), "%s.old", path);
	for (size_t i = 0; i < MADE_COUNT; i++) {
		const char *name = made_write(i, path);

		if (name)
			damage(name, path, true, cuts, flips, seed);
		unlink(path);
		unlink(old);
	}
	rmdir(folder);
}

static void write_made(const char *folder)
{
	char path[4096];

	for (size_t i = 0; folder && i < MADE_COUNT; i++) {
		snprintf(path, sizeof(path), "%s/made-%zu.data", folder, i);
		made_write(i, path);
	}
}

static unsigned number(const char *text)
{
	return text ? (unsigned)strtoul(text, NULL, 10) : 0;
}

int main(int argc, char **argv)
{
	unsigned cuts = 1000, flips = 10000, seed = 1;
	bool made = false;

	nowhere = fopen("/dev/null", "we");
	if (!nowhere)
		return 2;
	catch_ends();
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--cuts"))
			cuts = number(argv[++i]);
		else if (!strcmp(argv[i], "--flips"))
			flips = number(argv[++i]);
		else if (!strcmp(argv[i], "--seed"))
			seed = number(argv[++i]);
		else if (!strcmp(argv[i], "--write"))
			write_made(argv[++i]);
		else if (!strcmp(argv[i], "--made"))
			made = true;
		else
			damage(strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i], argv[i],
			       false, cuts, flips, seed);
	}
	if (made)
		damage_made(cuts, flips, seed);
	fclose(nowhere);
	return failed;
}
