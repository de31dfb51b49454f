/*
 * image.h - writes and reads a program's binary: the lowered names of its name expressions, and machine code.
 *
 * A name expression is the C++ name of a kernel or variable, such as scale<float>. Its lowered name is its mangled name
 * in the code. Without expressions, the binary is only the code. With expressions, it consists of the format's magic,
 * the number of expressions, the total size of the strings, the strings, zeros up to a multiple of 8 bytes, and the
 * code. The strings are each expression followed by its lowered name, and each string ends in a NUL. Numbers are 64-bit
 * little-endian. Expressions are sorted bytewise.
 */
#ifndef INGOT_BACKENDS_RTC_IMAGE_H
#define INGOT_BACKENDS_RTC_IMAGE_H

#include <ingot/private/backend.h>

#include <elf.h>
#include <stdbool.h>

/* What distinguishes a vendor's code. */
struct rtc_format {
    const char *vendor;    /* in messages */
    const char *magic;     /* of images with name expressions: 8 characters */
    Elf64_Half machine;    /* in the ELF header */
    Elf64_Word name_table; /* the type of the section with the symbols of kernels */
    /* Returns the length of the kernel's name, which is a part of the symbol's; 0: the symbol is not a kernel. */
    size_t (*kernel_name)(const Elf64_Sym *symbol, const char *name);
    /* Finds the ELF file for an architecture if there are several, and checks those that fit. False: there is none.
     * NULL: code is always one ELF file. */
    bool (*unwrap)(const char *architecture, size_t *size, const uint8_t **bytes);
};

/* True if the bytes are code of this format, which the driver loads without compiling. */
bool rtc_code_is_one(const struct rtc_format *format, size_t size, const uint8_t *bytes);
/* True if all tables and sections of the code are inside the bytes. The driver is not told the size, and would read
 * beyond the end. */
bool rtc_code_is_whole(const struct rtc_format *format, size_t size, const uint8_t *bytes);
/* True if the code must be linked before it can be loaded. */
bool rtc_code_is_relocatable(const struct rtc_format *format, size_t size, const uint8_t *bytes);

/* Calls `visit` with the name of each kernel, until `visit` fails. Returns INGOT_BACKEND_ERROR if the code is
 * malformed. */
ingot_status_t rtc_code_for_each_kernel(const struct rtc_format *format, size_t size, const uint8_t *bytes,
                                        ingot_status_t (*visit)(void *user, size_t length, const char *name),
                                        void *user);

/* A buffer. rtc_bytes_fini frees it. */
struct rtc_bytes {
    size_t size;
    uint8_t *bytes;
};
/* Allocates zeroed bytes. */
ingot_status_t rtc_bytes_init(struct rtc_bytes *bytes, const ingot_allocator_t *allocator, size_t size);
void rtc_bytes_fini(struct rtc_bytes *bytes, const ingot_allocator_t *allocator);

/* A parsed binary. The pointers point into its bytes. */
struct rtc_image {
    const struct rtc_format *format;
    size_t expression_count;
    const char *texts;
    size_t code_size; /* of what the driver gets */
    const uint8_t *code;
    size_t elf_size; /* of the ELF file for the device in it */
    const uint8_t *elf;
};

/* Parses a binary for a device of this architecture. Returns INGOT_BLOB_REJECTED if the bytes are not an image. */
ingot_status_t rtc_image_read(struct rtc_image *image, const struct rtc_format *format, const char *architecture,
                              size_t size, const uint8_t *bytes);
/* Returns the lowered name of an expression, or NULL. */
const char *rtc_image_lowered_name(const struct rtc_image *image, const char *expression);
/* True if the image has exactly these expressions. */
bool rtc_image_has_expressions(const struct rtc_image *image, size_t count, const char *const *expressions);
/* Writes the names of all kernels. For a kernel with an expression, writes the expression and the lowered name. */
ingot_status_t rtc_image_write_kernel_names(const struct rtc_image *image, ingot_sink_t *names);

/* Writes everything that precedes the code. The lowered names are in the order of the expressions. */
ingot_status_t rtc_image_write_head(struct rtc_bytes *head, const struct rtc_format *format,
                                    const ingot_allocator_t *allocator, size_t count, const char *const *expressions,
                                    const char *const *lowered_names);
/* Joins the head and the code. If there is no head, the image takes over the code's buffer. */
ingot_status_t rtc_image_join(struct rtc_bytes *image, const ingot_allocator_t *allocator, const struct rtc_bytes *head,
                              struct rtc_bytes *code);

#endif
