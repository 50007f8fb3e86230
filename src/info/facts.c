#include "info/facts.h"

#include <errno.h>
#include <time.h>
#include "abi/constant_names.h"
#include "base/digits.h"
#include "base/text.h"
#include "info/attr_text.h"

/* Source: clock_gettime(2); the words are perf's. */
const char *tally_facts_clock_name(uint32_t clockid)
{
	switch (clockid) {
	case CLOCK_MONOTONIC:
		return "monotonic";
	case CLOCK_MONOTONIC_RAW:
		return "monotonic_raw";
	case CLOCK_REALTIME:
		return "realtime";
	case CLOCK_BOOTTIME:
		return "boottime";
	case CLOCK_TAI:
		return "tai";
	default:
		return "(not found)";
	}
}

const char *tally_facts_callchain(const struct tally_attr *attr)
{
	if (!(attr->sample_type & PERF_SAMPLE_CALLCHAIN))
		return NULL;
	if (attr->sample_type & PERF_SAMPLE_STACK_USER && attr->sample_stack_user)
		return "dwarf";
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK)
		return "lbr";
	return "fp";
}

static void add_rate(struct tally_buf *to, const struct tally_attr *attr)
{
	if (!attr->sample_period)
		tally_buf_text(to, "counted, not sampled");
	else if (attr->freq)
		tally_buf_printf(to, "%llu samples a second",
				 (unsigned long long)attr->sample_freq);
	else if (attr->sample_period == 1)
		tally_buf_text(to, "each one sampled");
	else
		tally_buf_printf(to, "a sample every %llu",
				 (unsigned long long)attr->sample_period);
}

static void add_callchains(struct tally_buf *to, const struct tally_attr *attr, bool unwound)
{
	const char *kind = tally_facts_callchain(attr);

	if (!kind)
		return;
	switch (*kind) {
	case 'd':
		tally_buf_printf(to, "; call chains by %u bytes of stack (DWARF)",
				 attr->sample_stack_user);
		break;
	case 'l':
		tally_buf_text(to, "; call chains by branch records (LBR)");
		break;
	default:
		tally_buf_text(to, unwound ? "; call chains, unwound while recording"
					   : "; call chains by frame pointers");
	}
	if (attr->defer_callchain)
		tally_buf_text(to, ", deferred");
}

void tally_facts_event_words(struct tally_buf *to, const struct tally_attr *attr, bool unwound)
{
	add_rate(to, attr);
	if (attr->exclude_kernel && !attr->exclude_user)
		tally_buf_text(to, "; user space only");
	else if (attr->exclude_user && !attr->exclude_kernel)
		tally_buf_text(to, "; kernel only");
	if (attr->precise_ip)
		tally_buf_printf(to, "; precise %u", (unsigned)attr->precise_ip);
	add_callchains(to, attr, unwound);
	if (attr->sample_type & PERF_SAMPLE_BRANCH_STACK &&
	    !(attr->branch_sample_type & PERF_SAMPLE_BRANCH_CALL_STACK))
		tally_buf_text(to, "; branch stacks");
	if (attr->sample_type & PERF_SAMPLE_ADDR)
		tally_buf_text(to, "; addresses");
	if (attr->sample_type & PERF_SAMPLE_DATA_SRC)
		tally_buf_text(to, "; where data came from");
	if (attr->sample_type & PERF_SAMPLE_AUX)
		tally_buf_printf(to, "; %u bytes of AUX area", attr->aux_sample_size);
	if (attr->inherit)
		tally_buf_text(to, "; children too");
}

struct members {
	struct json *json;
};

static void add_member(void *context, const char *name, const char *value)
{
	struct members *members = context;
	char *end;

	if (*name == '{') /* the first of two names for one member */
		name = name[2] == 's'   ? "sample_period"
		       : name[2] == 'w' ? "wakeup_events"
		       : name[5] == 'a' ? "config1"
					: "config2";
	json_key(members->json, name);
	end = (char *)value + strspn(value, "-0123456789");
	if (!*end)
		json_raw(members->json, value, strlen(value));
	else
		json_text(members->json, value);
}

static void add_attr(struct json *json, const struct tally_attr *attr)
{
	struct members members = {.json = json};

	json_key(json, "attr");
	json_object(json);
	tally_attr_each(attr, add_member, &members);
	json_object_end(json);
}

/* A type that is not the kernel's own is a PMU's, whose number only that recording knows. */
static const char *type_name(const struct tally_data_info *info, uint32_t type)
{
	const char *name = tally_abi_name(&tally_abi_event_types, type);

	for (size_t i = 0; !name && i < info->pmu_count; i++)
		if (info->pmus[i].type == type)
			name = info->pmus[i].name;
	return name;
}

void tally_facts_event_json(struct json *json, const struct tally_data *data, size_t index)
{
	const struct tally_data_event *event = tally_data_event(data, index);
	const struct tally_attr *attr = &event->attr;

	json_object(json);
	json_key_string(json, "name", event->name);
	json_key_u64(json, "index", index);
	json_key_u64(json, "leader", event->leader);
	json_key_string(json, "type", type_name(tally_data_info(data), attr->type));
	json_key_u64(json, attr->freq ? "frequency" : "period", attr->sample_period);
	json_key_string(json, "callchain", tally_facts_callchain(attr));
	add_attr(json, attr);
	json_key(json, "ids");
	json_array(json);
	for (size_t i = 0; i < event->id_count; i++)
		json_u64(json, event->ids[i]);
	json_array_end(json);
	json_object_end(json);
}
