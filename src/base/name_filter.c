#include "base/name_filter.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "base/arena.h"
#include "base/fail.h"

#define DEPTH_MOST 64
#define TEXT_MOST  4096

enum node_kind { NODE_GLOB, NODE_NOT, NODE_AND, NODE_OR };

struct node {
	enum node_kind kind;
	const char *glob;
	const struct node *left, *right; /* NOT has only a left one */
};

struct name_filter {
	struct tally_arena arena;
	const struct node *root;
};

struct parser {
	const char *text, *at;
	struct name_filter *filter;
	struct tally_error *error;
};

static int parse_any(struct parser *parser, unsigned depth, const struct node **ret);

static int fail_at(const struct parser *parser, const char *why)
{
	return tally_fail(parser->error, -EINVAL, parser->at - parser->text, "%s", why);
}

static int add(const struct parser *parser, struct node node, const struct node **ret)
{
	struct node *kept = tally_arena_alloc(&parser->filter->arena, sizeof(*kept));

	if (!kept)
		return tally_fail(parser->error, -ENOMEM, -1, "out of memory");
	*kept = node;
	*ret = kept;
	return 0;
}

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t\n");
}

static int parse_glob(struct parser *parser, const struct node **ret)
{
	struct node node = {.kind = NODE_GLOB};
	const char *start = parser->at;

	while (*parser->at && !isspace((unsigned char)*parser->at) &&
	       !strchr("&|()!", *parser->at)) {
		if (*parser->at == '[') { /* the ! of "[!a]" belongs to the set */
			const char *close = strchr(parser->at, ']');

			parser->at = close ? close : parser->at;
		} else if (*parser->at == '\\' && parser->at[1]) {
			parser->at++;
		}
		parser->at++;
	}
	if (parser->at == start)
		return fail_at(parser, "a name or a pattern is expected");
	node.glob =
	    tally_arena_strndup(&parser->filter->arena, start, (size_t)(parser->at - start));
	if (!node.glob)
		return tally_fail(parser->error, -ENOMEM, -1, "out of memory");
	return add(parser, node, ret);
}

static int parse_one(struct parser *parser, unsigned depth, const struct node **ret)
{
	struct node node = {.kind = NODE_NOT};
	int result;

	if (depth > DEPTH_MOST)
		return tally_fail(parser->error, -E2BIG, parser->at - parser->text,
				  "more than %d levels of ! and parentheses", DEPTH_MOST);
	skip_blanks(parser);
	if (*parser->at == '!') {
		parser->at++;
		result = parse_one(parser, depth + 1, &node.left);
		return result ? result : add(parser, node, ret);
	}
	if (*parser->at != '(')
		return parse_glob(parser, ret);
	parser->at++;
	result = parse_any(parser, depth + 1, ret);
	if (result)
		return result;
	if (*parser->at != ')')
		return fail_at(parser, "')' is missing");
	parser->at++;
	return 0;
}

/* & and | bind alike, from left to right, as in perf. */
static int parse_any(struct parser *parser, unsigned depth, const struct node **ret)
{
	const struct node *left = NULL;
	int result = parse_one(parser, depth, &left);

	while (!result) {
		struct node node = {.left = left};

		skip_blanks(parser);
		if (*parser->at != '&' && *parser->at != '|')
			break;
		node.kind = *parser->at++ == '&' ? NODE_AND : NODE_OR;
		result = parse_one(parser, depth, &node.right);
		if (!result)
			result = add(parser, node, &left);
	}
	if (!result)
		*ret = left;
	return result;
}

int tally_name_filter_new(const char *text, struct name_filter **ret, struct tally_error *error)
{
	struct name_filter *filter = calloc(1, sizeof(*filter));
	struct parser parser = {text, text, filter, error};
	int result;

	if (!filter)
		return tally_fail(error, -ENOMEM, -1, "out of memory");
	if (strlen(text) > TEXT_MOST)
		result = tally_fail(error, -E2BIG, TEXT_MOST, "a filter of more than %d bytes",
				    TEXT_MOST);
	else
		result = parse_any(&parser, 0, &filter->root);
	if (!result && *parser.at)
		result = fail_at(&parser, "'&' or '|' is expected");
	if (result) {
		tally_name_filter_free(filter);
		return result;
	}
	*ret = filter;
	return 0;
}

void tally_name_filter_free(struct name_filter *filter)
{
	if (!filter)
		return;
	tally_arena_done(&filter->arena);
	free(filter);
}

static bool takes(const struct node *node, const char *name)
{
	switch (node->kind) {
	case NODE_GLOB:
		return tally_name_matches(name, node->glob);
	case NODE_NOT:
		return !takes(node->left, name);
	case NODE_AND:
		return takes(node->left, name) && takes(node->right, name);
	default:
		return takes(node->left, name) || takes(node->right, name);
	}
}

bool tally_name_filter_takes(const struct name_filter *filter, const char *name)
{
	return takes(filter->root, name);
}

bool tally_name_is_glob(const char *text)
{
	return strpbrk(text, "*?[");
}

bool tally_name_matches(const char *name, const char *glob)
{
	return tally_name_is_glob(glob) ? !fnmatch(glob, name, 0) : !strcmp(name, glob);
}

static void copy_unspaced(const char *text, char *to, size_t room)
{
	size_t size = 0;

	for (; *text && size + 1 < room; text++)
		if (!isspace((unsigned char)*text))
			to[size++] = *text;
	to[size] = '\0';
}

bool tally_line_matches(const char *line, const char *glob)
{
	char text[1024], pattern[1024];

	copy_unspaced(line, text, sizeof(text));
	copy_unspaced(glob, pattern, sizeof(pattern));
	return !fnmatch(pattern, text, 0);
}
