/* Keys of memory accesses (perf mem record): where the data was, and what the processor says of the
 * access.  Source of the bits: union perf_mem_data_src of perf_event.h. */
#include "base/bytes.h"
#include "dump/value_text.h"
#include "key/key_tables.h"
#include "resolve/locate.h"
#include "session/batch_sample.h"
#include "session/numbers.h"

/* The line of the cache that perf takes where it does not know better. */
#define CACHE_LINE 64U

static uint8_t mode_of(const struct key_row *row)
{
	return tally_batch_cpumode(row->batch, row->at);
}

/* A place of code or data.  Equal texts of different places are different values, as in perf, which
 * has a row for each address: `apart` is added behind the text's end. */
static uint64_t put_place(const struct profile_keys *keys, const struct tally_location *location,
			  char level, uint64_t shown, uint64_t apart)
{
	struct tally_buf text = {0};
	uint64_t number = KEY_UNKNOWN;

	tally_buf_printf(&text, "[%c] ", level);
	if (location->symbol)
		tally_buf_text(&text, location->symbol);
	if (location->symbol && !location->executable) /* data: the place in it */
		tally_buf_printf(&text, "+0x%llx",
				 (unsigned long long)(shown - location->symbol_start));
	if (!location->symbol)
		tally_buf_printf(&text, "0x%016llx", (unsigned long long)shown);
	tally_buf_byte(&text, 0);
	tally_buf_add(&text, &apart, sizeof(apart));
	if (!text.failed)
		number = tally_key_texts_put(keys->texts, (const char *)text.data, text.size);
	tally_buf_done(&text);
	return number;
}

static uint64_t place_at(const struct profile_keys *keys, const struct key_row *row, uint64_t addr)
{
	struct tally_location location = {.level = '.'};

	if (tally_batch_location(row->batch, row->at, mode_of(row), addr, &location))
		return KEY_UNKNOWN;
	return put_place(keys, &location, location.level, location.symbol ? location.place : addr,
			 addr);
}

static uint64_t data_address(const struct key_row *row)
{
	return row->sample->present & PERF_SAMPLE_ADDR ? row->sample->addr : 0;
}

static uint64_t symbol_daddr_of(const struct profile_keys *keys, const struct key_row *row)
{
	return place_at(keys, row, data_address(row));
}

static uint64_t symbol_iaddr_of(const struct profile_keys *keys, const struct key_row *row)
{
	return place_at(keys, row, row->sample->ip);
}

static uint64_t dso_daddr_of(const struct profile_keys *keys, const struct key_row *row)
{
	uint32_t frame = tally_batch_frame(row->batch, row->at, mode_of(row), data_address(row));

	return frame ? tally_key_image_text(keys, frame) : KEY_UNKNOWN;
}

/* Lines differ by their place in the file, or in the process's own memory. */
static uint64_t line_of(const struct profile_keys *keys, const struct key_row *row)
{
	struct tally_location location = {.level = '.'};
	uint64_t line, apart;
	bool own;

	if (tally_batch_location(row->batch, row->at, mode_of(row), data_address(row), &location))
		return KEY_UNKNOWN;
	line = (location.mapped ? location.place : data_address(row)) & ~(uint64_t)(CACHE_LINE - 1);
	own = !location.mapped || !location.image;
	apart = hash_mix(hash_pair(line, (uintptr_t)location.image_name),
			 own && location.mapped ? row->thread.pid : mode_of(row));
	return put_place(keys, &location, location.mapped ? location.level : 'X', line, apart);
}

/* "N/A" for all parts, as the kernel says it where the processor does not say. */
#define SOURCE_UNKNOWN                                         \
	((uint64_t)PERF_MEM_LVL_NA << PERF_MEM_LVL_SHIFT |     \
	 (uint64_t)PERF_MEM_SNOOP_NA << PERF_MEM_SNOOP_SHIFT | \
	 (uint64_t)PERF_MEM_LOCK_NA << PERF_MEM_LOCK_SHIFT |   \
	 (uint64_t)PERF_MEM_TLB_NA << PERF_MEM_TLB_SHIFT |     \
	 (uint64_t)PERF_MEM_BLK_NA << PERF_MEM_BLK_SHIFT)

static uint64_t source_of(const struct key_row *row)
{
	return row->sample->present & PERF_SAMPLE_DATA_SRC ? row->sample->data_src : SOURCE_UNKNOWN;
}

static uint64_t part_of(const struct key_row *row, unsigned shift, unsigned width)
{
	return source_of(row) & ((1ULL << width) - 1) << shift;
}

