/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/recipe.h
 * Reading, writing and sealing recipes, for `ingot build` and the other commands of the tool, and what layers record.
 *
 * A recipe may come from anywhere, so every length, number and checksum is verified, and sizes are limited. The id of a
 * program is computed from what is compiled, so a forged recipe cannot store a program under another program's id.
 */
#ifndef INGOT_PRIVATE_RECIPE_H
#define INGOT_PRIVATE_RECIPE_H

#include <ingot/recipe.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The size of a program's key (ingot_recipe_program_t), in bytes. */
#define INGOT_RECIPE_KEY_SIZE 32

/* ---- reading --------------------------------------------------------------------------------------------- */

/** The programs that a recipe file had when it was opened. Immutable. */
typedef struct ingot_recipe *ingot_recipe_t;

/**
 * Opens a recipe file and reads its programs. Texts are read when they are needed.
 *
 * With a policy, the recipe's seal is checked before this function returns, and covers all programs and texts.
 * INGOT_PERSIST_TRUST_VERIFY accepts a recipe without any seal. Both policies refuse a recipe to which records were
 * added after it was sealed.
 *
 * Records that other processes append later are not visible. Damaged records, and records that a killed process did not
 * finish, are left out. ingot_recipe_get_summary counts the damaged records and the unfinished bytes.
 *
 * @param trust  The policy and the keys. NULL: INGOT_PERSIST_TRUST_NONE, which ignores seals.
 * @retval INGOT_NOT_FOUND       There is no such file.
 * @retval INGOT_UNTRUSTED       Not a plain file, or the policy refuses the recipe.
 * @retval INGOT_BLOB_TRUNCATED, INGOT_BLOB_CORRUPT  Not a recipe file.
 * @retval INGOT_BLOB_VERSION    A recipe of a format version that this library does not read.
 * @retval INGOT_NO_SPACE        The file, or the number or size of its records, exceeds the format's limits, or the
 *                               records that a seal covers exceed 1 GiB, uncompressed.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 * @return For the keys as ingot_persist_set_trust.
 */
INGOT_API ingot_status_t ingot_recipe_open(ingot_recipe_t *recipe, const char *path,
                                           const ingot_persist_trust_t *trust);
/** Releases the recipe, which no thread may use any more. Does nothing for NULL. */
INGOT_API void ingot_recipe_release(ingot_recipe_t recipe);
/** Returns the path that the recipe was opened by, which lives as long as the recipe, or NULL for NULL. */
INGOT_API const char *ingot_recipe_get_path(ingot_recipe_t recipe);

/** What a recipe file contains. */
typedef struct ingot_recipe_summary {
    size_t struct_size;
    uint64_t program_count; /**< Including programs that cannot be built. */
    uint64_t text_count;    /**< Distinct sources, headers, modules and included files. */
    uint64_t text_bytes;    /**< Their size, uncompressed. */
    uint64_t file_bytes;
    /** Damaged records of programs, ids and kernels, and records of a kind that this library does not know. Texts and
     *  seals are not examined here. */
    uint64_t damaged_count;
    uint64_t torn_bytes; /**< Bytes at the end of the file that are an unfinished record, or unreadable. */
    uint64_t seal_count; /**< Seals that follow the last record that is not a seal. They are not verified here. */
} ingot_recipe_summary_t;
#define INGOT_RECIPE_SUMMARY_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(ingot_recipe_summary_t), 0, 0, 0, 0, 0, 0, 0                                                            \
    }
/** Returns what the file contains. @param[in,out] summary  The caller sets struct_size.
 *  @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_recipe_get_summary(ingot_recipe_t recipe, ingot_recipe_summary_t *summary);

/** A text of a recorded program: a source, a header or an included file. */
typedef struct ingot_recipe_text {
    ingot_source_kind_t kind; /**< INGOT_SOURCE_HEADER for headers and included files. */
    /** "" if it has none. Names of sources and included files have no directories unless the program depends on them.
     *  Names are not sanitized: they may have slashes, "..", and control characters. */
    const char *name;
    const char *compile_options;             /**< For this source only; "" if it has none. */
    size_t text;                             /**< Its number, for ingot_recipe_get_text; SIZE_MAX if the recipe lacks
                                              *   it. */
    uint64_t size;                           /**< Bytes, uncompressed. */
    const struct ingot_recipe_text *headers; /**< For this source only. */
    size_t header_count;
} ingot_recipe_text_t;

