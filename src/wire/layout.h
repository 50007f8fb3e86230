/* How large records are, by their type and the layout of their event. */
#ifndef TALLY_WIRE_LAYOUT_H
#define TALLY_WIRE_LAYOUT_H

#include <tally/record.h>

/* The bytes of a record of that type whose fields all have fixed sizes; 0: they have not. */
unsigned tally_record_fixed_size(const struct tally_layout *layout, uint32_t type);

#endif
