# A parallel build of many small C files, as a real tree is: short processes, one after another.
OUT ?= /tmp/tally-bench-many
NUMBERS := $(shell seq 1 1500)
all: $(NUMBERS:%=$(OUT)/%.o)
.PHONY: all force
$(OUT)/%.o: force
	@printf '#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <math.h>\nint f$*(char *s) { return printf("%%s", s) + (int)strlen(s) + abs($*) + (int)sqrt($*.0); }\n' > $(OUT)/$*.c
	@gcc -O2 -c -o $@ $(OUT)/$*.c
