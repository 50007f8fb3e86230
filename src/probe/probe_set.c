/* From places to events: names, definitions, and what the kernel gets. */
#include "probe/probe_set.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "base/fail.h"
#include "base/option_struct.h"
#include "probe/find_program.h"
#include "place/fetch_args.h"
#include "base/name_filter.h"

/* MAX_EVENT_NAME_LEN of the kernel's trace_probe.h, with the NUL; 31 bytes of an argument's. */
#define NAME_ROOM     64
#define ARGUMENT_MOST 31
#define NUMBER_MOST   1024
#define PLACES_USUAL  128

static int fail_memory(struct tally_error *error)
{
	return tally_fail(error, -ENOMEM, -1, "out of memory");
}

void tally_probe_set_notice(const struct tally_probe_set *set, const char *format, ...)
{
	char text[1024];
	va_list args;

	if (!set->options.notice)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	set->options.notice(set->options.notice_context, text);
}

/* --- sites --- */

static const char *copy(struct tally_probe_set *set, const char *text)
{
	return tally_arena_strndup(&set->arena, text, strlen(text));
}

int tally_probe_set_append(struct tally_probe_set *set, const struct probe_site *site,
			   struct tally_error *error)
{
	struct probe_site *sites, *own;

	if (set->site_count == set->options.places_most)
		return tally_fail(error, -E2BIG, -1,
				  "more than %u places have this name; --max-probes allows more",
				  set->options.places_most);
	sites = reallocarray(set->sites, set->site_count + 1, sizeof(*sites));
	if (!sites)
		return fail_memory(error);
	set->sites = sites;
	own = &sites[set->site_count];
	*own = *site;
	own->place = copy(set, site->place);
	own->name = copy(set, site->name ? site->name : "");
	own->arguments =
	    tally_arena_alloc(&set->arena, (site->argument_count + 1) * sizeof(*own->arguments));
	if (!own->place || !own->name || !own->arguments)
		return fail_memory(error);
	for (size_t i = 0; i < site->argument_count; i++) {
		own->arguments[i] = site->arguments[i] ? copy(set, site->arguments[i]) : NULL;
		if (site->arguments[i] && !own->arguments[i])
			return fail_memory(error);
	}
	set->site_count++;
	return 0;
}

/* $arg1 of a program is the register of the calling convention; of the kernel, the kernel's word.
 *
 * Source: System V psABI of x86-64 and AAPCS64 of arm64, arguments of integer class. */
static const char *argument_register(unsigned machine, const char *word)
{
	static const unsigned x86_64[] = {5, 4, 1, 2, 8, 9};
	char *end;
	unsigned long number = strtoul(word + 4, &end, 10);

	if (*end || !number)
		return NULL;
	if (machine == EM_X86_64 && number <= 6)
		return tally_fetch_register(machine, x86_64[number - 1]);
	return machine == EM_AARCH64 && number <= 8 ? tally_fetch_register(machine, number - 1)
						    : NULL;
}

static int format_plain(const struct probe_argument *argument, unsigned machine, bool entry,
			struct tally_buf *to, struct tally_error *error)
{
	const char *word = argument->variable, *type = argument->type, *name = argument->name;
	static const struct {
		const char *cast, *type;
	} casts[] = {{"x", "x64"}, {"u", "u64"}, {"s", "s64"}};

	if (machine && !strncmp(word, "$arg", 4)) {
		const char *register_name = entry ? argument_register(machine, word) : NULL;

		if (!register_name)
			return tally_fail(error, -ENOTSUP, (int64_t)argument->column, "%s: %s",
					  word,
					  entry ? "the calling convention has no register for it"
						: "the arguments are in their registers at a "
						  "function's entry only");
		if (!name)
			name = word + 1;
		word = register_name;
	}
	for (size_t i = 0; type && i < sizeof(casts) / sizeof(*casts); i++)
		if (!strcmp(type, casts[i].cast))
			type = casts[i].type;
	if (name)
		tally_buf_printf(to, "%s=", name);
	tally_buf_text(to, word);
	if (type)
		tally_buf_printf(to, ":%s", type);
	return to->failed ? fail_memory(error) : 0;
}

