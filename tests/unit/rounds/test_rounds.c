/* Recordings of counts: what is written is read again, count by count. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <tally/abi.h>
#include <tally/data.h>
#include <tally/stat_rounds.h>

#define PLACES 4 /* two threads on two CPUs */
#define EVENTS 3 /* the last one could not be counted */

static void write_rounds(const char *path, const struct tally_count first[EVENTS * PLACES],
			 const struct tally_count second[EVENTS * PLACES])
{
	static const struct tally_stat_place places[PLACES] = {
	    {.cpu = 0, .tid = 100, .comm = "first"},
	    {.cpu = 2, .tid = 100, .comm = "first"},
	    {.cpu = 0, .tid = 200, .comm = "of more than 15 bytes"},
	    {.cpu = 2, .tid = 200, .comm = "of more than 15 bytes"},
	};
	static const struct tally_stat_event events[EVENTS] = {
	    {.name = "plain", .unit = "", .scale = 1},
	    {.name = "energy", .unit = "Joules", .scale = 0.25},
	    {.name = "missing", .unit = "", .scale = 1},
	};
	const struct tally_stat_options stat = {
	    .size = sizeof(stat),
	    .events = events,
	    .event_count = EVENTS,
	    .places = places,
	    .place_count = PLACES,
	    .by = TALLY_STAT_THREAD,
	    .unscaled = true,
	};
	struct tally_writer_event opened[EVENTS];
	struct tally_stat_writer_options options = {
	    .size = sizeof(options),
	    .stat = &stat,
	    .events = opened,
	    .counts = first,
	    .interval_ms = 10,
	};
	struct tally_stat_writer *writer = NULL;
	struct tally_error error;

	for (uint32_t i = 0; i < EVENTS; i++)
		opened[i] = (struct tally_writer_event){
		    .attr = {.type = PERF_TYPE_SOFTWARE, .config = i},
		    .name = events[i].name,
		    .leader = i,
		};
	if (tally_stat_writer_open(path, &options, &writer, &error) ||
	    tally_stat_writer_round(writer, first, 1000, false, &error) ||
	    tally_stat_writer_round(writer, second, 3000, true, &error) ||
	    tally_stat_writer_close(writer, &error))
		fail_msg("%s", error.text);
}

static void expect_round(struct tally_stat_rounds *rounds, uint64_t time, bool last,
			 const struct tally_count counts[EVENTS * PLACES])
{
	struct tally_stat_round round = {.size = sizeof(round)};
	struct tally_error error;

	assert_int_equal(tally_stat_rounds_next(rounds, &round, &error), 1);
	assert_int_equal(round.time, time);
	assert_int_equal(round.last, last);
	for (size_t i = 0; i < EVENTS * PLACES; i++) {
		assert_int_equal(round.counts[i].raw, counts[i].raw);
		assert_int_equal(round.counts[i].time_enabled, counts[i].time_enabled);
		assert_int_equal(round.counts[i].time_running, counts[i].time_running);
		assert_int_equal(round.counts[i].quality,
				 counts[i].id ? counts[i].quality : TALLY_COUNT_NOT_SUPPORTED);
	}
}

static void what_is_written_is_read_again(void **state)
{
	struct tally_count first[EVENTS * PLACES] = {0}, second[EVENTS * PLACES];
	struct tally_stat_round round = {.size = sizeof(round)};
	const struct tally_stat_options *options;
	char path[] = "/tmp/tally-test-rounds-XXXXXX";
	struct tally_stat_rounds *rounds;
	struct tally_error error;
	struct tally_data *data;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	for (size_t i = 0; i < 2 * PLACES; i++)
		first[i] = (struct tally_count){.id = 50 + i,
						.raw = 1000 * i,
						.time_enabled = 700,
						.time_running = i % 2 ? 700 : 300,
						.quality = i % 2 ? TALLY_COUNT_COUNTED
								 : TALLY_COUNT_SCALED};
	memcpy(second, first, sizeof(second));
	for (size_t i = 0; i < 2 * PLACES; i++)
		second[i].raw += 1;
	write_rounds(path, first, second);

	assert_int_equal(tally_data_open(path, NULL, &data, &error), 0);
	assert_true(tally_stat_rounds_known(data));
	assert_int_equal(tally_stat_rounds_new(data, &rounds, &error), 0);
	expect_round(rounds, 1000, false, first);
	expect_round(rounds, 3000, true, second);
	assert_int_equal(tally_stat_rounds_next(rounds, &round, &error), 0);

	options = tally_stat_rounds_options(rounds);
	assert_int_equal(options->event_count, EVENTS);
	assert_int_equal(options->place_count, PLACES);
	assert_int_equal(options->by, TALLY_STAT_THREAD);
	assert_true(options->unscaled);
	assert_string_equal(options->events[1].name, "energy");
	assert_string_equal(options->events[1].unit, "Joules");
	assert_float_equal(options->events[1].scale, 0.25, 0);
	assert_int_equal(options->places[1].cpu, 2);
	assert_int_equal(options->places[2].tid, 200);
	assert_string_equal(options->places[2].comm, "of more than 15");
	tally_stat_rounds_free(rounds);
	tally_data_close(data);
	close(fd);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_written_is_read_again)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
