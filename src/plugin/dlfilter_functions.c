/* The functions by which filters ask about the current sample.  Nothing is looked up before a
 * filter asks, and nothing twice for one sample. */
#include <errno.h>
#include <string.h>
#include "base/bytes.h"
#include "plugin/dlfilter_host.h"

static const uint8_t no_build_id[20];

/* The current sample, if the filter is called for one; else NULL: then it cannot ask anything. */
static struct dlfilter_moment *moment_of(void *ctx)
{
	struct dlfilter *filter = ctx;
	struct tally_dlfilters *host = filter->host;

	return host->running == filter && host->now.call ? &host->now : NULL;
}

static uint64_t ip_of(const struct dlfilter_moment *now)
{
	return now->sample.ip;
}

/* Names that are made here live as long as filters may use them. */
static const char *label(struct tally_dlfilters *host, const struct tally_location *location)
{
	char room[TALLY_LABEL_ROOM];
	const char *text = tally_label_of(&host->labels, location, room);
	uint64_t *made;
	bool added;

	if (text != room)
		return text;
	made = tally_map_put(&host->made, tally_hash_bytes(text, strlen(text)), &added);
	if (!made)
		return "";
	if (added)
		*made = (uintptr_t)tally_arena_strndup(&host->arena, text, strlen(text));
	return *made ? (const char *)(uintptr_t)*made : "";
}

static const struct tally_location *ip_location(struct dlfilter_moment *now)
{
	struct tally_resolved *sample = now->call->sample;

	if (!now->has_ip_location) {
		if (filter_call_join(now->call) ||
		    tally_resolver_perf_location(now->call->resolver, sample, sample->cpumode,
						 ip_of(now), false, &now->ip_location))
			now->ip_location = (struct tally_location){.place = ip_of(now)};
		now->has_ip_location = true;
	}
	return &now->ip_location;
}

/* What is subtracted of a place and of its symbol: perf counts in a kernel module from its start.
 */
static uint64_t base_of(const struct tally_location *location)
{
	bool module = location->mapped && location->image &&
		      tally_image_kind(location->image) == TALLY_IMAGE_MODULE;

	return module && location->place >= location->map_start ? location->map_start : 0;
}

static uint64_t place_of(const struct tally_location *location, uint64_t address)
{
	return tally_label_place(location, address) - base_of(location);
}

static void fill_al(struct tally_dlfilters *host, const struct tally_location *location,
		    uint64_t address, struct perf_dlfilter_al *to)
{
	*to = (struct perf_dlfilter_al){
	    .size = sizeof(*to),
	    .addr = place_of(location, address),
	    .is_kernel_ip = address >= TALLY_KERNEL_START,
	};
	if (!location->mapped)
		return;
	to->dso = label(host, location);
	to->is_64_bit = !location->image || !tally_image_is_32_bit(location->image);
	to->buildid = (uint8_t *)no_build_id;
	if (location->image) {
		uint8_t size;

		to->buildid = (uint8_t *)tally_image_build_id(location->image, &size);
		to->buildid_size = size;
	}
	if (!location->symbol)
		return;
	to->sym = location->symbol;
	to->sym_start = location->symbol_start - base_of(location);
	to->sym_end = location->symbol_end - base_of(location);
	to->symoff =
	    (uint32_t)(location->place < location->symbol_end
			   ? location->place - location->symbol_start
			   : location->place - location->map_start - location->symbol_start);
	to->sym_binding = location->binding;
}

static const struct perf_dlfilter_al *resolve_ip(void *ctx)
{
	struct dlfilter_moment *now = moment_of(ctx);
	struct tally_dlfilters *host = ((struct dlfilter *)ctx)->host;
	const struct tally_own_filter *own;
	struct tally_resolved *sample;
	const char *comm;

	if (!now)
		return NULL;
	if (now->ip.size)
		return &now->ip;
	sample = now->call->sample;
	own = now->call->own;
	fill_al(host, ip_location(now), ip_of(now), &now->ip);
	comm = tally_session_string(host->session, sample->comm);
	now->ip.comm = comm ? comm : ":-1";
	if (own->filtered)
		now->ip.filtered =
		    (uint8_t)own->filtered(own->context, now->call->resolver, sample);
	return &now->ip;
}

static const struct perf_dlfilter_al *resolve_addr(void *ctx)
{
	struct dlfilter_moment *now = moment_of(ctx);

	if (!now || !now->sample.addr_correlates_sym)
		return NULL;
	if (now->addr.size)
		return &now->addr;
	if (!now->has_addr_location) {
		struct tally_resolved *sample = now->call->sample;

		if (filter_call_join(now->call) ||
		    tally_resolver_perf_location(now->call->resolver, sample, sample->cpumode,
						 now->sample.addr, true, &now->addr_location))
			now->addr_location = (struct tally_location){.place = now->sample.addr};
		now->has_addr_location = true;
	}
	fill_al(((struct dlfilter *)ctx)->host, &now->addr_location, now->sample.addr, &now->addr);
	return &now->addr;
}

static char **args(void *ctx, int *count)
{
	struct dlfilter *filter = ctx;

	if (!count)
		return NULL;
	*count = 0;
	if (filter->host->running != filter)
		return NULL;
	*count = filter->arg_count;
	return filter->args;
}

