/* Certificates with their keys, made when a target begins, so that no private key is kept in a
 * file. An input names them: <ca> stands for the certificate, <ca.key> for its key. */
#ifndef TAFFRAIL_TESTS_FUZZ_ISSUED_H
#define TAFFRAIL_TESTS_FUZZ_ISSUED_H

#include "certs/certs.h"

enum { ISSUED_NOW_UNIX_S = 1800000000 };
/* The names of the leaves, but of those that lack one. */
extern const struct cert_names issued_names;

enum issued_form {
    ISSUED_PEM,
    ISSUED_BASE64, /* as the data of a Secret has it: names that follow each other are one text */
};
/* The text with what it names in place of the names. */
struct text issued_in(struct text text, enum issued_form form, struct arena *arena);

#endif
