// Real work for a C++ compiler: many standard templates, instantiated for many types.
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <unordered_map>
#include <variant>
#include <vector>

#ifndef TYPES
#define TYPES 24
#endif
// The number of the first type: parts of one program have types of their own.
#ifndef FIRST
#define FIRST 0
#endif

template <int N> struct tag {
	int value = N;
	bool operator<(const tag &other) const { return value < other.value; }
	bool operator==(const tag &other) const { return value == other.value; }
};

template <int N> int work(const std::string &text)
{
	std::map<std::string, std::vector<tag<N>>> byName;
	std::unordered_map<std::string, std::tuple<int, std::string, tag<N>>> table;
	std::set<tag<N>> unique;
	std::variant<int, std::string, tag<N>> either = tag<N>{};
	std::vector<std::shared_ptr<tag<N>>> shared;
	std::istringstream words(text);
	std::string word;

	while (words >> word) {
		byName[word].push_back(tag<N>{static_cast<int>(word.size())});
		table[word] = std::make_tuple(N, word, tag<N>{});
		unique.insert(tag<N>{static_cast<int>(word.size() % 7)});
		shared.push_back(std::make_shared<tag<N>>());
	}
	std::sort(shared.begin(), shared.end(),
		  [](const auto &a, const auto &b) { return *a < *b; });
	std::stable_sort(shared.begin(), shared.end(),
			 [](const auto &a, const auto &b) { return *b < *a; });
	std::function<int(int)> add = [&](int by) { return by + std::get<0>(table[text]) + N; };
	int total = std::accumulate(byName.begin(), byName.end(), 0, [&](int sum, const auto &pair) {
		return add(sum) + static_cast<int>(pair.second.size());
	});
	return total + std::visit(
			       [](const auto &held) -> int {
				       if constexpr (std::is_same_v<std::decay_t<decltype(held)>, tag<N>>)
					       return held.value;
				       else
					       return 0;
			       },
			       either);
}

template <int... N> static int all(const std::string &text, std::integer_sequence<int, N...>)
{
	return (work<FIRST + N>(text) + ...);
}

int main(int argc, char **argv)
{
	std::string text(argc > 1 ? argv[1] : "the quick brown fox");
	std::regex pattern("([a-z]+) ([a-z]+)");

	return all(text, std::make_integer_sequence<int, TYPES>{}) + std::regex_search(text, pattern);
}
