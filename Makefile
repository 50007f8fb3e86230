# The front of the build, for people and machines; meson and ninja do the work.
BUILD := build
SAN   := build-san
TSAN  := build-tsan
FUZZ  := build-fuzz
ROWS  ?=
SECONDS ?= 30

.PHONY: all tally run check check-pmu bench fuzz install uninstall format lint clean

all: $(BUILD)/build.ninja
	@tools/found check $(BUILD) >/dev/null || true
	@ninja -C $(BUILD) --quiet

# The command alone, without tests.
tally: $(BUILD)/build.ninja
	@tools/found check $(BUILD) >/dev/null || true
	@ninja -C $(BUILD) --quiet tally

$(BUILD)/build.ninja:
	@meson setup $(BUILD) --prefix $(or $(PREFIX),/usr/local) >$(BUILD).log || { cat $(BUILD).log; exit 1; }
	@rm -f $(BUILD).log

# Installs what is missing, builds, profiles a real program, shows the report.
run:
	@tools/install-dependencies
	@$(MAKE) --no-print-directory tally
	@tools/run $(BUILD)

# Installs what is missing; every test and check; the last line is "N passed, N failed, N skipped".
check:
	@tools/install-dependencies
	@tools/install-axe $(BUILD)
	@tools/install-parquet-readers $(BUILD)
	@tools/install-export-readers $(BUILD)
	@tools/check $(BUILD) $(SAN) $(TSAN)

# Counting and sampling on an emulated processor with a PMU, exact to the instruction; not part of check.
check-pmu:
	@tools/check-pmu

bench: all
	@bench/bench.py --rows "$(ROWS)"
	@[ -n "$(ROWS)" ] || bench/damage.py --build $(BUILD)

# Every fuzz target for SECONDS seconds each, from tests/corpus; recordings cut and damaged at many places;
# thousands of hostile binaries.
fuzz: all
	@tools/fuzz $(FUZZ) $(SECONDS)
	@tests/damage/whole $(BUILD)

# PREFIX=DIR (default: /usr/local, or the one of the last install); DESTDIR=DIR goes before it.
install: $(BUILD)/build.ninja
	@tools/install $(BUILD) $(PREFIX)

# Removes what the last `make install` wrote.
uninstall:
	@tools/install --remove $(BUILD)

format:
	@find bench cli examples fuzz include src tests -name '*.[ch]' -exec clang-format-14 -i {} +

lint: all
	@tools/lint $(BUILD)

clean:
	@rm -rf $(BUILD) $(SAN) $(TSAN) $(FUZZ)
