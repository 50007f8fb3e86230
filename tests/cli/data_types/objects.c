/* Functions that access objects of known types; tests/cli/data_types.bats knows which. */
#include <stdio.h>
#include <stdlib.h>

struct list_node {
	long value;
	struct list_node *next;
	char name[48];
};

struct pair {
	int first, second;
	double weight;
};

struct inner {
	long low, high;
};

struct outer {
	int id;
	struct inner range;
	union {
		long number;
		struct list_node *list;
	} either;
	struct pair pairs[4];
};

typedef struct {
	unsigned long hits, misses;
} counters_t;

counters_t totals;
static struct pair pairs[4096];
static long table[1024];

__attribute__((noinline)) long walk(struct list_node *head)
{
	long sum = 0;

	for (struct list_node *node = head; node; node = node->next)
		sum += node->value;
	return sum;
}

__attribute__((noinline)) double add_pairs(void)
{
	double sum = 0;

	for (int i = 0; i < 4096; i++)
		sum += pairs[i].weight * pairs[i].second;
	return sum;
}

__attribute__((noinline)) void count(int n)
{
	for (int i = 0; i < n; i++) {
		if (table[i & 1023] & 1)
			totals.hits++;
		else
			totals.misses++;
	}
}

__attribute__((noinline)) long members(const struct outer *object)
{
	return object->id + object->range.high + object->either.list->value;
}

__attribute__((noinline)) long loads(struct outer **objects, int n)
{
	long sum = 0;

	for (int i = 0; i < n; i++)
		sum += objects[i]->either.list->next->value;
	return sum;
}

__attribute__((noinline)) int element(struct outer *object, long i)
{
	return object->pairs[i].second;
}

static inline long high_of(const struct inner *range)
{
	return range->high;
}

__attribute__((noinline)) long inlined(struct outer *object)
{
	return high_of(&object->range);
}

__attribute__((noinline)) void fill(struct pair *to, int n)
{
	to->first = n;
	to->second = n + 1;
	to->weight = n;
}

__attribute__((noinline)) double on_stack(int n)
{
	struct pair local;

	fill(&local, n);
	return local.weight + local.second;
}

int main(int argc, char **argv)
{
	size_t many = 1 << 16;
	int turns = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 1;
	struct list_node *nodes = calloc(many, sizeof(*nodes));
	struct outer *object = calloc(1, sizeof(*object));
	double sum = 0;

	for (size_t i = 0; i < many; i++)
		nodes[i].next = i + 1 < many ? &nodes[i + 1] : NULL;
	object->either.list = nodes;
	pairs[turns & 4095].weight = turns; /* else they are known to be 0 */
	pairs[turns & 4095].second = turns;
	table[turns & 1023] = turns;
	for (int i = 0; i < turns; i++)
		sum += (double)walk(nodes);
	sum += add_pairs() + (double)members(object) + (double)loads(&object, 1);
	sum += element(object, turns & 3) + (double)inlined(object) + on_stack(turns);
	count(20);
	printf("%f %lu\n", sum, totals.hits);
	return 0;
}
