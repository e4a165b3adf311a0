/* SPDX-License-Identifier: MIT */
/* The line at the bottom in which the user types a filter: a word to search for, or a condition. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/terminal/screen.h"
#include "cli/terminal/search.h"
#include "cli/terminal/terminal.h"

int prompt_begin(struct screen_state *state)
{
    state->typing = true;
    line_edit_begin(&state->line, state->filter);
    return 0;
}

/* Shows why a condition is wrong. A single word is a text to search for, so a user who typed
 * several words may have meant to search for them: then the message says how. */
static void prompt_refuse(struct screen_state *state, const char *message)
{
    const char *text = state->line.text;
    const bool is_search = strchr(text, ' ') && !text[strcspn(text, "=<>~!()'\"")];

    screen_note(state, true, message);
    if (is_search)
        message_append(state->message, sizeof state->message,
                       "; to search for several words, put them in quotes: '%s'", TYPED(text));
}

/* Makes the condition the filter of the listing. condition: allocated; NULL: all rows. */
static int prompt_take(struct screen_state *state, char *condition)
{
    struct listing_command *command = state->command;
    struct where where = {.interfaces_are_own = command->where.interfaces_are_own};
    const struct predicate *typed = NULL, *both = state->where;

    if (condition)
        typed = where_parse(&where, command->kind, condition);
    if (typed)
        both = where_both(&where, state->where, typed);
    if (condition && (!typed || !both)) {
        prompt_refuse(state, where.message);
        where_finish(&where);
        free(condition);
        return 0;
    }
    where_finish(&state->typed_where);
    free(state->condition);
    state->typed_where = where;
    state->condition = condition;
    snprintf(state->filter, sizeof state->filter, "%s", state->line.text);
    command->listing.where = both;
    command->listing.typed = typed;
    needs_add(&command->listing.needs, predicate_needs(both));
    state->typing = false;
    screen_renew(state);
    return state->ops->filter(state);
}

/* Takes the typed text. If it is wrong, the user can correct it. */
static int prompt_enter(struct screen_state *state)
{
    const struct listing_command *command = state->command;
    const char *text = state->line.text;
    char *condition = NULL;

    line_edit_remember(&state->line);
    if (text[strspn(text, " ")]) {
        condition = search_condition(command->kind, command->shown, command->shown_count, text);
        condition = condition ? condition : strdup(text);
        if (!condition)
            return -ENOMEM;
    }
    return prompt_take(state, condition);
}

static const char *prompt_column(const void *arg, size_t i)
{
    const struct field *field = field_at(arg, i);

    return field ? field->name : NULL;
}

int prompt_take_key(struct screen_state *state, int key)
{
    enum { LIST = 400 /* bytes of the list of columns: a few lines */ };

    *state->message = '\0';
    if (key == KEY_ENTER)
        return prompt_enter(state);
    state->is_problem = false;
    if (key == KEY_ESCAPE)
        state->typing = false;
    else if (key == KEY_TAB)
        line_edit_complete(&state->line, prompt_column, state->command->kind, state->message, LIST);
    else
        (void)line_edit_key(&state->line, key);
    return 0;
}
