/*
 * compile.c - compiles a request to a binary for one architecture, without a GPU, a driver or a context.
 *
 * One source of CUDA C++ needs only NVRTC. If there are several sources, PTX, relocatable code or link options,
 * nvJitLink links the result. nvJitLink is a library of the toolkit and not of the driver, so it makes the same
 * code on every machine. Like NVRTC, it produces a cubin, so loading the result compiles nothing.
 */
#include "backends/cuda/compiler/compile.h"
#include "backends/rtc/compiler.h"
#include "util/nvjitlink.h"

#include <stdio.h>
#include <string.h>

#define NVJITLINK_NO_INLINE /* the functions are loaded at run time */
#include <nvJitLink.h>

#define RELOCATABLE_OPTION "--relocatable-device-code=true"
#define ARCHITECTURE_SIZE 96u
#define EXTRA_OPTIONS 2u
#define EM_CUDA_MACHINE 190u
#define STO_CUDA_ENTRY 0x10u /* in a symbol's st_other: the symbol is a kernel */

/* ---- linking with nvJitLink (util/nvjitlink.h), which comes with the toolkit and makes the same code on every machine
 * ---- */

struct cuda_link {
    const ingot_allocator_t *allocator;
    ingot_sink_t *log;
    struct nvjitlink linker;
    void *handle;
};

static ingot_status_t take_link_log(struct cuda_link *link, int (*get_size)(void *, size_t *),
                                    int (*get)(void *, char *))
{
    size_t size = 0;
    struct rtc_bytes text = {0, NULL};
    if (get_size(link->handle, &size) != NVJITLINK_SUCCESS || size == 0)
        return INGOT_SUCCESS;
    ingot_status_t status = rtc_bytes_init(&text, link->allocator, size + 1); /* with room for a NUL */
    if (status != INGOT_SUCCESS)
        return status;
    if (get(link->handle, (char *)text.bytes) == NVJITLINK_SUCCESS)
        status = ingot_sink_write_log(link->log, (const char *)text.bytes);
    rtc_bytes_fini(&text, link->allocator);
    return status;
}

/* Reports a failed call to nvJitLink. If the error is not an internal one, nvJitLink has refused the options or the
 * input. */
static ingot_status_t fail_link_call(struct cuda_link *link, const char *call, int result)
{
    const bool is_internal = result == NVJITLINK_ERROR_INTERNAL || result == NVJITLINK_ERROR_THREADPOOL;
    ingot_status_t status = INGOT_SUCCESS;
    if (link->handle != NULL)
        status = take_link_log(link, link->linker.error_log_size, link->linker.error_log);
    if (status != INGOT_SUCCESS)
        return status;
    /* nvJitLinkComplete also returns NVJITLINK_ERROR_INTERNAL for an undefined function, which the log names */
    if (is_internal && strcmp(call, "nvJitLinkComplete") != 0)
        return ingot_set_error(INGOT_BACKEND_ERROR, result, "%s: error %d", call, result);
    return ingot_refuse_program(link->log, result, "%s: error %d", call, result);
}

/* Begins a link. The caller must call cuda_link_fini, even after a failure. */
static ingot_status_t cuda_link_init(struct cuda_link *link, const ingot_allocator_t *allocator, unsigned driver_major,
                                     const struct rtc_options *options, ingot_sink_t *log)
{
    memset(link, 0, sizeof(*link));
    link->allocator = allocator;
    link->log = log;
    if (!nvjitlink_open(driver_major, &link->linker))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "no libnvJitLink of version %u to %u was found",
                                      NVJITLINK_OLDEST_MAJOR, driver_major);
    const int result = link->linker.create(&link->handle, (uint32_t)options->count, options->words);
    if (result == NVJITLINK_SUCCESS)
        return INGOT_SUCCESS;
    link->handle = NULL;
    if (result == NVJITLINK_ERROR_UNRECOGNIZED_OPTION)
        return ingot_refuse_program(log, 0, "nvJitLink does not know one of its options");
    return fail_link_call(link, "nvJitLinkCreate", result);
}

/* Adds a piece, which is copied. PTX must end in a NUL that `size` does not count. */
static ingot_status_t cuda_link_add(struct cuda_link *link, nvJitLinkInputType type, size_t size, const void *bytes,
                                    const char *name)
{
    const int result =
        link->linker.add_data(link->handle, (int)type, bytes, size, name[0] != '\0' ? name : "default_program");
    return result == NVJITLINK_SUCCESS ? INGOT_SUCCESS : fail_link_call(link, "nvJitLinkAddData", result);
}

