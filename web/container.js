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

async function inflate(bytes) {
	const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
	return new Uint8Array(await new Response(stream).arrayBuffer());
}

// The difference of a zigzag number; nearly all fit into 31 bits.
const part = (value) => value < 0x80000000 ? value >>> 1 ^ -(value & 1) : value % 2 ? -(value + 1) / 2 : value / 2;

// LEB128 numbers, read one by one.
function numbers(bytes) {
	let at = 0;
	const next = () => {
		if (at >= bytes.length) throw new Error("a column ends too early");
		let byte = bytes[at++], value = byte & 127;
		for (let scale = 128; byte > 127; scale *= 128) {
			byte = bytes[at++];
			value += (byte & 127) * scale;
		}
		return value;
	};
	return next;
}

// LEB128 numbers; with `delta`, zigzag differences to the one before. Millions of them, so the short ones come first.
function variable(bytes, values, delta) {
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
				for (let scale = 2097152; byte > 127; scale *= 128) {
					byte = bytes[at++];
					value += (byte & 127) * scale;
				}
			}
		}
		if (delta) value = last += part(value);
		values[i] = value;
	}
	if (at > bytes.length) throw new Error("a column ends too early");
	return values;
}

// Pairs: a difference to the value before, and how many rows have it.
function runs(bytes, values) {
	const next = numbers(bytes), count = values.length;
	for (let at = 0, value = 0; at < count;) {
		value += part(next());
		const rows = next();
		if (!(rows > 0 && rows <= count - at)) throw new Error("a column has an invalid number of rows");
		values.fill(value, at, at += rows);
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
	// Loops over one kind of array are quick, over four they are not: bytes and short numbers are made of words.
	const wide = (delta) => type.BYTES_PER_ELEMENT > 2 ? variable(bytes, values, delta) : new type(variable(bytes, new Uint32Array(row.count), delta));
	switch (row.coding) {
	case "raw": return raw(bytes, values);
	case "varint": return wide(false);
	case "delta": return wide(true);
	case "runs": return runs(bytes, values);
	case "constant": return values.fill(numbers(bytes)());
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
	return {
		has: (name) => Object.hasOwn(index, name),
		async column(name) {
			if (!Object.hasOwn(index, name)) return new Uint32Array(0);
			const row = index[name], from = begin + row.offset;
			const values = expand(await inflate(bytes.subarray(from, from + row.size)), row);
			if (row.times) {
				const factors = await this.column(row.times);
				for (let i = 0; i < values.length; i++) values[i] *= factors[i];
			}
			return values;
		},
	};
}

tally.container = { open };
})();
