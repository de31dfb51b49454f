/* SPDX-License-Identifier: MIT */
/* Private: not installed. Only Ingot's own libraries, layers, tool and tests use it. */
/**
 * @file private/descriptor.h
 * Reads back what a program descriptor was created from, and creates it again in another process, with the files that
 * its sources include but without their paths. Kept requests (private/request.h) use this.
 */
#ifndef INGOT_PRIVATE_DESCRIPTOR_H
#define INGOT_PRIVATE_DESCRIPTOR_H

#include <stdbool.h>

#include <ingot/backend.h>
#include <ingot/storage.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns what a descriptor was created from. Another descriptor that is created from this info in an equal context,
 * with the same includes, has the same id.
 *
 * @param[in]     desc
 * @param[in,out] info  The caller sets struct_size. The pointers are valid as long as the descriptor.
 *                      Specialization constants and name expressions are sorted, as in the id. The compile options lack
 *                      `-I` if the descriptor has text sources, and do not include the environment's options.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_program_desc_get_info(const_ingot_program_desc_t desc, ingot_program_info_t *info);

/** Returns what a source was created from, without its allocator. @param[in,out] info  The caller sets struct_size. The
 *  pointers are valid as long as the source. @retval INGOT_INVALID_ARGUMENTS */
INGOT_API ingot_status_t ingot_source_get_info(const_ingot_source_t source, ingot_source_info_t *info);

/**
 * Returns why a program was compiled with the files that its compiler finds by itself (INGOT_EVENT_NATIVE_BUILD). Such
 * a program has no cache blob.
 *
 * @param[out] reason  Valid as long as the program. NULL if the program was loaded, or was compiled from exactly what
 *                     its id identifies.
 * @retval INGOT_INVALID_ARGUMENTS
 */
INGOT_API ingot_status_t ingot_program_get_native_reason(const_ingot_program_t program, const char **reason);

/* ---- requests ---- */

#define INGOT_REQUEST_DIGEST_SIZE 32 /* BLAKE2b-256 */

/**
 * Serializes what a program is compiled from: the texts that the compiler gets, with all that they include, the
 * options, constants and name expressions (doc/request-format.md). A builder needs nothing else.
 *
 * @param[out] request  The caller releases it.
 * @retval INGOT_NOT_CACHEABLE  The program cannot be compiled elsewhere, or only natively; the error detail says why.
 * It may name files.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_program_desc_get_request(const_ingot_program_desc_t desc, ingot_buffer_t *request);

/**
 * Writes the digest of a descriptor's request, which is that of ingot_request_get_digest and, in the descriptor's id,
 * "request.blake2b". Reads no file.
 *
 * @param[out] digest  INGOT_REQUEST_DIGEST_SIZE bytes.
 * @return As ingot_program_desc_get_cache_blob_id.
 */
INGOT_API ingot_status_t ingot_program_desc_get_request_digest(const_ingot_program_desc_t desc, uint8_t *digest);

/**
 * Creates a descriptor from a request that ingot_program_desc_get_request made, perhaps on another machine. Its id is
 * that of the original descriptor, with the devices of @p context. Neither creating nor building it reads a file that
 * the request names, and it is never built natively: a request may come from anyone.
 *
 * @param[in] device_count    0: all devices of the context; @p device_indices is then ignored.
 * @param[in] group           NULL: none.
 * @retval INGOT_NOT_CACHEABLE      A text, an option or a name might make a compiler read or write files.
 * @retval INGOT_INVALID_ARGUMENTS  Also if the request is for another backend.
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION
 * @return Otherwise as ingot_program_desc_create.
 */
INGOT_API ingot_status_t ingot_program_desc_create_from_request(ingot_program_desc_t *desc, ingot_context_t context,
                                                                size_t size, const uint8_t *request,
                                                                size_t device_count, const uint32_t *device_indices,
                                                                const char *group);

/** Receives a field of an id: its path, such as "device[0].driver_version", and its value, which is text or raw bytes.
 *  Both are valid only during the call. */
typedef void (*ingot_cache_blob_id_visit_t)(void *user, const char *path, size_t size, const uint8_t *value,
                                            bool is_text);

/**
 * Visits a request's fields: "backend", then those of an id's request, but "source[0].text" instead of
 * "source[0].blake2b".
 * @retval INGOT_BLOB_CORRUPT, INGOT_BLOB_TRUNCATED, INGOT_BLOB_VERSION, INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_request_visit(size_t size, const uint8_t *request, ingot_cache_blob_id_visit_t visit,
                                             void *user);
/** Computes a request's digest. @param[out] digest  INGOT_REQUEST_DIGEST_SIZE bytes. Statuses as
 *  ingot_request_visit. */
INGOT_API ingot_status_t ingot_request_get_digest(size_t size, const uint8_t *request, uint8_t *digest);

