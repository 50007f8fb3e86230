"use strict";
// The one name that the scripts of the page share. Each file adds its part to it, in the order of web/FILES.
const tally = { NONE: 0xffffffff }; // NONE: an index that points to no row
