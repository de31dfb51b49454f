/*
 * settings.h - URLs, and files with secrets, grouped by file.
 */
#ifndef INGOT_REMOTE_SETTINGS_SETTINGS_H
#define INGOT_REMOTE_SETTINGS_SETTINGS_H

#include <ingot/ingot.h>

#include <stdbool.h>

/* ---- url.c: splits the URL of a remote tier into its parts; include/ingot/remote.h describes the syntax. ---- */

#define URL_CAPACITY 2048u

enum url_scheme { URL_REDIS, URL_REDIS_TLS, URL_REDIS_UNIX, URL_HTTP, URL_HTTPS, URL_S3 };
enum url_auth { URL_AUTH_NONE, URL_AUTH_PASSWORD, URL_AUTH_BEARER, URL_AUTH_S3 };

/* The strings point into `memory`. A part that the URL does not have is "". */
struct url {
    enum url_scheme scheme;
    enum url_auth auth;
    const char *user;
    const char *host; /* for s3://, the bucket */
    const char *port;
    const char *path; /* without slashes at its ends, unless it is the path of a Unix socket */
    const char *credentials;
    const char *ca;
    const char *certificate;
    const char *key;
    const char *region;
    const char *endpoint;
    bool is_flat; /* objects are directly below `path`, not in folders for the namespace and the key */
    char memory[URL_CAPACITY + 16];
};

/* @retval INGOT_INVALID_ARGUMENTS  The detail names the part that is wrong. Passwords are never repeated. */
ingot_status_t url_parse(struct url *url, const char *text);

/* ---- secret_file.c: reads credentials from a file that no other user can change. ---- */

#define SECRET_CAPACITY 4096u

/*
 * Reads the first line of a file, without the line end. `what` names the file in error messages.
 * @retval INGOT_UNTRUSTED  The file is not a plain file, belongs to a user other than this one and root, others may
 * write it, or all users may read it although somebody may write it.
 * @retval INGOT_INVALID_ARGUMENTS  The line is empty, is longer than SECRET_CAPACITY - 1 bytes, or has a control
 * character.
 * @retval INGOT_NOT_FOUND, INGOT_IO_ERROR
 */
ingot_status_t secret_file_read(const char *what, const char *path, char secret[SECRET_CAPACITY]);
/* Checks owner and mode in the same way for a file that a library reads, such as a private key. */
ingot_status_t secret_file_check(const char *what, const char *path);
/* Overwrites a secret. */
void secret_wipe(char secret[SECRET_CAPACITY]);

#endif
