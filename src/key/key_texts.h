/* Texts that are values of keys, by number; several threads add to them. */
#ifndef TALLY_KEY_KEY_TEXTS_H
#define TALLY_KEY_KEY_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct key_texts;

/* NULL: out of memory. */
struct key_texts *tally_key_texts_new(void);
void tally_key_texts_free(struct key_texts *texts); /* NULL is fine */
/* The number of a text, the same for equal ones; UINT64_MAX: out of memory. */
uint64_t tally_key_texts_put(struct key_texts *texts, const char *text, size_t length);
/* Borrowed until they are freed; "" of numbers that it does not have.  Not while others add. */
const char *tally_key_texts_get(const struct key_texts *texts, uint64_t number);

#endif