/** The kind of a recorded program. */
typedef enum ingot_recipe_kind {
    /** Built from sources by one of the backends: ingot_recipe_desc_create describes it. */
    INGOT_RECIPE_PROGRAM = 1,
    INGOT_RECIPE_UNRECORDED = 4 /**< Requested, but cannot be built from a recipe; the field reason says why. */
} ingot_recipe_kind_t;

/** A recorded program. Its pointers are valid as long as the recipe, and never NULL unless a count beside them is 0. */
typedef struct ingot_recipe_program {
    size_t struct_size;
    ingot_recipe_kind_t kind;
    /** INGOT_SUCCESS; INGOT_NOT_CACHEABLE for INGOT_RECIPE_UNRECORDED; INGOT_NOT_FOUND if the recipe lacks a text of
     *  the program; INGOT_NO_SPACE if its texts together exceed 256 MiB, each counted as often as the program names
     *  it. Texts are verified only when they are read. */
    ingot_status_t status;
    const char *reason;     /**< "" with INGOT_SUCCESS. */
    const uint8_t *key;     /**< INGOT_RECIPE_KEY_SIZE bytes. Equal programs have equal keys in all recipes. */
    const char *backend;    /**< "opencl", "level_zero", "cuda" or a custom one. */
    const char *name;       /**< The name of the first source, without directories; "" if the source has none. */
    const char *group;      /**< The group of the first request; "" if it had none. */
    const char *built_for;  /**< The device and driver of the first request, for display; "" if unknown. */
    uint64_t build_time_ns; /**< The compile time on that device; 0: unknown. */
    const ingot_recipe_text_t *sources;
    size_t source_count;
    const ingot_recipe_text_t *headers;
    size_t header_count;
    /** The files that the sources include. ingot_recipe_desc_create resolves each include to the same file again. */
    const ingot_recipe_text_t *files;
    size_t file_count;
    const char *compile_options; /**< Without INGOT_COMPILE_OPTIONS of the environment. */
    const char *link_options;    /**< Without INGOT_LINK_OPTIONS of the environment. */
    const ingot_spec_constant_t *spec_constants;
    size_t spec_constant_count;
    const char *const *name_expressions;
    size_t name_expression_count;
    const char *const *kernels; /**< The kernels that were requested, each once, in the order of the first requests. */
    size_t kernel_count;
} ingot_recipe_program_t;
#define INGOT_RECIPE_PROGRAM_INIT                                                                                      \
    {                                                                                                                  \
        sizeof(ingot_recipe_program_t), INGOT_RECIPE_PROGRAM, INGOT_SUCCESS, "", NULL, "", "", "", "", 0, NULL, 0,     \
            NULL, 0, NULL, 0, "", "", NULL, 0, NULL, 0, NULL, 0                                                        \
    }

/**
 * Returns a program of the recipe. Its pointers are valid as long as the recipe.
 *
 * @param[in]     index    Below the summary's program_count. Programs are in the order in which they were recorded.
 * @param[in,out] program  The caller sets struct_size.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_recipe_get_program(ingot_recipe_t recipe, size_t index, ingot_recipe_program_t *program);

/**
 * Returns the index of the program that had this id when it was recorded, on whatever device and driver.
 *
 * @retval INGOT_NOT_FOUND  The recipe does not have the id. Even so, it may have the program.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_recipe_find_id(ingot_recipe_t recipe, size_t id_size, const uint8_t *id, size_t *index);

/**
 * Reads and verifies a text; size protocol. Texts need not end in NUL.
 *
 * @param[in] text  From ingot_recipe_text_t, or any number below the summary's text_count.
 * @retval INGOT_BLOB_CORRUPT  The text is damaged: its encoding, size, checksum or digest is wrong.
 * @retval INGOT_BLOB_TRUNCATED  The file is shorter than when it was opened.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_BUFFER_TOO_SMALL, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 * @par Threads  Any number at once.
 */
