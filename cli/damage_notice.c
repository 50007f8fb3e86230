#include "damage_notice.h"

#include "command.h"
#include "say.h"

/* Prints what of a damaged recording was lost, where, and how much could be read. */
static void say(const char *command, const struct tally_data *data, const char *outcome)
{
	const struct tally_data_damage *damage = tally_data_damage(data);
	const char *end =
	    damage->no_end
		? "not ended properly (killed, still being written, or the disk was full)"
		: "";

	if (!damage->count) {
		cli_say(command, "%s: %s, with nothing lost before its end; %s",
			tally_data_path(data), end, outcome);
		return;
	}
	if (damage->count == damage->features) {
		cli_say(command,
			"%s: %s%s%llu feature section%s cannot be read, the first at offset %llu "
			"(%s), but every record was; %s",
			tally_data_path(data), end, damage->no_end ? ", " : "",
			(unsigned long long)damage->count, damage->count == 1 ? "" : "s",
			(unsigned long long)damage->first_at, damage->text, outcome);
		return;
	}
	cli_say(command,
		"%s: %s%sdamaged at %llu place%s, the first at offset %llu (%s); %llu of %llu "
		"bytes could not be read; %s",
		tally_data_path(data), end, damage->no_end ? ", " : "",
		(unsigned long long)damage->count, damage->count == 1 ? "" : "s",
		(unsigned long long)damage->first_at, damage->text,
		(unsigned long long)damage->lost_bytes,
		(unsigned long long)tally_data_file_size(data), outcome);
}

int cli_report_damage(const char *command, const struct tally_data *data)
{
	const struct tally_data_damage *damage = tally_data_damage(data);

	if (damage->count || damage->no_end)
		say(command, data, "the rest is shown");
	return damage->count > damage->features && !damage->no_end ? CLI_FAILED : CLI_OK;
}

bool cli_refuse_damage(const char *command, const struct tally_data *data)
{
	const struct tally_data_damage *damage = tally_data_damage(data);
	bool refused = damage->count || damage->no_end;

	if (refused)
		say(command, data, "nothing is shown because of --strict");
	return refused;
}
