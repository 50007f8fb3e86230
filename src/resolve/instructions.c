#include "resolve/instructions.h"

#include "image/code.h"
#include "resolve/resolver.h"

size_t tally_resolver_code(const struct tally_location *location, void *to, size_t size,
			   bool *ret_64_bit)
{
	int64_t got =
	    location->image ? tally_image_read(location->image, location->place, to, size) : 0;

	if (got <= 0)
		return 0;
	*ret_64_bit = !tally_image_is_32_bit(location->image);
	return (size_t)got;
}

size_t tally_resolver_insn_length(struct tally_resolver *resolver, bool is_64_bit,
				  const uint8_t *bytes, size_t size)
{
	struct insn_decoder **decoder = &resolver->decoders[is_64_bit];

	if (!*decoder)
		*decoder = tally_insn_decoder_new(is_64_bit);
	return *decoder ? tally_insn_length(*decoder, bytes, size) : 0;
}
