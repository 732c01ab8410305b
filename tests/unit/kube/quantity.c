/* Quantities, as Kubernetes parses them. */
#include <stdio.h>

#include "kube/quantity.h"
#include "unit.h"

static void test_values(void)
{
    static const struct {
        const char *text;
        int64_t milli;
    } cases[] = {
        {"0", 0},
        {"1", 1000},
        {"+5", 5000},
        {"-1", -1000},
        {"00012", 12000},
        {"0.5", 500},
        {".5", 500},
        {"5.", 5000},
        {"1.5", 1500},
        {"100m", 100},
        {"-5m", -5},
        {"3920m", 3920},
        {"1n", 1},
        {"1u", 1},
        {"2500u", 3},
        {"1000001n", 2},
        {"1k", 1000000},
        {"1M", 1000000000},
        {"1G", 1000000000000},
        {"1T", 1000000000000000},
        {"1P", 1000000000000000000},
        {"0.001E", 1000000000000000000},
        {"1Ki", 1024000},
        {"0.1Ki", 102400},
        {"1Mi", 1048576000},
        {"1.5Gi", 1610612736000},
        {"0.1Gi", 107374182400},
        {"1Ti", 1099511627776000},
        {"1Pi", 1125899906842624000},
        {"0.0000000001Ei", 115292150461},
        {"1e3", 1000000},
        {"1E3", 1000000},
        {"1.e3", 1000000},
        {"1e+3", 1000000},
        {"1e-3", 1},
        {"1E-2", 10},
        {"1e-0", 1000},
        {"1e00003", 1000000},
        {"1e15", 1000000000000000000},
        {"0e100", 0},
        {"0e9999999", 0},
        {"0E", 0},
        /* Rounded up, away from zero. */
        {"0.0001", 1},
        {"0.0015", 2},
        {"0.001000000000000000000000000000000000001", 2},
        {"1e-30", 1},
        {"1e-100000", 1},
        {"-0.0001", -1},
        {"-0.0015", -2},
        {"0.3n", 1},
        {"1.0000000000000000000001Ki", 1024001},
        {"9223372036854775.8079m", 9223372036854776},
        /* The most that fits. */
        {"9223372036854775.807", INT64_MAX},
        {"9223372036854775807m", INT64_MAX},
        {"-9223372036854775.807", -INT64_MAX},
        {"8Pi", 9007199254740992000},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t milli = 77;
        bool read = quantity_milli(text_of(cases[i].text), &milli);
        if (!read || milli != cases[i].milli)
            fprintf(stderr, "in case \"%s\"\n", cases[i].text);
        CU_ASSERT_TRUE(read);
        ASSERT_INT(milli, cases[i].milli);
    }
}

static void test_refused(void)
{
    static const char *const cases[] = {
        "",
        " ",
        ".",
        "+",
        "-",
        "m",
        "Ki",
        "+-1",
        "++5",
        "1 ",
        " 1",
        "1.2.3",
        "1e",
        "1e+",
        "1E-",
        "1e1.5",
        "1e+-3",
        "1K",
        "1ki",
        "1KI",
        "1mi",
        "1g",
        "1Gi2",
        "1GiB",
        "1MB",
        "1e3k",
        "1Ee3",
        "1Eii",
        "0x1",
        "1_0",
        "1,5",
        "two",
        "1-",
        "1e9223372036854775808",
        /* Too large. */
        "9223372036854775.808",
        "9223372036854775.8071",
        "9223372036854775807",
        "10P",
        "1E",
        "1Ei",
        "9Pi",
        "1e16",
        "1e100",
        "1e1000000",
        "99999999999999999999",
        "1000000000000000000000000000n",
        "-9223372036854775.809",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t milli = 0;
        bool read = quantity_milli(text_of(cases[i]), &milli);
        if (read)
            fprintf(stderr, "\"%s\" is read as %lld\n", cases[i], (long long)milli);
        CU_ASSERT_FALSE(read);
    }
    int64_t milli = 0;
    CU_ASSERT_FALSE(quantity_milli((struct text){NULL, 0}, &milli));
    CU_ASSERT_FALSE(quantity_milli((struct text){"1\0", 2}, &milli));
}