/* The bits that perf compares are fewer than those it prints. */
static uint64_t level_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return part_of(row, PERF_MEM_LVL_SHIFT, 14) | part_of(row, PERF_MEM_LVLNUM_SHIFT, 4) |
	       part_of(row, PERF_MEM_REMOTE_SHIFT, 1) | part_of(row, PERF_MEM_HOPS_SHIFT, 3);
}

static uint64_t snoop_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return part_of(row, PERF_MEM_SNOOP_SHIFT, 5) | part_of(row, PERF_MEM_SNOOPX_SHIFT, 2);
}

static uint64_t tlb_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return part_of(row, PERF_MEM_TLB_SHIFT, 7);
}

static uint64_t lock_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return part_of(row, PERF_MEM_LOCK_SHIFT, 2);
}

static uint64_t blocked_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return part_of(row, PERF_MEM_BLK_SHIFT, 3);
}

static void put_part(struct tally_buf *to, enum tally_mem_part part, uint64_t value)
{
	size_t start = to->size;

	tally_script_mem_part(to, part, value);
	while (to->size > start && to->data[to->size - 1] == ' ')
		to->size--;
}

#define PART_TEXT(name, part)                                                               \
	static void name(const struct profile_keys *keys, uint64_t value, uint64_t samples, \
			 struct tally_buf *to)                                              \
	{                                                                                   \
		(void)keys;                                                                 \
		(void)samples;                                                              \
		put_part(to, part, value);                                                  \
	}
PART_TEXT(level_text, TALLY_MEM_LEVEL)
PART_TEXT(snoop_text, TALLY_MEM_SNOOP)
PART_TEXT(tlb_text, TALLY_MEM_TLB)
PART_TEXT(lock_text, TALLY_MEM_LOCK)
PART_TEXT(blocked_text, TALLY_MEM_BLOCKED)

static uint64_t physical_of(const struct profile_keys *keys, const struct key_row *row)
{
	static const struct tally_location none;
	uint64_t addr = row->sample->present & PERF_SAMPLE_PHYS_ADDR ? row->sample->phys_addr : 0;
	struct tally_frame frame = tally_session_frame(row->session, row->frame);

	return put_place(keys, &none, frame.level ? frame.level : '.', addr, addr);
}

static uint64_t page_of(const struct profile_keys *keys, const struct key_row *row)
{
	(void)keys;
	return row->sample->present & PERF_SAMPLE_DATA_PAGE_SIZE ? row->sample->data_page_size : 0;
}

#define MEMORY_ROW(key, head, says, made, how, ...)                                                \
	{                                                                                          \
		.name = key, .title = head, .help = says, .type = made, .needs = KEY_NEEDS_MEMORY, \
		.columns = TALLY_COLUMN_SAMPLE, .value = how, __VA_ARGS__                          \
	}

static const struct profile_key rows[] = {
    MEMORY_ROW("mem", "Memory access", "where the data was found", KEY_CODE, level_of,
	       .text = level_text),
    MEMORY_ROW("snoop", "Snoop", "what other caches answered", KEY_CODE, snoop_of,
	       .text = snoop_text),
    MEMORY_ROW("tlb", "TLB access", "where the address was translated", KEY_CODE, tlb_of,
	       .text = tlb_text),
    MEMORY_ROW("locked", "Locked", "whether the access was an atomic one", KEY_CODE, lock_of,
	       .text = lock_text),
    MEMORY_ROW("blocked", "Blocked", "what the access had to wait for", KEY_CODE, blocked_of,
	       .text = blocked_text),
    MEMORY_ROW("dcacheline", "Data Cacheline", "line of the cache that holds the data", KEY_TEXT,
	       line_of, .text = NULL),
    MEMORY_ROW("symbol_daddr", "Data Symbol", "variable, or address of the data", KEY_TEXT,
	       symbol_daddr_of, .text = NULL),
    MEMORY_ROW("symbol_iaddr", "Code Symbol", "function, a row for each address of code", KEY_TEXT,
	       symbol_iaddr_of, .text = NULL),
    MEMORY_ROW("dso_daddr", "Data Object", "binary or memory that holds the data", KEY_TEXT,
	       dso_daddr_of, .text = NULL),
    MEMORY_ROW("phys_daddr", "Data Physical Address", "physical address of the data", KEY_TEXT,
	       physical_of, .text = NULL),
    MEMORY_ROW("data_page_size", "Data Page Size", "size of the page that holds the data", KEY_CODE,
	       page_of, .text = tally_key_page_text),
};
const struct key_table tally_keys_memory = KEY_TABLE(rows);
