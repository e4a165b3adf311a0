#include <errno.h>
#include <string.h>

#include "engine/run.h"

int run_emit(const struct run *run, struct sink *sink, const struct record *record)
{
    if (run->groups)
        return groups_add(run->groups, record, &run->engine->context);
    sink->ops->row(sink, record);
    return -sink->writer->error;
}

/* Whether this row is a repeat; -ENOMEM when that cannot be remembered. */
static int is_listed(const struct lane *lane, const struct record *record)
{
    if (!record->identity)
        return lane->run->second_pass;
    return seen_before(lane->seen, record->identity);
}

int lane_take(const struct record *record, void *arg)
{
    struct lane *lane = arg;
    const struct listing *listing = lane->run->listing;
    bool ownerless;
    int result;

    lane->handed++;
    if (listing->keep && !listing->keep(record, listing->keep_arg))
        return 0;
    result = is_listed(lane, record);
    ownerless = result == 0 && run_is_ownerless(lane->run, record);
    lane->ownerless |= ownerless;
    if (result == 0 && (lane->run->keep_all || ownerless))
        result = rows_add(lane->kept, record);
    else if (result == 0)
        result = run_emit(lane->run, lane->sink, record);
    if (result < 0)
        lane->stopped = result;
    return result < 0 ? result : 0;
}

void lanes_init(struct lanes *lanes, struct run *run, struct rows *kept)
{
    lanes->lane[0] =
        (struct lane){.run = run, .sink = run->sink, .seen = run->engine->seen, .kept = kept};
    lanes->count = 1;
}

/* What a row needs must be there beforehand, or else be made by one thread. */
bool lanes_possible(const struct run *run)
{
    const uint64_t made_on_the_way = NEED_USERS | NEED_INTERFACES | NEED_HOSTS;

    return run->sink->ops->clone && !run->keep_all && !run->groups && !run->listing->exact &&
           !(run->listing->needs & made_on_the_way);
}

static void close_lane(struct lane *lane)
{
    sink_destroy(lane->sink);
    writer_finish(&lane->writer);
    seen_destroy(lane->seen);
    rows_clear(&lane->own_kept);
}

static int open_lane(struct lane *lane, const struct lane *first, pthread_mutex_t *turn)
{
    int error = writer_init(&lane->writer, first->sink->writer->fd);

    if (error)
        return error;
    lane->writer.turn = turn;
    lane->run = first->run;
    lane->kept = &lane->own_kept;
    lane->seen = seen_create();
    lane->sink = first->sink->ops->clone(first->sink, &lane->writer);
    return lane->seen && lane->sink ? 0 : -ENOMEM;
}

size_t lanes_open(void *arg, size_t wanted, void *opened[])
{
    struct lanes *lanes = arg;
    struct lane *first = &lanes->lane[0];

    writer_flush(first->sink->writer); /* the heading goes before any lane's rows */
    pthread_mutex_init(&lanes->turn, NULL);
    first->sink->writer->turn = &lanes->turn;
    for (opened[0] = first; lanes->count < wanted && lanes->count < LANES_MAX; lanes->count++) {
        struct lane *lane = &lanes->lane[lanes->count];
        *lane = (struct lane){0};
        if (open_lane(lane, first, &lanes->turn) < 0) {
            close_lane(lane);
            break;
        }
        opened[lanes->count] = lane;
    }
    return lanes->count;
}

/* What a further lane leaves behind goes to the first. */
static void hand_over(struct lane *first, struct lane *lane)
{
    struct writer *writer = first->sink->writer;
    int error = writer_flush(&lane->writer);

    if (error && !writer->error)
        writer->error = -error;
    for (size_t i = 0; i < lane->own_kept.count && !lane->stopped; i++)
        lane->stopped = rows_add(first->kept, lane->own_kept.records[i]);
    first->handed += lane->handed;
    first->ownerless |= lane->ownerless;
    if (!first->stopped)
        first->stopped = lane->stopped ? lane->stopped : error;
}

size_t lanes_finish(struct lanes *lanes)
{
    struct lane *first = &lanes->lane[0];

    if (first->sink->writer->turn == &lanes->turn) {
        first->sink->writer->turn = NULL;
        for (size_t i = 1; i < lanes->count; i++) {
            hand_over(first, &lanes->lane[i]);
            close_lane(&lanes->lane[i]);
        }
        pthread_mutex_destroy(&lanes->turn);
    }
    first->run->ownerless |= first->ownerless;
    first->run->stopped = first->stopped;
    return first->handed;
}
