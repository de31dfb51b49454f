/*
 * image.c - writes and reads a program's binary: the lowered names of its name expressions, and machine
 * code.
 *
 * The lowered names are stored, because only the compiler knows them, and only right after a compilation. The code is
 * aligned to 8 bytes, because its tables require it.
 */
#include "backends/rtc/compiler.h"

#include "util/little_endian.h"

#include <string.h>

#define MAGIC_SIZE 8u
#define NUMBER_SIZE 8u
#define HEAD_SIZE (MAGIC_SIZE + 2 * NUMBER_SIZE)
#define ALIGNMENT 8u

struct code {
    size_t size;
    const uint8_t *bytes;
    Elf64_Ehdr header;
};

/* True if the bytes are code of this format, which the driver loads without compiling. */
static bool read_header(struct code *code, const struct rtc_format *format, size_t size, const uint8_t *bytes)
{
    if (size < sizeof(code->header))
        return false;
    code->size = size;
    code->bytes = bytes;
    memcpy(&code->header, bytes, sizeof(code->header));
    return memcmp(code->header.e_ident, ELFMAG, SELFMAG) == 0 && code->header.e_ident[EI_CLASS] == ELFCLASS64 &&
           code->header.e_ident[EI_DATA] == ELFDATA2LSB && code->header.e_machine == format->machine;
}

bool rtc_code_is_relocatable(const struct rtc_format *format, size_t size, const uint8_t *bytes)
{
    struct code code;
    return read_header(&code, format, size, bytes) && code.header.e_type == ET_REL;
}

static bool is_inside(const struct code *code, uint64_t offset, uint64_t size)
{
    return offset <= code->size && size <= code->size - offset;
}

static bool read_section(const struct code *code, size_t index, Elf64_Shdr *section)
{
    const uint64_t place = code->header.e_shoff + (uint64_t)index * sizeof(*section);
    if (code->header.e_shentsize != sizeof(*section) || code->header.e_shoff > code->size ||
        !is_inside(code, place, sizeof(*section)))
        return false;
    memcpy(section, code->bytes + place, sizeof(*section));
    return section->sh_type == SHT_NOBITS || is_inside(code, section->sh_offset, section->sh_size);
}

static bool are_segments_inside(const struct code *code)
{
    Elf64_Phdr segment;
    bool are = code->header.e_phnum == 0 ||
               (code->header.e_phentsize == sizeof(segment) &&
                is_inside(code, code->header.e_phoff, (uint64_t)code->header.e_phnum * sizeof(segment)));
    for (size_t i = 0; are && i < code->header.e_phnum; ++i) {
        memcpy(&segment, code->bytes + code->header.e_phoff + i * sizeof(segment), sizeof(segment));
        are = is_inside(code, segment.p_offset, segment.p_filesz);
    }
    return are;
}

bool rtc_code_is_whole(const struct rtc_format *format, size_t size, const uint8_t *bytes)
{
    struct code code;
    Elf64_Shdr section;
    bool is_whole = read_header(&code, format, size, bytes) && are_segments_inside(&code);
    for (size_t i = 0; is_whole && i < code.header.e_shnum; ++i)
        is_whole = read_section(&code, i, &section);
    return is_whole;
}

static ingot_status_t fail_malformed(void)
{
    return ingot_set_error_detail(INGOT_BACKEND_ERROR, "a table of machine code points outside it");
}

static ingot_status_t visit_symbols(const struct code *code, const struct rtc_format *format, const Elf64_Shdr *symbols,
                                    const Elf64_Shdr *names,
                                    ingot_status_t (*visit)(void *user, size_t length, const char *name), void *user)
{
    ingot_status_t status = INGOT_SUCCESS;
    for (uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols->sh_size && status == INGOT_SUCCESS;
         at += sizeof(Elf64_Sym)) {
        Elf64_Sym symbol;
        memcpy(&symbol, code->bytes + symbols->sh_offset + at, sizeof(symbol));
        if (ELF64_ST_BIND(symbol.st_info) == STB_LOCAL)
            continue;
        if (symbol.st_name >= names->sh_size)
            return fail_malformed();
        const char *name = (const char *)code->bytes + names->sh_offset + symbol.st_name;
        if (memchr(name, '\0', (size_t)(names->sh_size - symbol.st_name)) == NULL)
            return fail_malformed();
        const size_t length = format->kernel_name(&symbol, name);
        if (length != 0)
            status = visit(user, length, name);
    }
    return status;
}

