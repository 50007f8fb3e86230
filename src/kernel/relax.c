/* Opens an event with the parts of an attr that this kernel, hardware and user allow.
 *
 * Features are probed by opening, never deduced from versions: distributions add features to old
 * kernels, and a PMU may refuse what its kernel supports. */
#include <tally/limits.h>
#include <tally/open.h>

#include <errno.h>
#include <linux/perf_event.h>
#include <unistd.h>
#include <tally/abi.h>
#include "kernel/breakpoints.h"
#include "kernel/refused_fields.h"

/* Newer than the headers of Debian 12; values from include/uapi/linux/perf_event.h. */
#define FORMAT_LOST (1ULL << 4)

/* What may be given up, newest first: a kernel that lacks one usually lacks those above it, too.
 * Members of `has` that are set are cleared. */
static const struct relaxation {
	uint32_t bit;
	char name[36];
	struct tally_attr has;
	uint64_t instead; /* sample_type bits that replace it */
} relaxations[] = {
    {TALLY_RELAXED_DEFER_CALLCHAIN,
     "no deferred callchains",
     {.defer_callchain = 1, .defer_output = 1},
     0},
    {TALLY_RELAXED_BRANCH_COUNTERS,
     "no branch counters",
     {.branch_sample_type = PERF_SAMPLE_BRANCH_COUNTERS},
     0},
    {TALLY_RELAXED_LOST, "no counts of lost records", {.read_format = FORMAT_LOST}, 0},
    {TALLY_RELAXED_INHERIT_THREAD, "child processes are measured too", {.inherit_thread = 1}, 0},
    {TALLY_RELAXED_WEIGHT_STRUCT,
     "one weight instead of three",
     {.sample_type = PERF_SAMPLE_WEIGHT_STRUCT},
     PERF_SAMPLE_WEIGHT},
    {TALLY_RELAXED_BUILD_ID, "no build-ids from the kernel", {.build_id = 1}, 0},
    {TALLY_RELAXED_CODE_PAGE_SIZE,
     "no code page sizes",
     {.sample_type = PERF_SAMPLE_CODE_PAGE_SIZE},
     0},
    {TALLY_RELAXED_DATA_PAGE_SIZE,
     "no data page sizes",
     {.sample_type = PERF_SAMPLE_DATA_PAGE_SIZE},
     0},
    {TALLY_RELAXED_TEXT_POKE, "no text-poke records", {.text_poke = 1}, 0},
    {TALLY_RELAXED_CGROUP, "no cgroups", {.cgroup = 1, .sample_type = PERF_SAMPLE_CGROUP}, 0},
    {TALLY_RELAXED_BRANCH_HW_INDEX,
     "no branch stack index",
     {.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX},
     0},
    {TALLY_RELAXED_BPF_EVENT, "no BPF program records", {.bpf_event = 1}, 0},
    {TALLY_RELAXED_KSYMBOL, "no kernel symbol records", {.ksymbol = 1}, 0},
    {TALLY_RELAXED_NAMESPACES, "no namespaces", {.namespaces = 1}, 0},
    {TALLY_RELAXED_PHYS_ADDR, "no physical addresses", {.sample_type = PERF_SAMPLE_PHYS_ADDR}, 0},
    {TALLY_RELAXED_CONTEXT_SWITCH, "no context switch records", {.context_switch = 1}, 0},
    {TALLY_RELAXED_CLOCKID, "the kernel's own clock", {.use_clockid = 1, .clockid = -1}, 0},
    {TALLY_RELAXED_EXCLUDE_GUEST, "guests are measured too", {.exclude_guest = 1}, 0},
};

#define RELAXATION_COUNT (sizeof(relaxations) / sizeof(relaxations[0]))

const char *tally_relaxed_name(uint32_t bit)
{
	if (bit == TALLY_RELAXED_PRECISE)
		return "precise_ip lowered";
	if (bit == TALLY_RELAXED_KERNEL)
		return "user space only";
	for (size_t i = 0; i < RELAXATION_COUNT; i++)
		if (relaxations[i].bit == bit)
			return relaxations[i].name;
	return NULL;
}

static bool has_feature(const struct tally_attr *attr, const struct relaxation *item)
{
	return (attr->flags & item->has.flags) || (attr->sample_type & item->has.sample_type) ||
	       (attr->read_format & item->has.read_format) ||
	       (attr->branch_sample_type & item->has.branch_sample_type);
}

/* The attr without the parts in `given_up`, and with precise_ip at most `precise`. */
static struct tally_attr relaxed_attr(const struct tally_attr *attr, uint32_t given_up,
				      unsigned precise)
{
	struct tally_attr less = *attr;

	for (size_t i = 0; i < RELAXATION_COUNT; i++) {
		const struct relaxation *item = &relaxations[i];

		if (!(given_up & item->bit) || !has_feature(attr, item))
			continue;
		if (less.sample_type & item->has.sample_type)
			less.sample_type |= item->instead;
		less.flags &= ~item->has.flags;
		less.sample_type &= ~item->has.sample_type;
		less.read_format &= ~item->has.read_format;
		less.branch_sample_type &= ~item->has.branch_sample_type;
		if (item->has.clockid)
			less.clockid = 0;
	}
	if (given_up & TALLY_RELAXED_KERNEL) {
		less.exclude_kernel = 1;
		less.exclude_hv = 1;
		less.branch_sample_type &=
		    ~(uint64_t)(PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV);
	}
	if (less.precise_ip > precise)
		less.precise_ip = precise & 3;
	return less;
}

