/* The network "{{comment .Program}}" in kernels of OpenCL, compiled by ripc {{comment .Compiler}} for {{comment .Target}}. Generated; do not edit.
 *
 * The program brings context, queue and the buffers of inputs and outputs. The C file beside this header needs OpenCL 1.2 and nothing else.
 *
 *     {{.Name}}_network *net;
 *     cl_int status = {{.Name}}_create(context, device, &net, NULL, 0);
 *     cl_mem in[{{.Upper}}_INPUTS] = ..., out[{{.Upper}}_OUTPUTS] = ...; // of {{.Upper}}_INPUT_0_BYTES and so on
 *     status = {{.Name}}_enqueue(net, queue, in, out);
 *     {{.Name}}_release(net);
 *
 * Tensors are dense, the last dimension innermost, little endian.
 */
#ifndef RIPC_{{.Upper}}_H
#define RIPC_{{.Upper}}_H

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define {{.Upper}}_COMPILER {{literal (print "ripc " .Compiler)}}
#define {{.Upper}}_TARGET {{literal .Target}}
#define {{.Upper}}_MACS {{.MACs}} /* multiply-accumulates of one run */
{{template "tensors" .Group "INPUT" "Input" .Inputs}}{{template "tensors" .Group "OUTPUT" "Output" .Outputs}}
#define {{.Upper}}_STAGES {{len .Stages}}
#define {{.Upper}}_DEVICE_BYTES {{device}} /* of the device's memory that a network takes */

typedef struct {{.Name}}_network {{.Name}}_network;

/* Compiles the kernels and brings the constants to the device. It fails with an error of OpenCL. log, of log_bytes, receives
 * the messages of the device's compiler; it may be null. */
cl_int {{.Name}}_create(cl_context context, cl_device_id device, {{.Name}}_network **net, char *log, size_t log_bytes);

/* Enqueues a run, and does not wait for it. The queue must run commands in order. in has a buffer for each input, out one for each
 * output. Runs of a network must follow each other: they share its memory. For runs side by side create several networks. */
cl_int {{.Name}}_enqueue({{.Name}}_network *net, cl_command_queue queue, const cl_mem *in, const cl_mem *out);

/* Frees all of it. net may be null. */
void {{.Name}}_release({{.Name}}_network *net);

#ifdef __cplusplus
}
#endif

#endif
