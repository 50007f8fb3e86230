#include "recorder/priority.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>

#define PRIORITY_MOST (-20) /* the strongest nice value */

int tally_priority_raise(void)
{
	int before = getpriority(PRIO_PROCESS, 0);

	setpriority(PRIO_PROCESS, 0, PRIORITY_MOST);
	return before;
}

void tally_priority_first(bool first)
{
	const struct sched_param param = {.sched_priority = first};

	(void)pthread_setschedparam(pthread_self(),
				    first ? SCHED_RR | SCHED_RESET_ON_FORK : SCHED_OTHER, &param);
}

int tally_priority_realtime(unsigned priority)
{
	const struct sched_param param = {.sched_priority = (int)priority};

	return -pthread_setschedparam(pthread_self(), SCHED_FIFO | SCHED_RESET_ON_FORK, &param);
}
