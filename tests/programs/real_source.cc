/* SPDX-License-Identifier: MIT */
/* Inlined routines within each other, templates, lambdas, recursion, and exceptions that are caught
 * several frames above. The arguments are how deep, and how often. */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace shop {

template <class T> inline T twice(T x)
{
    return x + x;
}

struct item {
    std::string name;
    int price;
    int cost(int amount) const { return twice(price) * amount; }
};

struct visitor {
    virtual ~visitor() = default;
    virtual int visit(int depth, const item &i) = 0;
};

struct refusing : visitor {
    int limit;
    explicit refusing(int l) : limit(l) {}
    int visit(int depth, const item &i) override
    {
        std::unique_ptr<int> kept(new int(depth));
        if (depth >= limit)
            throw std::runtime_error(i.name);
        return i.cost(*kept);
    }
};

__attribute__((noinline)) int descend(int depth, visitor &v, const item &i)
{
    if (depth == 0)
        return v.visit(0, i);
    int below = descend(depth - 1, v, i);
    return below + v.visit(depth, i);
}

/* Catches one in two, and lets the others pass. */
__attribute__((noinline)) int attempt(int depth, int number, visitor &v, const item &i)
{
    try {
        return descend(depth, v, i);
    } catch (const std::runtime_error &e) {
        if (number % 2)
            throw;
        return static_cast<int>(std::string(e.what()).size());
    }
}

} // namespace shop

int main(int argc, char **argv)
{
    int depth = argc > 1 ? atoi(argv[1]) : 10, times = argc > 2 ? atoi(argv[2]) : 10, sum = 0;
    std::map<int, std::vector<shop::item>> shelves;

    for (int i = 0; i < times; i++)
        shelves[i % 3].push_back({"item" + std::to_string(i), i * 7 % 5});
    for (auto &shelf : shelves)
        std::sort(shelf.second.begin(), shelf.second.end(),
                  [](const shop::item &a, const shop::item &b) { return a.price < b.price; });
    for (int i = 0; i < times; i++) {
        shop::refusing v(i % 3 ? depth / 2 : depth + 1);
        for (const auto &thing : shelves[i % 3]) {
            try {
                sum += shop::attempt(depth, i, v, thing);
            } catch (const std::exception &) {
                sum++;
            }
        }
    }
    printf("%d\n", sum);
    return 0;
}
