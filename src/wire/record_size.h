/* The sizes of records of a type. */
#ifndef TALLY_WIRE_RECORD_SIZE_H
#define TALLY_WIRE_RECORD_SIZE_H

#include <tally/record.h>

/* The bytes of a record of that type, if all its fields have fixed sizes and accept any bytes; else
 * 0. */
unsigned tally_record_fixed_size(const struct tally_layout *layout, uint32_t type);

/* The smallest size of a record of that type, without its trailer; 0: there is no such type. */
unsigned tally_record_least_size(uint32_t type);

#endif
