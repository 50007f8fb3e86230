// Opens the container of columns (doc/PAGE-DATA.md) and expands single columns of it.
(function () {

const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, f64: Float64Array };
const MOST = 1 << 28; // values of a column

function fromBase64(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const binary = atob(text), bytes = new Uint8Array(binary.length);
	for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
	return bytes;
}

// Bytes go in and come out by hand: a Blob or a Response takes a way through other processes of the browser.
async function inflate(bytes) {
	const { writable, readable } = new DecompressionStream("deflate"), writer = writable.getWriter(), reader = readable.getReader();
	const failed = () => {}; // reading fails, too
	writer.write(bytes).catch(failed);
	writer.close().catch(failed);
	const parts = [];
	let size = 0;
	for (;;) {
		const { done, value } = await reader.read();
		if (done) break;
		parts.push(value);
		size += value.length;
	}
	if (parts.length === 1) return parts[0];
	const all = new Uint8Array(size);
	let at = 0;
	for (const one of parts) {
		all.set(one, at);
		at += one.length;
	}
	return all;
}

// The difference of a zigzag number; nearly all fit into 31 bits.
const part = (value) => value < 0x80000000 ? value >>> 1 ^ -(value & 1) : value % 2 ? -(value + 1) / 2 : value / 2;

// LEB128 numbers of any size, read one by one.
function numbers(bytes) {
	let at = 0;
	return () => {
		if (at >= bytes.length) throw new Error("a column ends too early");
		let byte = bytes[at++], value = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
		}
		return value;
	};
}

// Millions of numbers are expanded before anything is drawn, so these loops are for one kind of array each: words are
// made with 32-bit arithmetic alone, which wraps, and the shortest numbers come first.
function words(bytes, values, delta) {
	const count = values.length;
	let at = 0, last = 0;
	for (let i = 0; i < count; i++) {
		let byte = bytes[at++], value = byte;
		if (byte > 127) {
			byte = bytes[at++];
			value = value & 127 | (byte & 127) << 7;
			if (byte > 127) {
				byte = bytes[at++];
				value |= (byte & 127) << 14;
				if (byte > 127) {
					byte = bytes[at++];
					value |= (byte & 127) << 21;
					if (byte > 127) { // a difference has 33 bits
						let large = value;
						for (let scale = 268435456; byte > 127; scale *= 128) {
							byte = bytes[at++];
							large += (byte & 127) * scale;
						}
						values[i] = last = delta ? last + part(large) | 0 : large | 0;
						continue;
					}
				}
			}
		}
		if (delta) value = last = last + (value >>> 1 ^ -(value & 1)) | 0;
		values[i] = value;
	}
	if (at > bytes.length) throw new Error("a column ends too early");
	return values;
}

function large(bytes, values, delta) {
	const next = numbers(bytes), count = values.length;
	for (let i = 0, last = 0; i < count; i++) values[i] = delta ? last += part(next()) : next();
	return values;
}

// Pairs: a difference to the value before, and how many rows have it.
function runs(bytes, values) {
	const count = values.length;
	let from = 0, value = 0;
	for (let at = 0; at < count;) {
		let byte = bytes[from++], step = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = bytes[from++];
			step += (byte & 127) * scale;
		}
		value += part(step);
		let rows = byte = bytes[from++];
		if (byte > 127) {
			rows &= 127;
			for (let scale = 128; byte > 127; scale *= 128) {
				byte = bytes[from++];
				rows += (byte & 127) * scale;
			}
		}
		if (from > bytes.length) throw new Error("a column ends too early");
		if (!(rows > 0 && rows <= count - at)) throw new Error("a column has an invalid number of rows");
		if (rows < 8) for (const end = at + rows; at < end;) values[at++] = value; // fill() is slow to begin
		else values.fill(value, at, at += rows);
	}
	return values;
}

function raw(bytes, values) {
	const size = values.BYTES_PER_ELEMENT;
	if (bytes.length < values.length * size) throw new Error("a column ends too early");
	const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
	for (let i = 0; i < values.length; i++) {
		values[i] = size === 1 ? bytes[i] : size === 2 ? view.getUint16(i * 2, true) :
			size === 4 ? view.getUint32(i * 4, true) : view.getFloat64(i * 8, true);
	}
	return values;
}

function text(bytes, count) {
	const all = new TextDecoder().decode(bytes).split("\0");
	if (all.length < count) throw new Error("a column of text ends too early");
	all.length = count;
	return all;
}

function expand(bytes, row) {
	if (!(row.count >= 0 && row.count <= MOST)) throw new Error("a column has an invalid count");
	if (row.coding === "text") return text(bytes, row.count);
	if (!ARRAYS[row.type]) throw new Error(`a column has the unknown type ${row.type}`);
	const type = ARRAYS[row.type], values = new type(row.count);
	// Bytes and short numbers are made of words.
	const wide = (delta) => type === Float64Array ? large(bytes, values, delta) : type === Uint32Array ? words(bytes, values, delta) : new type(words(bytes, new Uint32Array(row.count), delta));
	switch (row.coding) {
	case "raw": return raw(bytes, values);
	case "varint": return wide(false);
	case "delta": return wide(true);
	case "runs": return runs(bytes, values);
	case "constant": {
		const value = numbers(bytes)();
		return value ? values.fill(value) : values; // they are 0
	}
	default: throw new Error(`a column has the unknown coding ${row.coding}`);
	}
}

// The columns by name. A missing one is empty.
function open(base64) {
	const bytes = fromBase64(base64.trim());
	if (bytes.length < 4) throw new Error("there are no columns");
	const length = new DataView(bytes.buffer).getUint32(0, true);
	const index = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length))).columns;
	const begin = 4 + length;
	const has = (name) => Object.hasOwn(index, name), kept = new Map();
	async function read(name) {
		const row = index[name], from = begin + row.offset;
		const packed = await inflate(bytes.subarray(from, from + row.size));
		if (!row.times) return expand(packed, row);
		if (row.coding !== "constant" || row.type !== "f64" || !has(row.times) || index[row.times].times) throw new Error("a column has an invalid factor");
		const factors = await column(row.times), factor = numbers(packed)(), values = new Float64Array(factors.length);
		for (let i = 0; i < values.length; i++) values[i] = factors[i] * factor;
		return values;
	}
	async function column(name) {
		if (!has(name)) return new Uint32Array(0);
		if (!kept.has(name)) kept.set(name, read(name));
		return kept.get(name);
	}
	return { has, column };
}

tally.container = { open };
})();