/* Only the bytes of the text are read, and many digits are no trouble. */
static void test_long(void)
{
    char digits[4096];
    for (size_t i = 0; i < sizeof digits; i++)
        digits[i] = '0';
    int64_t milli = 77;
    CU_ASSERT_TRUE(quantity_milli((struct text){digits, sizeof digits}, &milli));
    ASSERT_INT(milli, 0);
    digits[sizeof digits - 1] = '7';
    CU_ASSERT_TRUE(quantity_milli((struct text){digits, sizeof digits}, &milli));
    ASSERT_INT(milli, 7000);
    CU_ASSERT_TRUE(quantity_milli((struct text){digits, sizeof digits - 1}, &milli));
    ASSERT_INT(milli, 0);
    digits[0] = '7';
    CU_ASSERT_FALSE(quantity_milli((struct text){digits, sizeof digits}, &milli));
    digits[1] = '.';
    CU_ASSERT_TRUE(quantity_milli((struct text){digits, sizeof digits - 1}, &milli));
    ASSERT_INT(milli, 7000);
    CU_ASSERT_TRUE(quantity_milli((struct text){digits, sizeof digits}, &milli));
    ASSERT_INT(milli, 7001);
    digits[sizeof digits - 2] = 'E';
    digits[sizeof digits - 1] = 'i';
    CU_ASSERT_FALSE(quantity_milli((struct text){digits, sizeof digits}, &milli));
    digits[0] = '0';
    digits[4] = '1';
    CU_ASSERT_TRUE(quantity_milli((struct text){digits, sizeof digits}, &milli));
    ASSERT_INT(milli, 1152921504606846976);
    CU_ASSERT_TRUE(quantity_milli((struct text){"15Gi", 2}, &milli));
    ASSERT_INT(milli, 15000);
}

/* 2^64 - 1 is the most that is counted with; a fraction above it is one more. */
static void test_whole(void)
{
    static const char *const too_large[] = {"18446744073709551616", "18446744073709551615.5",
                                            "18446744073709551615", "9223372036854775807.5"};
    int64_t value = 0;
    for (size_t i = 0; i < COUNT_OF(too_large); i++)
        CU_ASSERT_FALSE(quantity_scaled(text_of(too_large[i]), 0, &value));
    CU_ASSERT_TRUE(quantity_scaled(TEXT("9223372036854775806.5"), 0, &value));
    ASSERT_INT(value, INT64_MAX);
}

static void test_canonical(void)
{
    static const struct {
        const char *text, *canonical;
    } cases[] = {
        {"0", "0"},         {"4", "4"},        {"1000m", "1"},          {"3920m", "3920m"},
        {"4000", "4k"},     {"1.5k", "1500"},  {"1500k", "1500k"},      {"2000M", "2G"},
        {"1024Ki", "1Mi"},  {"2048Mi", "2Gi"}, {"5000Mi", "5000Mi"},    {"1000Ki", "1000Ki"},
        {"100Gi", "100Gi"}, {"0.5Ki", "512"},  {"0.1Mi", "104857600m"}, {"3e3", "3e3"},
        {"1E-2", "10e-3"},  {"100e-1", "10"},  {"none", "none"},        {"0Ki", "0"},
    };
    struct arena *arena = arena_create((size_t)1 << 20);
    CU_ASSERT_PTR_NOT_NULL_FATAL(arena);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_TEXT(quantity_canonical(text_of(cases[i].text), arena), cases[i].canonical);
    arena_destroy(arena);
}

/* 2^63 - 1 thousandths are the most. */
static void test_vast(void)
{
    static const struct {
        const char *text;
        bool vast;
    } cases[] = {
        {"9223372036854775807m", false},
        {"9223372036854775808m", true},
        {"8Pi", false},
        {"9Pi", true},
        {"8E", true},
        {"9999999999999Gi", true},
        {"1e30", true},
        {"1e999999999999", true},
        {"-8E", false},
        {"lots", false},
        {"8Q", false},
        {"", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        ASSERT_INT(quantity_is_vast(text_of(cases[i].text)), cases[i].vast);
    char digits[5000];
    memset(digits, '1', sizeof digits);
    CU_ASSERT_TRUE(quantity_is_vast((struct text){digits, sizeof digits}));
    memcpy(digits + 4995, "E-990", 5);
    CU_ASSERT_TRUE(quantity_is_vast((struct text){digits, sizeof digits}));
    memcpy(digits + 990, "E-988", 5);
    int64_t milli = 0;
    CU_ASSERT_TRUE(quantity_milli((struct text){digits, 995}, &milli));
    ASSERT_INT(milli, 11112);
}

static void test_shares(void)
{
    static const struct {
        const char *share;
        int64_t all, amount;
    } cases[] = {
        {"3", 100, 3},
        {"0", 100, 0},
        {"0%", 7, 0},
        {"10%", 0, 0},
        {"10%", 1, 1},
        {"10%", 10, 1},
        {"10%", 11, 2},
        {"33%", 200, 66},
        {"34%", 199, 68},
        {"100%", 1234, 1234},
        {"99%", INT64_MAX, 9131138316486228049},
        {"1%", 250, 3},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct share share;
        CU_ASSERT_FATAL(share_parse(text_of(cases[i].share), &share));
        ASSERT_INT(share_amount(share, cases[i].all), cases[i].amount);
    }
}

const char unit_suite[] = "kube_quantity";
const struct unit_test unit_tests[] = {
    {"values", test_values},
    {"refused", test_refused},
    {"long", test_long},
    {"vast", test_vast},
    {"whole numbers are those of 64 bits", test_whole},
    {"canonical", test_canonical},
    {"shares", test_shares},
    {NULL, NULL},
};
