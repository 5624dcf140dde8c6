{{.Header}}
#include <stdlib.h>
#include <string.h>

/* Where argument i of a launch lies. */
enum { rc_in, rc_out, rc_const, rc_work };
typedef struct { int space; cl_uint index; cl_ulong offset; } rc_arg;
typedef struct { cl_uint kernel, args, first; size_t blocks, threads; } rc_launch;
static const rc_arg rc_args[] = {
{{- range .Args}}
    { {{.Space}}, {{.Index}}u, {{.Offset}}u },
{{- end}}
};
static const rc_launch rc_launches[] = {
{{- range .Launches}}
    { {{.Kernel}}u, {{.Args}}u, {{.First}}u, {{.Blocks}}u, {{.Threads}}u },
{{- end}}
};
static const char *const rc_kernels[] = {
{{- range .Kernels}}
    "{{.}}",
{{- end}}
};
enum { rc_n_launches = {{len .Launches}}, rc_n_kernels = {{len .Kernels}} };

struct {{.Name}}_network {
    cl_mem constants, work;
    cl_program program;
    cl_kernel kernels[rc_n_kernels];
};

void {{.Name}}_release({{.Name}}_network *net)
{
    int i;
    if (net == NULL) {
        return;
    }
    for (i = 0; i < rc_n_kernels; i++) {
        if (net->kernels[i] != NULL) {
            clReleaseKernel(net->kernels[i]);
        }
    }
    if (net->program != NULL) {
        clReleaseProgram(net->program);
    }
    if (net->constants != NULL) {
        clReleaseMemObject(net->constants);
    }
    if (net->work != NULL) {
        clReleaseMemObject(net->work);
    }
    free(net);
}

/* Copies the beginning of the log, of which the driver gives all or nothing. */
static void rc_log(cl_program program, cl_device_id device, char *log, size_t log_bytes)
{
    size_t size = 0;
    char *all = NULL;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) == CL_SUCCESS) {
        all = (char *)calloc(size + 1, 1);
    }
    log[0] = 0;
    if (all != NULL && clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, all, NULL) == CL_SUCCESS) {
        size = size < log_bytes ? size : log_bytes - 1;
        memcpy(log, all, size);
        log[size] = 0;
    }
    free(all);
}

static cl_int rc_make({{.Name}}_network *net, cl_context context, cl_device_id device, char *log, size_t log_bytes)
{
    cl_int status;
    int i;
    net->constants = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof rc_constants,
        (void *)rc_constants, &status);
    if (status == CL_SUCCESS) {
        net->work = clCreateBuffer(context, CL_MEM_READ_WRITE, {{.Work}}u, NULL, &status);
    }
    if (status == CL_SUCCESS) {
        net->program = clCreateProgramWithSource(context, sizeof rc_source / sizeof rc_source[0], (const char **)rc_source, NULL,
            &status);
    }
    if (status != CL_SUCCESS) {
        return status;
    }
    status = clBuildProgram(net->program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
    if (log != NULL && log_bytes > 0) {
        rc_log(net->program, device, log, log_bytes);
    }
    for (i = 0; status == CL_SUCCESS && i < rc_n_kernels; i++) {
        net->kernels[i] = clCreateKernel(net->program, rc_kernels[i], &status);
    }
    return status;
}

cl_int {{.Name}}_create(cl_context context, cl_device_id device, {{.Name}}_network **net, char *log, size_t log_bytes)
{
    cl_int status = CL_OUT_OF_HOST_MEMORY;
    *net = ({{.Name}}_network *)calloc(1, sizeof **net);
    if (*net != NULL) {
        status = rc_make(*net, context, device, log, log_bytes);
    }
    if (status != CL_SUCCESS) {
        {{.Name}}_release(*net);
        *net = NULL;
    }
    return status;
}

cl_int {{.Name}}_enqueue({{.Name}}_network *net, cl_command_queue queue, const cl_mem *in, const cl_mem *out)
{
    cl_command_queue_properties properties;
    cl_int status = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
    int i;
    if (status == CL_SUCCESS && (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
        status = CL_INVALID_QUEUE_PROPERTIES;
    }
    for (i = 0; status == CL_SUCCESS && i < rc_n_launches; i++) {
        const rc_launch *l = &rc_launches[i];
        const size_t all = l->blocks * l->threads;
        cl_uint k;
        for (k = 0; status == CL_SUCCESS && k < l->args; k++) {
            const rc_arg *a = &rc_args[l->first + k];
            const cl_mem *m = a->space == rc_in ? &in[a->index] : a->space == rc_out ? &out[a->index] :
                a->space == rc_const ? &net->constants : &net->work;
            status = clSetKernelArg(net->kernels[l->kernel], 2 * k, sizeof *m, m);
            if (status == CL_SUCCESS) {
                status = clSetKernelArg(net->kernels[l->kernel], 2 * k + 1, sizeof a->offset, &a->offset);
            }
        }
        if (status == CL_SUCCESS) {
            status = clEnqueueNDRangeKernel(queue, net->kernels[l->kernel], 1, NULL, &all, &l->threads, 0, NULL, NULL);
        }
    }
    return status;
}