ingot_status_t rtc_code_for_each_kernel(const struct rtc_format *format, size_t size, const uint8_t *bytes,
                                        ingot_status_t (*visit)(void *user, size_t length, const char *name),
                                        void *user)
{
    struct code code;
    ingot_status_t status = INGOT_SUCCESS;
    if (!read_header(&code, format, size, bytes))
        return fail_malformed();
    for (size_t i = 0; i < code.header.e_shnum && status == INGOT_SUCCESS; ++i) {
        Elf64_Shdr symbols;
        Elf64_Shdr names;
        if (!read_section(&code, i, &symbols))
            return fail_malformed();
        if (symbols.sh_type != format->name_table)
            continue;
        if (!read_section(&code, symbols.sh_link, &names) || names.sh_type != SHT_STRTAB)
            return fail_malformed();
        status = visit_symbols(&code, format, &symbols, &names, visit, user);
    }
    return status;
}

ingot_status_t rtc_bytes_init(struct rtc_bytes *bytes, const ingot_allocator_t *allocator, size_t size)
{
    bytes->size = 0;
    bytes->bytes = ingot_allocate(allocator, size);
    if (bytes->bytes == NULL)
        return ingot_set_error_detail(INGOT_OUT_OF_MEMORY, "no memory for %zu bytes", size);
    bytes->size = size;
    return INGOT_SUCCESS;
}

void rtc_bytes_fini(struct rtc_bytes *bytes, const ingot_allocator_t *allocator)
{
    ingot_deallocate(allocator, bytes->bytes, bytes->size);
    bytes->bytes = NULL;
    bytes->size = 0;
}

