/* Which samples are shown. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/text.h>
#include "base/fail.h"
#include "script/script_state.h"

/* --symbols may name addresses: 0x... */
static int take_addresses(struct script *script)
{
	const struct tally_script_options *options = &script->options;
	struct script_filter *filter = &script->filter;

	filter->addresses = calloc(options->symbol_count + 1, sizeof(*filter->addresses));
	if (!filter->addresses)
		return -ENOMEM;
	for (size_t i = 0; i < options->symbol_count; i++) {
		const char *text = options->symbols[i];

		if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X') &&
		    !tally_text_u64(text, &filter->addresses[filter->address_count]))
			filter->address_count++;
	}
	return 0;
}

int tally_script_cpus_parse(const char *list, uint32_t **ret, size_t *ret_count,
			    struct tally_error *error)
{
	int result = tally_text_cpu_list(list, ret, ret_count);

	return result ? tally_fail(error, result, -1,
				   "--cpu '%s' is not a list of CPUs; write it as 0-3,7", list)
		      : 0;
}

static int take_cpus(struct script *script, struct tally_error *error)
{
	struct script_filter *filter = &script->filter;
	uint32_t available = tally_data_info(script->data)->cpus_available;
	int result =
	    tally_script_cpus_parse(script->options.cpus, &filter->cpus, &filter->cpu_count, error);

	if (result)
		return result;
	for (size_t i = 0; i < script->event_count; i++) {
		const struct tally_data_event *event = script->events[i].event;

		if (!(event->attr.sample_type & PERF_SAMPLE_CPU))
			return tally_fail(
			    error, -EINVAL, -1,
			    "--cpu: event '%s' does not record the CPU of its samples",
			    event->name);
	}
	for (size_t i = 0; i < filter->cpu_count && available; i++)
		if (filter->cpus[i] >= available)
			return tally_fail(
			    error, -EINVAL, -1,
			    "--cpu: the recorded machine has CPUs 0 to %u, so no CPU %u",
			    available - 1, filter->cpus[i]);
	filter->any_cpu = true;
	return 0;
}

int tally_script_filter_init(struct script *script, struct tally_error *error)
{
	const struct tally_script_options *options = &script->options;
	int result = 0;

	script->filter.tasks = options->comm_count || options->pid_count || options->tid_count;
	script->filter.frames = options->dso_count || options->symbol_count;
	if (options->time)
		result =
		    tally_time_spans_of(script->session, options->time, options->relative,
					&script->filter.times, &script->filter.time_count, error);
	if (!result && options->cpus)
		result = take_cpus(script, error);
	if (!result && options->symbol_count)
		result = take_addresses(script);
	script->filter.any = script->filter.tasks || script->filter.frames ||
			     script->filter.time_count || script->filter.any_cpu;
	return result;
}

void tally_script_filter_done(struct script_filter *filter)
{
	free(filter->times);
	free(filter->cpus);
	free(filter->addresses);
	*filter = (struct script_filter){0};
}

static bool time_passes(const struct script_filter *filter, uint64_t time)
{
	return !time || time_spans_hold(filter->times, filter->time_count, time);
}

bool tally_script_cpu_passes(const struct script_filter *filter, uint32_t cpu)
{
	if (!filter->any_cpu || cpu == UINT32_MAX)
		return true;
	for (size_t i = 0; i < filter->cpu_count; i++)
		if (filter->cpus[i] == cpu)
			return true;
	return false;
}

static bool has_text(const char *const *list, size_t count, const char *text)
{
	for (size_t i = 0; text && i < count; i++)
		if (!strcmp(list[i], text))
			return true;
	return false;
}

static bool has_number(const uint32_t *list, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++)
		if (list[i] == number)
			return true;
	return !count;
}

static bool task_passes(const struct script *script, const struct tally_resolved *sample)
{
	const struct tally_script_options *options = &script->options;

	if (options->comm_count && !has_text(options->comms, options->comm_count,
					     tally_session_string(script->session, sample->comm)))
		return false;
	/* Thread 0 is the idle one, whatever process a sample says it is of: as in perf. */
	return has_number(options->pids, options->pid_count,
			  sample->sample.tid ? sample->sample.pid : 0) &&
	       has_number(options->tids, options->tid_count, sample->sample.tid);
}

