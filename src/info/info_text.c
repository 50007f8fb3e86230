/* The facts about a recording as text for people. */
#include <string.h>
#include <sys/param.h>
#include <time.h>
#include "base/digits.h"
#include "base/text.h"
#include "base/cell.h"
#include "info/facts.h"

#include <tally/record.h>
#include "info/summary.h"

#define LABEL_WIDTH 12

static void add_text(struct tally_buf *to, const char *text)
{
	tally_text_add_escaped(to, text, strlen(text));
}

static void label(struct tally_buf *to, const char *name)
{
	tally_buf_printf(to, "%-*s  ", LABEL_WIDTH, name);
}

/* "1,234,567" */
static void add_count(struct tally_buf *to, uint64_t value)
{
	char digits[DIGITS_MOST];
	size_t length = (size_t)(put_dec(digits, value) - digits);

	for (size_t i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			tally_buf_byte(to, ',');
		tally_buf_byte(to, (uint8_t)digits[i]);
	}
}

/* "12.3 MB": of 1,000, as disks have them. */
static void add_bytes(struct tally_buf *to, uint64_t bytes)
{
	static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
	double value = (double)bytes;
	size_t unit = 0;

	for (; value >= 999.95 && unit < 6; unit++)
		value /= 1000;
	if (unit)
		tally_buf_printf(to, "%.1f %s", value, units[unit]);
	else
		tally_buf_printf(to, "%llu byte%s", (unsigned long long)bytes,
				 bytes == 1 ? "" : "s");
}

static void text_line(struct tally_buf *to, const char *name, const char *text)
{
	if (!text)
		return;
	label(to, name);
	add_text(to, text);
	tally_buf_byte(to, '\n');
}

static void add_file(struct tally_buf *to, const struct tally_data *data,
		     const struct tally_data_info *info)
{
	static const char *const kinds[] = {"perf.data file", "stream of perf record -o -",
					    "directory"};
	time_t modified = (time_t)info->modified;
	char date[64] = "";
	struct tm local;

	label(to, "File");
	add_text(to, tally_data_path(data));
	tally_buf_text(to, ": ");
	add_bytes(to, tally_data_file_size(data));
	tally_buf_printf(to, ", %s, version %u", kinds[tally_data_kind(data)],
			 info->header_version);
	if (info->has_compression)
		tally_buf_printf(to, ", compressed (zstd level %u)", info->compression_level);
	if (modified && localtime_r(&modified, &local) &&
	    strftime(date, sizeof(date), "%F %T", &local))
		tally_buf_printf(to, "; written %s", date);
	tally_buf_byte(to, '\n');
}

static void add_command(struct tally_buf *to, const struct tally_data_info *info)
{
	if (info->cmdline_count) {
		label(to, "Command");
		for (size_t i = 0; i < info->cmdline_count; i++) {
			if (i)
				tally_buf_byte(to, ' ');
			add_text(to, info->cmdline[i]);
		}
		tally_buf_byte(to, '\n');
	}
	text_line(to, "Recorder", info->version);
	for (size_t i = 0; i < info->meta_info.count; i++) {
		label(to, i ? "" : "Meta");
		add_text(to, info->meta_info.pair[i].key);
		tally_buf_text(to, " = ");
		add_text(to, info->meta_info.pair[i].value);
		tally_buf_byte(to, '\n');
	}
}

/* Those that were merged. */
static void add_recordings(struct tally_buf *to, const struct tally_data_info *info)
{
	for (size_t i = 0; i < info->recording_count; i++) {
		const struct tally_data_recording *recording = &info->recordings[i];

		label(to, i ? "" : "Recordings");
		add_text(to, recording->name);
		tally_buf_text(to, ": ");
		add_count(to, recording->samples);
		tally_cell_noun(to, recording->samples, "sample");
		if (*recording->hostname) {
			tally_buf_text(to, ", on ");
			add_text(to, recording->hostname);
		}
		if (*recording->cmdline) {
			tally_buf_text(to, ", by ");
			add_text(to, recording->cmdline);
		}
		tally_buf_byte(to, '\n');
	}
}

static void add_machine(struct tally_buf *to, const struct tally_data_info *info)
{
	text_line(to, "Host", info->hostname);
	if (info->os_release || info->arch) {
		label(to, "Kernel");
		add_text(to, info->os_release ? info->os_release : "unknown");
		if (info->arch) {
			tally_buf_text(to, ", ");
			add_text(to, info->arch);
		}
		tally_buf_byte(to, '\n');
	}
	if (info->cpus_available) {
		label(to, "CPUs");
		tally_buf_printf(to, "%u", info->cpus_online);
		if (info->cpus_online != info->cpus_available)
			tally_buf_printf(to, " of %u", info->cpus_available);
		if (info->cpu_desc) {
			tally_buf_text(to, ", ");
			add_text(to, info->cpu_desc);
		}
		if (info->topology.sockets.count > 1)
			tally_buf_printf(to, ", %zu groups of cores", info->topology.sockets.count);
		if (info->numa_node_count > 1)
			tally_buf_printf(to, ", %zu NUMA nodes", info->numa_node_count);
		tally_buf_byte(to, '\n');
	}
	if (info->total_mem_kb) {
		label(to, "Memory");
		tally_buf_printf(to, "%.1f GiB\n", (double)info->total_mem_kb / 1048576);
	}
}