static uint64_t pad_head_size(uint64_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static ingot_status_t refuse_binary(const struct rtc_format *format, const char *why)
{
    return ingot_set_error_detail(INGOT_BLOB_REJECTED, "not a binary of the %s backend: %s", format->vendor, why);
}

/* True if the bytes are exactly `count` strings, each of which ends in a NUL. */
static bool are_texts(uint64_t count, size_t size, const char *texts)
{
    const char *const end = texts + size;
    for (; count > 0 && texts < end; --count) {
        const char *nul = memchr(texts, '\0', (size_t)(end - texts));
        if (nul == NULL)
            return false;
        texts = nul + 1;
    }
    return count == 0 && texts == end;
}

ingot_status_t rtc_image_read(struct rtc_image *image, const struct rtc_format *format, const char *architecture,
                              size_t size, const uint8_t *bytes)
{
    struct code code;
    memset(image, 0, sizeof(*image));
    image->format = format;
    image->code = bytes;
    image->code_size = size;
    if (size >= HEAD_SIZE && memcmp(bytes, format->magic, MAGIC_SIZE) == 0) {
        const uint64_t count = le_get_u64(bytes + MAGIC_SIZE);
        const uint64_t texts_size = le_get_u64(bytes + MAGIC_SIZE + NUMBER_SIZE);
        const char *texts = (const char *)bytes + HEAD_SIZE;
        if (count == 0 || count > size || texts_size > size - HEAD_SIZE ||
            pad_head_size(HEAD_SIZE + texts_size) > size || !are_texts(2 * count, (size_t)texts_size, texts))
            return refuse_binary(format, "its table of names is malformed");
        const size_t head_size = (size_t)pad_head_size(HEAD_SIZE + texts_size);
        image->expression_count = (size_t)count;
        image->texts = texts;
        image->code = bytes + head_size;
        image->code_size = size - head_size;
    }
    image->elf = image->code;
    image->elf_size = image->code_size;
    if (format->unwrap != NULL && !format->unwrap(architecture, &image->elf_size, &image->elf))
        return refuse_binary(format, "it holds no machine code for the device, or a part is missing");
    if (!read_header(&code, format, image->elf_size, image->elf))
        return refuse_binary(format, "it holds no machine code for a GPU");
    if (!rtc_code_is_whole(format, image->elf_size, image->elf))
        return refuse_binary(format, "a part of its machine code is missing");
    return INGOT_SUCCESS;
}

const char *rtc_image_lowered_name(const struct rtc_image *image, const char *expression)
{
    const char *text = image->texts;
    for (size_t i = 0; i < image->expression_count; ++i) {
        const char *lowered_name = text + strlen(text) + 1;
        if (strcmp(text, expression) == 0)
            return lowered_name;
        text = lowered_name + strlen(lowered_name) + 1;
    }
    return NULL;
}

bool rtc_image_has_expressions(const struct rtc_image *image, size_t count, const char *const *expressions)
{
    const char *text = image->texts;
    if (image->expression_count != count)
        return false;
    for (size_t i = 0; i < count; ++i) { /* the image's expressions and the request's are sorted */
        if (strcmp(text, expressions[i]) != 0)
            return false;
        text += strlen(text) + 1; /* skip to the lowered name */
        text += strlen(text) + 1;
    }
    return true;
}

struct name_list {
    const struct rtc_image *image;
    ingot_sink_t *names;
};

static bool is_name(const char *text, size_t length, const char *name)
{
    return strlen(text) == length && memcmp(text, name, length) == 0;
}

/* Writes a kernel's own name, and each of its expressions that differs from this name. */
static ingot_status_t write_kernel(void *user, size_t length, const char *name)
{
    const struct name_list *list = user;
    const char *text = list->image->texts;
    ingot_status_t status = ingot_sink_write(list->names, length, name);
    if (status == INGOT_SUCCESS)
        status = ingot_sink_write(list->names, 1, "");
    for (size_t i = 0; i < list->image->expression_count && status == INGOT_SUCCESS; ++i) {
        const char *lowered_name = text + strlen(text) + 1;
        if (is_name(lowered_name, length, name) && !is_name(text, length, name))
            status = ingot_sink_write(list->names, strlen(text) + 1, text);
        text = lowered_name + strlen(lowered_name) + 1;
    }
    return status;
}

ingot_status_t rtc_image_write_kernel_names(const struct rtc_image *image, ingot_sink_t *names)
{
    struct name_list list = {image, names};
    return rtc_code_for_each_kernel(image->format, image->elf_size, image->elf, write_kernel, &list);
}

ingot_status_t rtc_image_write_head(struct rtc_bytes *head, const struct rtc_format *format,
                                    const ingot_allocator_t *allocator, size_t count, const char *const *expressions,
                                    const char *const *lowered_names)
{
    size_t texts_size = 0;
    for (size_t i = 0; i < count; ++i)
        texts_size += strlen(expressions[i]) + strlen(lowered_names[i]) + 2;
    const ingot_status_t status = rtc_bytes_init(head, allocator, (size_t)pad_head_size(HEAD_SIZE + texts_size));
    if (status != INGOT_SUCCESS)
        return status;
    memcpy(head->bytes, format->magic, MAGIC_SIZE);
    le_put_u64(head->bytes + MAGIC_SIZE, count);
    le_put_u64(head->bytes + MAGIC_SIZE + NUMBER_SIZE, texts_size);
    char *place = (char *)head->bytes + HEAD_SIZE;
    for (size_t i = 0; i < count; ++i) {
        const char *const texts[] = {expressions[i], lowered_names[i]};
        for (size_t t = 0; t < 2; ++t) {
            const size_t size = strlen(texts[t]) + 1;
            memcpy(place, texts[t], size);
            place += size;
        }
    }
    return INGOT_SUCCESS;
}

ingot_status_t rtc_image_join(struct rtc_bytes *image, const ingot_allocator_t *allocator, const struct rtc_bytes *head,
                              struct rtc_bytes *code)
{
    if (head->size == 0) {
        *image = *code;
        code->bytes = NULL;
        code->size = 0;
        return INGOT_SUCCESS;
    }
    const ingot_status_t status = rtc_bytes_init(image, allocator, head->size + code->size);
    if (status != INGOT_SUCCESS)
        return status;
    memcpy(image->bytes, head->bytes, head->size);
    memcpy(image->bytes + head->size, code->bytes, code->size);
    return INGOT_SUCCESS;
}
