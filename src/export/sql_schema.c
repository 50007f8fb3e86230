#include "export/sql_schema.h"

#include <errno.h>
#include "sqlite/sqlite_writer.h"

static const struct {
	const char *name, *definition;
	unsigned columns;
	bool rowids;
} tables[SQL_TABLES] = {
    [SQL_META] = {"meta", "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID",
		  SQL_META_COLUMNS, false},
    [SQL_EVENTS] =
	{"events",
	 "CREATE TABLE events(id INTEGER PRIMARY KEY, name TEXT, type INTEGER, config INTEGER,"
	 " sample_type INTEGER, sample_period INTEGER, sample_freq INTEGER, leader INTEGER"
	 " REFERENCES events, samples INTEGER)",
	 SQL_EVENT_COLUMNS, true},
    [SQL_THREADS] =
	{"threads",
	 "CREATE TABLE threads(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, comm TEXT)",
	 SQL_THREAD_COLUMNS, true},
    [SQL_IMAGES] = {"images",
		    "CREATE TABLE images(id INTEGER PRIMARY KEY, name TEXT, path TEXT, level TEXT)",
		    SQL_IMAGE_COLUMNS, true},
    [SQL_SYMBOLS] =
	{"symbols",
	 "CREATE TABLE symbols(id INTEGER PRIMARY KEY, image INTEGER REFERENCES images, name TEXT)",
	 SQL_SYMBOL_COLUMNS, true},
    [SQL_FRAMES] =
	{"frames",
	 "CREATE TABLE frames(id INTEGER PRIMARY KEY, image INTEGER REFERENCES images, place"
	 " INTEGER, symbol INTEGER REFERENCES symbols, \"offset\" INTEGER, line TEXT, inlined"
	 " INTEGER, function TEXT)",
	 SQL_FRAME_COLUMNS, true},
    [SQL_CHAINS] =
	{"callchains",
	 "CREATE TABLE callchains(id INTEGER PRIMARY KEY, caller INTEGER REFERENCES callchains,"
	 " frame INTEGER REFERENCES frames, depth INTEGER)",
	 SQL_CHAIN_COLUMNS, true},
    [SQL_SAMPLES] =
	{"samples",
	 "CREATE TABLE samples(id INTEGER PRIMARY KEY, time INTEGER, event INTEGER REFERENCES"
	 " events, thread INTEGER REFERENCES threads, cpu INTEGER, period INTEGER, ip INTEGER,"
	 " frame INTEGER REFERENCES frames, callchain INTEGER REFERENCES callchains, addr"
	 " INTEGER, addr_frame INTEGER REFERENCES frames, trace TEXT, raw BLOB, weight INTEGER,"
	 " data_src INTEGER, \"transaction\" INTEGER, phys_addr INTEGER, cgroup INTEGER,"
	 " data_page_size INTEGER, code_page_size INTEGER)",
	 SQL_SAMPLE_COLUMNS, true},
    [SQL_BRANCHES] =
	{"branches",
	 "CREATE TABLE branches(sample INTEGER REFERENCES samples, position INTEGER, from_address"
	 " INTEGER, to_address INTEGER, flags INTEGER, PRIMARY KEY(sample, position)) WITHOUT"
	 " ROWID",
	 SQL_BRANCH_COLUMNS, false},
    [SQL_LOST] = {"lost",
		  "CREATE TABLE lost(id INTEGER PRIMARY KEY, time INTEGER, event INTEGER REFERENCES"
		  " events, cpu INTEGER, count INTEGER, kind TEXT)",
		  SQL_LOST_COLUMNS, true},
    [SQL_RECORDS] =
	{"records",
	 "CREATE TABLE records(id INTEGER PRIMARY KEY, time INTEGER, type TEXT, pid INTEGER, tid"
	 " INTEGER, cpu INTEGER, event INTEGER REFERENCES events, detail TEXT)",
	 SQL_RECORD_COLUMNS, true},
};

