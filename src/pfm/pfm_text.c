#include "pfm/pfm_text.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tally/pfm.h>

/* Takes the word that begins at `at`; returns where the next begins, or NULL behind the last. */
static const char *cut(const char *text, const char *at, struct pfm_word *ret)
{
	size_t whole = strcspn(at, ":.");
	const char *equals = memchr(at, '=', whole);

	*ret = (struct pfm_word){.text = at, .length = whole, .position = (size_t)(at - text)};
	if (equals) {
		ret->length = (size_t)(equals - at);
		ret->value = equals + 1;
		ret->value_length = whole - ret->length - 1;
	}
	return at[whole] ? at + whole + 1 : NULL;
}

int tally_pfm_text_parse(const char *text, struct pfm_text *ret, size_t *position)
{
	const char *at = text, *behind = strstr(text, "::");

	*position = strcspn(text, ", \t\n");
	if (text[*position])
		return TALLY_PFM_INVAL;
	*position = 0;
	ret->count = 0;
	ret->pmu = (struct pfm_word){0};
	if (behind) {
		ret->pmu.text = text;
		ret->pmu.length = (size_t)(behind - text);
		at = behind + 2;
	}
	at = cut(text, at, &ret->event);
	while (at) {
		if (ret->count == PFM_WORDS) {
			*position = (size_t)(at - text);
			return TALLY_PFM_TOOMANY;
		}
		at = cut(text, at, &ret->words[ret->count++]);
	}
	return TALLY_PFM_SUCCESS;
}

bool tally_pfm_word_bool(const struct pfm_word *word, uint64_t *ret)
{
	if (!word->value) {
		*ret = 1;
		return true;
	}
	if (word->value_length != 1)
		return false;
	if (strchr("yYtT1", *word->value))
		*ret = 1;
	else if (strchr("nNfF0", *word->value))
		*ret = 0;
	else
		return false;
	return true;
}

bool tally_pfm_word_integer(const struct pfm_word *word, uint64_t *ret)
{
	char *end, text[64];

	if (!word->value || !word->value_length || word->value_length >= sizeof(text))
		return false;
	memcpy(text, word->value, word->value_length);
	text[word->value_length] = 0;
	*ret = strtoull(text, &end, 0);
	return !*end;
}

bool tally_pfm_word_is(const struct pfm_word *word, const char *name)
{
	return strlen(name) == word->length && !strncasecmp(word->text, name, word->length);
}
