/* Any string as an expression that chooses samples: it is accepted, or an error says where it
 * is wrong. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tally/choice.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tally_choice *choice = NULL;
	struct tally_error error = {0};
	char *text = malloc(size + 1);
	int result;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = 0;
	result = tally_choice_parse(text, &choice, &error);
	if (!result != !!choice || (result && result != -ENOMEM &&
				    (error.code != result || !error.text[0] || error.position < 0 ||
				     error.position > (int64_t)strlen(text))))
		abort();
	tally_choice_free(choice);
	free(text);
	return 0;
}
