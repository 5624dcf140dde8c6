// Runs one program and prints its cycles, from start to done.
#include "Vbench.h"
#include <cstdio>
int main() {
    Vbench b;
    auto cycle = [&] { b.clk = 0; b.eval(); b.clk = 1; b.eval(); };
    b.rst = 1; b.start = 0;
    cycle(); cycle();
    b.rst = 0; b.start = 1;
    cycle();
    b.start = 0;
    long long n = 0;
    const long long most = 4000000000LL;
    do { cycle(); n++; } while (!b.done && n < most);
    b.final();
    std::printf("%lld\n", n < most ? n : -1LL);
    return 0;
}