static ingot_status_t cuda_link_finish(struct cuda_link *link, struct rtc_bytes *cubin)
{
    size_t size = 0;
    int result = link->linker.complete(link->handle);
    if (result != NVJITLINK_SUCCESS)
        return fail_link_call(link, "nvJitLinkComplete", result);
    ingot_status_t status = take_link_log(link, link->linker.info_log_size, link->linker.info_log);
    if (status != INGOT_SUCCESS)
        return status;
    result = link->linker.cubin_size(link->handle, &size);
    if (result != NVJITLINK_SUCCESS || size == 0)
        return fail_link_call(link, "nvJitLinkGetLinkedCubinSize", result);
    status = rtc_bytes_init(cubin, link->allocator, size);
    if (status != INGOT_SUCCESS)
        return status;
    result = link->linker.cubin(link->handle, cubin->bytes);
    if (result == NVJITLINK_SUCCESS)
        return INGOT_SUCCESS;
    rtc_bytes_fini(cubin, link->allocator);
    return fail_link_call(link, "nvJitLinkGetLinkedCubin", result);
}

static size_t get_kernel_name(const Elf64_Sym *symbol, const char *name)
{
    return ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && (symbol->st_other & STO_CUDA_ENTRY) != 0 ? strlen(name) : 0;
}

const struct rtc_format cuda_cubin = {"CUDA", "INGOTCUD", EM_CUDA_MACHINE, SHT_SYMTAB, get_kernel_name, NULL};

/* The state of a build. */
struct plan {
    const struct rtc_target *target;
    const ingot_build_request_t *request;
    ingot_sink_t *log;
    size_t first_cuda_source; /* source_count if there is none */
    bool links;
    struct rtc_options compile_options;
    struct rtc_options link_options;
    char compile_architecture[ARCHITECTURE_SIZE];
    char link_architecture[ARCHITECTURE_SIZE];
    struct rtc_bytes head;
};

static ingot_status_t check_request(const struct plan *plan)
{
    const ingot_build_request_t *request = plan->request;
    if (request->spec_constant_count > 0)
        return ingot_refuse_program(plan->log, 0, "CUDA has no specialization constants, but constant %u is given",
                                    (unsigned)request->spec_constants[0].id);
    if (request->name_expression_count > 0 && plan->first_cuda_source == request->source_count)
        return ingot_refuse_program(plan->log, 0, "the name expression %s needs a CUDA C++ source",
                                    request->name_expressions[0]);
    return INGOT_SUCCESS;
}

/* Sets the architecture. Compiling and linking use the same one, no matter which option names it. */
static ingot_status_t set_architecture(struct plan *plan)
{
    const char *linked = rtc_options_take_architecture(&plan->link_options, "--gpu-architecture", "-arch");
    const char *compiled = rtc_options_take_architecture(&plan->compile_options, "--gpu-architecture", "-arch");
    const char *architecture = compiled != NULL ? compiled : linked != NULL ? linked : plan->target->architecture;
    if (strlen(architecture) > 64)
        return ingot_refuse_program(plan->log, 0, "\"%.64s\" is not an architecture", architecture);
    (void)snprintf(plan->compile_architecture, ARCHITECTURE_SIZE, "--gpu-architecture=%.64s", architecture);
    (void)snprintf(plan->link_architecture, ARCHITECTURE_SIZE, "-arch=%.64s", architecture);
    rtc_options_add(&plan->compile_options, plan->compile_architecture);
    rtc_options_add(&plan->link_options, plan->link_architecture);
    return INGOT_SUCCESS;
}

static ingot_status_t compile_source(struct plan *plan, size_t index, struct rtc_bytes *cubin)
{
    struct rtc_compiler nvrtc = {.prefix = "nvrtc"};
    const struct rtc_job job = {
        .allocator = &plan->target->allocator,
        .compiler = &nvrtc,
        .format = &cuda_cubin,
        .request = plan->request,
        .source = &plan->request->sources[index],
        .expression_count = index == plan->first_cuda_source ? plan->request->name_expression_count : 0,
        .options = &plan->compile_options,
        .log = plan->log,
    };
    /* Open the newest NVRTC whose major version is not newer than the driver's, because the driver may refuse code
     * from a newer NVRTC. */
    static const struct library_symbol symbols[] = RTC_SYMBOLS("nvrtc", "CUBIN");
    if (library_open_newest("libnvrtc", CUDA_NVRTC_OLDEST_MAJOR, plan->target->driver_major,
                            sizeof(symbols) / sizeof(symbols[0]), symbols, &nvrtc) == 0)
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "no libnvrtc of version %u to %u was found",
                                      CUDA_NVRTC_OLDEST_MAJOR, plan->target->driver_major);
    return rtc_compile(&job, &plan->head, cubin);
}