static void add_span(struct tally_buf *to, uint64_t first, uint64_t last)
{
	label(to, "Time");
	tally_buf_printf(to, "%.6f s, from %.6f to %.6f", (double)(last - first) / 1e9,
			 (double)first / 1e9, (double)last / 1e9);
}

static void add_time(struct tally_buf *to, const struct tally_data *data,
		     const struct tally_data_info *info, const struct tally_summary *summary)
{
	const struct tally_data_event *event = tally_data_event(data, 0);

	if (summary && summary->timed)
		add_span(to, summary->first, summary->last);
	else if (info->has_sample_time && info->sample_time_last)
		add_span(to, info->sample_time_first, info->sample_time_last);
	else
		return;
	if (info->has_clock_data)
		tally_buf_printf(to, " (clock %s)", tally_facts_clock_name(info->clockid));
	else if (event && event->attr.use_clockid)
		tally_buf_printf(to, " (clock %s)",
				 tally_facts_clock_name((uint32_t)event->attr.clockid));
	tally_buf_byte(to, '\n');
}

static void add_stacks(struct tally_buf *to, const struct tally_stack_counts *stacks)
{
	const struct {
		uint64_t count;
		const char *what;
	} parts[] = {
	    {stacks->copy_ended, "where the copy of the stack ends"},
	    {stacks->unknown_code, "in code without a readable file"},
	    {stacks->lost - MIN(stacks->lost, stacks->lost_made),
	     "at a frame without a valid caller"},
	    {stacks->lost_made, "in code made at run time without frame pointers"},
	    {stacks->too_deep, "with too many frames"},
	    {stacks->cut_copies, "copies made smaller"},
	    {stacks->dropped, "copies given up"},
	};

	if (!stacks->count)
		return;
	label(to, "Stacks");
	add_count(to, stacks->count);
	tally_buf_text(to, " unwound while recording, ");
	add_count(to, stacks->whole);
	tally_buf_text(to, " of them whole");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (!parts[i].count)
			continue;
		tally_buf_text(to, ", ");
		add_count(to, parts[i].count);
		tally_buf_printf(to, " %s", parts[i].what);
	}
	tally_buf_byte(to, '\n');
	label(to, "");
	tally_buf_text(to, "frames found by the kernel ");
	add_count(to, stacks->kernel_frames);
	tally_buf_text(to, ", registers ");
	add_count(to, stacks->leaf_frames);
	tally_buf_text(to, ", call frame information ");
	add_count(to, stacks->cfi_frames);
	tally_buf_text(to, ", frame pointers ");
	add_count(to, stacks->frame_pointer_frames);
	tally_buf_text(to, ", frame pointers beyond the copy ");
	add_count(to, stacks->spliced_frames);
	tally_buf_text(to, ", other samples ");
	add_count(to, stacks->joined_frames);
	tally_buf_text(to, " (in ");
	add_count(to, stacks->joined);
	tally_buf_text(to, " stacks)\n");
}

static void add_events(struct tally_buf *to, const struct tally_data *data,
		       const struct tally_summary *summary)
{
	size_t count = tally_data_event_count(data);

	for (size_t i = 0; i < count; i++) {
		const struct tally_data_event *event = tally_data_event(data, i);

		label(to, i ? "" : count > 1 ? "Events" : "Event");
		add_text(to, event->name);
		tally_buf_text(to, ": ");
		tally_facts_event_words(to, &event->attr, tally_data_info(data)->stacks.count);
		if (event->leader != i) {
			tally_buf_text(to, "; grouped with ");
			add_text(to, tally_data_event(data, event->leader)->name);
		}
		tally_buf_byte(to, '\n');
		if (!summary)
			continue;
		label(to, "");
		tally_buf_text(to, "  ");
		add_count(to, summary->events[i].samples);
		tally_cell_noun(to, summary->events[i].samples, "sample");
		if (summary->events[i].period) {
			tally_buf_text(to, ", about ");
			add_count(to, summary->events[i].period);
			tally_buf_text(to, " in all");
		}
		if (summary->events[i].lost) {
			tally_buf_text(to, ", ");
			add_count(to, summary->events[i].lost);
			tally_buf_text(to, " lost");
		}
		tally_buf_byte(to, '\n');
	}
}