/* Go has a calling convention of its own, where a string takes two registers, a slice three.
 *
 * Source: Go's src/cmd/compile/abi-internal.md; before Go 1.17 arguments were on the stack. */
static int fail_go_argument(const struct probe_argument *argument, unsigned machine,
			    struct tally_error *error)
{
	return tally_fail(error, -ENOTSUP, (int64_t)argument->column,
			  "%s: Go does not pass arguments as C does: since Go 1.17 their words are "
			  "in %s, name these",
			  argument->variable,
			  machine == EM_X86_64 ? "%ax, %bx, %cx, %di, %si, %r8, %r9, %r10 and %r11"
					       : "the machine's registers, %x0 to %x15 on arm64");
}

int tally_probe_set_plain_arguments(struct tally_probe_set *set, unsigned machine, bool entry,
				    struct probe_site *ret, struct tally_error *error)
{
	size_t count = set->spec.argument_count;
	struct tally_buf text = {0};
	int result = 0;

	ret->arguments = tally_arena_alloc(&set->arena, (count + 1) * sizeof(*ret->arguments));
	ret->argument_count = count;
	if (!ret->arguments)
		return fail_memory(error);
	for (size_t i = 0; i < count && !result; i++) {
		const struct probe_argument *argument = &set->spec.arguments[i];

		tally_buf_clear(&text);
		if (set->go && !strncmp(argument->variable, "$arg", 4))
			result = fail_go_argument(argument, machine, error);
		else
			result = format_plain(argument, machine, entry, &text, error);
		if (!result) {
			ret->arguments[i] = copy(set, tally_buf_str(&text));
			result = ret->arguments[i] ? 0 : fail_memory(error);
		}
	}
	tally_buf_done(&text);
	return result;
}

/* --- what cannot be read everywhere --- */

/* One event has the same arguments at all of its places: where one cannot be read it is a number
 * that is easily seen, or a word.  The number is perf's. */
static const char *missing_text(struct tally_probe_set *set, const char *like)
{
	const char *type = strrchr(like, ':');
	char *text, *kept = NULL;
	bool is_text = type && (!strcmp(type, ":string") || !strcmp(type, ":ustring"));
	int length = asprintf(&text, "%.*s=%s%s", (int)strcspn(like, "="), like,
			      is_text ? "\\\"(unknown)\"" : "\\0xdeade12d", type ? type : "");

	if (length < 0)
		return NULL;
	kept = tally_arena_strndup(&set->arena, text, (size_t)length);
	free(text);
	return kept;
}

static const char *count_missing(const struct tally_probe_set *set, size_t at, size_t *ret)
{
	const char *like = NULL;

	*ret = 0;
	for (size_t k = 0; k < set->site_count; k++) {
		const struct probe_site *site = &set->sites[k];
		const char *text = at < site->argument_count ? site->arguments[at] : "";

		*ret += !text;
		if (!like)
			like = text;
	}
	return like;
}

static int fill_missing(struct tally_probe_set *set, struct tally_error *error)
{
	size_t count = 0, missing;

	for (size_t k = 0; k < set->site_count; k++)
		if (set->sites[k].argument_count > count)
			count = set->sites[k].argument_count;
	for (size_t i = 0; i < count; i++) {
		const char *like = count_missing(set, i, &missing);

		if (missing && (!like || !*like || !set->features.constants)) {
			if (error)
				*error = *set->missing[i];
			return set->missing[i]->code;
		}
	}
	for (size_t i = 0; i < count; i++) {
		const char *like = count_missing(set, i, &missing);

		if (!missing)
			continue;
		tally_probe_set_notice(set,
				       "%s (at %zu of %zu places, where the event has 0xdeade12d "
				       "or (unknown) for it)",
				       set->missing[i]->text, missing, set->site_count);
		for (size_t k = 0; k < set->site_count; k++) {
			struct probe_site *site = &set->sites[k];

			if (i >= site->argument_count || site->arguments[i])
				continue;
			site->arguments[i] = missing_text(set, like);
			if (!site->arguments[i])
				return fail_memory(error);
		}
	}
	return 0;
}

