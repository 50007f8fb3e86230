-- Views of a fleet for DuckDB; doc/FLEETS.md says what each answers.  FLEET_DIR is the folder of `tally export --to parquet`:
--
--	sed 's|FLEET_DIR|/srv/fleet|g' duckdb.sql | duckdb fleet.db
--
-- Views are not copies: a query reads the files that are there then, and of these the columns and folders that it needs.

CREATE OR REPLACE VIEW samples AS
SELECT * FROM read_parquet('FLEET_DIR/**/samples*.parquet', hive_partitioning = true,
	hive_types = {'date': DATE, 'service': VARCHAR, 'version': VARCHAR});

CREATE OR REPLACE VIEW recordings AS
SELECT * FROM read_parquet('FLEET_DIR/**/recordings*.parquet', hive_partitioning = false);

-- Recordings have many stacks in common, with the same numbers; that with most names is taken. Its file is found by two small
-- columns, so that the frames of few files are read: the list of these files is what DuckDB chooses files by.
CREATE OR REPLACE VIEW stacks AS
WITH best AS MATERIALIZED (
	SELECT stack_id, max({'named': named, 'filename': filename}).filename AS filename
	FROM read_parquet('FLEET_DIR/**/stacks*.parquet', hive_partitioning = false, filename = true) GROUP BY stack_id)
SELECT stack_id, named, frames FROM read_parquet('FLEET_DIR/**/stacks*.parquet', hive_partitioning = false, filename = true)
JOIN best USING (stack_id, filename) WHERE filename IN (SELECT DISTINCT filename FROM best);

-- A frame's name: the symbol, else the binary in brackets.
CREATE OR REPLACE MACRO frame_name(frame) AS
CASE WHEN frame.symbol <> '' THEN frame.symbol WHEN frame.image LIKE '[%' THEN frame.image ELSE '[' || frame.image || ']' END;

-- Of each stack: the function that ran, and its binary.
CREATE OR REPLACE VIEW leaves AS
SELECT stack_id, frame_name(frames[1]) AS symbol, frames[1].image AS image, frames[1].build_id AS build_id FROM stacks;

-- Each stack's functions, once each.
CREATE OR REPLACE VIEW stack_functions AS
SELECT stack_id, unnest(list_distinct(list_transform(frames, lambda frame: frame_name(frame)))) AS symbol FROM stacks;

-- Hottest functions by service and version: shares in percent, of the function itself and with what it calls.
CREATE OR REPLACE VIEW hottest AS
WITH sums AS (SELECT service, version, event, stack_id, sum(count) AS samples, sum(period) AS period FROM samples GROUP BY ALL),
	totals AS (SELECT service, version, event, sum(period) AS everything FROM sums GROUP BY ALL),
	self AS (SELECT service, version, event, symbol, sum(samples) AS samples, sum(period) AS period
		FROM sums JOIN leaves USING (stack_id) GROUP BY ALL),
	children AS (SELECT service, version, event, symbol, sum(period) AS period
		FROM sums JOIN stack_functions USING (stack_id) GROUP BY ALL)
SELECT service, version, event, symbol, coalesce(self.samples, 0) AS samples, coalesce(self.period, 0) AS period,
	100.0 * coalesce(self.period, 0) / everything AS self_percent, 100.0 * children.period / everything AS total_percent
FROM children JOIN totals USING (service, version, event) LEFT JOIN self USING (service, version, event, symbol)
WHERE everything > 0;

-- Folded stacks by day, for a flame graph of any days: SELECT folded, sum(period) ... WHERE date BETWEEN ... GROUP BY folded.
CREATE OR REPLACE VIEW folded AS
WITH sums AS (SELECT date, service, version, event, stack_id, sum(period) AS period FROM samples WHERE count > 0 GROUP BY ALL),
	texts AS (SELECT stack_id, array_to_string(list_reverse(list_transform(frames,
		lambda frame: replace(frame_name(frame), ';', ':'))), ';') AS folded FROM stacks)
SELECT date, service, version, event, folded, sum(period)::HUGEINT AS period
FROM sums JOIN texts USING (stack_id) GROUP BY ALL;

-- A function's share of each recording.
CREATE OR REPLACE VIEW recording_shares AS
WITH sums AS (SELECT service, version, host, recording, event, symbol, sum(period) AS period, sum(count) AS samples
		FROM samples JOIN leaves USING (stack_id) GROUP BY ALL)
SELECT *, period / nullif(sum(period) OVER (PARTITION BY service, version, recording, event), 0) AS share,
	sum(samples) OVER (PARTITION BY service, version, recording, event) AS recording_samples FROM sums;

