/*
 * compile.c - compiles a request to a binary for one architecture, without a GPU, a driver or a context.
 *
 * One source of CUDA C++ needs only NVRTC. If there are several sources, PTX, relocatable code or link options,
 * nvJitLink links the result. nvJitLink is a library of the toolkit and not of the driver, so it makes the same
 * code on every machine. Like NVRTC, it produces a cubin, so loading the result compiles nothing.
 */
#include "backends/cuda/compiler/compile.h"

#include "backends/cuda/compiler/link.h"

#include <stdio.h>
#include <string.h>

#define RELOCATABLE_OPTION "--relocatable-device-code=true"
#define ARCHITECTURE_SIZE 96u
#define EXTRA_OPTIONS 2u
#define EM_CUDA_MACHINE 190u
#define STO_CUDA_ENTRY 0x10u /* in a symbol's st_other: the symbol is a kernel */

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

/* Finds the first CUDA C++ source, and whether the program is linked. */
static void plan_sources(struct plan *plan)
{
    const ingot_build_request_t *request = plan->request;
    plan->first_cuda_source = request->source_count;
    plan->links = request->source_count > 1 || request->link_options[strspn(request->link_options, " \t\n")] != '\0';
    for (size_t i = request->source_count; i-- > 0;) {
        if (request->sources[i].kind == INGOT_SOURCE_CUDA_CPP)
            plan->first_cuda_source = i;
        else
            plan->links = true;
    }
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

static ingot_status_t plan_init(struct plan *plan, const struct rtc_target *target,
                                const ingot_build_request_t *request, ingot_sink_t *log)
{
    memset(plan, 0, sizeof(*plan));
    plan->target = target;
    plan->request = request;
    plan->log = log;
    plan_sources(plan);
    ingot_status_t status = check_request(plan);
    const bool is_ptx_alone = plan->first_cuda_source == request->source_count;
    if (status == INGOT_SUCCESS)
        status =
            rtc_options_init(&plan->compile_options, &target->allocator, request->compile_options, "", EXTRA_OPTIONS);
    if (status == INGOT_SUCCESS)
        status = rtc_options_init(&plan->link_options, &target->allocator, is_ptx_alone ? request->compile_options : "",
                                  request->link_options, EXTRA_OPTIONS);
    if (status == INGOT_SUCCESS)
        status = set_architecture(plan);
    if (status == INGOT_SUCCESS && plan->links)
        rtc_options_add(&plan->compile_options, RELOCATABLE_OPTION);
    return status;
}

static void plan_fini(struct plan *plan)
{
    rtc_options_fini(&plan->compile_options, &plan->target->allocator);
    rtc_options_fini(&plan->link_options, &plan->target->allocator);
    rtc_bytes_fini(&plan->head, &plan->target->allocator);
}

/* Opens the newest NVRTC whose major version is not newer than the driver's, because the driver may refuse code from a
 * newer NVRTC. */
static ingot_status_t open_nvrtc(unsigned newest, struct rtc_compiler *nvrtc)
{
    static const struct library_symbol symbols[] = RTC_SYMBOLS("nvrtc", "CUBIN");
    *nvrtc = (struct rtc_compiler){.prefix = "nvrtc"};
    if (!library_open_newest("libnvrtc", CUDA_NVRTC_OLDEST_MAJOR, newest, nvrtc->library,
                             sizeof(symbols) / sizeof(symbols[0]), symbols, nvrtc))
        return ingot_set_error_detail(INGOT_UNIMPLEMENTED, "no libnvrtc of version %u to %u was found",
                                      CUDA_NVRTC_OLDEST_MAJOR, newest);
    return INGOT_SUCCESS;
}

static ingot_status_t compile_source(struct plan *plan, size_t index, struct rtc_bytes *cubin)
{
    struct rtc_compiler nvrtc;
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
    const ingot_status_t status = open_nvrtc(plan->target->driver_major, &nvrtc);
    return status == INGOT_SUCCESS ? rtc_compile(&job, &plan->head, cubin) : status;
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
    cuda_link_fini(&link);
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
    struct plan plan;
    struct rtc_bytes cubin = {0, NULL};
    ingot_status_t status = plan_init(&plan, target, request, log);
    if (status == INGOT_SUCCESS)
        status = make_cubin(&plan, &cubin);
    if (status == INGOT_SUCCESS)
        status = rtc_image_join(image, &target->allocator, &plan.head, &cubin);
    rtc_bytes_fini(&cubin, &target->allocator);
    plan_fini(&plan);
    return status;
}
