/* Compares commands: a row for each of them below each time and count.
 *
 *                         A     0.1234 s    +- 0.42%
 *  time elapsed           B     0.1003 s    +- 0.31%   -18.7%  (-19.9% to -17.5%)  less
 *
 * The difference is in % of the first command's mean, with the confidence interval of the ratio of
 * the means: no time can be more than 100 % less. */
#include <errno.h>
#include <linux/perf_event.h>
#include <math.h>
#include <string.h>
#include "base/option_struct.h"
#include "base/text.h"
#include "base/cell.h"
#include "base/fold.h"
#include "base/json.h"
#include "stat/stat_table.h"

#define VERSION 2 /* of the JSON */

struct quantity { /* a time or count that commands are compared by */
	const char *name, *unit;
	bool whole; /* counts: no decimals if they are large */
};

struct comparison {
	const struct tally_stat_compared *compared;
	size_t count;
	struct tally_stat_compare_options options;
	size_t name_width;
	bool narrow; /* differences have lines of their own */
};

/* A line's columns beside the name: command, mean, unit, spread; the difference in words. */
#define MEAN_COLUMNS       35
#define DIFFERENCE_COLUMNS 49

#define TIMES 3 /* quantities before the events */

static struct quantity quantity_of(const struct comparison *comparison, size_t index)
{
	static const struct quantity times[TIMES] = {
	    {"time elapsed", "s", false}, {"user time", "s", false}, {"system time", "s", false}};
	const struct tally_stat_event *event;

	if (index < TIMES)
		return times[index];
	event = &tally_stat_options(comparison->compared[0].stat)->events[index - TIMES];
	return (struct quantity){event->name, event->unit, floor(event->scale) >= event->scale};
}

static size_t quantities(const struct comparison *comparison)
{
	return TIMES + tally_stat_options(comparison->compared[0].stat)->event_count;
}

/* False: it was not counted. */
static bool mean_of(const struct comparison *comparison, size_t index, size_t command,
		    struct tally_stat_mean *ret, enum tally_count_quality *ret_quality)
{
	const struct tally_stat *stat = comparison->compared[command].stat;
	struct tally_stat_duration times = {.size = sizeof(times)};
	struct tally_stat_value value = {.size = sizeof(value)};

	*ret_quality = TALLY_COUNT_COUNTED;
	if (index < TIMES) {
		tally_stat_duration(stat, &times);
		const double means[TIMES] = {times.elapsed, times.user, times.system};
		const double spreads[TIMES] = {times.elapsed_spread, times.user_spread,
					       times.system_spread};

		*ret = (struct tally_stat_mean){means[index] / 1e9, spreads[index] / 1e9,
						tally_stat_runs(stat)};
		return true;
	}
	if (!tally_stat_value(stat, index - TIMES, 0, &value))
		return false;
	*ret_quality = value.quality;
	*ret = (struct tally_stat_mean){value.value, value.spread, value.runs};
	return tally_stat_counted(&value);
}

struct difference {       /* from the first command */
	double first;     /* its mean */
	double by;        /* how much more the other's is */
	double low, high; /* of `by` */
	bool distinct;
	size_t more_runs; /* as in struct tally_stat_ratio; 0: unknown */
};

static bool difference_of(const struct comparison *comparison, size_t index, size_t command,
			  struct difference *ret)
{
	double confidence = comparison->options.confidence;
	struct tally_stat_mean first, second;
	struct tally_stat_difference difference = {.size = sizeof(difference)};
	enum tally_count_quality quality;
	struct tally_stat_ratio ratio = {.size = sizeof(ratio)};

	if (!mean_of(comparison, index, 0, &first, &quality) ||
	    !mean_of(comparison, index, command, &second, &quality))
		return false;
	tally_stat_ratio(&first, &second, confidence, &ratio);
	if (ratio.known) {
		*ret = (struct difference){first.mean,
					   second.mean - first.mean,
					   first.mean * (ratio.low - 1),
					   first.mean * (ratio.high - 1),
					   ratio.distinct,
					   ratio.more_runs};
		return true;
	}
	/* One of them is 0, which has no ratio. */
	tally_stat_welch(&first, &second, confidence, &difference);
	*ret = (struct difference){
	    first.mean,      difference.difference, fmax(difference.low, -first.mean),
	    difference.high, difference.distinct,   0};
	return difference.known;
}

/* --- text --- */

/* Converts seconds to a unit that suits the first command's value. */
static double in_words(struct quantity *quantity, double first)
{
	if (strcmp(quantity->unit, "s") != 0 || first >= 1)
		return 1;
	quantity->unit = first >= 1e-3 ? "ms" : "us";
	return first >= 1e-3 ? 1e3 : 1e6;
}

