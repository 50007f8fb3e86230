# What tests need of the rights of who runs them.

# The kernel's side of a program is counted and sampled, so that events have the names that were asked for.
need_kernel() {
	"${TALLY:-tally}" record -q -e cpu-clock:k -o "$BATS_TEST_TMPDIR/kernel.data" -- true 2>/dev/null ||
		skip "this user may not measure the kernel (kernel.perf_event_paranoid)"
}

# All CPUs are recorded, whoever runs there.
need_all() {
	"${TALLY:-tally}" record -q -a -e cpu-clock -o "$BATS_TEST_TMPDIR/all.data" -- true 2>/dev/null ||
		skip "this user may not record the whole system (kernel.perf_event_paranoid)"
}
