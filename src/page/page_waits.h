/* What a blocked thread waits for, by the function that blocked. */
#ifndef TALLY_PAGE_PAGE_WAITS_H
#define TALLY_PAGE_PAGE_WAITS_H

enum page_wait {
	PAGE_WAIT_UNKNOWN,
	PAGE_WAIT_LOCK,
	PAGE_WAIT_CONDITION,
	PAGE_WAIT_FILE,
	PAGE_WAIT_NETWORK,
	PAGE_WAIT_EVENT,
	PAGE_WAIT_SLEEP,
	PAGE_WAIT_CHILD,
	PAGE_WAITS,
};

/* "locks", "other threads"; what the thread waits for. */
extern const char *const tally_page_wait_names[PAGE_WAITS];

/* By a function's name, without regard to what libraries put before it ("__GI___"). */
enum page_wait tally_page_wait_of(const char *function);

#endif
