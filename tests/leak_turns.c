/* Part of the sanitized command: every fourth process, by its number, looks for leaks.  To look
 * takes as long as all else that most commands do, and tests start thousands.  TALLY_LEAKS=1: each
 * one does. */
#include <stdlib.h>
#include <unistd.h>

/* The sanitizer asks this at the end. */
int __lsan_is_turned_off(void);

int __lsan_is_turned_off(void)
{
	return !getenv("TALLY_LEAKS") && getpid() % 4 != 0;
}