/** The files that a descriptor's sources include, and the file that each include leads to. Immutable. */
typedef struct ingot_includes *ingot_includes_t;

/** Included files, and which file each include leads to. */
typedef struct ingot_includes_info {
    size_t struct_size;
    const ingot_source_t *files; /**< Of kind INGOT_SOURCE_HEADER, with the paths by which they were found. */
    size_t file_count;           /**< At most 10000. */
    /** For each file, the number of the first file that is the same file under another name, or the file's own number.
     *  These numbers are followed by the answer to each search for an include, in order. */
    const uint32_t *numbers;
    size_t number_count;
    /** Not 0: the names of sources, headers and files affect the result, so the id contains them (`__FILE__`). */
    int names_matter;
    /** Not 0: the result also depends on the current directory (`-g`). */
    int directory_matters;
} ingot_includes_info_t;
#define INGOT_INCLUDES_INFO_INIT                                                                                       \
    {                                                                                                                  \
        sizeof(ingot_includes_info_t), NULL, 0, NULL, 0, 0, 0                                                          \
    }

/**
 * Rereads the files that a descriptor's sources include.
 *
 * @param[out]    includes  The new object; the caller releases it. NULL if the sources neither include nor look for
 *                          files (`__has_include`) and names do not affect the result.
 * @param[in,out] info      The content. The caller sets struct_size. The pointers are valid as long as @p includes.
 * @retval INGOT_NOT_CACHEABLE  The descriptor is not cacheable (ingot_program_desc_is_cacheable says why), a file
 *                              contains a NUL byte, or the included files are not enough to reproduce the id, because
 *                              files that the sources do not include affect what they include.
 * @retval INGOT_BLOB_STALE     A file has changed since the descriptor was made.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 */
INGOT_API ingot_status_t ingot_includes_read(ingot_includes_t *includes, ingot_includes_info_t *info,
                                             const_ingot_program_desc_t desc);
/** Releases the object. Does nothing for NULL. */
INGOT_API void ingot_includes_release(ingot_includes_t includes);

/**
 * Creates a descriptor as ingot_program_desc_create does, but takes included files from @p includes instead of the file
 * system. With the includes of the application's descriptor, the new descriptor has the same id. The program is never
 * compiled with files that its compiler finds by itself: building it fails instead.
 *
 * @param[in] includes  May come from anywhere: this function checks whether they fit the sources. Copied; the
 *                      descriptor holds references to the files. NULL: as ingot_program_desc_create.
 * @retval INGOT_BLOB_CORRUPT  The includes are not those of the sources, or not well-formed.
 * @return Otherwise as ingot_program_desc_create.
 */
INGOT_API ingot_status_t ingot_program_desc_create_with(ingot_program_desc_t *desc, ingot_context_t context,
                                                        const ingot_program_info_t *info,
                                                        const ingot_includes_info_t *includes);

/** Receives a request, which is valid during the call. ingot_program_desc_visit_request returns its failure. */
typedef ingot_status_t (*ingot_build_request_visitor_t)(void *user, const ingot_build_request_t *request);

/**
 * Passes to @p visit the request that ops->build would get for @p desc, and compiles nothing. A backend that copies it
 * can compile the program later, even if the files that its sources include change in the meantime.
 *
 * @retval INGOT_NOT_CACHEABLE  The compiler would read files by itself, or an included file has changed since the
 *                              descriptor was created.
 * @retval INGOT_INVALID_ARGUMENTS, INGOT_OUT_OF_MEMORY
 * @return Otherwise what @p visit returns.
 * @par Threads  Any number at once; no lock is held during @p visit.
 */
INGOT_API ingot_status_t ingot_program_desc_visit_request(const_ingot_program_desc_t desc,
                                                          ingot_build_request_visitor_t visit, void *user);

/**
 * Visits the fields of the id of a program or an artifact, in order. None is visited if the id is malformed.
 * @return As ingot_cache_blob_id_describe.
 */
INGOT_API ingot_status_t ingot_cache_blob_id_visit(size_t size, const uint8_t *id, ingot_cache_blob_id_visit_t visit,
                                                   void *user);

/** Receives a field in which two ids differ, as JSON texts: its path, and its values, each of which is a string, or
 * null if the id does not have the field. All are valid only during the call. */
typedef void (*ingot_cache_blob_id_difference_t)(void *user, const char *path, const char *expected, const char *found);

/**
 * Visits the fields in which two ids differ, in the order of ingot_cache_blob_id_explain.
 * @return As ingot_cache_blob_id_explain.
 */
INGOT_API ingot_status_t ingot_cache_blob_id_compare(size_t expected_size, const uint8_t *expected, size_t found_size,
                                                     const uint8_t *found, ingot_cache_blob_id_difference_t visit,
                                                     void *user);

#ifdef __cplusplus
}
#endif

#endif
