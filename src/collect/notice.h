/* Messages for the person who records, through the caller's function. */
#ifndef TALLY_COLLECT_NOTICE_H
#define TALLY_COLLECT_NOTICE_H

struct tally_notice {
	void (*tell)(void *context, const char *text); /* NULL: nobody listens */
	void *context;
};

void tally_notice_send(const struct tally_notice *notice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
