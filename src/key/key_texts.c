#include "key/key_texts.h"

#include <pthread.h>
#include <stdlib.h>
#include "base/map.h"

struct key_texts {
	pthread_mutex_t lock;
	struct tally_strings strings;
};

struct key_texts *tally_key_texts_new(void)
{
	struct key_texts *texts = calloc(1, sizeof(*texts));

	if (texts)
		pthread_mutex_init(&texts->lock, NULL);
	return texts;
}

void tally_key_texts_free(struct key_texts *texts)
{
	if (!texts)
		return;
	tally_strings_done(&texts->strings);
	pthread_mutex_destroy(&texts->lock);
	free(texts);
}

uint64_t tally_key_texts_put(struct key_texts *texts, const char *text, size_t length)
{
	int64_t number;

	pthread_mutex_lock(&texts->lock);
	number = tally_strings_intern(&texts->strings, text, length);
	pthread_mutex_unlock(&texts->lock);
	return number < 0 ? UINT64_MAX : (uint64_t)number;
}

const char *tally_key_texts_get(const struct key_texts *texts, uint64_t number)
{
	return number < texts->strings.count ? texts->strings.text[number] : "";
}
