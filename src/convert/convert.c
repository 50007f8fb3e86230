#include "convert/convert.h"

#include <errno.h>
#include <string.h>
#include "session/numbers.h"

int tally_convert_flush(struct convert *convert)
{
	struct tally_buf *text = &convert->text;

	if (text->failed)
		return text->failed;
	errno = 0;
	if (text->size && fwrite(text->data, 1, text->size, convert->to) != text->size)
		return errno ? -errno : -EIO;
	tally_buf_clear(text);
	return 0;
}

bool tally_convert_has_event(const struct convert *convert, uint32_t event)
{
	const struct tally_export_options *options = &convert->options;
	const char *name;

	if (!options->event_count)
		return true;
	name = tally_data_event(convert->data, event)->name;
	for (size_t i = 0; i < options->event_count; i++)
		if (!strcmp(options->events[i], name))
			return true;
	return false;
}

const char *tally_convert_unit(const struct convert *convert, uint32_t event)
{
	const struct tally_attr *attr = &tally_data_event(convert->data, event)->attr;

	return attr->type == PERF_TYPE_SOFTWARE && (attr->config == PERF_COUNT_SW_CPU_CLOCK ||
						    attr->config == PERF_COUNT_SW_TASK_CLOCK)
		   ? "nanoseconds"
		   : "count";
}

bool tally_convert_frame_name(const struct tally_frame *frame, struct tally_buf *to)
{
	if (frame->symbol)
		tally_buf_text(to, frame->symbol);
	else if (frame->function)
		tally_buf_printf(to, "%s+0x%llx", frame->image_name,
				 (unsigned long long)frame->address);
	return frame->symbol || frame->function;
}

void tally_convert_frame_label(const struct tally_frame *frame, struct tally_buf *to)
{
	const char *name = frame->image_name ? frame->image_name : "[unknown]";

	if (!tally_convert_frame_name(frame, to))
		tally_buf_printf(to, name[0] == '[' ? "%s" : "[%s]", name);
}

/* The lines of tally_convert_facts(), each made in one buffer. */
struct facts {
	tally_convert_line_fn take;
	void *context;
	struct tally_buf line;
};

static void end_line(struct facts *facts)
{
	if (facts->line.size && !facts->line.failed)
		facts->take(facts->context, tally_buf_str(&facts->line), facts->line.size);
	tally_buf_clear(&facts->line);
}

static void put_text(struct facts *facts, const char *what, const char *value)
{
	if (value)
		tally_buf_printf(&facts->line, "%s: %s", what, value);
	end_line(facts);
}

static void put_count(struct facts *facts, const char *what, uint64_t count)
{
	if (count)
		tally_buf_printf(&facts->line, "%s: %llu", what, (unsigned long long)count);
	end_line(facts);
}

int tally_convert_facts(const struct convert *convert, tally_convert_line_fn take, void *context)
{
	const struct tally_session_counts *counts = tally_session_counts(convert->session);
	const struct tally_data_damage *damage = tally_data_damage(convert->data);
	const struct tally_data_info *info = tally_data_info(convert->data);
	struct facts facts = {.take = take, .context = context};
	int result;

	tally_buf_printf(&facts.line, "tally export %s", TALLY_VERSION);
	end_line(&facts);
	for (size_t i = 0; i < info->cmdline_count; i++)
		tally_buf_printf(&facts.line, "%s%s", i ? " " : "recorded by: ", info->cmdline[i]);
	end_line(&facts);
	put_text(&facts, "host", info->hostname);
	put_text(&facts, "kernel", info->os_release);
	put_text(&facts, "arch", info->arch);
	put_count(&facts, "samples lost by the kernel", counts->lost);
	put_count(&facts, "times that the kernel throttled an event", counts->throttled);
	put_count(&facts, "samples dropped, as they were not taken in time", counts->dropped);
	put_count(&facts, "invalid records", counts->unusable + counts->undecoded);
	if (damage->count)
		put_text(&facts, "the recording is damaged", damage->text);
	result = facts.line.failed;
	tally_buf_done(&facts.line);
	return result;
}

bool tally_convert_wall_offset(const struct convert *convert, int64_t *ret)
{
	const struct tally_data_info *info = tally_data_info(convert->data);

	if (info->has_clock_data)
		*ret = (int64_t)(info->clock_wall_ns - info->clock_event_ns);
	return info->has_clock_data;
}