static void add_contents(struct tally_buf *to, const struct tally_data_info *info)
{
	bool first = true;

	label(to, "Knows");
	for (unsigned feature = 1; feature < 256; feature++) {
		const char *name = tally_data_feature_name(info, feature);

		if (!facts_has(info, feature))
			continue;
		tally_buf_text(to, first ? "" : " ");
		first = false;
		if (name)
			tally_buf_text(to, name);
		else
			tally_buf_printf(to, "feature-%u", feature);
	}
	tally_buf_text(to, first ? "nothing more\n" : "\n");
	if (info->build_id_count) {
		label(to, "Build-ids");
		add_count(to, info->build_id_count);
		tally_buf_byte(to, '\n');
	}
	if (info->file_count) {
		label(to, "Symbols of");
		tally_buf_printf(to, "%zu files\n", info->file_count);
	}
	if (info->bpf_program_count) {
		label(to, "BPF");
		tally_buf_printf(to, "%zu programs\n", info->bpf_program_count);
	}
}

static void add_row(struct tally_buf *to, const struct summary_type *row)
{
	const char *name;

	if (!row->count)
		return;
	name = tally_record_type_name(row->type);
	label(to, "");
	tally_buf_text(to, "  ");
	if (name)
		tally_buf_printf(to, "%-26s", name);
	else
		tally_buf_printf(to, "type %-21u", row->type);
	tally_buf_printf(to, "%12llu  ", (unsigned long long)row->count);
	add_bytes(to, row->bytes);
	tally_buf_byte(to, '\n');
}

static void add_lost(struct tally_buf *to, const struct tally_summary *summary)
{
	if (summary->lost || summary->lost_samples) {
		label(to, "Lost");
		add_count(to, summary->lost);
		tally_cell_noun(to, summary->lost, "record");
		tally_buf_text(to, ", ");
		add_count(to, summary->lost_samples);
		tally_cell_noun(to, summary->lost_samples, "sample");
		tally_buf_byte(to, '\n');
	}
	if (summary->throttled) {
		label(to, "Throttled");
		add_count(to, summary->throttled);
		tally_cell_noun(to, summary->throttled, "time");
		tally_buf_text(to, ": samples came faster than the kernel allows\n");
	}
	if (summary->aux_records || summary->auxtrace_bytes) {
		label(to, "AUX");
		add_bytes(to, summary->auxtrace_bytes);
		tally_buf_text(to, " in the file, of ");
		add_bytes(to, summary->aux_bytes);
		tally_buf_text(to, " written");
		if (summary->aux_truncated) {
			tally_buf_text(to, "; cut ");
			add_count(to, summary->aux_truncated);
			tally_cell_noun(to, summary->aux_truncated, "time");
		}
		tally_buf_byte(to, '\n');
	}
}

static void add_summary(struct tally_buf *to, const struct tally_data *data,
			const struct tally_summary *summary)
{
	const struct tally_data_packed *packed = tally_data_packed(data);
	const struct tally_data_damage *damage = tally_data_damage(data);

	label(to, "Records");
	add_count(to, summary->records);
	tally_buf_text(to, ", ");
	add_bytes(to, summary->bytes);
	tally_buf_byte(to, '\n');
	for (size_t i = 0; i < SUMMARY_TYPES; i++)
		add_row(to, &summary->types[i]);
	for (size_t i = 0; i < SUMMARY_MORE; i++)
		add_row(to, &summary->more[i]);
	if (packed->records) {
		label(to, "Compressed");
		add_bytes(to, packed->bytes_out);
		tally_buf_text(to, " in ");
		add_bytes(to, packed->bytes_in);
		tally_buf_text(to, ", ");
		add_count(to, packed->records);
		tally_cell_noun(to, packed->records, "record");
		tally_buf_byte(to, '\n');
	}
	add_lost(to, summary);
	if (damage->count || damage->no_end) {
		label(to, "Damage");
		if (damage->count) {
			tally_buf_printf(to, "%llu place%s, ", (unsigned long long)damage->count,
					 damage->count == 1 ? "" : "s");
			add_bytes(to, damage->lost_bytes);
			tally_buf_text(to, " lost: ");
			add_text(to, damage->text);
		} else {
			tally_buf_text(to, "the recording was not ended properly");
		}
		tally_buf_byte(to, '\n');
	}
}

int tally_info_text(const struct tally_data *data, const struct tally_summary *summary, FILE *out)
{
	const struct tally_data_info *info = tally_data_info(data);
	struct tally_buf text = {0};

	add_file(&text, data, info);
	add_command(&text, info);
	add_recordings(&text, info);
	add_machine(&text, info);
	add_time(&text, data, info, summary);
	add_events(&text, data, summary);
	add_stacks(&text, &info->stacks);
	add_contents(&text, info);
	if (summary)
		add_summary(&text, data, summary);
	return tally_buf_put(&text, out);
}
