// bench BEATS_IN BEATS_OUT PICTURES PATIENCE STALL_IN STALL_OUT SEED plays the beats of stimulus.txt
// into a design, and prints what happened as one JSON object. A stall is a share of cycles in
// percent. It gives up when no picture ends for PATIENCE cycles.
#include "Vtop.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static uint64_t state;
static unsigned draw() { // xorshift
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return unsigned(state >> 20);
}

int main(int count, char **args) {
    if (count < 8)
        return 2;
    Verilated::commandArgs(count, args);
    long beats_in = atol(args[1]), beats_out = atol(args[2]), pictures = atol(args[3]), patience = atol(args[4]);
    unsigned stall_in = atoi(args[5]), stall_out = atoi(args[6]);
    state = 88172645463325252ull + 7919ull * strtoull(args[7], 0, 10);
    std::vector<uint64_t> stimulus;
    FILE *file = fopen("stimulus.txt", "r");
    for (unsigned long long v; file && fscanf(file, "%llx", &v) == 1;)
        stimulus.push_back(v);
    if (long(stimulus.size()) != beats_in * pictures)
        return 2;
    Vtop top;
    auto clock = [&] { top.clk = 1, top.eval(), top.clk = 0, top.eval(); };
    top.rst = 1, top.s_valid = 0, top.m_ready = 0;
    for (int i = 0; i < 4; i++)
        clock();
    top.rst = 0;
    size_t in = 0;
    long out = 0, cycle = 0, first = 0, last = 0, extra = 0;
    bool offered = false, burst = false, stuck = false;
    for (; out < beats_out * pictures && !stuck; cycle++) {
        if (draw() % 64 == 0)
            burst = draw() % 100 < stall_out;
        offered = offered || (in < stimulus.size() && draw() % 100 >= stall_in);
        top.s_valid = offered;
        top.s_data = offered ? stimulus[in] : (uint64_t(draw()) << 32 | draw());
        top.m_ready = !burst && draw() % 100 >= stall_out;
        top.eval();
        if (top.m_valid && top.m_ready && ++out % beats_out == 0) {
            last = cycle + 1;
            first = first ? first : last;
        }
        if (top.s_valid && top.s_ready)
            in++, offered = false;
        clock();
        stuck = cycle - last > patience;
    }
    for (int i = 0; i < 2000; i++) { // nothing may follow
        top.s_valid = 0, top.m_ready = 1, top.eval();
        extra += top.m_valid;
        clock();
    }
    top.final();
    printf("{\"beats\": %ld, \"extra\": %ld, \"stuck\": %s, \"first\": %ld, \"last\": %ld}\n", out, extra,
           stuck ? "true" : "false", first, last);
    return 0;
}
