/* Derived values: what counts say together.  Which event shows what, and from when on it stands
 * out, is as in perf 6.1, so that its readers find what they know. */
#include <math.h>
#include <string.h>
#include "base/option_struct.h"
#include "stat/stat.h"

struct derive {
	const struct tally_stat *stat;
	const struct tally_stat_event *event;
	enum stat_kind kind;
	size_t part;
	struct tally_stat_derived *to, spare; /* spare: there is no room */
	size_t room, count;
};

/* --- counts of other events --- */

/* Counts of user space are compared with those of user space, of a cgroup with the cgroup's, of one
 * kind of core with the same kind's.  Clocks count whoever runs. */
static bool comparable(const struct tally_stat_event *a, const struct tally_stat_event *b,
		       enum stat_kind kind)
{
	bool same_cgroup =
	    a->cgroup == b->cgroup || (a->cgroup && b->cgroup && !strcmp(a->cgroup, b->cgroup));

	if (kind == STAT_CLOCK)
		return same_cgroup;
	return same_cgroup && a->attr.exclude_user == b->attr.exclude_user &&
	       a->attr.exclude_kernel == b->attr.exclude_kernel &&
	       a->attr.exclude_hv == b->attr.exclude_hv &&
	       a->attr.exclude_host == b->attr.exclude_host &&
	       a->attr.exclude_idle == b->attr.exclude_idle &&
	       (a->attr.type != b->attr.type || a->attr.config >> 32 == b->attr.config >> 32);
}

/* What comparable events of this kind counted, the mean of several; false when none did. */
static bool find(const struct derive *derive, enum stat_kind kind, double *ret)
{
	const struct tally_stat *stat = derive->stat;
	double sum = 0;
	size_t count = 0;

	for (size_t i = 0; i < stat->options.event_count; i++) {
		struct tally_stat_value value = {.size = sizeof(value)};

		if (stat->kinds[i] != kind || !comparable(&stat->events[i], derive->event, kind) ||
		    !tally_stat_value(stat, i, derive->part, &value) || !tally_stat_counted(&value))
			continue;
		/* Of a clock the ns, whatever its unit. */
		sum += kind == STAT_CLOCK ? value.value / stat->events[i].scale : value.value;
		count++;
	}
	if (!count)
		return false;
	*ret = sum / (double)count;
	return true;
}

static double count_of(const struct derive *derive, enum stat_kind kind)
{
	double value = 0;

	find(derive, kind, &value);
	return value;
}

static double larger(double a, double b)
{
	return a > b ? a : b;
}

/* --- values --- */

static struct tally_stat_derived *put(struct derive *derive, bool known, double value,
				      unsigned decimals, const char *suffix, const char *unit)
{
	struct tally_stat_derived *to =
	    derive->count < derive->room ? &derive->to[derive->count++] : &derive->spare;

	*to = (struct tally_stat_derived){
	    .known = known,
	    .value = known ? value : 0,
	    .decimals = (uint8_t)decimals,
	    .suffix = suffix,
	    .unit = unit,
	    .threshold = -1,
	};
	return to;
}

static enum tally_stat_grade grade(double value, double notable, double high, double bad)
{
	return value > bad       ? TALLY_STAT_BAD
	       : value > high    ? TALLY_STAT_HIGH
	       : value > notable ? TALLY_STAT_NOTABLE
				 : TALLY_STAT_PLAIN;
}

/* Misses as a share of the accesses. */
static const struct share {
	enum stat_kind kind, of;
	const char *unit;
} shares[] = {
    {STAT_BRANCH_MISSES, STAT_BRANCHES, "of all branches"},
    {STAT_L1D_MISSES, STAT_L1D, "of all L1-dcache accesses"},
    {STAT_L1I_MISSES, STAT_L1I, "of all L1-icache accesses"},
    {STAT_DTLB_MISSES, STAT_DTLB, "of all dTLB cache accesses"},
    {STAT_ITLB_MISSES, STAT_ITLB, "of all iTLB cache accesses"},
    {STAT_LL_MISSES, STAT_LL, "of all LL-cache accesses"},
};

static bool derive_share(struct derive *derive, double count)
{
	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		double all = 0, percent;
		bool known;

		if (shares[i].kind != derive->kind)
			continue;
		known = find(derive, shares[i].of, &all);
		percent = all != 0 ? count / all * 100 : 0;
		put(derive, known, percent, 2, "%", shares[i].unit)->grade =
		    known ? grade(percent, 5, 10, 20) : TALLY_STAT_PLAIN;
		return true;
	}
	return false;
}