INGOT_API ingot_status_t ingot_recipe_get_text(ingot_recipe_t recipe, size_t text, size_t *size, uint8_t *bytes);

/**
 * Creates a descriptor of a program of the recipe. In a context with the same environment, its id is the one that the
 * application's own descriptor has for the same devices.
 *
 * @param[in] index           A program of kind INGOT_RECIPE_PROGRAM.
 * @param[in] context         Its backend must have the name that the program states.
 * @param[in] device_count    0: all devices of the context.
 * @param[in] device_indices  As in ingot_program_info_t.
 * @retval INGOT_NOT_CACHEABLE  The program cannot be built from the recipe; the detail says why.
 * @retval INGOT_NOT_FOUND, INGOT_NO_SPACE  As in the program's status.
 * @retval INGOT_BLOB_CORRUPT   A text is damaged, or the included files are not those of the sources.
 * @retval INGOT_INVALID_ARGUMENTS  Also if the backend has another name or does not build such sources.
 * @return Otherwise as ingot_source_create, ingot_program_desc_create and ingot_recipe_get_text.
 * @par Threads  Any number at once.
 */
INGOT_API ingot_status_t ingot_recipe_desc_create(ingot_program_desc_t *desc, ingot_recipe_t recipe, size_t index,
                                                  ingot_context_t context, size_t device_count,
                                                  const uint32_t *device_indices);

/* ---- writing --------------------------------------------------------------------------------------------- */

/** A writer, which appends programs to a recipe file. Any number of threads and processes may do so at once. */
typedef struct ingot_recipe_writer *ingot_recipe_writer_t;

/** Opens a recipe file for appending. Parameters and statuses as ingot_recipe_record. */
INGOT_API ingot_status_t ingot_recipe_writer_open(ingot_recipe_writer_t *writer,
                                                  const ingot_recipe_record_info_t *info);
/** Releases the writer. Storages that record with it keep their own references. Every addition has already been
 *  written. Does nothing for NULL. */
INGOT_API void ingot_recipe_writer_release(ingot_recipe_writer_t writer);

/**
 * Adds the program of a descriptor, with its texts, unless the file already has it. A program that cannot be built from
 * a recipe is added with the reason.
 *
 * @param[in]  program  Provides the build time. NULL: unknown.
 * @param[out] key      INGOT_RECIPE_KEY_SIZE bytes. May be NULL.
 * @retval INGOT_SUCCESS    The file has the program now.
 * @retval INGOT_NO_SPACE   The file would exceed its limit, or a text the format's limit.
 * @retval INGOT_BUSY       Other processes kept the file locked until the timeout.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_UNTRUSTED, INGOT_BLOB_CORRUPT, INGOT_IO_ERROR, INGOT_OUT_OF_MEMORY
 * @par Threads  Any number at once.
 */
INGOT_API ingot_status_t ingot_recipe_writer_add(ingot_recipe_writer_t writer, const_ingot_program_desc_t desc,
                                                 const_ingot_program_t program, uint8_t *key);

/**
 * Adds the name of a kernel that was requested from a program. The name is for people and tools, and does not affect
 * how the program is built.
 *
 * @retval INGOT_SUCCESS    The file has the kernel now. If the file was replaced or removed since this writer found the
 *                          kernel, the writer notices that when the next program is added.
 * @retval INGOT_NOT_FOUND  The file does not have the program, or it cannot be built from the file.
 * @retval INGOT_NO_SPACE   Also if the names of all kernels together would exceed 16 MiB.
 * @retval INGOT_INVALID_ARGUMENTS  Also if the name is empty or longer than 4096 bytes.
 * @return Otherwise as ingot_recipe_writer_add.
 */
