/*
 * spirv.c - checks a SPIR-V module before it is passed to a driver.
 *
 * Intel's translator ends the process if a source is not a SPIR-V module, and fails without a reason if a module lacks
 * a specialization constant that the application sets. So the sequence of instructions and the constants are checked
 * here. What the instructions mean is checked by the driver.
 */
#include <ingot/private/backend.h>
#include <stdbool.h>
#include <string.h>

#include "core/base/error.h"

enum {
    HEADER_WORDS = 5,
    OP_TYPE_BOOL = 20,
    OP_TYPE_INT = 21,
    OP_TYPE_FLOAT = 22,
    OP_SPEC_CONSTANT_TRUE = 48,
    OP_SPEC_CONSTANT_FALSE = 49,
    OP_SPEC_CONSTANT = 50,
    OP_DECORATE = 71,
    DECORATION_SPEC_ID = 1
};

#define MAGIC 0x07230203u
#define MAGIC_SWAPPED 0x03022307u

struct module {
    const uint8_t *bytes;
    size_t word_count;
    bool swapped; /* true if the module has the other byte order */
};

struct instruction {
    uint32_t opcode;
    uint32_t word_count;
    size_t at; /* index of its first word */
};

static uint32_t get_word(const struct module *module, size_t index)
{
    uint32_t value;
    memcpy(&value, module->bytes + index * sizeof(value), sizeof(value));
    return module->swapped ? __builtin_bswap32(value) : value;
}

static bool module_init(struct module *module, const ingot_source_view_t *source)
{
    *module = (struct module){source->bytes, source->size / sizeof(uint32_t), false};
    if (source->size % sizeof(uint32_t) != 0 || module->word_count < HEADER_WORDS)
        return false;
    module->swapped = get_word(module, 0) == MAGIC_SWAPPED;
    return get_word(module, 0) == MAGIC;
}

/* Moves to the next instruction, or to the first if instruction->at is 0. Returns false at the end, where *whole is
 * false if the last instruction is incomplete. */
static bool move_to_next_instruction(const struct module *module, struct instruction *instruction, bool *whole)
{
    const size_t at = instruction->at != 0 ? instruction->at + instruction->word_count : HEADER_WORDS;
    *whole = at == module->word_count;
    if (at >= module->word_count)
        return false;
    const uint32_t first = get_word(module, at);
    *instruction = (struct instruction){first & 0xffffu, first >> 16, at};
    return instruction->word_count != 0 && instruction->word_count <= module->word_count - at;
}

static bool is_framed(const struct module *module)
{
    struct instruction instruction = {0, 0, 0};
    bool whole;
    while (move_to_next_instruction(module, &instruction, &whole))
        ;
    return whole;
}

/* Finds the first instruction whose opcode is between `first` and `last` and whose word number `operand` has this
 * value. */
static bool find_instruction(const struct module *module, uint32_t first, uint32_t last, uint32_t operand,
                             uint32_t value, struct instruction *instruction)
{
    bool whole;
    *instruction = (struct instruction){0, 0, 0};
    while (move_to_next_instruction(module, instruction, &whole)) {
        if (instruction->opcode >= first && instruction->opcode <= last && instruction->word_count > operand &&
            get_word(module, instruction->at + operand) == value)
            return true;
    }
    return false;
}

/* Returns the id of the object that is decorated as the specialization constant `id`, or 0, which is not a valid
 * object id. */
static uint32_t find_constant(const struct module *module, uint32_t id)
{
    struct instruction instruction = {0, 0, 0};
    bool whole;
    while (move_to_next_instruction(module, &instruction, &whole)) {
        if (instruction.opcode == OP_DECORATE && instruction.word_count == 4 &&
            get_word(module, instruction.at + 2) == DECORATION_SPEC_ID && get_word(module, instruction.at + 3) == id)
            return get_word(module, instruction.at + 1);
    }
    return 0;
}

/* Returns the size of a constant's value, or 0 if the module does not say. */
static uint32_t constant_size(const struct module *module, uint32_t object)
{
    struct instruction constant;
    struct instruction type;
    if (!find_instruction(module, OP_SPEC_CONSTANT_TRUE, OP_SPEC_CONSTANT, 2, object, &constant))
        return 0;
    if (constant.opcode != OP_SPEC_CONSTANT)
        return 1;
    if (!find_instruction(module, OP_TYPE_BOOL, OP_TYPE_FLOAT, 1, get_word(module, constant.at + 1), &type) ||
        type.word_count < 3)
        return 0;
    return get_word(module, type.at + 2) / 8;
}

ingot_status_t ingot_spirv_check_request(const ingot_build_request_t *request, ingot_sink_t *log)
{
    for (size_t i = 0; i < request->source_count; ++i) {
        struct module module;
        if (request->sources[i].kind != INGOT_SOURCE_SPIRV)
            continue;
        if (!module_init(&module, &request->sources[i]) || !is_framed(&module))
            return ingot_refuse_program(log, 0, "source %zu is not a SPIR-V module", i);
    }
    for (size_t i = 0; i < request->spec_constant_count; ++i) {
        const ingot_spec_constant_t *constant = &request->spec_constants[i];
        bool found = false;
        for (size_t j = 0; j < request->source_count; ++j) {
            struct module module;
            if (request->sources[j].kind != INGOT_SOURCE_SPIRV || !module_init(&module, &request->sources[j]))
                continue;
            const uint32_t object = find_constant(&module, constant->id);
            const uint32_t size = object != 0 ? constant_size(&module, object) : 0;
            found = found || object != 0;
            if (size != 0 && size != constant->size)
                return ingot_refuse_program(log, 0,
                                            "specialization constant %u cannot have %u bytes; the module declares %u",
                                            (unsigned)constant->id, (unsigned)constant->size, (unsigned)size);
        }
        if (!found)
            return ingot_refuse_program(log, 0, "specialization constant %u is not in the module",
                                        (unsigned)constant->id);
    }
    return INGOT_SUCCESS;
}

int ingot_spirv_has_spec_constant(const ingot_source_view_t *source, uint32_t id)
{
    struct module module;
    return source->kind == INGOT_SOURCE_SPIRV && module_init(&module, source) && find_constant(&module, id) != 0;
}
