/* Filters from shared objects: loaded, asked in order about each sample, stopped. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "plugin/dlfilter_host.h"

static const char *const callback_names[] = {
    [DLFILTER_LOAD] = "its loading",
    [DLFILTER_START] = "start",
    [DLFILTER_EARLY] = "filter_event_early",
    [DLFILTER_LATE] = "filter_event",
    [DLFILTER_STOP] = "stop",
    [DLFILTER_UNLOAD] = "its unloading",
};

static void set_end(struct tally_dlfilters *host, const struct dlfilter *filter,
		    enum dlfilter_phase phase, int value)
{
	host->end = (struct tally_dlfilter_end){
	    .name = filter->name, .callback = callback_names[phase], .value = value};
}

static inline void enter(struct tally_dlfilters *host, struct dlfilter *filter,
			 enum dlfilter_phase phase)
{
	host->phase = phase;
	host->calls = host->calls + 1;
	host->running = filter;
	own_stdout_begin(&host->out);
}

static inline void leave(struct tally_dlfilters *host)
{
	own_stdout_end(&host->out);
	host->running = NULL;
}

/* --- samples --- */

static int ask(struct tally_dlfilters *host, struct tally_filter_call *call,
	       enum dlfilter_phase phase)
{
	int value = 0;

	for (size_t i = 0; i < host->count && !value; i++) {
		struct dlfilter *filter = host->list[i];
		dlfilter_event event = phase == DLFILTER_EARLY ? filter->early : filter->late;

		if (!event)
			continue;
		host->now.ip.size = host->now.addr.size = 0;
		host->now.call = call;
		enter(host, filter, phase);
		value = event(filter->data, &host->now.sample, filter);
		leave(host);
		host->now.call = NULL;
		if (value < 0)
			set_end(host, filter, phase, value);
	}
	return value < 0 ? TALLY_FILTER_END : value ? TALLY_FILTER_DROP : TALLY_FILTER_KEEP;
}

static void look(struct tally_dlfilters *host, const struct tally_filter_call *call)
{
	struct dlfilter_moment *now = &host->now;

	tally_dlfilter_fill(host, call, &now->sample);
	now->has_ip_location = now->has_addr_location = now->has_insn = false;
	now->insn_length = 0;
}

static int ask_early(void *context, struct tally_filter_call *call)
{
	look(context, call);
	return ask(context, call, DLFILTER_EARLY);
}

static int ask_late(void *context, struct tally_filter_call *call)
{
	struct tally_dlfilters *host = context;

	/* The early part has done so. */
	if (!host->hook.early)
		look(host, call);
	return ask(host, call, DLFILTER_LATE);
}

static struct tally_buf *text(void *context)
{
	return &((struct tally_dlfilters *)context)->out.text;
}

static void print(void *context)
{
	tally_own_stdout_print(&((struct tally_dlfilters *)context)->out);
}

/* --- loading --- */

int tally_dlfilters_new(struct tally_dlfilters **ret)
{
	struct tally_dlfilters *host = calloc(1, sizeof(*host));

	if (!host || tally_own_stdout_init(&host->out)) {
		free(host);
		return -ENOMEM;
	}
	host->hook = (struct tally_sample_filter){.context = host, .text = text, .print = print};
	*ret = host;
	return 0;
}

static void free_filter(struct dlfilter *filter)
{
	struct tally_dlfilters *host = filter->host;

	if (filter->handle) {
		enter(host, filter, DLFILTER_UNLOAD);
		dlclose(filter->handle);
		leave(host);
		tally_own_stdout_print(&host->out);
	}
	for (int i = 0; i < filter->arg_count; i++)
		free(filter->args[i]);
	free(filter->args);
	free(filter->name);
	free(filter);
}

static void leave_session(struct tally_dlfilters *host)
{
	if (host->session && tally_session_filter(host->session) == &host->hook)
		tally_session_set_filter(host->session, NULL);
	host->session = NULL;
}

void tally_dlfilters_free(struct tally_dlfilters *filters)
{
	if (!filters)
		return;
	leave_session(filters);
	for (size_t i = 0; i < filters->count; i++)
		free_filter(filters->list[i]);
	free(filters->list);
	for (size_t i = 0; i < 2; i++)
		tally_insn_decoder_free(filters->decoders[i]);
	tally_labels_done(&filters->labels);
	tally_map_done(&filters->made);
	tally_arena_done(&filters->arena);
	tally_own_stdout_done(&filters->out);
	free(filters);
}

static int take_args(struct dlfilter *filter, const char *const *args, size_t count)
{
	if (!count)
		return 0; /* args() gives NULL then */
	filter->args = calloc(count, sizeof(*filter->args));
	for (size_t i = 0; filter->args && i < count; i++) {
		filter->args[i] = strdup(args[i]);
		if (!filter->args[i])
			return -ENOMEM;
		filter->arg_count++;
	}
	return filter->args ? 0 : -ENOMEM;
}

