# How tally ends when a signal ends it.

# Runs tally as the leader of its process group, and sends the group, as a terminal does, or tally alone a signal
# once `ready` is there.  Prints how it ended: "signal 2", "status 0".
ended() { # group|alone, signal, arguments of tally
	perl -e 'use POSIX; my ($whom, $signal, @command) = @ARGV;
		my $pid = fork;
		if (!$pid) { setpgrp; $SIG{INT} = "DEFAULT"; open STDERR, ">", "said"; exec @command; POSIX::_exit(99); }
		for (1 .. 600) { last if -e "ready"; select undef, undef, undef, 0.05; }
		kill $signal => ($whom eq "group" ? -$pid : $pid);
		waitpid $pid, 0;
		print $? & 127 ? "signal " . ($? & 127) : "status " . ($? >> 8);' "$1" "$2" "$TALLY" "${@:3}"
}