struct attempt {
	const struct tally_attr *attr;
	const struct tally_open_target *target;
	const struct tally_limits *limits;
	uint32_t may, given_up;
	unsigned precise;
};

/* Opens the attr without what is given up so far, and without `more`. */
static int try(const struct attempt *attempt, uint32_t more, unsigned precise)
{
	struct tally_attr less = relaxed_attr(attempt->attr, attempt->given_up | more, precise);

	return tally_open(&less, attempt->target, attempt->limits, NULL);
}

static bool is_of_rights(int result)
{
	return result == -EACCES || result == -EPERM;
}

/* Whether giving something up may help; not against a lack of descriptors, memory, processes or
 * PMUs. */
static bool is_of_features(int result)
{
	return result == -EINVAL || result == -E2BIG || result == -EOPNOTSUPP;
}

/* The three parts of an attr that need rights and can be left out, where `features` are left out,
 * too. */
static int relax_rights(struct attempt *attempt, uint32_t features, int result)
{
	static const uint32_t steps[] = {TALLY_RELAXED_NAMESPACES, TALLY_RELAXED_PHYS_ADDR,
					 TALLY_RELAXED_KERNEL};
	uint32_t tried = 0;

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]) && is_of_rights(result); i++) {
		struct tally_attr now =
		    relaxed_attr(attempt->attr, features | tried, attempt->precise);
		struct tally_attr less =
		    relaxed_attr(attempt->attr, features | tried | steps[i], attempt->precise);

		if (!(attempt->may & steps[i]) ||
		    (now.flags == less.flags && now.sample_type == less.sample_type))
			continue;
		tried |= steps[i];
		result = try(attempt, features | tried, attempt->precise);
	}
	/* They stay given up when that did not help: the error is then about what is still refused.
	 */
	attempt->given_up |= tried;
	return result;
}

static int relax_precise(struct attempt *attempt, int result)
{
	unsigned precise = attempt->precise;

	if (!(attempt->may & TALLY_RELAXED_PRECISE))
		return result;
	while (is_of_features(result) && precise > 0) {
		result = try(attempt, 0, --precise);
		if (!is_of_features(result))
			attempt->precise = precise;
	}
	return result;
}

/* Gives up features one by one until it opens, and then tries to put each back.  The kernel looks
 * at rights behind what it does not know. */
static int relax_features(struct attempt *attempt, int result)
{
	uint32_t tried = 0;
	unsigned precise = attempt->precise;

	for (size_t i = 0; i < RELAXATION_COUNT && is_of_features(result); i++) {
		if (!(attempt->may & relaxations[i].bit) ||
		    (attempt->given_up & relaxations[i].bit) ||
		    !has_feature(attempt->attr, &relaxations[i]))
			continue;
		tried |= relaxations[i].bit;
		result = try(attempt, tried, precise);
		if (is_of_rights(result))
			result = relax_rights(attempt, tried, result);
	}
	/* Both a feature and precise_ip may be refused. */
	while (is_of_features(result) && (attempt->may & TALLY_RELAXED_PRECISE) && precise > 0)
		result = try(attempt, tried, --precise);
	if (result < 0)
		return result;
	for (size_t i = 0; i < RELAXATION_COUNT; i++) {
		uint32_t bit = relaxations[i].bit;
		int fd;

		if (!(tried & bit))
			continue;
		fd = try(attempt, tried & ~bit, precise);
		if (fd < 0)
			continue;
		close(result);
		result = fd;
		tried &= ~bit;
	}
	attempt->given_up |= tried;
	attempt->precise = precise;
	return result;
}

int tally_open_relaxed(struct tally_attr *attr, const struct tally_open_target *target,
		       const struct tally_limits *limits, uint32_t may, uint32_t *ret_given_up,
		       struct tally_error *error)
{
	struct attempt attempt = {
	    .attr = attr,
	    .target = target,
	    .limits = limits,
	    .may = may,
	    .precise = attr->precise_ip,
	};
	struct tally_limits own = {.size = sizeof(own)};
	struct tally_attr opened;
	int result;

	if (!limits) {
		tally_limits_read(NULL, &own);
		attempt.limits = &own;
	}
	if (attr->type == PERF_TYPE_BREAKPOINT && tally_breakpoints() == TALLY_BREAKPOINTS_SILENT) {
		tally_open_explain(EOPNOTSUPP, attr, target, attempt.limits, error);
		return -EOPNOTSUPP;
	}
	result = try(&attempt, 0, attempt.precise);
	if (is_of_rights(result))
		result = relax_rights(&attempt, 0, result);
	if (is_of_features(result))
		result = relax_precise(&attempt, result);
	if (is_of_features(result))
		result = relax_features(&attempt, result);
	opened = relaxed_attr(attr, attempt.given_up, attempt.precise);
	if (result < 0) {
		/* what would be given up is not refused */
		struct tally_attr least = relaxed_attr(
		    attr, attempt.given_up | (may & TALLY_RELAXED_EXCLUDE_GUEST), attempt.precise);

		/* once more for the size that the kernel writes */
		if (result == -E2BIG && error && tally_open(&opened, target, limits, error) < 0)
			return result;
		if (!tally_open_find_refused_fields(result, &least, target, attempt.limits, error))
			tally_open_explain(-result, &opened, target, attempt.limits, error);
		return result;
	}
	if (opened.precise_ip < attr->precise_ip)
		attempt.given_up |= TALLY_RELAXED_PRECISE;
	opened.size = tally_attr_min_size(&opened);
	*attr = opened;
	*ret_given_up = attempt.given_up;
	return result;
}
