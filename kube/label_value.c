/* The label keys and values that the API server accepts. */
#include "kube/label.h"

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool domain_is_valid(struct text domain)
{
    enum { LONGEST = 253 };
    if (domain.size == 0 || domain.size > LONGEST)
        return false;
    for (size_t i = 0; i < domain.size; i++) {
        char c = domain.data[i];
        /* no label is empty, or has a '-' at its ends */
        bool inside =
            i > 0 && i + 1 < domain.size && domain.data[i - 1] != '.' && domain.data[i + 1] != '.';
        bool plain = is_alphanumeric(c) && !(c >= 'A' && c <= 'Z');
        if (!plain && !(inside && (c == '-' || c == '.')))
            return false;
    }
    return true;
}

bool label_key_is_valid(struct text key)
{
    struct text domain;
    struct text name = key;
    if (text_split(key, '/', &domain, &name) && !domain_is_valid(domain))
        return false;
    return name.size > 0 && label_value_is_valid(name);
}

bool label_value_is_valid(struct text value)
{
    if (value.size > LABEL_VALUE_BYTES)
        return false;
    for (size_t i = 0; i < value.size; i++) {
        bool inside = i > 0 && i + 1 < value.size;
        char c = value.data[i];
        if (!is_alphanumeric(c) && !(inside && (c == '-' || c == '_' || c == '.')))
            return false;
    }
    return true;
}
