/* The token of a file, read again when the file changes. */
#include "live/token.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

enum { TOKEN_BYTES = 1 << 16 };

void token_init(struct token *token, const char *file, const char *fixed)
{
    *token = (struct token){.file = file, .last = *fixed == '\0' ? NULL : strdup(fixed)};
}

static void forget(struct token *token)
{
    if (token->last != NULL)
        explicit_bzero(token->last, strlen(token->last));
    free(token->last);
    token->last = NULL;
}

void token_free(struct token *token)
{
    forget(token);
}

/* The one word in the file; NULL when there is none, or it is not valid in a header. */
static char *read_word(const char *path, const char **why)
{
    FILE *file = fopen(path, "re");
    char *bytes = file == NULL ? NULL : malloc(TOKEN_BYTES);
    if (bytes == NULL) {
        *why = strerror(errno);
        if (file != NULL)
            fclose(file);
        return NULL;
    }
    size_t size = fread(bytes, 1, TOKEN_BYTES - 1, file);
    fclose(file);
    bytes[size] = '\0';
    char *start = bytes + strspn(bytes, " \t\r\n");
    char *end = start;
    while (*end > ' ' && *end < 0x7F)
        end++;
    bool word = end > start && end[strspn(end, " \t\r\n")] == '\0';
    char *copy = word ? text_duplicate((struct text){start, (size_t)(end - start)}) : NULL;
    *why = "there is no token in it";
    explicit_bzero(bytes, size);
    free(bytes);
    return copy;
}

const char *token_now(struct token *token)
{
    if (*token->file == '\0')
        return token->last;
    const char *why = NULL;
    char *word = read_word(token->file, &why);
    if (word != NULL) {
        if (token->said)
            log_line(LOG_INFO, "client", token->file, NULL, "the token can be read again");
        token->said = false;
        forget(token);
        token->last = word;
    } else if (!token->said) {
        token->said = true;
        log_line(LOG_WARN, "client", token->file, why,
                 token->last == NULL ? "no token: requests go without one"
                                     : "the token cannot be read; the last one is used on");
    }
    return token->last;
}
