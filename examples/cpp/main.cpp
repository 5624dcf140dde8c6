// Recognizes digits: digits_cpp PICTURES.npy ANSWERS.npy
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "digits.hpp"

// The numbers of a .npy file, version 1. Its shape is the caller's business.
template <typename T> static std::vector<T> read(const char *path)
{
    std::ifstream in(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (text.size() < 10 || text.compare(0, 8, std::string("\x93NUMPY\x01\x00", 8)) != 0)
        throw std::runtime_error(std::string(path) + ": no .npy file of version 1");
    const std::size_t head = 10u + static_cast<unsigned char>(text[8]) + 256u * static_cast<unsigned char>(text[9]);
    std::vector<T> numbers((text.size() - std::min(head, text.size())) / sizeof(T));
    std::copy_n(text.data() + head, numbers.size() * sizeof(T), reinterpret_cast<char *>(numbers.data()));
    return numbers;
}

int main(int argc, char **argv)
try {
    if (argc != 3)
        throw std::runtime_error("usage: digits_cpp PICTURES.npy ANSWERS.npy");
    const auto pictures = read<float>(argv[1]);
    const auto answers = read<std::int64_t>(argv[2]);
    ripc::digits_network net(2);
    const auto image = net.input_0();
    std::size_t right = 0;
    for (std::size_t i = 0; i < answers.size() && (i + 1) * image.size() <= pictures.size(); i++) {
        std::copy_n(pictures.data() + i * image.size(), image.size(), image.data());
        net.run();
        const auto logits = net.output_0();
        right += std::max_element(logits.begin(), logits.end()) - logits.begin() == answers[i];
    }
    std::printf("%zu of %zu right, %s\n", right, answers.size(), DIGITS_TARGET);
} catch (const std::exception &e) {
    std::fprintf(stderr, "digits_cpp: %s\n", e.what());
    return 1;
}