static void derive_instructions(struct derive *derive, double count)
{
	double cycles = count_of(derive, STAT_CYCLES);
	double stalled =
	    larger(count_of(derive, STAT_STALLED_FRONT), count_of(derive, STAT_STALLED_BACK));

	put(derive, cycles != 0, count / cycles, 2, "", "insn per cycle");
	if (stalled != 0 && count != 0)
		put(derive, true, stalled / count, 2, "", "stalled cycles per insn")->next_line =
		    true;
}

static bool derive_core(struct derive *derive, double count)
{
	struct tally_stat_duration times = {.size = sizeof(times)};
	double other, percent;

	switch (derive->kind) {
	case STAT_INSTRUCTIONS:
		derive_instructions(derive, count);
		return true;
	case STAT_CACHE_MISSES:
		other = 0;
		put(derive, find(derive, STAT_CACHE_REFS, &other),
		    other != 0 ? count * 100 / other : 0, 3, " %", "of all cache refs");
		return true;
	case STAT_STALLED_FRONT:
	case STAT_STALLED_BACK:
		other = count_of(derive, STAT_CYCLES);
		percent = other != 0 ? count / other * 100 : 0;
		if (derive->kind == STAT_STALLED_FRONT)
			put(derive, percent != 0, percent, 2, "%", "frontend cycles idle")->grade =
			    grade(percent, 10, 30, 50);
		else
			put(derive, true, percent, 2, "%", "backend cycles idle")->grade =
			    grade(percent, 20, 50, 75);
		return true;
	case STAT_CYCLES:
		other = count_of(derive, STAT_CLOCK);
		put(derive, other != 0, count / other, 3, "", other != 0 ? "GHz" : "Ghz");
		return true;
	case STAT_CLOCK:
		tally_stat_duration(derive->stat, &times);
		other = times.elapsed;
		put(derive, other != 0, count / (other * derive->event->scale), 3, "",
		    "CPUs utilized");
		return true;
	default:
		return derive_share(derive, count);
	}
}

static bool derive_transaction(struct derive *derive, double count)
{
	double other = 0, cycles = count_of(derive, STAT_CYCLES);
	bool known;

	switch (derive->kind) {
	case STAT_TX_CYCLES:
		put(derive, cycles != 0, 100 * (count / cycles), 2, "%", "transactional cycles");
		return true;
	case STAT_TX_CYCLES_CP:
		other = larger(count_of(derive, STAT_TX_CYCLES), count);
		put(derive, cycles != 0, 100 * ((other - count) / cycles), 2, "%",
		    "aborted cycles");
		return true;
	case STAT_TX_STARTS:
	case STAT_TX_ELISIONS:
		known = find(derive, STAT_TX_CYCLES, &other);
		put(derive, known || derive->kind == STAT_TX_ELISIONS,
		    count != 0 ? other / count : 0, 0, "",
		    derive->kind == STAT_TX_STARTS ? "cycles / transaction" : "cycles / elision");
		return true;
	default:
		return false;
	}
}

/* --- where the slots of the pipeline went ---
 * Source of the formulas: A. Yasin, A Top-Down Method for Performance Analysis and Counters
 * Architecture, ISPASS 2014; of the limits: perf 6.1. */

static double not_below_zero(double value) /* what is barely below it is the counters' skid */
{
	return value < 0 && value >= -0.02 ? 0 : value;
}

static double slots_share(const struct derive *derive, double slots)
{
	double total = count_of(derive, STAT_TD_TOTAL);

	return total != 0 ? slots / total : 0;
}

static double slots_bad(const struct derive *derive)
{
	return not_below_zero(slots_share(derive, count_of(derive, STAT_TD_ISSUED) -
						      count_of(derive, STAT_TD_RETIRED) +
						      count_of(derive, STAT_TD_RECOVERY)));
}

static struct tally_stat_derived *put_share(struct derive *derive, double share, const char *unit,
					    bool stands_out, enum tally_stat_grade how)
{
	struct tally_stat_derived *to = put(derive, true, share * 100, 1, "%", unit);

	if (stands_out)
		to->grade = how;
	return to;
}

