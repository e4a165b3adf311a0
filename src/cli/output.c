#include "cli/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/personality.h"
#include "fastnet/writer.h"

/* A reader that has gone is not an error. */
int output_status(const char *program, int error)
{
    if (error == 0 || error == -EPIPE)
        return STATUS_OK;
    fprintf(stderr, "%s: write error: %s\n", program, strerror(-error));
    return STATUS_FAILURE;
}

FILE *page_open(struct page *page)
{
    *page = (struct page){.stream = NULL};
    page->stream = open_memstream(&page->text, &page->size);
    if (!page->stream)
        page->stream = stdout;
    return page->stream;
}

int page_finish(struct page *page, const char *program)
{
    struct writer writer = {.fd = STDOUT_FILENO};
    int error;

    if (page->stream == stdout)
        return output_status(program, fflush(stdout) != 0 || ferror(stdout) ? -EIO : 0);
    error = fclose(page->stream) != 0 ? -errno : 0;
    writer.buffer = page->text;
    writer.length = page->size;
    if (!error)
        error = writer_flush(&writer);
    free(page->text);
    return output_status(program, error);
}
