/*
 * link.c - implements clLinkProgram.
 *
 * If Ingot compiled or loaded all objects (objects/object.h) of a link, the link's options and the objects' ids
 * identify the linked program. All other links go to the driver, with the driver's own programs. So do links that make
 * a library, and links with a callback.
 */
#include <stdlib.h>
#include <string.h>

#include "layers/common/settings.h"
#include "layers/common/statistics.h"
#include "layers/opencl/objects/link_backend.h"
#include "layers/opencl/program/recordings.h"
#include "layers/opencl/program/repeats.h"
#include "layers/opencl/program/shadow.h"
#include "layers/opencl/program/trace.h"
#include "layers/opencl/program/work_groups.h"

/* The program that Ingot linked or loaded for a call to clLinkProgram. */
struct linked {
    ingot_program_desc_t desc;
    ingot_program_t program;
    uint64_t duration_ns;
};

static void linked_fini(struct linked *linked)
{
    ingot_program_release(linked->program);
    ingot_program_desc_release(linked->desc);
}

/* True if the options affect only code. They must not make a library, and must not contain anything that is specific to
 * a driver or that drivers may split differently. */
static bool are_for_code(const char *options)
{
    static const char prefix[] = "-cl-";
    static const char blanks[] = " \t\n\v\f\r";
    const char *word = options + strspn(options, blanks);
    if (strpbrk(options, "\"'\\") != NULL)
        return false;
    while (*word != '\0') {
        if (strncmp(word, prefix, strlen(prefix)) != 0)
            return false;
        word += strcspn(word, blanks);
        word += strspn(word, blanks);
    }
    return true;
}

/* Returns the context to which all inputs belong, and fills `objects` with references. Returns NULL if an input is not
 * an object, if inputs belong to different contexts, or if the driver does all links in the context. */
static struct layer_context *collect_objects(cl_uint count, const cl_program *inputs, struct object **objects)
{
    struct layer_context *context = NULL;
    for (cl_uint i = 0; i < count; ++i) {
        struct shadow *shadow = shadow_find(inputs[i]);
        objects[i] = shadow != NULL ? shadow_get_object(shadow) : NULL;
        if (objects[i] == NULL || shadow->context->links == NULL || (context != NULL && shadow->context != context))
            return NULL;
        context = shadow->context;
    }
    return context;
}

static bool is_for_all(const struct layer_context *context, const struct link_call *call)
{
    return call->device_count == 0
               ? call->devices == NULL
               : call->device_count == 1 && call->devices != NULL && call->devices[0] == context->devices[0];
}

/* True if a loaded program would allow the same work-groups as the linked one. Intel's driver lets a linked program
 * launch work-groups of different sizes if all of its objects were compiled for that. For a loaded program, only the
 * options of the link count. */
static bool keeps_work_groups(const struct layer_context *context, const struct link_call *call)
{
    bool may_differ = true;
    for (size_t i = 0; i < call->object_count; ++i)
        may_differ = may_differ && work_groups_may_differ(call->objects[i]->options);
    return work_groups_may_differ(call->options) == may_differ || contexts_generate_code_at_launch(context);
}

/* Gets a program that no other thread has. Threads that link the same program at once may get the same piece
 * (objects/piece.h) from Ingot, but each program of the application needs a piece of its own. */
static ingot_status_t get_program(struct link_call *call, struct linked *linked)
{
    ingot_status_t status = INGOT_SUCCESS;
    const uint64_t started_ns = statistics_clock_ns();
    bool is_own = false;
    bool is_shared = false; /* covered by is_taken */
    link_set_call(call);
    do {
        ingot_program_release(linked->program);
        linked->program = NULL;
        status = repeats_create_program(&linked->program, linked->desc, &is_shared);
        is_own = status == INGOT_SUCCESS &&
                 (call->was_made ||
                  !atomic_exchange_explicit(&piece_of_link(linked->program)->is_taken, true, memory_order_relaxed));
    } while (status == INGOT_SUCCESS && !is_own);
    link_set_call(NULL);
    linked->duration_ns = statistics_clock_ns() - started_ns - call->objects_ns;
    return status;
}

/* Returns a shadow for a program that the driver linked. If out of memory, the application gets the driver's program
 * itself. */
static cl_program make_shadow_of_linked(cl_program native, struct linked *linked)
{
    struct shadow *shadow = shadow_create_linked(native, NULL, NULL, linked->program, linked->desc);
    if (shadow == NULL)
        return native;
    linked->program = NULL; /* the shadow owns both now */
    linked->desc = NULL;
    return (cl_program)(void *)shadow;
}

/* Returns a shadow for a linked program that was loaded, or NULL if memory runs out. */
static cl_program make_shadow_of_loaded(const struct link_call *call, struct linked *linked)
{
    struct recipe *recipe = shadow_create_recipe(call);
    const cl_program native = piece_of_link(linked->program)->native;
    struct result *result =
        recipe != NULL ? result_create_linked(linked->desc, linked->program, native, call->options) : NULL;
    if (result == NULL) {
        shadow_destroy_recipe(recipe);
        return NULL;
    }
    linked->desc = NULL; /* the result owns both now */
    linked->program = NULL;
    struct shadow *shadow = shadow_create_linked(NULL, result, recipe, NULL, NULL);
    if (shadow == NULL) {
        result_release(result);
        shadow_destroy_recipe(recipe);
    }
    return (cl_program)(void *)shadow;
}

