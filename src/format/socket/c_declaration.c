/* SPDX-License-Identifier: MIT */
#include "format/socket/c_declaration.h"

#include "text/put.h"

enum { PARAMETERS_DEPTH_MAX = 8 };

struct declaration {
    const struct btf *btf;
    char *dst, *end; /* dst is NULL after a failure */
    unsigned depth;  /* nesting of parameter lists */
};

static const struct text no_name = {"", 0};

static void declaration_put(struct declaration *declaration, struct text text)
{
    if (declaration->dst && text.length <= (size_t)(declaration->end - declaration->dst))
        declaration->dst = put_text(declaration->dst, text);
    else
        declaration->dst = NULL;
}

static void put_word(struct declaration *declaration, const char *word)
{
    declaration_put(declaration, as_text(word));
}

static void declaration_put_name(struct declaration *declaration, struct text name)
{
    char escaped[ESCAPE_FACTOR * BTF_NAME_MAX];
    const char *end = escape_text(escaped, name.data, name.length, NULL);

    declaration_put(declaration, (struct text){escaped, (size_t)(end - escaped)});
}

/* --- Around the name -------------------------------------------------------------------------- */

/* Pointers, arrays and functions between a name and its base type; types[0] is next to the name. */
struct chain {
    struct btf_type types[BTF_DEPTH_MAX];
    size_t count;
    struct text name;
};

static void put_type(struct declaration *declaration, uint32_t id, struct text name);

/* Writes a list of parameters. If the last parameter has no type, it is written as "...". */
static void put_parameters(struct declaration *declaration, const struct btf_type *type)
{
    struct btf_parameter parameter = {.type = 0};

    put_word(declaration, "(");
    for (uint32_t i = 0; i < type->count && declaration->dst; i++) {
        if (!btf_parameter(declaration->btf, type, i, &parameter))
            declaration->dst = NULL;
        else if (!parameter.type && i + 1 == type->count)
            put_word(declaration, i ? ", ..." : "void");
        else {
            put_word(declaration, i ? ", " : "");
            put_type(declaration, parameter.type, parameter.name);
        }
    }
    put_word(declaration, type->count ? ")" : "void)");
}

static void put_chain(struct declaration *declaration, struct chain *chain, bool after_pointer)
{
    while (chain->count > 0) {
        const struct btf_type *type = &chain->types[--chain->count];
        if (type->kind == BTF_POINTER) {
            put_word(declaration, after_pointer ? "*" : " *");
            after_pointer = true;
            continue;
        }
        const bool array = type->kind == BTF_ARRAY;
        if (chain->count > 0) { /* the part nearer to the name, in parentheses if C needs them */
            const bool bare = array && chain->types[chain->count - 1].kind == BTF_ARRAY;
            put_word(declaration, !array || (chain->name.length && !after_pointer) ? " " : "");
            put_word(declaration, bare ? "" : "(");
            put_chain(declaration, chain, true);
            put_word(declaration, bare ? "" : ")");
        } else {
            put_chain(declaration, chain, after_pointer);
        }
        if (array) {
            char text[TEXT_U64_MAX + 2];
            const char *end = PUT(text_u64(PUT(text, "["), btf_array(type).count), "]");
            declaration_put(declaration, (struct text){text, (size_t)(end - text)});
        } else {
            put_parameters(declaration, type);
        }
        return;
    }
    put_word(declaration, chain->name.length && !after_pointer ? " " : "");
    declaration_put_name(declaration, chain->name);
    chain->name = no_name;
}

/* --- The type at its beginning ---------------------------------------------------------------- */

/* Writes a base type as ss does: without a name, "struct" has no space after it, "enum " has. */
static void put_base(struct declaration *declaration, const struct btf_type *type)
{
    static const char *const words[BTF_KINDS] = {
        [BTF_VOID] = "void",     [BTF_INT] = "",        [BTF_FLOAT] = "",
        [BTF_TYPEDEF] = "",      [BTF_ENUM] = "enum ",  [BTF_ENUM64] = "enum ",
        [BTF_STRUCT] = "struct", [BTF_UNION] = "union", [BTF_FORWARD] = "struct",
    };
    const bool tagged =
        type->kind == BTF_STRUCT || type->kind == BTF_UNION || type->kind == BTF_FORWARD;
    const char *word = words[type->kind];

    if (!word) {
        declaration->dst = NULL;
        return;
    }
    put_word(declaration, type->kind == BTF_FORWARD && type->flag ? "union" : word);
    put_word(declaration, tagged && type->name.length ? " " : "");
    declaration_put_name(declaration, type->name);
}

/* Follows a type to its base type; collects the pointers, arrays and functions on the way. */
static bool take_chain(const struct btf *btf, uint32_t id, struct chain *chain,
                       struct btf_type *base)
{
    for (unsigned steps = 0; steps < BTF_DEPTH_MAX; steps++) {
        if (!btf_type(btf, id, base))
            return false;
        if (base->kind == BTF_POINTER || base->kind == BTF_ARRAY || base->kind == BTF_PROTOTYPE)
            chain->types[chain->count++] = *base;
        else if (!btf_is_qualifier(base))
            return true;
        id = base->kind == BTF_ARRAY ? btf_array(base).type : base->type;
    }
    return false;
}

static void put_type(struct declaration *declaration, uint32_t id, struct text name)
{
    struct chain chain = {.count = 0, .name = name};
    struct btf_type base;

    if (declaration->depth == PARAMETERS_DEPTH_MAX ||
        !take_chain(declaration->btf, id, &chain, &base)) {
        declaration->dst = NULL;
        return;
    }
    declaration->depth++;
    put_base(declaration, &base);
    put_chain(declaration, &chain, false);
    declaration->depth--;
}

char *c_declaration_put(char *dst, const struct btf *btf, uint32_t id)
{
    struct declaration declaration = {.btf = btf, .dst = dst, .end = dst + C_DECLARATION_MAX};

    put_type(&declaration, id, no_name);
    return declaration.dst;
}