static void put_mean(const struct quantity *quantity, const struct tally_stat_mean *mean,
		     double scale, struct tally_buf *to)
{
	double value = mean->mean * scale, spread = mean->spread * scale;
	/* Digits down to a tenth of the spread; all digits of exact counts. */
	int digits = spread > 0 ? 1 - (int)floor(log10(spread)) : quantity->whole ? 0 : 3;
	struct tally_buf number = {0};

	if (digits < 0)
		digits = 0;
	if (digits > 9)
		digits = 9;
	tally_stat_put_number(&number, value, digits, true);
	tally_cell_spaces(to, number.size < 15 ? 15 - number.size : 1);
	tally_buf_add(to, number.data, number.size);
	tally_buf_printf(to, " %-5s", quantity->unit);
	tally_buf_done(&number);
	if (value > 0)
		tally_buf_printf(to, "+-%6.2f%%", 100 * spread / value);
	else
		tally_cell_spaces(to, 9);
}

/* "12.34%", "1234%"; above that "over 99999%". */
static void put_percent(double percent, bool sign, struct tally_buf *to)
{
	if (percent >= 99999.5)
		tally_buf_text(to, sign ? ">+99999%" : "over 99999%");
	else
		tally_buf_printf(to, sign ? "%+.*f%%" : "%.*f%%", fabs(percent) < 999.995 ? 2 : 0,
				 percent);
}

static void put_difference(const struct difference *difference, bool colour, struct tally_buf *to)
{
	bool same = difference->high <= 0 && difference->low >= 0;
	double of = difference->first / 100;
	const char *word = same                    ? "same"
			   : !difference->distinct ? "cannot tell"
			   : difference->by < 0    ? "less"
						   : "more";
	const char *tint = !difference->distinct ? "\033[2m"
			   : difference->by < 0  ? "\033[32m"
						 : "\033[31m";
	struct tally_buf by = {0}, between = {0};

	tally_buf_text(to, colour ? tint : "");
	if (of > 0) {
		put_percent(difference->by / of, true, &by);
		tally_buf_byte(&between, '(');
		put_percent(difference->low / of, true, &between);
		tally_buf_text(&between, " to ");
		put_percent(difference->high / of, true, &between);
		tally_buf_byte(&between, ')');
		tally_buf_printf(to, "  %9s  %-24s %s", tally_buf_str(&by), tally_buf_str(&between),
				 word);
	} else {
		tally_buf_printf(to, "  %+9.4g  %-24s %s", difference->by, "", word);
	}
	tally_buf_text(to, colour ? "\033[0m" : "");
	tally_buf_done(&by);
	tally_buf_done(&between);
}

/* Whether any command has a count of it. */
static bool is_counted(const struct comparison *comparison, size_t index)
{
	enum tally_count_quality quality;
	struct tally_stat_mean mean;

	for (size_t i = 0; i < comparison->count; i++)
		if (mean_of(comparison, index, i, &mean, &quality))
			return true;
	return false;
}

/* The indentation of a difference on a line of its own: below the mean if there is room. */
static int indent_of(const struct comparison *comparison)
{
	size_t width = comparison->options.width, below = comparison->name_width + 5;
	size_t room = width > DIFFERENCE_COLUMNS ? width - DIFFERENCE_COLUMNS : 1;

	return (int)(below < room ? below : room);
}

static void put_quantity(const struct comparison *comparison, size_t index, struct tally_buf *to)
{
	struct quantity quantity = quantity_of(comparison, index);
	enum tally_count_quality quality;
	struct tally_stat_mean mean;
	double scale = 1;

	if (mean_of(comparison, index, 0, &mean, &quality))
		scale = in_words(&quantity, mean.mean);
	for (size_t i = 0; i < comparison->count; i++) {
		struct difference difference;
		struct tally_buf name = {0};

		if (!i)
			tally_text_add_escaped(&name, quantity.name, strlen(quantity.name));
		tally_buf_byte(to, ' ');
		tally_buf_add(to, name.data, name.size);
		tally_cell_spaces(to, comparison->name_width > name.size
					  ? comparison->name_width - name.size
					  : 0);
		tally_buf_done(&name);
		tally_buf_printf(to, "  %s ", comparison->compared[i].name);
		if (mean_of(comparison, index, i, &mean, &quality)) {
			put_mean(&quantity, &mean, scale, to);
			if (quality == TALLY_COUNT_SCALED)
				tally_buf_text(to, "  (scaled)");
			if (i && difference_of(comparison, index, i, &difference)) {
				if (comparison->narrow)
					tally_buf_printf(to, "\n%*s", indent_of(comparison), "");
				put_difference(&difference, comparison->options.colour, to);
			}
		} else {
			tally_buf_printf(to, "%15s", tally_stat_uncounted(quality));
		}
		tally_buf_byte(to, '\n');
	}
}