/* Links through Ingot. Returns false if the driver must link. */
static bool link_cached(const struct layer_context *context, struct link_call *call, cl_program *program)
{
    struct linked linked = {NULL, NULL, 0};
    ingot_status_t status = link_describe(context->links, call, &linked.desc);
    if (status == INGOT_SUCCESS)
        status = get_program(call, &linked);
    *program = call->native;
    if (status == INGOT_SUCCESS) {
        statistics_add_program(linked.program, linked.duration_ns);
        recordings_add_link(linked.desc, call, linked.program);
        *program = call->was_made ? make_shadow_of_linked(call->native, &linked) : make_shadow_of_loaded(call, &linked);
    } else if (call->was_made) {
        statistics_add(STATISTIC_PASSED, 1);
        statistics_add(STATISTIC_FAILED, call->error != CL_SUCCESS);
    }
    linked_fini(&linked);
    return call->was_made || *program != NULL;
}

/* Tries to link through Ingot. Returns false if the driver must link; *reason says why if it is set. */
static bool try_link(struct link_call *call, cl_uint input_count, const cl_program *inputs, cl_program *program,
                     const char **reason)
{
    bool is_done = false;
    struct object **objects = calloc(input_count, sizeof(*objects));
    const struct layer_context *context = objects != NULL ? collect_objects(input_count, inputs, objects) : NULL;
    call->object_count = input_count;
    call->objects = objects;
    const bool is_known = context != NULL && context->native == call->context && is_for_all(context, call);
    if (is_known && !keeps_work_groups(context, call))
        *reason = "clLinkProgram whose options and objects disagree about work-groups of different sizes";
    else if (is_known)
        is_done = link_cached(context, call, program);
    for (cl_uint i = 0; i < input_count && objects != NULL; ++i)
        object_release(objects[i]);
    free(objects);
    return is_done;
}

/* Returns the program that the driver needs: an object's program, the twin of a program that the application built, or
 * the one that the driver built. */
static cl_program map_input(cl_program input)
{
    struct shadow_use use = shadow_begin_use(input);
    cl_program native = use.native;
    if (use.object != NULL) {
        native = shadow_use_compiled(&use);
    } else if (use.result != NULL) {
        const cl_program twin = shadow_use_twin(&use);
        native = twin != NULL ? twin : native;
    }
    shadow_end_use(&use); /* the shadow keeps the program alive */
    return native;
}

/* Returns an array of the driver's programs for these inputs, or NULL if memory runs out. The caller frees it. */
static cl_program *map_inputs(cl_uint count, const cl_program *inputs)
{
    cl_program *mapped = malloc(count * sizeof(*mapped));
    for (cl_uint i = 0; i < count && mapped != NULL; ++i)
        mapped[i] = map_input(inputs[i]);
    return mapped;
}

/* True if any input is an object of a recipe. The application's own link call must not pass such objects to the driver.
 * Only Ingot's calls may, because their options read no files. */
static bool are_of_recipe(cl_uint count, const cl_program *inputs)
{
    bool are = false;
    for (cl_uint i = 0; i < count && inputs != NULL && !are; ++i) {
        struct shadow *shadow = shadow_find(inputs[i]);
        struct object *object = shadow != NULL ? shadow_get_object(shadow) : NULL;
        are = object != NULL && object->is_of_recipe;
        object_release(object);
    }
    return are;
}

static cl_program link_native(const struct link_call *call, cl_uint input_count, const cl_program *inputs,
                              program_callback_t notify, void *user, const char *reason, cl_int *error)
{
    cl_program linked = NULL;
    const bool has_inputs = input_count > 0 && inputs != NULL;
    *error = CL_LINK_PROGRAM_FAILURE;
    if (are_of_recipe(input_count, inputs))
        return NULL;
    cl_program *mapped = has_inputs ? map_inputs(input_count, inputs) : NULL;
    *error = CL_OUT_OF_HOST_MEMORY;
    if (mapped != NULL || !has_inputs)
        linked = layer_target.clLinkProgram(call->context, call->device_count, call->devices, call->options,
                                            input_count, has_inputs ? mapped : inputs, notify, user, error);
    trace_passed(linked, INGOT_UNIMPLEMENTED, reason);
    statistics_add(STATISTIC_PASSED, 1);
    statistics_add(STATISTIC_FAILED, *error != CL_SUCCESS);
    free(mapped);
    return linked;
}

cl_program CL_API_CALL layer_link(cl_context context, cl_uint device_count, const cl_device_id *devices,
                                  const char *options, cl_uint input_count, const cl_program *inputs,
                                  program_callback_t notify, void *user, cl_int *error)
{
    cl_program linked = NULL;
    const char *reason = "clLinkProgram of a library, with a callback, or of other objects";
    struct link_call call = {.context = context, .device_count = device_count, .devices = devices, .options = options};
    const bool may_be_known = input_count > 0 && inputs != NULL && notify == NULL && user == NULL &&
                              settings_store() != NULL && (options == NULL || are_for_code(options));
    if (!may_be_known || !try_link(&call, input_count, inputs, &linked, &reason))
        linked = link_native(&call, input_count, inputs, notify, user, reason, &call.error);
    if (error != NULL)
        *error = call.error;
    return linked;
}
