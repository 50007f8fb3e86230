/* Names of hypervisors: CPUID leaf 0x40000000 on x86, DMI elsewhere.
 *
 * Sources: the signature of each in its own documents, listed in Documentation/virt/ of Linux and
 * systemd-detect-virt(1); ways to a PMU: the QEMU, libvirt, VMware, Hyper-V and Xen manuals. */
#include "doctor/hypervisor.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

static const struct known {
	const char *signature, *dmi, *name, *remedy;
} known[] = {
    {"KVMKVMKVM", "QEMU", "KVM",
     "QEMU: -cpu host,pmu=on; libvirt: <features><pmu state='on'/></features>; in a cloud: a size "
     "with a "
     "virtual PMU, or bare metal"},
    {"VMwareVMware", "VMware", "VMware",
     "with the machine off, tick \"Virtualize CPU performance counters\" (vpmc.enable = \"TRUE\")"},
    {"Microsoft Hv", "Microsoft Corporation", "Hyper-V",
     "with the machine off, on the host: Set-VMProcessor NAME -Perfmon "
     "@(\"pmu\",\"lbr\",\"pebs\"); WSL 2 has "
     "none"},
    {"XenVMMXenVMM", "Xen", "Xen", "boot Xen with vpmu=on"},
    {"TCGTCGTCGTCG", NULL, "QEMU without KVM", NULL},
    {"VBoxVBoxVBox", "innotek", "VirtualBox", NULL},
    {"bhyve bhyve ", NULL, "bhyve", NULL},
    {NULL, "Amazon EC2", "Amazon EC2", "a size of a whole socket, or bare metal (.metal)"},
    {NULL, "Google", "Google Compute Engine",
     "a machine made with --performance-monitoring-unit=standard, where the series has it"},
};

/* The signature in *to (13 bytes); false: none. */
static bool read_signature(char *to)
{
#if defined(__x86_64__) || defined(__i386__)
	unsigned a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 31 & 1))
		return false;
	__cpuid(0x40000000, a, b, c, d);
	memcpy(to, &b, 4);
	memcpy(to + 4, &c, 4);
	memcpy(to + 8, &d, 4);
	to[12] = '\0';
	return true;
#else
	(void)to;
	return false;
#endif
}

bool tally_hypervisor_find(const struct tally_checkup *checkup, struct tally_hypervisor *ret)
{
	char signature[13] = "", vendor[64] = "", product[64] = "";
	const struct known *found = NULL;
	bool is_virtual = checkup->live && read_signature(signature);

	tally_checkup_line(checkup, "/sys/class/dmi/id/sys_vendor", vendor, sizeof(vendor));
	tally_checkup_line(checkup, "/sys/class/dmi/id/product_name", product, sizeof(product));
	for (size_t i = 0; i < sizeof(known) / sizeof(*known) && !found; i++)
		if ((*signature && known[i].signature && !strcmp(signature, known[i].signature)) ||
		    (!*signature && known[i].dmi && strstr(vendor, known[i].dmi)))
			found = &known[i];
	if (!found && !is_virtual)
		return false;
	snprintf(ret->name, sizeof(ret->name), "%s%s%s%s%s%s",
		 found        ? found->name
		 : *signature ? signature
			      : "an unknown hypervisor",
		 *vendor || *product ? " (" : "", vendor, *vendor && *product ? " " : "", product,
		 *vendor || *product ? ")" : "");
	ret->remedy = found ? found->remedy : NULL;
	return true;
}
