"use strict";
// The one name that the scripts of the page share. Each file adds its part to it, in the order of web/FILES.
const tally = {};
