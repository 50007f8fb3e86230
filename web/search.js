// Search by regular expression: which labels match, and what is in a stack with a match.
(function () {

// A pattern that is no regular expression is searched for as it is written. Without capitals, case does not matter.
function pattern(text) {
	if (!text) return null;
	const flags = text === text.toLowerCase() ? "iu" : "u";
	try {
		return { test: new RegExp(text, flags), literal: false };
	} catch {
		return { test: new RegExp(text.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), flags), literal: true };
	}
}

// Names are cut at this length before they are searched, so that no pattern takes long.
const LONGEST = 4096;

// By label: 1 where the name matches, or its image in brackets.
function labels(recording, text) {
	const found = pattern(text), match = new Uint8Array(recording.labels);
	if (!found) return match;
	const { test } = found;
	for (let i = 0; i < match.length; i++) {
		const name = recording.name(i);
		match[i] = test.test(name.length > LONGEST ? name.slice(0, LONGEST) : name) ? 1 : 0;
	}
	return match;
}

// By node: 1 where it or a caller matches.
function nodes(tree, match) {
	const has = new Uint8Array(tree.size);
	for (let i = 1; i < tree.size; i++) has[i] = has[tree.parent[i]] | match[tree.label[i]];
	return has;
}

tally.search = { pattern, labels, nodes };
})();