/* --- names --- */

static void make_group(const struct tally_probe_set *set, char to[NAME_ROOM])
{
	const char *base = set->program ? strrchr(set->program, '/') : NULL;
	size_t length = 0;

	base = base ? base + 1 : set->program;
	while (base && (isalnum((unsigned char)base[length]) || base[length] == '_'))
		length++;
	if (set->program)
		snprintf(to, NAME_ROOM, "probe_%.*s", (int)(length < 50 ? length : 50), base);
	else
		snprintf(to, NAME_ROOM, "probe");
}

/* "k8s.io/api/core.(*Pod).String" becomes "core_Pod_String". */
static void make_go_event(const char *name, bool at_return, char to[NAME_ROOM])
{
	const char *package = strrchr(name, '/');
	size_t length = 0;

	for (const char *at = package ? package + 1 : name; *at && length < 40; at++) {
		if (isalnum((unsigned char)*at))
			to[length++] = *at;
		else if (length && to[length - 1] != '_')
			to[length++] = '_';
	}
	while (length && to[length - 1] == '_')
		length--;
	snprintf(to + length, NAME_ROOM - length, "%s", at_return ? "__return" : "");
	if (!length || isdigit((unsigned char)*to))
		*to = '_';
}

/* A name that events may have: ".isra.0" and "@VERSION" are cut, and what else is no part of a name
 * (of C++ functions) becomes "_". */
static void make_event(const struct tally_probe_set *set, const struct probe_site *site,
		       char to[NAME_ROOM])
{
	const struct probe_spec *spec = &set->spec;
	const struct probe_point *point = &spec->point;
	char line[16] = "";
	const char *base = site->name;
	size_t length;

	if (spec->event) {
		base = spec->event;
	} else if (point->function && !point->is_address && !tally_name_is_glob(point->function)) {
		base = point->function;
		if (point->line)
			snprintf(line, sizeof(line), "_L%u", point->line);
	}
	if (set->go && !spec->event && !point->is_address && !point->line) {
		make_go_event(base, point->at_return, to);
		return;
	}
	base += *base == '.';
	length = strcspn(base, ".@");
	snprintf(to, NAME_ROOM, "%.*s%s%s", (int)(length < 40 ? length : 40), base, line,
		 point->at_return ? "__return" : "");
	for (char *at = to; *at; at++)
		if (!isalnum((unsigned char)*at) && *at != '_')
			*at = '_';
	if (isdigit((unsigned char)*to))
		*to = '_';
}

/* What places of one event must share. */
static void add_signature(const struct probe_site *site, struct tally_buf *to)
{
	for (size_t i = 0; i < site->argument_count; i++) {
		const char *text = site->arguments[i], *type = strrchr(text, ':');

		tally_buf_add(to, text, strcspn(text, "="));
		tally_buf_text(to, type ? type : ":");
		tally_buf_byte(to, ' ');
	}
}

static bool is_taken(const struct tally_strings *taken, const char *group, const char *event)
{
	for (size_t i = 0; i < taken->count; i++) {
		const char *name = taken->text[i];
		size_t length = strlen(group);

		if (!strncmp(name, group, length) && name[length] == ':' &&
		    !strcmp(name + length + 1, event))
			return true;
	}
	return false;
}

struct naming {
	struct tally_probe_set *set;
	const struct tally_strings *taken; /* names that exist */
	struct tally_strings own;          /* names of this definition, with a number each */
	struct tally_strings shapes;       /* signatures, "NAME of these arguments" */
	const char **names;                /* by shape */
	struct tally_error *error;
};

