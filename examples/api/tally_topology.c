/* Prints where CPU 0 is in the machine. */
#include <stdio.h>
#include <tally/topology.h>

int main(void)
{
	struct tally_topology_cpu cpu = {.size = sizeof(cpu)};

	if (tally_topology_read(NULL, 0, &cpu))
		return 1;
	printf("CPU 0: socket %d, core %d, node %d\n", cpu.socket, cpu.core, cpu.node);
	return 0;
}