static bool derive_slots(struct derive *derive)
{
	double retiring = slots_share(derive, count_of(derive, STAT_TD_RETIRED));
	double front = slots_share(derive, count_of(derive, STAT_TD_FETCH));
	double bad = slots_bad(derive), back = 0, none;
	bool has_recovery = find(derive, STAT_TD_RECOVERY, &none);

	if (front + bad + retiring != 0)
		back = not_below_zero(1 - front - bad - retiring);
	switch (derive->kind) {
	case STAT_TD_FETCH:
		put_share(derive, front, "frontend bound", front > 0.2, TALLY_STAT_BAD);
		return true;
	case STAT_TD_RETIRED:
		put_share(derive, retiring, "retiring", retiring > 0.7, TALLY_STAT_GOOD);
		return true;
	case STAT_TD_RECOVERY:
		put_share(derive, bad, "bad speculation", bad > 0.1, TALLY_STAT_BAD);
		return true;
	case STAT_TD_ISSUED:
		put_share(derive, back, has_recovery ? "backend bound" : "backend bound/bad spec",
			  back > 0.2, TALLY_STAT_BAD)
		    ->known = count_of(derive, STAT_TD_TOTAL) > 0;
		return true;
	default:
		return false;
	}
}

/* The kernel gives these as slots; their sum brings the shares back, when most of them are there.
 */
static bool slot_sum(const struct derive *derive, double *ret)
{
	static const enum stat_kind kinds[] = {STAT_TD_RETIRING, STAT_TD_FRONT, STAT_TD_BACK,
					       STAT_TD_BAD};
	size_t there = 0;
	double sum = 0;

	for (size_t i = 0; i < 4; i++) {
		double slots = count_of(derive, kinds[i]);

		sum += slots;
		there += slots > 0;
	}
	*ret = sum;
	return there >= 2 && sum != 0;
}

/* A part of level 1 that level 2 splits: one of its halves is counted, the other is the rest. */
static const struct split {
	enum stat_kind kind, whole;
	const char *unit, *rest;
	double whole_limit, limit, rest_limit;
	enum tally_stat_grade grade;
} splits[] = {
    {STAT_TD_HEAVY, STAT_TD_RETIRING, "Heavy Operations", "Light Operations", 0.7, 0.1, 0.6,
     TALLY_STAT_GOOD},
    {STAT_TD_MISPREDICT, STAT_TD_BAD, "Branch Mispredict", "Machine Clears", 0.1, 0.05, 0.05,
     TALLY_STAT_BAD},
    {STAT_TD_LATENCY, STAT_TD_FRONT, "Fetch Latency", "Fetch Bandwidth", 0.2, 0.15, 0.1,
     TALLY_STAT_BAD},
    {STAT_TD_MEMORY, STAT_TD_BACK, "Memory Bound", "Core Bound", 0.2, 0.2, 0.1, TALLY_STAT_BAD},
};

static const struct level1 {
	enum stat_kind kind;
	const char *unit;
	double limit;
	enum tally_stat_grade grade;
} level1[] = {
    {STAT_TD_RETIRING, "Retiring", 0.7, TALLY_STAT_GOOD},
    {STAT_TD_FRONT, "Frontend Bound", 0.2, TALLY_STAT_BAD},
    {STAT_TD_BACK, "Backend Bound", 0.2, TALLY_STAT_BAD},
    {STAT_TD_BAD, "Bad Speculation", 0.1, TALLY_STAT_BAD},
};

static bool derive_slot_parts(struct derive *derive, double count)
{
	double sum;

	for (size_t i = 0; i < sizeof(level1) / sizeof(*level1); i++)
		if (level1[i].kind == derive->kind && slot_sum(derive, &sum)) {
			put_share(derive, count / sum, level1[i].unit,
				  count / sum > level1[i].limit, level1[i].grade);
			return true;
		}
	for (size_t i = 0; i < sizeof(splits) / sizeof(*splits); i++) {
		const struct split *split = &splits[i];
		double whole, half;

		if (split->kind != derive->kind || !slot_sum(derive, &sum))
			continue;
		whole = count_of(derive, split->whole) / sum;
		half = count / sum;
		put_share(derive, half, split->unit,
			  whole > split->whole_limit && half > split->limit, split->grade);
		put_share(derive, whole - half, split->rest,
			  whole > split->whole_limit && whole - half > split->rest_limit,
			  split->grade);
		return true;
	}
	return false;
}

/* --- the rest --- */

