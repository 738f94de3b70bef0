// SPDX-License-Identifier: MIT
// Exceptions through several frames and threads, and names that are mangled.
#include <cstdio>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace shapes {
struct Box {
    int side;
    int volume(int scale) const;
    ~Box();
};
static int destroyed;
Box::~Box() { destroyed++; }
__attribute__((noinline)) int Box::volume(int scale) const
{
    if (side % 7 == 3)
        throw std::runtime_error("side " + std::to_string(side));
    return side * side * side * scale;
}
} // namespace shapes

static int nested(int depth, int side)
{
    shapes::Box box{side};

    if (depth > 0)
        return nested(depth - 1, side) + 1;
    return box.volume(2);
}

static void work(std::map<std::string, int> &caught, long &sum)
{
    for (int i = 0; i < 50; i++) {
        try {
            sum += nested(i % 5, i);
        } catch (const std::exception &e) {
            caught[e.what()]++;
        }
    }
}

int main()
{
    std::vector<std::thread> threads;
    std::map<std::string, int> caught[3];
    long sums[3] = {};

    work(caught[0], sums[0]);
    for (int i = 1; i < 3; i++) {
        threads.emplace_back(work, std::ref(caught[i]), std::ref(sums[i]));
        threads.back().join();
    }
    for (int i = 0; i < 3; i++)
        std::printf("%zu %ld\n", caught[i].size(), sums[i]);
    std::printf("%d\n", shapes::destroyed);
    return 0;
}