/* Each index of samples is a tenth of the file.  These two lead from code to samples; samples of a
 * time are beside each other without one, and threads have many samples each. */
static const struct {
	const char *name, *definition;
	enum sql_table table;
	unsigned column;
	bool text;
} indexes[] = {
    {"samples_frame", "CREATE INDEX samples_frame ON samples(frame)", SQL_SAMPLES, SQL_SAMPLE_FRAME,
     false},
    {"samples_callchain", "CREATE INDEX samples_callchain ON samples(callchain)", SQL_SAMPLES,
     SQL_SAMPLE_CALLCHAIN, false},
    {"callchains_frame", "CREATE INDEX callchains_frame ON callchains(frame)", SQL_CHAINS,
     SQL_CHAIN_FRAME, false},
    {"frames_symbol", "CREATE INDEX frames_symbol ON frames(symbol)", SQL_FRAMES, SQL_FRAME_SYMBOL,
     false},
    {"symbols_name", "CREATE INDEX symbols_name ON symbols(name)", SQL_SYMBOLS, SQL_SYMBOL_NAME,
     true},
    {"records_type", "CREATE INDEX records_type ON records(type)", SQL_RECORDS, SQL_RECORD_TYPE,
     true},
};

static const struct {
	const char *name, *definition;
} views[] = {
    {"places",
     "CREATE VIEW places AS SELECT frames.id AS frame, symbols.name AS symbol, \"offset\","
     " images.name AS image, images.path AS path, level, place, line, inlined,"
     " COALESCE(symbols.name, function) AS function FROM frames LEFT JOIN symbols ON"
     " symbols.id = frames.symbol LEFT JOIN images ON images.id = frames.image"},
    {"listing",
     "CREATE VIEW listing AS SELECT samples.id AS id, time, events.name AS event, pid, tid,"
     " comm, cpu, period, ip, symbol, \"offset\", image, callchain, addr, trace, function"
     " FROM samples JOIN events ON events.id = samples.event JOIN threads ON threads.id ="
     " samples.thread LEFT JOIN places ON places.frame = samples.frame"},
    {"functions",
     "CREATE VIEW functions AS SELECT event, comm, image, symbol, COUNT(*) AS samples,"
     " SUM(period) AS period, 100.0 * SUM(period) / SUM(SUM(period)) OVER (PARTITION BY"
     " event) AS percent, function FROM listing GROUP BY event, comm, image, function"},
    {"stacks",
     "CREATE VIEW stacks AS WITH RECURSIVE up(callchain, node, position) AS (SELECT DISTINCT"
     " callchain, callchain, 0 FROM samples WHERE callchain IS NOT NULL UNION ALL SELECT"
     " up.callchain, caller, position + 1 FROM up JOIN callchains ON callchains.id = node"
     " WHERE caller IS NOT NULL) SELECT up.callchain AS callchain, position, places.* FROM up"
     " JOIN callchains ON callchains.id = node LEFT JOIN places ON places.frame ="
     " callchains.frame"},
};

int tally_sql_define(struct sqlite_writer *writer, struct sqlite_table *ret[SQL_TABLES])
{
	int result = 0;

	for (size_t i = 0; i < SQL_TABLES && !result; i++)
		result = tally_sqlite_add_table(writer, tables[i].name, tables[i].definition,
						tables[i].columns, tables[i].rowids, &ret[i]);
	for (size_t i = 0; i < sizeof(indexes) / sizeof(indexes[0]) && !result; i++)
		result =
		    tally_sqlite_add_index(writer, ret[indexes[i].table], indexes[i].column,
					   indexes[i].text, indexes[i].name, indexes[i].definition);
	for (size_t i = 0; i < sizeof(views) / sizeof(views[0]) && !result; i++)
		result = tally_sqlite_add_view(writer, views[i].name, views[i].definition);
	return result;
}