static bool symbol_passes(const struct script *script, const struct tally_location *at,
			  uint64_t addr)
{
	const struct tally_script_options *options = &script->options;
	uint64_t start = addr - (at->place - at->symbol_start);

	if (has_text(options->symbols, options->symbol_count, at->symbol))
		return true;
	for (size_t i = 0; i < script->filter.address_count; i++) {
		uint64_t wanted = script->filter.addresses[i];

		if (addr == wanted || (at->symbol && start == wanted) ||
		    (addr >= wanted && addr - wanted < options->addr_range))
			return true;
	}
	return false;
}

/* The reasons, as bits, for which the sampled place is filtered out. */
static unsigned frame_filtered(const struct script *script, struct tally_resolver *resolver,
			       const struct tally_resolved *sample)
{
	const struct tally_script_options *options = &script->options;
	struct tally_location at;
	uint64_t ip = sample->sample.present & PERF_SAMPLE_IP ? sample->sample.ip : 0;
	unsigned bits = 0;

	if (tally_resolver_perf_location(resolver, sample, sample->cpumode, ip, false, &at))
		at = (struct tally_location){.place = ip};
	if (options->dso_count &&
	    (!at.mapped || (!has_text(options->dsos, options->dso_count, at.image_name) &&
			    !has_text(options->dsos, options->dso_count, at.image_path))))
		bits |= TALLY_FILTERED_DSO;
	if (options->symbol_count && (!at.mapped || !symbol_passes(script, &at, ip)))
		bits |= TALLY_FILTERED_SYMBOL;
	return bits;
}

bool tally_script_skips(void *context, const struct tally_resolved *sample)
{
	const struct script *script = context;
	const struct script_filter *filter = &script->filter;
	uint64_t has = sample->sample.present;

	if (filter->time_count &&
	    !time_passes(filter, has & PERF_SAMPLE_TIME ? sample->sample.time : UINT64_MAX))
		return true;
	return !tally_script_cpu_passes(filter,
					has & PERF_SAMPLE_CPU ? sample->sample.cpu : UINT32_MAX);
}

unsigned tally_script_filtered(void *context, struct tally_resolver *resolver,
			       const struct tally_resolved *sample)
{
	const struct script *script = context;
	const struct script_filter *filter = &script->filter;
	unsigned bits = 0;

	/* As perf does without --guest...: samples of guests are skipped. */
	if (sample->cpumode == PERF_RECORD_MISC_GUEST_KERNEL ||
	    sample->cpumode == PERF_RECORD_MISC_GUEST_USER)
		bits |= TALLY_FILTERED_GUEST;
	if (filter->tasks && !task_passes(script, sample))
		bits |= TALLY_FILTERED_THREAD;
	if (filter->frames)
		bits |= frame_filtered(script, resolver, sample);
	return bits;
}

bool tally_script_passes(const struct script_out *out)
{
	return !tally_script_skips(out->script, out->at) &&
	       !tally_script_filtered(out->script, out->resolver, out->at);
}

int tally_script_ask(const struct script_out *out)
{
	struct script *script = out->script;
	const struct tally_sample_filter *filter = tally_session_filter(script->session);
	const struct tally_own_filter own = {script, tally_script_skips, tally_script_filtered};
	struct tally_resolved as = *out->at;
	struct tally_filter_call call = {
	    .resolver = out->resolver,
	    .record = out->record,
	    .sample = &as,
	    .own = &own,
	    .joined = true,
	};
	int verdict = TALLY_FILTER_KEEP, passes;

	if (filter) {
		struct tally_buf *text;

		verdict = tally_filter_ask(filter, &call);
		text = filter->text(filter->context);
		tally_buf_add(out->to, text->data, text->size);
		tally_buf_clear(text);
		if (out->to->failed)
			return out->to->failed;
	}
	if (verdict != TALLY_FILTER_KEEP)
		return verdict;
	passes = tally_session_test(script->session, 0, out->resolver, out->at);
	return passes < 0 ? passes : passes ? TALLY_FILTER_KEEP : TALLY_FILTER_DROP;
}