static ingot_status_t add_source_to_link(struct plan *plan, struct cuda_link *link, size_t index)
{
    const ingot_source_view_t *source = &plan->request->sources[index];
    struct rtc_bytes cubin = {0, NULL};
    if (source->kind == INGOT_SOURCE_PTX)
        return cuda_link_add(link, NVJITLINK_INPUT_PTX, source->size, source->bytes, source->name);
    ingot_status_t status = compile_source(plan, index, &cubin);
    if (status == INGOT_SUCCESS)
        status = cuda_link_add(link, NVJITLINK_INPUT_CUBIN, cubin.size, cubin.bytes, source->name);
    rtc_bytes_fini(&cubin, &plan->target->allocator); /* freed, because nvJitLink has copied it */
    return status;
}

/* If `compiled` is NULL, links all sources, otherwise only the code in `compiled`. */
static ingot_status_t link_all(struct plan *plan, const struct rtc_bytes *compiled, struct rtc_bytes *cubin)
{
    struct cuda_link link;
    ingot_status_t status =
        cuda_link_init(&link, &plan->target->allocator, plan->target->driver_major, &plan->link_options, plan->log);
    if (status == INGOT_SUCCESS && compiled != NULL)
        status = cuda_link_add(&link, NVJITLINK_INPUT_CUBIN, compiled->size, compiled->bytes,
                               plan->request->sources[0].name);
    for (size_t i = 0; compiled == NULL && i < plan->request->source_count && status == INGOT_SUCCESS; ++i)
        status = add_source_to_link(plan, &link, i);
    if (status == INGOT_SUCCESS)
        status = cuda_link_finish(&link, cubin);
    if (link.handle != NULL)
        (void)link.linker.destroy(&link.handle);
    return status;
}

static ingot_status_t make_cubin(struct plan *plan, struct rtc_bytes *cubin)
{
    struct rtc_bytes compiled = {0, NULL};
    if (plan->links)
        return link_all(plan, NULL, cubin);
    ingot_status_t status = compile_source(plan, 0, &compiled);
    if (status == INGOT_SUCCESS && rtc_code_is_relocatable(&cuda_cubin, compiled.size, compiled.bytes)) {
        status = link_all(plan, &compiled, cubin); /* the code is relocatable, because an option asked for it */
    } else if (status == INGOT_SUCCESS) {
        *cubin = compiled;
        compiled.bytes = NULL;
        compiled.size = 0;
    }
    rtc_bytes_fini(&compiled, &plan->target->allocator);
    return status;
}

ingot_status_t cuda_compile(const struct rtc_target *target, const ingot_build_request_t *request, ingot_sink_t *log,
                            struct rtc_bytes *image)
{
    struct plan plan = {.target = target, .request = request, .log = log};
    struct rtc_bytes cubin = {0, NULL};
    /* Find the first CUDA C++ source, and whether the program is linked. */
    plan.first_cuda_source = request->source_count;
    plan.links = request->source_count > 1 || request->link_options[strspn(request->link_options, " \t\n")] != '\0';
    for (size_t i = request->source_count; i-- > 0;) {
        if (request->sources[i].kind == INGOT_SOURCE_CUDA_CPP)
            plan.first_cuda_source = i;
        else
            plan.links = true;
    }
    ingot_status_t status = check_request(&plan);
    const bool is_ptx_alone = plan.first_cuda_source == request->source_count;
    if (status == INGOT_SUCCESS)
        status =
            rtc_options_init(&plan.compile_options, &target->allocator, request->compile_options, "", EXTRA_OPTIONS);
    if (status == INGOT_SUCCESS)
        status = rtc_options_init(&plan.link_options, &target->allocator, is_ptx_alone ? request->compile_options : "",
                                  request->link_options, EXTRA_OPTIONS);
    if (status == INGOT_SUCCESS)
        status = set_architecture(&plan);
    if (status == INGOT_SUCCESS && plan.links)
        rtc_options_add(&plan.compile_options, RELOCATABLE_OPTION);
    if (status == INGOT_SUCCESS)
        status = make_cubin(&plan, &cubin);
    if (status == INGOT_SUCCESS)
        status = rtc_image_join(image, &target->allocator, &plan.head, &cubin);
    rtc_bytes_fini(&cubin, &target->allocator);
    rtc_options_fini(&plan.compile_options, &target->allocator);
    rtc_options_fini(&plan.link_options, &target->allocator);
    rtc_bytes_fini(&plan.head, &target->allocator);
    return status;
}