static bool derive_rate(struct derive *derive, double count)
{
	static const char *const units[] = {"/sec", "K/sec", "M/sec", "G/sec"};
	double clock, rate;
	size_t unit = 0;

	if (!find(derive, STAT_CLOCK, &clock))
		return false;
	rate = clock != 0 ? 1e9 * count / clock : 0;
	for (; unit < 3 && fabs(rate) > 1000; unit++)
		rate /= 1000;
	put(derive, true, rate, 3, "", units[unit]);
	return true;
}

static bool derive_smi(struct derive *derive)
{
	double smi = count_of(derive, STAT_SMI), aperf = count_of(derive, STAT_APERF);
	double cycles = count_of(derive, STAT_CYCLES), cost;

	if (derive->kind != STAT_SMI)
		return false;
	if (cycles == 0 || aperf == 0)
		return true;
	cost = smi != 0 ? (aperf - cycles) / aperf * 100 : 0;
	put(derive, true, cost, 1, "%", "SMI cycles%")->grade =
	    cost > 10 ? TALLY_STAT_BAD : TALLY_STAT_PLAIN;
	put(derive, true, smi, 0, "", "SMI#");
	return true;
}

static void derive_metrics(struct derive *derive, size_t event)
{
	const struct tally_stat_options *options = &derive->stat->options;
	double *values = derive->stat->values;
	bool made = false;

	for (size_t i = 0; i < options->metric_count; i++) {
		const struct tally_stat_metric *metric = &options->metrics[i];
		bool with_unit = metric->unit && *metric->unit, first = !derive->count;
		struct tally_stat_derived *to;
		int threshold = -1;
		double result;

		if (metric->event >= options->event_count ||
		    derive->stat->into[metric->event] != event)
			continue;
		for (size_t j = 0; j < options->event_count && !made; j++) {
			struct tally_stat_value value = {.size = sizeof(value)};

			/* What was added to another event is in that one's count. */
			values[j] = derive->stat->into[j] != j ? 0
				    : tally_stat_value(derive->stat, j, derive->part, &value) &&
					    tally_stat_counted(&value)
					? value.value / derive->stat->events[j].scale
					: (double)NAN;
		}
		made = true;
		result = options->metric_value(options->metric_context, i, values, &threshold);
		to = put(derive, !isnan(result), result, with_unit ? 1 : 2, "", metric->name);
		to->of_unit = with_unit ? metric->unit : NULL;
		to->metric = true;
		to->threshold = (int8_t)threshold;
		if (threshold == 1)
			to->grade = TALLY_STAT_BAD;
		to->next_line = !first;
	}
}

/* `ret` has room for all that can be derived. */
static size_t derive_all(const struct tally_stat *stat, size_t event, size_t part,
			 struct tally_stat_derived *ret)
{
	struct derive derive = {
	    .stat = stat,
	    .event = &stat->events[event],
	    .kind = stat->kinds[event],
	    .part = part,
	    .to = ret,
	    .room = TALLY_STAT_DERIVED_MOST,
	};
	struct tally_stat_value value = {.size = sizeof(value)};
	bool counted;

	/* A core's count and a CPU's have nothing to do with each other. */
	if (!tally_stat_value(stat, event, part, &value) || derive.event->percore)
		return 0;
	counted = tally_stat_counted(&value);
	if (!derive_core(&derive, value.value) && !derive_transaction(&derive, value.value) &&
	    !derive_slots(&derive) && !derive_slot_parts(&derive, value.value) &&
	    !derive_rate(&derive, value.value))
		derive_smi(&derive);
	derive_metrics(&derive, event);
	for (size_t i = 0; i < derive.count && !counted; i++)
		if (!ret[i].metric) {
			ret[i].known = false;
			ret[i].value = 0;
			ret[i].grade = TALLY_STAT_PLAIN;
		}
	return derive.count;
}

size_t tally_stat_derive(const struct tally_stat *stat, size_t event, size_t part,
			 struct tally_stat_derived *ret, size_t room)
{
	struct tally_stat_derived own[TALLY_STAT_DERIVED_MOST];
	size_t count, size;

	if (!room || !tally_result_is_sized(ret))
		return 0;
	size = ret->size;
	count = derive_all(stat, event, part, own);
	if (count > room)
		count = room;
	for (size_t i = 0; i < count; i++) {
		uint8_t *to = (uint8_t *)ret + i * size;

		memcpy(to, &size, sizeof(size));
		tally_result_copy(to, sizeof(own[i]), &own[i]);
	}
	return count;
}