INGOT_API ingot_status_t ingot_recipe_writer_add_kernel(ingot_recipe_writer_t writer, const_ingot_program_desc_t desc,
                                                        const char *name);

/**
 * Copies a program of another file, with its texts, its ids and its kernels. If the file already has the program,
 * only ids and kernels that it lacks are copied, even if the program of the other file is damaged.
 *
 * @retval INGOT_NOT_FOUND, INGOT_BLOB_CORRUPT  A text of the program is missing or damaged.
 * @return Otherwise as ingot_recipe_writer_add.
 */
INGOT_API ingot_status_t ingot_recipe_writer_copy(ingot_recipe_writer_t writer, ingot_recipe_t recipe, size_t index);

/**
 * Seals a recipe: appends a seal over all its records, made with the first key that can seal. Sealing it again with the
 * same key changes nothing. Records that are appended later are not sealed until this function is called again.
 *
 * Texts are verified before a seal is added.
 *
 * A recipe's seal says that the holder of the key vouches for its sources. So seal what you recorded yourself, or what
 * you have verified with ingot_recipe_open.
 *
 * @param[in]  trust   Provides the keys. Its policy is ignored. Required.
 * @param[out] is_new  1 if a seal was added, 0 if the file had it. May be NULL.
 * @retval INGOT_READ_ONLY     None of the keys can seal, or the file cannot be written.
 * @retval INGOT_BLOB_CORRUPT  A record, a text or the seal itself is damaged: copy what is intact into a new file.
 * @retval INGOT_NO_SPACE      The file has 64 seals, or more content than a seal can cover (doc/recipe-format.md), or
 *                             exceeds a limit.
 * @retval INGOT_BUSY          Other processes appended the whole time, or replaced the file.
 * @return Otherwise as ingot_recipe_record and ingot_persist_set_trust.
 */
INGOT_API ingot_status_t ingot_recipe_seal(const char *path, const ingot_persist_trust_t *trust, int *is_new);

/* ---- recording ------------------------------------------------------------------------------------------- */

/**
 * Records a program that was made without ingot_persist_program_create, in all recipes that the storage records in: the
 * one of ingot_recipe_record, and the one that its store keeps. Does nothing if there are none. Events report
 * programs that cannot be recorded, as above.
 *
 * @param[in] program  Provides the build time. NULL: unknown.
 * @par Threads  Any number at once.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_recipe_record_program(ingot_storage_t storage, const_ingot_program_desc_t desc,
                                                     const_ingot_program_t program);

/** Records that a kernel was requested from a recorded program. ingot_persist_kernel_create does this by itself.
 *  Does nothing if the storage does not record, or if the name is empty or longer than 4096 bytes.
 *  @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_recipe_record_kernel(ingot_storage_t storage, const_ingot_program_desc_t desc,
                                                    const char *name);

/* ---- recipes in a store ---------------------------------------------------------------------------------- */

/**
 * Opens the recipe that a directory store keeps for one of its namespaces (INGOT_PERSIST_KEEP_RECIPES, programs.recipe
 * in doc/store-format.md), as ingot_recipe_open does without a policy.
 *
 * ingot_recipe_find_id finds the program of each of the store's entries (ingot_persist_for_each).
 *
 * @param[in] name_space  A namespace, which need not be the store's own. NULL or "": the entries outside of all
 *                        namespaces.
 * @retval INGOT_NOT_FOUND      The namespace has no recipe.
 * @retval INGOT_UNTRUSTED      Not a plain file, or a user other than the store's owner owns it or may write it.
 * @retval INGOT_UNIMPLEMENTED  Not a directory store.
 * @retval INGOT_INVALID_ARGUMENTS
 * @return Otherwise as ingot_recipe_open.
 */
INGOT_API ingot_status_t ingot_persist_open_recipe(ingot_storage_t storage, const char *name_space,
                                                   ingot_recipe_t *recipe);

#ifdef __cplusplus
}
#endif

#endif
