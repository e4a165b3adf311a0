#include "format/text/real.h"

#include <stdbool.h>
#include <string.h>

#include "fastnet/text.h"
#include "format/text/put.h"

/* A double's bits, IEEE 754: a sign, 11 bits of exponent, 52 bits of the mantissa behind its 1. */
enum { MANTISSA_BITS = 52, EXPONENT_ZERO = 1023 };

/* The decimal digits of a value, up to the one that is rounded. */
struct decimal {
    char digits[REAL_TEXT_MAX]; /* '0' to '9' */
    unsigned count;
    int point; /* so many of them stand before the point; negative: zeros behind it are left out */
};

/* Too large for 64 bits: mantissa << shift, at most 2^53 << 30. */
static char *put_large(char *dst, uint64_t mantissa, unsigned shift)
{
    static const uint64_t half = UINT64_C(10000000000);
    const uint64_t low = (mantissa % half) << shift;
    uint64_t rest = low % half;

    dst = text_u64(dst, ((mantissa / half) << shift) + low / half);
    for (uint64_t unit = half / 10; unit; unit /= 10) {
        *dst++ = (char)('0' + rest / unit);
        rest %= unit;
    }
    return dst;
}

/* The digits before the point; returns the fraction in units of 2^-64. */
static uint64_t split(struct decimal *decimal, double value)
{
    uint64_t bits, mantissa, fraction = 0;
    char *end;
    int exponent;

    memcpy(&bits, &value, sizeof bits);
    mantissa = (bits & ((UINT64_C(1) << MANTISSA_BITS) - 1)) | UINT64_C(1) << MANTISSA_BITS;
    exponent = (int)(bits >> MANTISSA_BITS) - EXPONENT_ZERO - MANTISSA_BITS;
    if (exponent > 0) {
        end = put_large(decimal->digits, mantissa, (unsigned)exponent);
    } else {
        const unsigned places = (unsigned)-exponent;
        const uint64_t whole = places < 64 ? mantissa >> places : 0;
        if (places > 0 && places <= 64)
            fraction = mantissa << (64 - places);
        else if (places > 64 && places < 128)
            fraction = mantissa >> (places - 64);
        end = whole ? text_u64(decimal->digits, whole) : decimal->digits;
    }
    decimal->count = (unsigned)(end - decimal->digits);
    decimal->point = (int)decimal->count;
    return fraction;
}

/* Takes the fraction's first digit. */
static unsigned next_digit(uint64_t *fraction)
{
    const uint64_t low = (*fraction & UINT32_MAX) * 10;
    const uint64_t high = (*fraction >> 32) * 10 + (low >> 32);

    *fraction = high << 32 | (low & UINT32_MAX);
    return (unsigned)(high >> 32);
}

/* Adds one to the last digit; the number may become longer by one digit. */
static void count_up(struct decimal *decimal)
{
    unsigned at = decimal->count;

    while (at > 0 && decimal->digits[at - 1] == '9')
        decimal->digits[--at] = '0';
    if (at > 0) {
        decimal->digits[at - 1]++;
        return;
    }
    memmove(decimal->digits + 1, decimal->digits, decimal->count);
    decimal->digits[0] = '1';
    decimal->count++;
    decimal->point++;
}

/* Takes digits of the fraction until there are so many. */
static void add_digits(struct decimal *decimal, uint64_t *fraction, unsigned count)
{
    while (decimal->count < count)
        decimal->digits[decimal->count++] = (char)('0' + next_digit(fraction));
}

/* Drops the digits from `kept` on: to the nearest number, or else to the even one. */
static void round_to(struct decimal *decimal, unsigned kept, bool more)
{
    const char *rest = decimal->digits + kept;
    const unsigned count = decimal->count - kept;
    bool up = count > 0 && *rest >= '5';

    if (count > 0 && *rest == '5' && !more) {
        unsigned zeros = 1;
        while (zeros < count && rest[zeros] == '0')
            zeros++;
        if (zeros == count)
            up = kept > 0 && (decimal->digits[kept - 1] & 1);
    }
    decimal->count = kept;
    if (up)
        count_up(decimal);
}

static char *put_digits(char *dst, const struct decimal *decimal, unsigned from, unsigned to)
{
    return to > from ? put_bytes(dst, decimal->digits + from, to - from) : dst;
}

/* 1.5e+06 */
static char *put_exponential(char *dst, const struct decimal *decimal)
{
    const int exponent = decimal->point - 1;

    *dst++ = decimal->digits[0];
    if (decimal->count > 1)
        *dst++ = '.';
    dst = put_digits(dst, decimal, 1, decimal->count);
    dst = exponent < 0 ? PUT(dst, "e-") : PUT(dst, "e+");
    return put_two_digits(dst, (unsigned)(exponent < 0 ? -exponent : exponent));
}

