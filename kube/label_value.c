#include "kube/kube.h"

static bool is_alphanumeric(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

bool label_value_is_valid(struct text value)
{
    enum { LONGEST = 63 };
    if (value.size > LONGEST)
        return false;
    for (size_t i = 0; i < value.size; i++) {
        bool inside = i > 0 && i + 1 < value.size;
        char c = value.data[i];
        if (!is_alphanumeric(c) && !(inside && (c == '-' || c == '_' || c == '.')))
            return false;
    }
    return true;
}