/* On a busy machine wall time shows little, but CPU time may show a difference. */
static void put_cpu_verdict(const struct comparison *comparison, size_t command,
			    struct tally_buf *to)
{
	const struct tally_stat_options *of = tally_stat_options(comparison->compared[0].stat);
	struct difference difference;

	for (size_t i = 0; i < of->event_count; i++) {
		const struct tally_attr *attr = &of->events[i].attr;

		if (attr->type != PERF_TYPE_SOFTWARE || attr->config != PERF_COUNT_SW_TASK_CLOCK ||
		    !difference_of(comparison, TIMES + i, command, &difference) ||
		    !difference.distinct || difference.first <= 0)
			continue;
		tally_buf_text(to, "   but it takes ");
		put_percent(100 * fabs(difference.by) / difference.first, false, to);
		tally_buf_printf(to, " %s CPU time (%s)\n", difference.by < 0 ? "less" : "more",
				 of->events[i].name);
		return;
	}
}

/* "between 3.20% less and 1.50% more" */
static void put_either_way(const struct difference *difference, struct tally_buf *to)
{
	tally_buf_text(to, "between ");
	put_percent(-100 * difference->low / difference->first, false, to);
	tally_buf_text(to, " less and ");
	put_percent(100 * difference->high / difference->first, false, to);
	tally_buf_text(to, " more");
}

static void put_more_runs(const struct difference *difference, struct tally_buf *to)
{
	tally_buf_text(to, "the difference of ");
	put_percent(100 * fabs(difference->by) / difference->first, false, to);
	if (difference->more_runs == SIZE_MAX)
		tally_buf_printf(to, ", if there is one, does not show in %d runs",
				 TALLY_STAT_RUNS_MOST);
	else
		tally_buf_printf(to, ", if it is real, should show after %zu more runs of each",
				 difference->more_runs);
}

/* Writes a sentence for each command about the time that it took. */
static void put_verdicts(const struct comparison *comparison, struct tally_buf *to)
{
	double percent = 100 * comparison->options.confidence;

	for (size_t i = 1; i < comparison->count; i++) {
		const char *first = comparison->compared[0].name,
			   *name = comparison->compared[i].name;
		struct difference by;
		double sign;

		if (!difference_of(comparison, 0, i, &by) || by.first <= 0) {
			tally_buf_printf(to,
					 " %s and %s: with one run, chance cannot be excluded; "
					 "give -r 2 or more\n",
					 name, first);
			continue;
		}
		if (!by.distinct) {
			tally_buf_printf(to, " Cannot tell whether %s or %s is faster: %s takes ",
					 first, name, name);
			put_either_way(&by, to);
			tally_buf_printf(to, " time than %s (%.0f%% confidence); ", first, percent);
			put_more_runs(&by, to);
			tally_buf_byte(to, '\n');
			put_cpu_verdict(comparison, i, to);
			continue;
		}
		sign = by.by < 0 ? -100 : 100;
		tally_buf_printf(to, " %s is %s than %s: it takes ", name,
				 by.by < 0 ? "faster" : "slower", first);
		put_percent(sign * by.by / by.first, false, to);
		tally_buf_printf(to, " %s time (", by.by < 0 ? "less" : "more");
		put_percent(sign * (by.by < 0 ? by.high : by.low) / by.first, false, to);
		tally_buf_text(to, " to ");
		put_percent(sign * (by.by < 0 ? by.low : by.high) / by.first, false, to);
		tally_buf_printf(to, ", %.0f%% confidence)\n", percent);
	}
}

/* Writes a line with the events that no command has a count of. */
static void put_uncounted(const struct comparison *comparison, struct tally_buf *to)
{
	const char *separator = "\n Not counted: ";

	for (size_t i = 0; i < quantities(comparison); i++) {
		const char *name = quantity_of(comparison, i).name;

		if (is_counted(comparison, i))
			continue;
		tally_buf_text(to, separator);
		tally_text_add_escaped(to, name, strlen(name));
		separator = ", ";
	}
	if (*separator == ',')
		tally_buf_byte(to, '\n');
}

