/*
 * secret_file.h - reads credentials from a file that no other user can change.
 */
#ifndef INGOT_REMOTE_SETTINGS_SECRET_FILE_H
#define INGOT_REMOTE_SETTINGS_SECRET_FILE_H

#include <ingot/ingot.h>

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
