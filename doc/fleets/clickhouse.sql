-- Views of a fleet for ClickHouse, the same as in duckdb.sql; doc/FLEETS.md says what each answers.  FLEET_DIR is the folder of
-- `tally export --to parquet`; for tables elsewhere write s3(...) or a table's name instead of the three calls of file():
--
--	sed 's|FLEET_DIR|/srv/fleet|g' clickhouse.sql | clickhouse-local --path /srv/fleet-views

CREATE OR REPLACE VIEW samples AS
SELECT *, toDate(time, 'UTC') AS date FROM file('FLEET_DIR/**/samples*.parquet', Parquet,
	'recording String, host String, service String, version String, time DateTime64(6, \'UTC\'), event String, pid Int32, tid Int32,
	comm String, cgroup String, cpu Int32, stack_id UInt64, count Int64, period Int64, weight Int64, lost Int64')
SETTINGS use_hive_partitioning = 0;

CREATE OR REPLACE VIEW recordings AS
SELECT * FROM file('FLEET_DIR/**/recordings*.parquet', Parquet,
	'recording String, host String, service String, version String, start DateTime64(6, \'UTC\'), nanoseconds Int64, kernel String,
	arch String, cpu String, cpus Int32, command String, events String, samples Int64, lost Int64, throttled Int64, damage String, options String')
SETTINGS use_hive_partitioning = 0;

-- Recordings have many stacks in common, with the same numbers; that with most names is taken.
CREATE OR REPLACE VIEW stacks AS
SELECT stack_id, max(names) AS named, argMax(stack, names) AS frames FROM (SELECT stack_id, named AS names, frames AS stack FROM file('FLEET_DIR/**/stacks*.parquet', Parquet,
	'stack_id UInt64, named Int32, frames Array(Tuple(build_id String, image String, offset UInt64, symbol String, file String, line Int32))'))
GROUP BY stack_id SETTINGS use_hive_partitioning = 0;

-- A frame's name: the symbol, else the binary in brackets.
CREATE OR REPLACE FUNCTION frame_name AS (symbol, image) ->
	multiIf(symbol != '', symbol, startsWith(image, '['), image, concat('[', image, ']'));

-- Of each stack: the function that ran, and its binary.
CREATE OR REPLACE VIEW leaves AS
SELECT stack_id, frame_name(frames.symbol[1], frames.image[1]) AS symbol, frames.image[1] AS image, frames.build_id[1] AS build_id
FROM stacks;

-- Each stack's functions, once each.
CREATE OR REPLACE VIEW stack_functions AS
SELECT stack_id, arrayJoin(arrayDistinct(arrayMap((symbol, image) -> frame_name(symbol, image), frames.symbol, frames.image))) AS symbol FROM stacks;

-- Hottest functions by service and version: shares in percent, of the function itself and with what it calls.
CREATE OR REPLACE VIEW hottest AS
WITH sums AS (SELECT service, version, event, stack_id, sum(count) AS number, sum(period) AS total FROM samples
		GROUP BY service, version, event, stack_id),
	totals AS (SELECT service, version, event, sum(total) AS everything FROM sums GROUP BY service, version, event),
	self AS (SELECT service, version, event, symbol, sum(number) AS samples, sum(total) AS period
		FROM sums JOIN leaves USING (stack_id) GROUP BY service, version, event, symbol),
	children AS (SELECT service, version, event, symbol, sum(total) AS inclusive
		FROM sums JOIN stack_functions USING (stack_id) GROUP BY service, version, event, symbol)
SELECT service, version, event, symbol, samples, period, 100 * period / everything AS self_percent,
	100 * inclusive / everything AS total_percent
FROM children JOIN totals USING (service, version, event) LEFT JOIN self USING (service, version, event, symbol)
WHERE everything > 0;

-- Folded stacks by day, for a flame graph of any days: SELECT folded, sum(period) ... WHERE date BETWEEN ... GROUP BY folded.
CREATE OR REPLACE VIEW folded AS
WITH sums AS (SELECT date, service, version, event, stack_id, sum(period) AS total FROM samples WHERE count > 0
		GROUP BY date, service, version, event, stack_id),
	texts AS (SELECT stack_id, arrayStringConcat(arrayReverse(arrayMap(
		(symbol, image) -> replaceAll(frame_name(symbol, image), ';', ':'), frames.symbol, frames.image)), ';') AS folded FROM stacks)
SELECT date, service, version, event, folded, sum(total) AS period FROM sums JOIN texts USING (stack_id)
GROUP BY date, service, version, event, folded;

-- A function's share of each recording.
CREATE OR REPLACE VIEW recording_shares AS
WITH sums AS (SELECT service, version, host, recording, event, symbol, sum(period) AS total, sum(count) AS number
		FROM samples JOIN leaves USING (stack_id) GROUP BY service, version, host, recording, event, symbol)
SELECT service, version, host, recording, event, symbol, total AS period, number AS samples,
	total / nullIf(sum(total) OVER (PARTITION BY service, version, recording, event), 0) AS share,
	sum(number) OVER (PARTITION BY service, version, recording, event) AS recording_samples FROM sums;

-- Each version of a service against the one that began before it: what a function's share of time changed by (percent of all),
-- the change in standard errors (Welch's test over recordings, as samples of one recording depend on each other), and whether it is
-- more than chance, all functions of the two versions together (Bonferroni, 1 %).
-- Samples are read once: the versions of a function are beside each other in an array.
CREATE OR REPLACE VIEW regressions AS
WITH firsts AS (SELECT service, version, min(start) AS began, toFloat64(uniqExact(recording)) AS n FROM recordings GROUP BY service, version),
	followed AS (SELECT service, version, n, lagInFrame(version) OVER w AS older, lagInFrame(n) OVER w AS older_n FROM firsts
		WINDOW w AS (PARTITION BY service ORDER BY began ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING)),
	moments AS (SELECT service, version, event, symbol, sum(ifNull(share, 0)) AS s, sum(ifNull(share * share, 0)) AS q
		FROM recording_shares GROUP BY service, version, event, symbol),
	beside AS (SELECT service, event, symbol, groupArray((version, s, q)) AS versions FROM moments GROUP BY service, event, symbol),
	both_sides AS (SELECT f.service AS service, f.version AS version, f.older AS older, event, symbol, f.n AS n, f.older_n AS older_n,
			arrayFirst(of -> of.1 = f.version, versions) AS mn, arrayFirst(of -> of.1 = f.older, versions) AS mo
		FROM beside AS b JOIN followed AS f ON f.service = b.service
		WHERE f.older != '' AND f.n > 1 AND f.older_n > 1),
	compared AS (SELECT service, older, version, event, symbol, n, older_n, mn.2 / n AS share, mo.2 / older_n AS older_share,
			greatest(0, mn.3 - mn.2 * mn.2 / n) / (n - 1) / n AS e,
			greatest(0, mo.3 - mo.2 * mo.2 / older_n) / (older_n - 1) / older_n AS older_e
		FROM both_sides WHERE mn.2 > 0 OR mo.2 > 0),
	tested AS (SELECT *, (share - older_share) / sqrt(e + older_e + 1e-18) AS t,
		greatest(1, pow(e + older_e, 2) / (e * e / (n - 1) + older_e * older_e / (older_n - 1) + 1e-36)) AS freedom FROM compared),
	-- Student's t as a normal deviate (Wallace's approximation), and a bound of its probability (Mills' ratio).
	normal AS (SELECT *, sqrt(freedom * log(1 + t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3) AS z,
		count() OVER (PARTITION BY service, version, event) AS tests FROM tested)
SELECT service, older, version, event, symbol, 100 * older_share AS older_percent, 100 * share AS percent,
	100 * (share - older_share) AS change, t AS standard_errors, older_n AS older_recordings, n AS recordings,
	z > 1 AND tests * 2 * exp(-z * z / 2) / (z * sqrt(2 * pi())) < 0.01 AS significant
FROM normal;

-- Hosts against the others that run the same version: a function's share on the host, the median of all hosts, and how far off it is
-- in robust standard deviations (of hosts, and at least those of as many samples by chance).  Functions with 0.5 % somewhere.
CREATE OR REPLACE VIEW odd_hosts AS
WITH by_host AS (SELECT service, version, event, host, symbol, sum(period) AS part, toFloat64(sum(samples)) AS few FROM recording_shares
		GROUP BY service, version, event, host, symbol),
	parts AS (SELECT *, toFloat64(sum(part) OVER w) AS everything, sum(few) OVER w AS number FROM by_host
		WINDOW w AS (PARTITION BY service, version, event, host)),
	-- The hosts of a function beside each other; a host that does not have it has the share 0.
	beside AS (SELECT service, version, event, symbol, median(number) AS usual,
			mapFromArrays(groupArray(host) AS names, groupArray(part / everything)) AS part_of,
			mapFromArrays(names, groupArray(number)) AS number_of
		FROM parts WHERE everything > 0 GROUP BY service, version, event, symbol HAVING max(part / everything) > 0.005),
	peers AS (SELECT service, version, groupUniqArray(host) AS hosts FROM recordings GROUP BY service, version),
	shares AS (SELECT service, version, event, symbol, usual, part_of, number_of, hosts,
			arrayMap(host -> part_of[host], hosts) AS list, arrayReduce('medianExact', list) AS middle,
			arrayReduce('medianExact', arrayMap(share -> abs(share - middle), list)) AS spread
		FROM beside JOIN peers USING (service, version) WHERE length(hosts) > 2)
SELECT service, version, event, arrayJoin(hosts) AS host, symbol, 100 * part_of[host] AS percent, 100 * middle AS median_percent,
	(part_of[host] - middle) / greatest(1.4826 * spread,
		sqrt(greatest(middle, 1 / if(number_of[host] > 0, number_of[host], usual)) * (1 - middle) /
			if(number_of[host] > 0, number_of[host], usual)), 1e-9) AS deviations
FROM shares;

-- What part of the time a binary runs itself, and what part it or what it calls, by service and version; '' is the whole fleet.
CREATE OR REPLACE VIEW library_shares AS
WITH sums AS (SELECT service, version, event, stack_id, sum(period) AS total FROM samples GROUP BY service, version, event, stack_id),
	totals AS (SELECT service, version, event, sum(total) AS everything FROM sums
		GROUP BY GROUPING SETS ((event, service, version), (event))),
	within AS (SELECT stack_id, arrayJoin(arrayDistinct(frames.image)) AS image FROM stacks),
	self AS (SELECT service, version, event, image, sum(total) AS own FROM sums JOIN leaves USING (stack_id)
		GROUP BY GROUPING SETS ((event, image, service, version), (event, image))),
	children AS (SELECT service, version, event, image, sum(total) AS inclusive FROM sums JOIN within USING (stack_id)
		GROUP BY GROUPING SETS ((event, image, service, version), (event, image)))
SELECT service, version, event, image, 100 * own / everything AS self_percent, 100 * inclusive / everything AS total_percent
FROM children JOIN totals USING (service, version, event) LEFT JOIN self USING (service, version, event, image)
WHERE everything > 0;