/* dlsym() gives a data pointer, which POSIX lets hold a function's. */
static void take_symbol(void *handle, const char *name, void *to)
{
	void *symbol = dlsym(handle, name);

	memcpy(to, &symbol, sizeof(symbol));
}

static int load(struct dlfilter *filter, struct tally_error *error)
{
	struct tally_dlfilters *host = filter->host;
	void *table = NULL;
	int result;

	enter(host, filter, DLFILTER_LOAD);
	filter->handle = dlopen(filter->name, RTLD_NOW);
	leave(host);
	tally_own_stdout_print(&host->out);
	if (!filter->handle)
		return tally_fail(error, -ENOENT, -1, "the filter '%s' cannot be loaded: %s",
				  filter->name, dlerror());
	take_symbol(filter->handle, "start", &filter->start);
	take_symbol(filter->handle, "stop", &filter->stop);
	take_symbol(filter->handle, "filter_event_early", &filter->early);
	take_symbol(filter->handle, "filter_event", &filter->late);
	take_symbol(filter->handle, "perf_dlfilter_fns", &table);
	result = table ? tally_dlfilter_table_fill(table) : 0;
	if (result)
		return tally_fail(error, result, -1,
				  "the filter '%s' cannot be given functions: its "
				  "perf_dlfilter_fns is constant; leave out its const",
				  filter->name);
	if (filter->early)
		host->hook.early = ask_early;
	if (filter->late)
		host->hook.late = ask_late;
	return 0;
}

int tally_dlfilters_add(struct tally_dlfilters *filters, const char *name, const char *const *args,
			size_t arg_count, struct tally_error *error)
{
	struct dlfilter *filter = calloc(1, sizeof(*filter));
	struct dlfilter **list =
	    reallocarray(filters->list, filters->count + 1, sizeof(*filters->list));
	int result = filter && list ? 0 : -ENOMEM;

	if (list)
		filters->list = list;
	if (!result) {
		filter->host = filters;
		filter->name = tally_dlfilter_find(name);
		result = filter->name ? take_args(filter, args, arg_count) : -ENOMEM;
	}
	if (result)
		result = tally_fail(error, result, -1, "out of memory for the filter '%s'", name);
	else
		result = load(filter, error);
	if (result) {
		if (filter)
			free_filter(filter);
		return result;
	}
	filters->list[filters->count++] = filter;
	return 0;
}

/* --- beginning and end --- */

static int begin(struct tally_dlfilters *host, struct dlfilter *filter)
{
	int value = 0;

	filter->started = true;
	if (filter->start) {
		enter(host, filter, DLFILTER_START);
		value = filter->start(&filter->data, filter);
		leave(host);
	}
	if (value)
		set_end(host, filter, DLFILTER_START, value);
	return value;
}

int tally_dlfilters_start(struct tally_dlfilters *filters, struct tally_session *session,
			  bool kernel_path, struct tally_error *error)
{
	int value = 0;

	filters->session = session;
	if (tally_labels_init(&filters->labels, tally_session_data(session), kernel_path) ||
	    tally_dlfilter_facts(filters))
		return tally_fail(error, -ENOMEM, -1, "out of memory for the filters");
	for (size_t i = 0; i < filters->count && !value; i++)
		value = begin(filters, filters->list[i]);
	tally_own_stdout_print(&filters->out);
	if (value)
		return tally_fail(error, -ECANCELED, -1, "start() of the filter '%s' gave %d",
				  filters->end.name, value);
	if (filters->hook.early || filters->hook.late)
		tally_session_set_filter(session, &filters->hook);
	return 0;
}

void tally_dlfilters_stop(struct tally_dlfilters *filters)
{
	for (size_t i = 0; i < filters->count; i++) {
		struct dlfilter *filter = filters->list[i];

		if (filter->started && filter->stop) {
			enter(filters, filter, DLFILTER_STOP);
			(void)filter->stop(filter->data, filter);
			leave(filters);
		}
		filter->started = false;
	}
	leave_session(filters);
	tally_own_stdout_print(&filters->out);
}

int tally_dlfilters_ended(const struct tally_dlfilters *filters, struct tally_dlfilter_end *ret)
{
	return tally_result_copy(ret, sizeof(filters->end), &filters->end);
}

int tally_dlfilters_now(const struct tally_dlfilters *filters, struct tally_dlfilter_now *ret)
{
	const struct dlfilter *filter = filters->running;
	const struct tally_dlfilter_now own = {
	    .name = filter ? filter->name : NULL,
	    .callback = filter ? callback_names[filters->phase] : NULL,
	    .call = filters->calls,
	};

	return tally_result_copy(ret, sizeof(own), &own);
}
