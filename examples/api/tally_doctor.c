/* Prints what prevents measuring on this machine, and the command that helps. */
#include <stdio.h>
#include <tally/doctor.h>

int main(void)
{
	const struct tally_finding *finding;
	struct tally_doctor *doctor;

	if (tally_doctor_new(NULL, &doctor))
		return 1;
	for (size_t i = 0; (finding = tally_doctor_at(doctor, i)); i++)
		if (finding->state == TALLY_FINDING_BLOCKED)
			printf("%s: %s; %s\n", finding->id, finding->found,
			       finding->remedy ? finding->remedy : "nothing lifts this");
	printf("%zu findings are good\n", tally_doctor_count(doctor, TALLY_FINDING_GOOD));
	tally_doctor_free(doctor);
	return 0;
}