static int take_options(struct comparison *comparison,
			const struct tally_stat_compare_options *options)
{
	int result = tally_options_take(&comparison->options, sizeof(comparison->options), options);

	if (!comparison->count)
		return -EINVAL;
	if (comparison->options.confidence <= 0 || comparison->options.confidence >= 1)
		comparison->options.confidence = 0.95;
	for (size_t i = 0; i < quantities(comparison); i++) {
		size_t width = strlen(quantity_of(comparison, i).name);

		if (width > comparison->name_width)
			comparison->name_width = width < 40 ? width : 40;
	}
	comparison->narrow =
	    comparison->options.width &&
	    comparison->name_width + MEAN_COLUMNS + DIFFERENCE_COLUMNS > comparison->options.width;
	return result;
}

int tally_stat_compare_text(const struct tally_stat_compared *compared, size_t count,
			    const struct tally_stat_compare_options *options, FILE *to)
{
	struct comparison comparison = {.compared = compared, .count = count};
	struct tally_buf buf = {0}, words = {0};
	int result = take_options(&comparison, options);

	if (result)
		return result;
	tally_buf_printf(&buf, "\n %zu runs each, in turn:\n\n", tally_stat_runs(compared[0].stat));
	for (size_t i = 0; i < count; i++) {
		tally_buf_printf(&buf, "   %s  ", compared[i].name);
		tally_text_add_escaped(&buf, compared[i].command, strlen(compared[i].command));
		tally_buf_byte(&buf, '\n');
	}
	tally_buf_byte(&buf, '\n');
	for (size_t i = 0; i < quantities(&comparison); i++)
		if (is_counted(&comparison, i))
			put_quantity(&comparison, i, &buf);
	put_uncounted(&comparison, &words);
	tally_buf_byte(&words, '\n');
	put_verdicts(&comparison, &words);
	tally_buf_printf(&words,
			 "\n Means with their standard errors; differences in %% of %s, by "
			 "Welch's t-test of the ratio of the means\n\n",
			 compared[0].name);
	if (words.failed)
		buf.failed = words.failed;
	else
		tally_fold_lines(&buf, tally_buf_str(&words), comparison.options.width);
	tally_buf_done(&words);
	result = tally_stat_flush(&buf, to);
	tally_buf_done(&buf);
	return result;
}

/* --- JSON --- */

static void put_json_quantity(const struct comparison *comparison, size_t index, size_t command,
			      struct json *json)
{
	struct quantity quantity = quantity_of(comparison, index);
	struct difference difference;
	enum tally_count_quality quality;
	struct tally_stat_mean mean;

	json_object(json);
	json_key_string(json, "name", quantity.name);
	if (*quantity.unit)
		json_key_string(json, "unit", quantity.unit);
	if (mean_of(comparison, index, command, &mean, &quality)) {
		json_key_string(json, "quality", tally_count_quality_name(quality));
		json_key(json, "mean");
		json_double(json, mean.mean);
		json_key(json, "standard_error");
		json_double(json, mean.spread);
		json_key_u64(json, "runs", mean.runs);
	} else {
		json_key_string(json, "quality", tally_count_quality_name(quality));
		json_key(json, "mean");
		json_null(json);
	}
	if (command && difference_of(comparison, index, command, &difference)) {
		json_key(json, "difference");
		json_double(json, difference.by);
		json_key(json, "interval_low");
		json_double(json, difference.low);
		json_key(json, "interval_high");
		json_double(json, difference.high);
		json_key_bool(json, "significant", difference.distinct);
		if (difference.more_runs && difference.more_runs < SIZE_MAX)
			json_key_u64(json, "more_runs", difference.more_runs);
	}
	json_object_end(json);
}

int tally_stat_compare_json(const struct tally_stat_compared *compared, size_t count,
			    const struct tally_stat_compare_options *options, FILE *to)
{
	struct comparison comparison = {.compared = compared, .count = count};
	struct tally_buf buf = {0};
	struct json json = {.to = &buf};
	int result = take_options(&comparison, options);

	if (result)
		return result;
	json_object(&json);
	json_key_u64(&json, "version", VERSION);
	json_key(&json, "confidence");
	json_double(&json, comparison.options.confidence);
	json_key_string(&json, "test", "Welch");
	json_key(&json, "commands");
	json_array(&json);
	for (size_t i = 0; i < count; i++) {
		json_object(&json);
		json_key_string(&json, "name", compared[i].name);
		json_key_string(&json, "command", compared[i].command);
		json_key_u64(&json, "runs", tally_stat_runs(compared[i].stat));
		json_key(&json, "quantities");
		json_array(&json);
		for (size_t j = 0; j < quantities(&comparison); j++)
			put_json_quantity(&comparison, j, i, &json);
		json_array_end(&json);
		json_object_end(&json);
	}
	json_array_end(&json);
	json_object_end(&json);
	tally_buf_byte(&buf, '\n');
	result = tally_stat_flush(&buf, to);
	tally_buf_done(&buf);
	return result;
}