/* A free name: the base, or with a number behind it. */
static int choose_name(struct naming *naming, const char *group, const char *base, bool numbers,
		       char to[NAME_ROOM])
{
	char full[2 * NAME_ROOM + 2];

	for (unsigned i = 0; i < NUMBER_MOST; i++) {
		int64_t known;
		size_t before = naming->own.count;

		if (i)
			snprintf(to, NAME_ROOM, "%.57s_%u", base, i);
		else
			snprintf(to, NAME_ROOM, "%s", base);
		if (is_taken(naming->taken, group, to)) {
			if (!numbers)
				return tally_fail(naming->error, -EEXIST, -1,
						  "the event %s:%s exists: remove it with `tally "
						  "probe -d %s:%s`, choose another name "
						  "(NAME=PLACE), or add one more with -f",
						  group, to, group, to);
			continue;
		}
		snprintf(full, sizeof(full), "%s:%s", group, to);
		known = tally_strings_intern(&naming->own, full, strlen(full));
		if (known < 0)
			return fail_memory(naming->error);
		if ((size_t)known == before)
			return 0;
	}
	return tally_fail(naming->error, -ERANGE, -1, "more than %d events are called %s",
			  NUMBER_MOST, base);
}

static int name_site(struct naming *naming, size_t at, const char *group)
{
	struct tally_probe_set *set = naming->set;
	struct tally_probe_event *event = &set->events[at];
	char base[NAME_ROOM], name[NAME_ROOM];
	struct tally_buf shape = {0};
	size_t before = naming->shapes.count;
	const char **names;
	int64_t number;
	int result;

	make_event(set, &set->sites[at], base);
	tally_buf_printf(&shape, "%s ", base);
	add_signature(&set->sites[at], &shape);
	if (!set->features.shared_names)
		tally_buf_printf(&shape, "%zu", at);
	number = shape.failed
		     ? -ENOMEM
		     : tally_strings_intern(&naming->shapes, (char *)shape.data, shape.size);
	tally_buf_done(&shape);
	if (number < 0)
		return fail_memory(naming->error);
	if ((size_t)number < before) {
		event->event = naming->names[number];
		return 0;
	}
	result = choose_name(naming, group, base, at || set->options.force, name);
	names = result ? NULL : reallocarray(naming->names, naming->shapes.count, sizeof(*names));
	if (!names)
		return result ? result : fail_memory(naming->error);
	naming->names = names;
	event->event = names[number] = copy(set, name);
	return event->event ? 0 : fail_memory(naming->error);
}

/* --- definitions --- */

static int format_place(struct tally_probe_set *set, struct tally_buf *to)
{
	const struct probe_spec *spec = &set->spec;

	if (spec->marker)
		tally_buf_printf(to, "%%%s", spec->event);
	else
		tally_probe_point_format(&spec->point, to);
	if (set->program)
		tally_buf_printf(to, " in %s", set->program);
	else if (set->options.module)
		tally_buf_printf(to, " in %s", set->options.module);
	for (size_t i = 0; i < spec->argument_count; i++) {
		const struct probe_argument *argument = &spec->arguments[i];

		tally_buf_text(to, i ? " " : " with ");
		if (argument->name && !argument->step_count)
			tally_buf_printf(to, "%s=", argument->name);
		tally_buf_text(to, argument->shown);
	}
	return to->failed;
}

static int define(struct tally_probe_set *set, size_t at, const char *group,
		  struct tally_error *error)
{
	const struct probe_site *site = &set->sites[at];
	struct tally_probe_event *event = &set->events[at];
	struct tally_buf text = {0};
	int result = 0;