/* Copies as much of the answer as fits into the size that the filter gives. */
static __s32 resolve_address(void *ctx, __u64 address, struct perf_dlfilter_al *al)
{
	struct dlfilter_moment *now = moment_of(ctx);
	struct perf_dlfilter_al found;
	struct tally_resolved *sample;
	struct tally_location location;
	uint32_t size;

	if (!now || !al)
		return -1;
	sample = now->call->sample;
	if (filter_call_join(now->call) ||
	    tally_resolver_perf_location(now->call->resolver, sample, sample->cpumode, address,
					 true, &location))
		return -1;
	fill_al(((struct dlfilter *)ctx)->host, &location, address, &found);
	memcpy(&size, al, sizeof(size));
	memcpy(al, &found, size < sizeof(found) ? size : sizeof(found));
	memcpy(al, &size, sizeof(size));
	return 0;
}

/* Whether the recording is of a machine with x86 instructions, and this build knows them. */
static bool is_x86(const struct tally_dlfilters *host)
{
	const char *arch = tally_data_info(tally_session_data(host->session))->arch;

#if defined(__x86_64__) || defined(__i386__)
	if (!arch)
		return true;
#endif
	return arch && (!strcmp(arch, "x86_64") || (arch[0] == 'i' && !strcmp(arch + 2, "86")));
}

static struct insn_decoder *decoder(struct tally_dlfilters *host, bool is_64_bit)
{
	if (!host->decoder_asked[is_64_bit]) {
		host->decoder_asked[is_64_bit] = true;
		host->decoders[is_64_bit] = tally_insn_decoder_new(is_64_bit);
	}
	return host->decoders[is_64_bit];
}

/* The address says whether it is the kernel's, not the sample's mode. */
static void fetch_insn(struct tally_dlfilters *host, struct dlfilter_moment *now)
{
	struct tally_resolved *sample = now->call->sample;
	uint64_t ip = ip_of(now);
	struct tally_location location;
	int64_t got;

	if (!ip || !is_x86(host) || filter_call_join(now->call) ||
	    tally_resolver_perf_location(now->call->resolver, sample,
					 tally_addr_mode(PERF_RECORD_MISC_USER, ip), ip, false,
					 &location) ||
	    !location.image)
		return;
	got = tally_image_read(location.image, location.place, now->insn, sizeof(now->insn));
	if (got > 0)
		now->insn_length = (uint32_t)tally_insn_length(
		    decoder(host, !tally_image_is_32_bit(location.image)), now->insn, (size_t)got);
}

static const __u8 *insn(void *ctx, __u32 *length)
{
	struct dlfilter_moment *now = moment_of(ctx);

	if (!length)
		return NULL;
	*length = 0;
	if (!now)
		return NULL;
	if (!now->has_insn) {
		fetch_insn(((struct dlfilter *)ctx)->host, now);
		now->has_insn = true;
	}
	if (!now->insn_length)
		return NULL;
	*length = now->insn_length;
	return now->insn;
}

static const char *srcline(void *ctx, __u32 *line_number)
{
	struct dlfilter_moment *now = moment_of(ctx);
	struct tally_located located;
	struct tally_resolved *sample;
	struct tally_line line;

	if (!now || !line_number)
		return NULL;
	*line_number = 0;
	sample = now->call->sample;
	/* The kernel has no lines, and neither does memory. */
	if (!ip_location(now)->mapped || ip_location(now)->image_path[0] != '/' ||
	    tally_resolver_locate(now->call->resolver, sample, sample->cpumode, ip_of(now),
				  &located) ||
	    tally_resolver_line(now->call->resolver, &located, &line))
		return NULL;
	*line_number = line.line;
	return line.file;
}

static struct perf_event_attr *attr(void *ctx)
{
	struct dlfilter_moment *now = moment_of(ctx);

	return now ? ((struct dlfilter *)ctx)->host->facts[now->call->sample->event].attr : NULL;
}

static __s32 object_code(void *ctx, __u64 ip, void *buf, __u32 len)
{
	struct dlfilter_moment *now = moment_of(ctx);
	struct tally_resolved *sample;
	struct tally_location location;
	int64_t got;

	if (!now || (!buf && len))
		return -1;
	sample = now->call->sample;
	if (filter_call_join(now->call) ||
	    tally_resolver_perf_location(now->call->resolver, sample, sample->cpumode, ip, true,
					 &location) ||
	    !location.image)
		return -1;
	if (len > location.map_end - ip)
		len = (uint32_t)(location.map_end - ip);
	if (len > INT32_MAX)
		len = INT32_MAX;
	got = tally_image_read(location.image, location.place, buf, len);
	return got < 0 || (!got && len) ? -1 : (__s32)got;
}

static void al_cleanup(void *ctx, struct perf_dlfilter_al *al)
{
	uint32_t size;

	(void)ctx;
	if (!al)
		return;
	memcpy(&size, al, sizeof(size));
	/* What resolve_address() gives is the session's: there is nothing to free. */
	if (size >= sizeof(*al))
		al->priv = NULL;
}

const struct perf_dlfilter_fns tally_dlfilter_functions = {
    .resolve_ip = resolve_ip,
    .resolve_addr = resolve_addr,
    .args = args,
    .resolve_address = resolve_address,
    .insn = insn,
    .srcline = srcline,
    .attr = attr,
    .object_code = object_code,
    .al_cleanup = al_cleanup,
};
