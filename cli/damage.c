#include "damage.h"

#include "command.h"
#include "say.h"

int cli_tell_damage(const char *command, const struct tally_data *data)
{
	const struct tally_data_damage *damage = tally_data_damage(data);

	if (damage->count)
		cli_say(command,
			"%s: damaged at %llu place%s, the first at offset %llu (%s); %llu bytes "
			"could not be read, what could is shown",
			tally_data_path(data), (unsigned long long)damage->count,
			damage->count == 1 ? "" : "s", (unsigned long long)damage->first_at,
			damage->text, (unsigned long long)damage->lost_bytes);
	if (damage->no_end)
		cli_say(command,
			"%s: the recording was not ended properly (killed, or the disk was full); "
			"what reached the file is shown",
			tally_data_path(data));
	return damage->count && !damage->no_end ? CLI_FAILED : CLI_OK;
}