	event->group = group;
	event->kernel = !set->program;
	tally_buf_printf(&text, "%c:%s/%s %s", set->spec.point.at_return ? 'r' : 'p', group,
			 event->event, site->place);
	for (size_t i = 0; i < site->argument_count; i++)
		tally_buf_printf(&text, " %s", site->arguments[i]);
	event->definition = text.failed ? NULL : copy(set, tally_buf_str(&text));
	tally_buf_clear(&text);
	event->place = format_place(set, &text) ? NULL : copy(set, tally_buf_str(&text));
	if (!event->definition || !event->place)
		result = fail_memory(error);
	tally_buf_done(&text);
	return result;
}

static int define_all(struct tally_probe_set *set, const struct tally_strings *taken,
		      struct tally_error *error)
{
	struct naming naming = {.set = set, .taken = taken, .error = error};
	char made[NAME_ROOM];
	const char *group = set->spec.group;
	int result = 0;

	if (!set->events)
		set->events = calloc(set->site_count, sizeof(*set->events));
	if (!group) {
		make_group(set, made);
		group = copy(set, made);
	}
	if (!set->events || !group)
		return fail_memory(error);
	if (strlen(group) >= NAME_ROOM ||
	    (set->spec.event && strlen(set->spec.event) + 10 >= NAME_ROOM))
		return tally_fail(error, -EINVAL, 0,
				  "the name is too long: the kernel takes %d bytes",
				  NAME_ROOM - 11);
	for (size_t i = 0; i < set->site_count && !result; i++) {
		result = name_site(&naming, i, group);
		if (!result)
			result = define(set, i, group, error);
	}
	tally_strings_done(&naming.own);
	tally_strings_done(&naming.shapes);
	free(naming.names);
	return result;
}

/* --- the whole way --- */

int tally_probe_program_path(const struct tally_probe_event_options *options, char **ret,
			     struct tally_error *error)
{
	char *path = realpath(options->program, NULL);

	if (!path && errno == ENOENT && !strchr(options->program, '/')) {
		char *found;

		if (!tally_program_find(options->program, &found)) {
			path = realpath(found, NULL);
			free(found);
		}
	}
	if (!path)
		return tally_fail(error, -ENOENT, -1,
				  "there is no program or library %s; give its path",
				  options->program);
	if (strpbrk(path, " \t\n:")) {
		tally_fail(error, -EINVAL, -1,
			   "%s: the kernel takes no path with blanks or colons; give the program a "
			   "hard link with a plain name",
			   path);
		free(path);
		return -EINVAL;
	}
	*ret = path;
	return 0;
}

static int check_names(const struct tally_probe_set *set, struct tally_error *error)
{
	const struct probe_site *site = &set->sites[0];

	for (size_t i = 0; i < site->argument_count; i++) {
		const char *text = site->arguments[i];
		size_t length = strcspn(text, "=");

		if (!text[length])
			continue;
		if (length > ARGUMENT_MOST)
			return tally_fail(error, -EINVAL, -1,
					  "the name of the argument '%.*s' has more than %d bytes: "
					  "give a shorter one, NAME=%s",
					  (int)length, text, ARGUMENT_MOST, text + length + 1);
		for (size_t k = 0; k < i; k++)
			if (!strncmp(site->arguments[k], text, length + 1))
				return tally_fail(error, -EINVAL, -1,
						  "two arguments are called %.*s: name one, "
						  "OTHER=VARIABLE",
						  (int)length, text);
	}
	return 0;
}

static int find_sites(struct tally_probe_set *set, struct tally_error *error)
{
	int result;

	if (set->spec.marker)
		result = tally_probe_set_find_marker(set, error);
	else if (set->program)
		result = tally_probe_set_find_program(set, error);
	else
		result = tally_probe_set_find_kernel(set, error);
	if (!result)
		result = fill_missing(set, error);
	return result ? result : check_names(set, error);
}

int tally_probe_set_open(const char *text, const struct tally_probe_event_options *options,
			 struct tally_probe_set **ret, struct tally_error *error)
{
	struct tally_probe_set *set = calloc(1, sizeof(*set));
	struct tally_strings none = {0};
	int result;

