/* SPDX-License-Identifier: MIT */
/* The fields of the steps that explain a connection. */
#include "model/fields/fields.h"
#include "fastnet/differences.h"
#include "fastnet/flow_names.h"
#include "model/socket/owner_fields.h"

WORDS(step_name, [STEP_NAME] = "name", [STEP_ROUTE] = "route", [STEP_LINK] = "link",
      [STEP_NEIGHBOUR] = "neighbour", [STEP_TRACKING] = "tracking", [STEP_ATTEMPTS] = "attempts",
      [STEP_POLICY] = "policy", [STEP_CONNECT] = "connect", [STEP_LISTENER] = "listener",
      [STEP_QUEUE] = "queue", [STEP_CLIENTS] = "clients", [STEP_ANSWER] = "answer");

WORDS(ending_name, [ENDING_OPEN] = "open", [ENDING_ENDS] = "ends", [ENDING_UNKNOWN] = "unknown");

/* In microseconds: most attempts take less than a millisecond. */
static struct value step_elapsed(const struct cell *cell)
{
    return (struct value){.type = VALUE_FINE, .number = cell->record->step.elapsed / 1000};
}

/* The order of --columns=help. Names and meanings never change after a release. */
static const struct field fields[] = {
    WORD(step, step.step, step_name, 0, "step of the explanation: name, route ... answer",
         .key = true),
    TEXT(result, step.result, 0, "what the step shows, in a sentence", .moving = true,
         .spaced = true),
    WORD(ending, step.ending, ending_name, STEP_ENDING,
         "answer: open (it can be made), ends (it cannot) or unknown"),
    TEXT(cause, step.cause, STEP_ENDING, "answer: name of the cause"),
    TEXT(advice, step.advice, STEP_ENDING, "answer: what to do", .spaced = true),
    TEXT(command, step.command, STEP_ENDING, "answer: a command line that shows more",
         .spaced = true),
    NAMED(protocol, step.protocol, flow_protocol_word, STEP_PROTOCOL, "protocol of the connection"),
    ADDRESS(remote_address, step.peer.address, STEP_PEER, "address that the connection leads to"),
    NUMBER(remote_port, step.peer.port, STEP_PEER, "port that the connection leads to"),
    ADDRESS(local_address, step.local.address, STEP_SOURCE,
            "address that it comes from, or that a socket listens on"),
    NUMBER(local_port, step.local.port, STEP_SOURCE,
           "port that it comes from, or that a socket listens on", .moving = true),
    ADDRESS(address, step.address, STEP_ADDRESS,
            "gateway, neighbour or router that the step is about"),
    INTERFACE(interface, step.interface, STEP_INTERFACE,
              "interface by which its packets leave or come"),
    TEXT(process, step.process, STEP_PROCESS, "process that the step is about"),
    NUMBER(pid, step.pid, STEP_PROCESS, "process ID of that process"),
    TEXT(step_netns, step.netns, STEP_NETNS,
         "network namespace that the step is about, if it is not the entered one"),
    COMPUTED(elapsed, VALUE_FINE, step_elapsed, STEP_TIME, "duration of the step, in seconds",
             MEMBER(step.elapsed), .unit = UNIT_SECONDS),
    WORD(error, step.error, connect_error_name, STEP_ERRNO, "error of connect(2)"),
    TEXT(source, step.source, 0, "tables, files and probes that the step comes from",
         .spaced = true),
};

static const struct borrowed borrowed[] = {
    BORROWED_TEXT(step.result, 0),           BORROWED_TEXT(step.cause, STEP_ENDING),
    BORROWED_TEXT(step.advice, STEP_ENDING), BORROWED_TEXT(step.command, STEP_ENDING),
    BORROWED_TEXT(step.source, 0),           BORROWED_TEXT(step.process, STEP_PROCESS),
    BORROWED_TEXT(step.netns, STEP_NETNS),
};

static const struct matching matching = {.place =
                                             "step protocol remote_address remote_port address",
                                         .shown = "step result ending cause"};

const struct kind kind_step = {
    .name = "steps",
    .count_by = "ending,cause",
    .size = RECORD_SIZE(step),
    FIELDS(fields),
    BORROWED(borrowed),
    .matching = &matching,
};
