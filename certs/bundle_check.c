/* Whether a text is a CA bundle: certificates in PEM, and no key. */
#include "certs/certs.h"

#include <gnutls/gnutls.h>
#include <gnutls/x509.h>
#include <string.h>

bool cert_check_bundle(struct text bundle, struct error *error)
{
    static const char private_key[] = "PRIVATE KEY-----";
    if (memmem(bundle.data, bundle.size, private_key, sizeof private_key - 1) != NULL)
        return error_set(error, ERROR_TLS, NOWHERE,
                         "holds a private key, and a bundle is for everybody to read; give the "
                         "certificates alone");
    gnutls_x509_crt_t *certificates = NULL;
    unsigned count = 0;
    gnutls_datum_t datum = {(unsigned char *)(uintptr_t)bundle.data, (unsigned)bundle.size};
    int code = gnutls_x509_crt_list_import2(&certificates, &count, &datum, GNUTLS_X509_FMT_PEM, 0);
    if (code < 0)
        return error_set(error, ERROR_TLS, NOWHERE,
                         "is no bundle of certificates in PEM: %s; the API server would refuse "
                         "every call",
                         gnutls_strerror(code));
    for (unsigned i = 0; i < count; i++)
        gnutls_x509_crt_deinit(certificates[i]);
    gnutls_free(certificates);
    return true;
}