	if (!set)
		return fail_memory(error);
	set->options.size = sizeof(set->options);
	result = tally_options_take(&set->options, sizeof(set->options), options);
	if (result)
		tally_fail(error, result, -1, "unknown options");
	if (!set->options.places_most)
		set->options.places_most = PLACES_USUAL;
	if (!result)
		result = tally_probe_spec_parse(text, &set->spec, error);
	if (!result && set->spec.program)
		set->options.program = set->spec.program;
	if (!result && set->options.program)
		result = tally_probe_program_path(&set->options, &set->program, error);
	/* Without tracefs a definition can still be shown. */
	if (!result && tally_trace_folder(set->options.tracefs, set->tracefs, PATH_MAX, NULL))
		snprintf(set->tracefs, PATH_MAX, "/sys/kernel/tracing");
	if (!result) {
		tally_trace_features(set->tracefs, &set->features);
		result = find_sites(set, error);
	}
	if (!result)
		result = define_all(set, &none, error);
	if (result)
		tally_probe_set_close(set);
	else
		*ret = set;
	return result;
}

void tally_probe_set_close(struct tally_probe_set *set)
{
	if (!set)
		return;
	if (set->spec.arena.blocks)
		tally_probe_spec_done(&set->spec);
	tally_arena_done(&set->arena);
	free(set->sites);
	free(set->events);
	free(set->program);
	free(set);
}

const struct tally_probe_event *tally_probe_set_at(const struct tally_probe_set *set, size_t at)
{
	return at < set->site_count ? &set->events[at] : NULL;
}

/* --- to the kernel --- */

static int read_names(const char *path, bool uprobes, struct tally_strings *ret)
{
	struct tally_strings lines = {0};
	int result = tally_trace_read(path, uprobes, &lines);

	for (size_t i = 0; i < lines.count && !result; i++) {
		struct trace_line cut;
		char *line = strdup(lines.text[i]), full[512];

		if (!line)
			result = -ENOMEM;
		if (line && tally_trace_line_cut(line, &cut)) {
			snprintf(full, sizeof(full), "%s:%s", cut.group, cut.event);
			if (tally_strings_intern(ret, full, strlen(full)) < 0)
				result = -ENOMEM;
		}
		free(line);
	}
	tally_strings_done(&lines);
	return result;
}

/* What was added of it is removed again.  Events that several places share go at once. */
static void take_back(const struct tally_probe_set *set, size_t count)
{
	while (count--) {
		const struct tally_probe_event *event = &set->events[count];
		char line[2 * NAME_ROOM + 8];

		snprintf(line, sizeof(line), "-:%s/%s", event->group, event->event);
		(void)tally_trace_write(set->tracefs, !event->kernel, line, NULL);
	}
}

int tally_probe_set_add(struct tally_probe_set *set,
			const struct tally_probe_event_options *options, struct tally_error *error)
{
	bool uprobes = set->program, dry_run = options && options->dry_run;
	struct tally_strings taken = {0};
	char folder[PATH_MAX];
	int result;

	if (set->other_kernel)
		return tally_fail(
		    error, -EINVAL, -1,
		    "%s is of another kernel, by its build-id: -D prints a definition "
		    "for that kernel; for this one name the vmlinux of this one",
		    set->options.vmlinux);
	result = tally_trace_folder(set->options.tracefs, folder, sizeof(folder), error);
	if (result)
		return result;
	result = read_names(set->tracefs, uprobes, &taken);
	if (result)
		result = tally_trace_fail(set->tracefs, uprobes, result, error);
	if (!result)
		result = define_all(set, &taken, error);
	for (size_t i = 0; i < set->site_count && !result && !dry_run; i++) {
		result = tally_trace_write(set->tracefs, uprobes, set->events[i].definition, error);
		if (result)
			take_back(set, i);
	}
	tally_strings_done(&taken);
	return result;
}
