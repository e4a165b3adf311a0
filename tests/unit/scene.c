/* SPDX-License-Identifier: MIT */
#include "kit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

bool links_stay_inside(void)
{
    const struct open_how how = {.flags = O_PATH | O_CLOEXEC};
    const long fd = syscall(SYS_openat2, AT_FDCWD, "/", &how, sizeof how);

    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

const char tcp_heading[] =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout "
    "inode                                                     \n";
const char tcp6_heading[] =
    "  sl  local_address                         remote_address                        st tx_queue "
    "rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
const char unix_heading[] = "Num       RefCount Protocol Flags    Type St Inode Path\n";

void tree_make(struct tree *tree)
{
    const char *directory = getenv("TMPDIR");
    char path[96];

    snprintf(tree->root, sizeof tree->root, "%.40s/fastnet-test-XXXXXX",
             directory ? directory : "/tmp");
    assert_non_null(mkdtemp(tree->root));
    snprintf(path, sizeof path, "%s/net", tree->root);
    assert_int_equal(mkdir(path, 0755), 0);
    tree_put(tree, "../machine", "\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0\x3e", 20);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *walk)
{
    (void)status;
    (void)type;
    (void)walk;
    return remove(path);
}

void tree_remove(struct tree *tree)
{
    assert_int_equal(nftw(tree->root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}

int tree_set_up(void **state)
{
    static struct tree tree;

    tree_make(&tree);
    *state = &tree;
    return 0;
}

int tree_tear_down(void **state)
{
    tree_remove(*state);
    return 0;
}

void tree_put(const struct tree *tree, const char *name, const void *data, size_t size)
{
    char path[96];
    FILE *file;

    snprintf(path, sizeof path, "%s/net/%s", tree->root, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

void tree_puts(const struct tree *tree, const char *name, const char *text)
{
    tree_put(tree, name, text, strlen(text));
}

void tree_put_file(const struct tree *tree, const char *path, const char *text)
{
    char full[256];
    FILE *file;

    snprintf(full, sizeof full, "%s/%s", tree->root, path);
    for (char *slash = strchr(full + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(full, 0755);
        *slash = '/';
    }
    file = fopen(full, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

int tcp_line(char line[TCP_LINE_MAX], unsigned port, unsigned inode)
{
    return snprintf(line, TCP_LINE_MAX,
                    "   0: 0100007F:%04X 00000000:0000 0A 00000000:00000000 00:00000000 00000000  "
                    "1000        0 %u 1 %016x 100 0 0 10 0\n",
                    port, inode, 0x1000u + inode);
}

char *read_whole(const char *path, size_t *size)
{
    FILE *file = fopen(path, "r");
    struct stat status;
    char *data;

    assert_non_null(file);
    assert_int_equal(fstat(fileno(file), &status), 0);
    *size = (size_t)status.st_size;
    data = malloc(*size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, *size, file), *size);
    data[*size] = '\0';
    fclose(file);
    return data;
}

/* The bytes that the record borrows as number i; NULL: none. All stand as a text does. */
static struct text *borrowed_text(struct record *record, size_t i)
{
    const struct borrowed *borrowed = &record->kind->borrowed[i];

    if (borrowed->fields & ~record->has)
        return NULL;
    return (struct text *)((char *)record + borrowed->offset);
}

int keep_record(const struct record *record, void *arg)
{
    struct kept *kept = arg;
    struct record *copy;

    if (kept->stop_after && kept->count == kept->stop_after)
        return STOPPED;
    kept->records = reallocarray(kept->records, kept->count + 1, sizeof *kept->records);
    assert_non_null(kept->records);
    copy = &kept->records[kept->count++];
    *copy = *record;
    for (size_t i = 0; i < record->kind->borrowed_count; i++) {
        struct text *text = borrowed_text(copy, i);
        if (!text)
            continue;
        const size_t size = text->length * record->kind->borrowed[i].unit;
        char *bytes = malloc(size + 1);
        assert_non_null(bytes);
        if (size)
            memcpy(bytes, text->data, size);
        text->data = bytes;
    }
    return kept->answer;
}

void kept_finish(struct kept *kept)
{
    for (size_t i = 0; i < kept->count; i++)
        for (size_t j = 0; j < kept->records[i].kind->borrowed_count; j++) {
            const struct text *text = borrowed_text(&kept->records[i], j);
            if (text)
                free((void *)(uintptr_t)text->data);
        }
    free(kept->records);
    kept->records = NULL;
    kept->count = 0;
}

const struct record *kept_port(const struct kept *kept, unsigned port)
{
    for (size_t i = 0; i < kept->count; i++)
        if (kept->records[i].socket.local.port == port)
            return &kept->records[i];
    return NULL;
}

const struct record *kept_inode(const struct kept *kept, uint64_t inode)
{
    for (size_t i = 0; i < kept->count; i++)
        if (kept->records[i].socket.inode == inode)
            return &kept->records[i];
    return NULL;
}

static int count_idle(void *arg)
{
    struct stage *stage = arg;

    stage->idle++;
    return stage->answer_idle;
}

void stage_anew(struct stage *stage)
{
    netlink_destroy(stage->netlink);
    peer_finish(&stage->peer);
    peer_init(&stage->peer);
    stage->netlink = stage->query.netlink = netlink_create(&stage->peer.netlink);
    assert_non_null(stage->netlink);
}

void *stage_make_in(void **state, size_t size)
{
    struct stage *stage = calloc(1, size);

    assert_non_null(stage);
    tree_make(&stage->tree);
    stage->events = (struct query_events){.stop = -1, .idle = count_idle, .idle_arg = stage};
    stage->query = (struct query){.needs = UINT64_MAX,
                                  .proc_root = stage->tree.root,
                                  .report = &stage->report,
                                  .events = &stage->events};
    stage_anew(stage);
    return *state = stage;
}

int stage_make(void **state)
{
    stage_make_in(state, sizeof(struct stage));
    return 0;
}

int stage_remove(void **state)
{
    struct stage *stage = *state;

    netlink_destroy(stage->netlink);
    peer_finish(&stage->peer);
    kept_finish(&stage->kept);
    tree_remove(&stage->tree);
    free(stage);
    return 0;
}

int stage_keep(const struct record *record, void *arg)
{
    return keep_record(record, &((struct stage *)arg)->kept);
}

int stage_say(struct stage *stage, const char *format, ...)
{
    const size_t length = strlen(stage->text);
    va_list arguments;

    va_start(arguments, format);
    const int more =
        vsnprintf(stage->text + length, sizeof stage->text - length, format, arguments);
    va_end(arguments);
    assert_in_range(more, 0, sizeof stage->text - length - 1);
    return stage->kept.answer;
}

int stage_list(struct stage *stage, const struct backend *backend, const struct table *table,
               record_fn row)
{
    stage->query.table = table;
    stage->report = (struct report){.verbose = stage->report.verbose};
    stage->text[0] = '\0';
    kept_finish(&stage->kept);
    return stage->result = backend->dump(&stage->query, row, stage);
}

void stage_send(struct stage *stage)
{
    peer_add_wire(&stage->peer, &stage->wire);
    stage->wire.length = 0;
}

void stage_send_done(struct stage *stage, uint32_t sequence, int error)
{
    wire_done(&stage->wire, NLM_F_MULTI, sequence, error);
    stage_send(stage);
}

bool report_says(const struct report *report, const char *words)
{
    for (size_t i = 0; i < report->count && i < REPORT_LINES; i++)
        if (strstr(report->lines[i], words))
            return true;
    return false;
}

void assert_text(const struct text *text, const char *expected, size_t length)
{
    assert_int_equal(text->length, length);
    if (length)
        assert_memory_equal(text->data, expected, length);
}
