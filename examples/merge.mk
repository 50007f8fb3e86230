# Recordings of many hosts as a tree: each folder becomes one recording, and these one.  Merging merged recordings gives the
# same answers as merging all, so parts are made at the same time, and only those are made again whose recordings changed.
#
#   ls rack*/          each has two recordings or more: rack1/web1.data rack1/web2.data ...
#   make -j8 -f merge.mk
#   tally report -i all.data -s recording,symbol
folders := $(patsubst %/,%.data,$(wildcard rack*/))

all.data: $(folders)
	tally merge -q -o $@ $^

.SECONDEXPANSION:
$(folders): %.data: $$(wildcard $$*/*.data)
	tally merge -q -o $@ $^