-- Each version of a service against the one that began before it: what a function's share of time changed by (percent of all),
-- the change in standard errors (Welch's test over recordings, as samples of one recording depend on each other), and whether it is
-- more than chance, all functions of the two versions together (Bonferroni, 1 %).
CREATE OR REPLACE VIEW regressions AS
WITH counted AS (SELECT service, version, event, count(DISTINCT recording) AS n FROM recording_shares GROUP BY ALL),
	followed AS (SELECT service, version, lag(version) OVER (PARTITION BY service ORDER BY min(start)) AS older
		FROM recordings GROUP BY service, version),
	moments AS (SELECT service, version, event, symbol, sum(share) AS s, sum(share * share) AS q FROM recording_shares GROUP BY ALL),
	both_sides AS (SELECT f.service, f.version, f.older, m.event, m.symbol FROM followed f
			JOIN moments m ON m.service = f.service AND m.version IN (f.version, f.older)
			WHERE f.older IS NOT NULL GROUP BY ALL),
	compared AS (SELECT b.service, b.older, b.version, b.event, b.symbol, n.n AS n, o.n AS older_n,
			coalesce(mn.s, 0) / n.n AS share, coalesce(mo.s, 0) / o.n AS older_share,
			greatest(0, coalesce(mn.q, 0) - coalesce(mn.s, 0) ^ 2 / n.n) / (n.n - 1) / n.n AS e,
			greatest(0, coalesce(mo.q, 0) - coalesce(mo.s, 0) ^ 2 / o.n) / (o.n - 1) / o.n AS older_e
		FROM both_sides b
		JOIN counted n ON n.service = b.service AND n.version = b.version AND n.event = b.event
		JOIN counted o ON o.service = b.service AND o.version = b.older AND o.event = b.event
		LEFT JOIN moments mn ON mn.service = b.service AND mn.version = b.version AND mn.event = b.event AND mn.symbol = b.symbol
		LEFT JOIN moments mo ON mo.service = b.service AND mo.version = b.older AND mo.event = b.event AND mo.symbol = b.symbol
		WHERE n.n > 1 AND o.n > 1),
	tested AS (SELECT *, (share - older_share) / sqrt(e + older_e + 1e-18) AS t,
			greatest(1, (e + older_e) ^ 2 / (e ^ 2 / (n - 1) + older_e ^ 2 / (older_n - 1) + 1e-36)) AS freedom FROM compared),
	-- Student's t as a normal deviate (Wallace's approximation), and a bound of its probability (Mills' ratio).
	normal AS (SELECT *, sqrt(freedom * ln(1 + t * t / freedom)) * (8 * freedom + 1) / (8 * freedom + 3) AS z,
			count(*) OVER (PARTITION BY service, version, event) AS tests FROM tested)
SELECT service, older, version, event, symbol, 100 * older_share AS older_percent, 100 * share AS percent,
	100 * (share - older_share) AS change, t AS standard_errors, older_n AS older_recordings, n AS recordings,
	z > 1 AND tests * 2 * exp(-z * z / 2) / (z * sqrt(2 * pi())) < 0.01 AS significant
FROM normal;

-- Hosts against the others that run the same version: a function's share on the host, the median of all hosts, and how far off it is
-- in robust standard deviations (of hosts, and at least those of as many samples by chance).  Functions with 0.5 % somewhere.
CREATE OR REPLACE VIEW odd_hosts AS
WITH by_host AS (SELECT service, version, event, host, symbol, sum(period) AS period FROM recording_shares GROUP BY ALL),
	hosts AS (SELECT service, version, event, host, sum(period) AS everything, sum(samples) AS samples FROM recording_shares GROUP BY ALL),
	large AS (SELECT DISTINCT service, version, event, symbol FROM by_host JOIN hosts USING (service, version, event, host)
		WHERE period > 0.005 * everything),
	shares AS (SELECT h.service, h.version, h.event, h.host, l.symbol, h.samples, coalesce(b.period, 0) / h.everything AS share
		FROM hosts h JOIN large l USING (service, version, event)
		LEFT JOIN by_host b USING (service, version, event, host, symbol) WHERE h.everything > 0),
	medians AS (SELECT service, version, event, symbol, median(share) AS middle, mad(share) AS spread, count(*) AS peers
		FROM shares GROUP BY ALL)
SELECT service, version, event, host, symbol, 100 * share AS percent, 100 * middle AS median_percent,
	(share - middle) / greatest(1.4826 * spread, sqrt(greatest(middle, 1.0 / samples) * (1 - middle) / samples), 1e-9) AS deviations
FROM shares JOIN medians USING (service, version, event, symbol) WHERE peers > 2;

-- What part of the time a binary runs itself, and what part it or what it calls, by service and version; '' is the whole fleet.
CREATE OR REPLACE VIEW library_shares AS
WITH sums AS (SELECT service, version, event, stack_id, sum(period) AS period FROM samples GROUP BY ALL),
	totals AS (SELECT service, version, event, sum(period) AS everything FROM sums GROUP BY GROUPING SETS ((event, service, version), (event))),
	within AS (SELECT stack_id, unnest(list_distinct(list_transform(frames, lambda frame: frame.image))) AS image FROM stacks),
	self AS (SELECT service, version, event, image, sum(period) AS period FROM sums JOIN leaves USING (stack_id)
		GROUP BY GROUPING SETS ((event, image, service, version), (event, image))),
	children AS (SELECT service, version, event, image, sum(period) AS period FROM sums JOIN within USING (stack_id)
		GROUP BY GROUPING SETS ((event, image, service, version), (event, image)))
SELECT coalesce(c.service, '') AS service, coalesce(c.version, '') AS version, c.event, c.image,
	100.0 * coalesce(s.period, 0) / t.everything AS self_percent, 100.0 * c.period / t.everything AS total_percent
FROM children c JOIN totals t ON t.event = c.event AND t.service IS NOT DISTINCT FROM c.service AND t.version IS NOT DISTINCT FROM c.version
LEFT JOIN self s ON s.event = c.event AND s.image = c.image AND s.service IS NOT DISTINCT FROM c.service
	AND s.version IS NOT DISTINCT FROM c.version
WHERE t.everything > 0;