/* 1.5, 150, 0.015 */
static char *put_positional(char *dst, const struct decimal *decimal)
{
    const unsigned whole = decimal->point > 0 ? (unsigned)decimal->point : 0;
    const unsigned shown = whole < decimal->count ? whole : decimal->count;

    if (!whole)
        *dst++ = '0';
    dst = put_digits(dst, decimal, 0, shown);
    for (unsigned zeros = shown; zeros < whole; zeros++)
        *dst++ = '0';
    if (decimal->count <= whole)
        return dst;
    *dst++ = '.';
    for (int zeros = decimal->point; zeros < 0; zeros++)
        *dst++ = '0';
    return put_digits(dst, decimal, whole, decimal->count);
}

/* The exact way, with all digits of the value. */
static char *put_general_slowly(char *dst, double value, unsigned digits)
{
    struct decimal decimal;
    uint64_t fraction = split(&decimal, value);

    while (!decimal.count) {
        add_digits(&decimal, &fraction, 1);
        if (decimal.digits[0] != '0')
            break;
        decimal.count = 0;
        decimal.point--;
    }
    add_digits(&decimal, &fraction, digits + 1);
    round_to(&decimal, digits, fraction != 0);
    while (decimal.count > 1 && decimal.digits[decimal.count - 1] == '0')
        decimal.count--;
    if (decimal.point < -3 || decimal.point > (int)digits)
        return put_exponential(dst, &decimal);
    return put_positional(dst, &decimal);
}

/* A number below 1e6 with its last digits behind the point, and no zeros at the end there. */
static char *put_scaled(char *dst, uint32_t number, unsigned decimals)
{
    static const uint32_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    uint32_t fraction = number % powers[decimals];

    dst = text_u64(dst, number / powers[decimals]);
    if (!fraction)
        return dst;
    *dst++ = '.';
    for (; fraction; fraction %= powers[decimals])
        *dst++ = (char)('0' + fraction / powers[--decimals]);
    return dst;
}

char *put_general(char *dst, double value, unsigned digits)
{
    static const double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    unsigned whole = 1;

    if (value == 0)
        return PUT(dst, "0");
    while (whole < digits && value >= powers[whole])
        whole++;
    /* Multiplying is inexact, which does not matter if the rest is not near the half. */
    if (value >= 1 && value < powers[digits]) {
        const double scaled = value * powers[digits - whole];
        const uint32_t number = (uint32_t)scaled;
        const double rest = scaled - number;
        const uint32_t rounded = number + (rest > 0.5);
        if ((rest < 0.499999 || rest > 0.500001) && rounded < (uint32_t)powers[digits])
            return put_scaled(dst, rounded, digits - whole);
    }
    return put_general_slowly(dst, value, digits);
}

/* Below 2^53, where a double without its fraction is still exact. */
static char *put_rounded(char *dst, double value)
{
    int64_t whole = (int64_t)value; /* a machine converts signed numbers faster */
    const double rest = value - (double)whole;

    whole += rest > 0.5 || (rest == 0.5 && whole & 1);
    return text_u64(dst, (uint64_t)whole);
}

char *put_fixed(char *dst, double value, unsigned decimals)
{
    struct decimal decimal;
    uint64_t fraction;

    if (!decimals && value < 0x1p53)
        return put_rounded(dst, value);
    fraction = split(&decimal, value);
    if (!decimal.count) {
        decimal.digits[0] = '0';
        decimal.count = 1;
        decimal.point = 1;
    }
    add_digits(&decimal, &fraction, decimal.count + decimals + 1);
    round_to(&decimal, decimal.count - 1, fraction != 0);
    dst = put_digits(dst, &decimal, 0, (unsigned)decimal.point);
    if (!decimals)
        return dst;
    *dst++ = '.';
    return put_digits(dst, &decimal, (unsigned)decimal.point, decimal.count);
}

char *put_thousandths(char *dst, uint32_t thousandths)
{
    const unsigned rest = thousandths % 1000;

    if (thousandths >= 1000000)
        return put_general(dst, thousandths / 1000.0, REAL_DIGITS_MAX);
    dst = text_u64(dst, thousandths / 1000);
    if (!rest)
        return dst;
    *dst++ = '.';
    *dst++ = (char)('0' + rest / 100);
    put_two_digits(dst, rest % 100);
    return rest % 100 == 0 ? dst : rest % 10 == 0 ? dst + 1 : dst + 2;
}
