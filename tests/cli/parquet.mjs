// Reads the tables of `tally export --to parquet` by readers that are not ours.
//
//     node parquet.mjs PACKAGES rows READER FILE      rows as JSON, a line each: an object by column, the columns in order
//     node parquet.mjs PACKAGES stacks READER DIR     each stack and its sum of periods: [[symbol, ...], period], innermost first
//     node parquet.mjs PACKAGES sql READER FILE ...   runs files of SQL, in one session; prints the rows of the last statement as words
//     node parquet.mjs PACKAGES second FROM TO        writes a file anew with data pages of version 2, by parquet-wasm
//     node parquet.mjs PACKAGES sizes FILE ...        bytes of each column by DuckDB
//
// PACKAGES: the folder with node_modules (tools/install-parquet-readers).  READER: hyparquet, wasm, duckdb, chdb.   Numbers of 64 bits are strings.
import { createRequire } from 'node:module'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [packages, what, ...rest] = process.argv.slice(2)
const required = createRequire(join(packages, 'none.js'))
const load = async (name) => import(pathToFileURL(required.resolve(name)))

// Values as JSON has them: the same for all readers.
function plain(value) {
	if (typeof value === 'bigint') return String(value)
	if (value instanceof Date) return value.toISOString()
	if (Array.isArray(value)) return value.map(plain)
	if (value && typeof value.toJSON === 'function') return plain(value.toJSON())
	if (value && typeof value === 'object') return Object.fromEntries(Object.entries(value).map(([k, v]) => [k, plain(v)]))
	return value
}

async function duckdb() {
	const { DuckDBInstance } = await load('@duckdb/node-api')
	const instance = await DuckDBInstance.create(':memory:', { threads: '2' })
	const connection = await instance.connect()
	await connection.run("SET TimeZone = 'UTC'")
	return async (sql) => {
		const result = await connection.runAndReadAll(sql)
		return result.getRowObjectsJson()
	}
}

let session // it allows one in a process

async function chdb() {
	const { Session } = await load('chdb')
	if (!session) {
		session = new Session()
		process.on('exit', () => session.cleanup?.())
	}
	return async (sql) => {
		const text = session.query(sql, 'JSONEachRow')
		return String(text).split('\n').filter(Boolean).map((line) => JSON.parse(line))
	}
}

const engines = { duckdb, chdb }

const readers = {
	async hyparquet(file) {
		const { asyncBufferFromFile, parquetReadObjects } = await load('hyparquet')
		const { compressors } = await load('hyparquet-compressors')
		return parquetReadObjects({ file: await asyncBufferFromFile(file), compressors })
	},
	async wasm(file) {
		const { readParquet } = await load('parquet-wasm')
		const { tableFromIPC } = await load('apache-arrow')
		const table = tableFromIPC(readParquet(new Uint8Array(readFileSync(file))).intoIPCStream())
		const times = table.schema.fields.filter((field) => String(field.type).startsWith('Timestamp')).map((field) => field.name)
		return table.toArray().map((row) => {
			const made = { ...row.toJSON() }
			for (const name of times) made[name] = new Date(made[name])
			return made
		})
	},
	async duckdb(file) {
		const query = await duckdb()
		return (await query(`SELECT * FROM read_parquet('${file}', hive_partitioning = false)`)).map((row) => {
			for (const name of ['time', 'start']) if (row[name]) row[name] = new Date(row[name].replace(' ', 'T').replace(/\+00$/, 'Z'))
			return row
		})
	},
	async chdb(file) {
		const query = await chdb()
		return (await query(`SELECT * FROM file('${file}', Parquet) SETTINGS output_format_json_quote_64bit_integers = 1,
			use_hive_partitioning = 0, input_format_parquet_preserve_order = 1, max_threads = 1`)).map((row) => {
			for (const name of ['time', 'start']) if (row[name]) row[name] = new Date(row[name].replace(' ', 'T') + 'Z')
			return row
		})
	},
}

function files(folder, name) {
	const found = readdirSync(folder, { recursive: true }).map((path) => join(folder, path))
	return found.filter((path) => path.split('/').at(-1).startsWith(name) && path.endsWith('.parquet'))
}

async function stacks(reader, folder) {
	const frames = new Map(), sums = new Map()
	for (const file of files(folder, 'stacks'))
		for (const row of plain(await readers[reader](file))) frames.set(row.stack_id, row.frames)
	for (const file of files(folder, 'samples'))
		for (const row of plain(await readers[reader](file))) sums.set(row.stack_id, (sums.get(row.stack_id) ?? 0n) + BigInt(row.period))
	for (const [id, period] of sums) {
		if (id !== '0' && !frames.has(id)) throw new Error(`stack ${id} is missing`)
		console.log(JSON.stringify([(frames.get(id) ?? []).map((frame) => frame.symbol), Number(period)]))
	}
}

// Engines write truth and whole numbers in ways of their own.
const same = (value) => typeof value === 'boolean' ? Number(value) : value

async function sql(reader, paths) {
	const query = await engines[reader]()
	let rows = []
	for (const path of paths) {
		const text = readFileSync(path, 'utf8').replace(/^\s*--.*$/gm, '')
		for (const statement of text.split(/;\s*$/m)) if (statement.trim()) rows = await query(statement)
	}
	for (const row of rows) console.log(Object.values(plain(row)).map(same).join(' '))
}

async function sizes(paths) {
	const query = await duckdb()
	const list = paths.map((path) => `'${path}'`).join(', ')
	for (const row of await query(`SELECT path_in_schema AS name, sum(total_compressed_size)::BIGINT AS size, sum(num_values)::BIGINT AS n
		FROM parquet_metadata([${list}]) GROUP BY ALL ORDER BY size DESC`))
		console.log(`${row.name} ${row.size} ${(Number(row.size) / Number(row.n)).toFixed(3)}`)
	console.log(`file ${paths.reduce((sum, path) => sum + statSync(path).size, 0)}`)
}

async function second(from, to) {
	const { Compression, readParquet, writeParquet, WriterPropertiesBuilder, WriterVersion } = await load('parquet-wasm')
	const properties = new WriterPropertiesBuilder().setWriterVersion(WriterVersion.V2).setCompression(Compression.ZSTD).build()
	const bytes = writeParquet(readParquet(new Uint8Array(readFileSync(from))), properties)
	writeFileSync(to, bytes)
}

if (what === 'rows') for (const row of await readers[rest[0]](rest[1])) console.log(JSON.stringify(plain(row)))
else if (what === 'stacks') await stacks(rest[0], rest[1])
else if (what === 'sql') await sql(rest[0], rest.slice(1))
else if (what === 'second') await second(...rest)
else if (what === 'sizes') await sizes(rest)
else throw new Error(`unknown: ${what}`)
