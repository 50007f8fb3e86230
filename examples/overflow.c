/* A signal after every so many events: here each 100th page that is touched for the first time.
 *
 *	cc overflow.c $(pkg-config --cflags --libs tally) -o overflow && ./overflow
 */
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tally/tally.h>

#define EVERY 100
#define PAGES 1000

static volatile sig_atomic_t overflows, last;

static void on_overflow(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	overflows = overflows + 1;
	if (info->si_code == POLL_HUP) /* the last that was asked for */
		last = 1;
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = on_overflow,
				   .sa_flags = SA_SIGINFO | SA_RESTART};
	struct tally_event_options by_default = {.size = sizeof(by_default)};
	struct tally_open_target self = {.pid = 0, .cpu = -1, .group_fd = -1};
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	struct tally_event_list events = {0};
	struct tally_error error;
	uint8_t *memory;
	int fd;

	/* "cycles:u" would do as well on a machine with a PMU; faults are everywhere, and exact. */
	if (tally_event_list_parse("page-faults:u", &by_default, &events, &error) < 0)
		goto failed;
	events.events[0].attr.sample_period = EVERY;
	events.events[0].attr.disabled = 1;
	fd = tally_open(&events.events[0].attr, &self, NULL, &error);
	tally_event_list_done(&events);
	if (fd < 0)
		goto failed;
	memory =
	    mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, PAGES * page, MADV_NOHUGEPAGE) < 0)
		return 1;

	/* A real-time signal, for they queue; three, and no more. */
	sigaction(SIGRTMIN, &action, NULL);
	if (tally_overflow_signal(fd, SIGRTMIN, 0) < 0 || tally_fd_refresh(fd, 3) < 0)
		return 1;
	for (size_t i = 0; i < PAGES; i++)
		*(volatile uint8_t *)(memory + i * page) = 1;
	printf("%d overflows of %d page faults each%s\n", (int)overflows, EVERY,
	       last ? "; then the event was disabled" : "");
	close(fd);
	return 0;
failed:
	fprintf(stderr, "overflow: %s\n", error.text);
	return 1;
}
