/* {{.Name}}.hpp: the network "{{comment .Program}}" for C++20, with its own memory and threads. Generated; do not edit.
 *
 *     ripc::{{.Name}}_network net(2); // threads
{{range $i, $t := .Inputs}} *     std::ranges::fill(net.input_{{$i}}(), {{ctype .DType}}{});
{{end}} *     net.run();
{{range $i, $t := .Outputs}} *     use(net.output_{{$i}}());
{{end}} */
#pragma once
{{header}}
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <thread>
#include <vector>

namespace ripc {

/* Inputs and outputs are spans of the network's own memory. One object runs one inference at a time. */
class {{.Name}}_network {
public:
    /* Fails with std::runtime_error if this CPU lacks something, and with std::invalid_argument unless threads is 1 to {{.MaxThreads}}. */
    explicit {{.Name}}_network(std::uint32_t threads = 1) : threads_(threads)
    {
        if (threads < 1 || threads > {{.MaxThreads}})
            throw std::invalid_argument(ripc_status_text(RIPC_BAD_THREADS));
        if ({{.Name}}_cpu_ok() == RIPC_CPU_LACKS)
            throw std::runtime_error("{{.Name}}: this CPU lacks something of " {{.Upper}}_TARGET);
        workspace_ = memory({{.Name}}_workspace_size(threads));
    }
{{range $i, $t := .Inputs}}
    std::span<{{ctype .DType}}, {{elems .}}> input_{{$i}}() { return view<{{ctype .DType}}, {{elems .}}>(inputs_[{{$i}}]); }
{{end}}{{range $i, $t := .Outputs}}
    std::span<const {{ctype .DType}}, {{elems .}}> output_{{$i}}() { return view<{{ctype .DType}}, {{elems .}}>(outputs_[{{$i}}]); }
{{end}}
    /* Computes the outputs from the inputs. Fails with std::runtime_error, or std::system_error if there are no threads. */
    void run()
    {
        std::array<const void *, {{len .Inputs}}> in;
        std::array<void *, {{len .Outputs}}> out;
        for (std::size_t i = 0; i < in.size(); i++)
            in[i] = inputs_[i].data();
        for (std::size_t i = 0; i < out.size(); i++)
            out[i] = outputs_[i].data();
        std::vector<int> status(threads_, RIPC_OK);
        const auto call = [&](std::uint32_t tid) {
            status[tid] = {{.Name}}_run(in.data(), out.data(), workspace_.data(), tid, threads_, &sync_);
        };
        {
            std::vector<std::jthread> others;
            others.reserve(threads_);
            for (std::uint32_t tid = 1; tid < threads_; tid++)
                others.emplace_back(call, tid);
            call(0);
        }
        for (int s : status)
            if (s != RIPC_OK)
                throw std::runtime_error(ripc_status_text(s));
    }

private:
    struct alignas(RIPC_ALIGN) block {
        unsigned char bytes[RIPC_ALIGN];
    };
    using buffer = std::vector<block>;
    static buffer memory(std::size_t bytes) { return buffer(bytes / RIPC_ALIGN + 1); }
    template <typename T, std::size_t n> static std::span<T, n> view(buffer &b)
    {
        return std::span<T, n>(reinterpret_cast<T *>(b.data()), n);
    }

    std::uint32_t threads_;
    std::array<buffer, {{len .Inputs}}> inputs_{ {{- range .Inputs}}memory({{bytes .}}), {{end -}} };
    std::array<buffer, {{len .Outputs}}> outputs_{ {{- range .Outputs}}memory({{bytes .}}), {{end -}} };
    buffer workspace_;
    ripc_sync sync_{};
};

} // namespace ripc
