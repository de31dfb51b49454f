/*
 * files_errors.c - turns failures of base.h into statuses and sentences.
 */
#include <errno.h>
#include <ingot/backend.h>
#include <string.h>
#include <sys/stat.h>

#include "persist/base/base.h"

#define OVERFLOW_USER 65534u /* how the kernel shows users that a user namespace does not map */

static ingot_status_t fail_file_action(ingot_status_t status, int error, const char *action, const char *name)
{
    char text[128];
    return ingot_set_error(status, -error, "%s %s: %s (errno %d)", action, name, strerror_r(-error, text, sizeof(text)),
                           -error);
}

static ingot_status_t common_status(int error)
{
    switch (-error) {
    case ENOENT: return INGOT_NOT_FOUND;
    case ENOMEM: return INGOT_OUT_OF_MEMORY;
    case ELOOP:
    case EXDEV:
    case ENOTDIR: return INGOT_UNTRUSTED;
    default: return INGOT_IO_ERROR;
    }
}

ingot_status_t files_read_failed(int error, const char *action, const char *name)
{
    return fail_file_action(common_status(error), error, action, name);
}

ingot_status_t files_write_failed(int error, const char *action, const char *name)
{
    switch (-error) {
    case ENOENT: return fail_file_action(INGOT_IO_ERROR, error, action, name);
    case ENOSPC:
    case EDQUOT:
    case EFBIG: return fail_file_action(INGOT_NO_SPACE, error, action, name);
    case EROFS:
    case EACCES:
    case EPERM: return fail_file_action(INGOT_READ_ONLY, error, action, name);
    case EAGAIN:
    case ETIMEDOUT: return fail_file_action(INGOT_BUSY, error, action, name);
    default: return fail_file_action(common_status(error), error, action, name);
    }
}

ingot_status_t files_lock_failed(int error, const char *name)
{
    char text[128];
    const bool is_system = error == -EINVAL || error == -EPERM;
    if (!is_system && error != -ENOLCK && error != -EOPNOTSUPP && error != -ENOSYS)
        return files_write_failed(error, "locking", name);
    return ingot_set_error(INGOT_IO_ERROR, -error, "locking %s: %s (errno %d); %s", name,
                           strerror_r(-error, text, sizeof(text)), -error,
                           is_system ? "this system, perhaps a sandbox, has no locks of open files"
                                     : "only a file system with locks can be written, so choose another directory");
}

ingot_status_t files_check_limit(uint64_t size_bytes, const char *name)
{
    return size_bytes <= FILES_ANY_USER_LIMIT
               ? INGOT_SUCCESS
               : ingot_set_error_detail(INGOT_UNTRUSTED,
                                        "%s has %llu bytes, but at most 256 MiB are read from a file that "
                                        "other users may write: copy it to your own store",
                                        name, (unsigned long long)size_bytes);
}

/* Advises what to do about a file or directory that this user owns, but others may write. */
static const char *advice_for(const struct file_facts *facts, bool is_directory)
{
    if ((facts->mode & S_ISVTX) != 0) /* like /tmp, which must stay as it is */
        return "it is shared by users, so use a directory of your own in it";
    if (is_directory && (facts->mode & S_ISGID) != 0) /* as kubelet makes it, again at each start */
        return "use a directory in it that does not exist yet; a volume of Kubernetes whose fsGroup makes it writable "
               "at "
               "each start needs fsGroupChangePolicy: OnRootMismatch, and chmod -R go-w on the directory in it once";
    return is_directory
               ? "if you trust its content, run chmod -R go-w on it; if that changes nothing, its file system has "
                 "no permissions (such as NTFS), so use another one"
               : "if you trust its content, run chmod go-w on it; if that changes nothing, its file system has "
                 "no permissions (such as NTFS), so use another one";
}

/* Advises what to do about a file or directory of another user. What belongs to the system keeps its owner. */
static const char *advice_for_other(const struct file_facts *facts)
{
    if (facts->owner == OVERFLOW_USER)
        return "give it to that user (chown), or use another path; a container shows users that it does not know, such "
               "as root outside, by this number: copy it into the container, or seal it and require seals";
    if ((facts->mode & (S_IWGRP | S_IWOTH)) != 0) /* such as a volume in OpenShift, which belongs to root */
        return "if this user may write to it, use a directory in it that does not exist yet";
    return facts->owner == 0 ? "use another path" : "give it to that user (chown), or use another path";
}

ingot_status_t files_untrusted(const struct file_facts *facts, bool must_be_directory, uint32_t user, const char *name)
{
    const char *kind = must_be_directory ? "directory" : "file";
    if (facts->is_link)
        return ingot_set_error_detail(
            INGOT_UNTRUSTED,
            "%s is a symbolic link, which its owner could lead elsewhere: give the path of the "
            "%s itself (readlink -f)",
            name, kind);
    if (must_be_directory ? !facts->is_directory : !facts->is_file)
        return ingot_set_error_detail(INGOT_UNTRUSTED, "%s is not a %s", name, kind);
    if (facts->owner != user)
        return ingot_set_error_detail(
            INGOT_UNTRUSTED, "%s belongs to user %u, mode %04o: only a %s of user %u is used; %s", name,
            (unsigned)facts->owner, (unsigned)facts->mode, kind, (unsigned)user, advice_for_other(facts));
    return ingot_set_error_detail(
        INGOT_UNTRUSTED, "%s belongs to user %u, mode %04o: only a %s that no other user may write is used; %s", name,
        (unsigned)facts->owner, (unsigned)facts->mode, kind, advice_for(facts, must_be_directory));
}
