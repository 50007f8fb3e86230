/* Registers and their values as text. */
#include <string.h>
#include "dump/value_text.h"

const char *tally_script_reg_name(enum tally_register_arch arch, unsigned number)
{
	const char *name = tally_register_name_at(arch, number);

	return name ? name : "unknown";
}

void tally_script_regs(struct tally_buf *buf, enum tally_register_arch arch, uint64_t abi,
		       uint64_t mask, const uint64_t *regs)
{
	if (!regs || !abi)
		return;
	tally_buf_text(buf, " ABI:");
	buf_dec(buf, abi);
	tally_buf_byte(buf, ' ');
	for (; mask; mask &= mask - 1) {
		const char *name = tally_script_reg_name(arch, (unsigned)__builtin_ctzll(mask));
		size_t length = strlen(name);
		uint64_t value;

		if (length < 5)
			buf_pad(buf, ' ', 5 - length);
		tally_buf_add(buf, name, length);
		tally_buf_add(buf, ":0x", 3);
		memcpy(&value, regs++, sizeof(value));
		buf_hex(buf, value);
		tally_buf_byte(buf, ' ');
	}
}
