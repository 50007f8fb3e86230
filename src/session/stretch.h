/* Stretches of samples whose times ascend, as the first pass meets them: a ring's flush is cut into
 * such.  Where perf's rounds do no more than sort by time they are all that order needs: any span
 * of time can be put in order by itself, by any thread. */
#ifndef TALLY_SESSION_STRETCH_H
#define TALLY_SESSION_STRETCH_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tally_data;

/* Samples, and records that are none between them, within one piece. */
struct session_stretch {
	uint64_t first, last; /* times, of the first and of the last sample */
	uint64_t place; /* as of a record (order.h): of the first sample; but the size tells how
			 * far behind its start the last one's is */
};

/* Bytes of a stretch, more in larger files so that there are not many more than are wanted.  Where
 * rings were short there are more; too many are not worth what they take. */
#define STRETCH_LEAST  ((size_t)8 * 1024)
#define STRETCH_MOST   ((size_t)32 * 1024)
#define STRETCH_WANTED ((size_t)64 * 1024)

/* Times of a round: the least of samples, the greatest of all records. */
struct stretch_round {
	uint64_t least, most;
};

/* What one walk over records notes. */
struct stretch_notes {
	bool on; /* else nothing is noted, as order is not by time alone, or not asked for */
	int sample_at, trailer_back; /* where times are; trailer_back 0: side-band records tell none
				      */
	size_t bytes, most;          /* of a stretch; stretches */
	struct session_stretch *list;
	size_t count, room;
	/* The one under way, list[count - 1]. */
	uint64_t time; /* of its last sample */
	size_t start, end, piece;
	struct stretch_round *rounds; /* that were ended */
	size_t round_count, round_room;
	struct stretch_round round; /* the one under way, but for the stretch under way */
};

struct tally_session;

/* All zero, or ready to note what is in the session's file. */
void tally_stretch_notes_init(struct stretch_notes *notes, const struct tally_session *session);
void tally_stretch_notes_done(struct stretch_notes *notes);
/* Ends the stretch under way. */
void tally_stretch_end(struct stretch_notes *notes);
/* A sample that begins one; a round's end.  0 or -ENOMEM. */
int tally_stretch_begin(struct stretch_notes *notes, uint64_t time, size_t piece, size_t at);
int tally_stretch_round(struct stretch_notes *notes);

/* Takes a sample, at an offset in a piece. */
static inline int stretch_note(struct stretch_notes *notes, uint64_t time, size_t piece, size_t at)
{
	if (__builtin_expect(time < notes->time || piece != notes->piece ||
				 at - notes->start >= notes->bytes,
			     0))
		return tally_stretch_begin(notes, time, piece, at);
	notes->time = time;
	notes->end = at;
	return 0;
}

/* Takes the time of a record that is no sample. */
static inline void stretch_note_other(struct stretch_notes *notes, uint64_t time)
{
	if (time > notes->round.most && time != UINT64_MAX)
		notes->round.most = time;
}

/* Gives what walks over parts of the file noted, in order, to the session, unless rounds did more
 * than sort by time.  0 or -ENOMEM. */
struct scan;
int tally_stretches_take(struct tally_session *session, struct scan *scans, size_t count);

#endif
