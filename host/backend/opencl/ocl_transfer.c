/* ocl_transfer.c - uploads and downloads.
 *
 * Vendors' advice for uploads: where host and device share memory, write to the mapped buffer, which copies once
 * (Intel, Arm); a GPU with its own memory copies fastest from pinned memory, which is what drivers give for a mapped
 * CL_MEM_ALLOC_HOST_PTR buffer (NVIDIA, AMD). There a large upload goes through two pieces of such memory in turn, so
 * that the host fills one while the GPU reads the other. */
#include <string.h>

#include "backend/opencl/ocl.h"

#define STAGED_MIN_BYTES ((size_t)1 << 20) /* smaller uploads, and all when there is no pinned memory, are plain */
#define PIECE_BYTES ((size_t)8 << 20)

static fathom_status upload_mapped(ocl_device *dev, cl_mem buffer, size_t offset, const void *source, size_t bytes) {
    cl_int code = CL_SUCCESS;
    void *at = clEnqueueMapBuffer(dev->queue, buffer, CL_TRUE, CL_MAP_WRITE_INVALIDATE_REGION, offset, bytes, 0, NULL,
                                  NULL, &code);
    CL_TRY(dev, "clEnqueueMapBuffer", "upload", code);
    memcpy(at, source, bytes);
    CL_TRY(dev, "clEnqueueUnmapMemObject", "upload", clEnqueueUnmapMemObject(dev->queue, buffer, at, 0, NULL, NULL));
    dev->pending = true;
    return FATHOM_OK;
}

static fathom_status upload_plain(ocl_device *dev, cl_mem buffer, size_t offset, const void *source, size_t bytes) {
    CL_TRY(dev, "clEnqueueWriteBuffer", "upload",
           clEnqueueWriteBuffer(dev->queue, buffer, CL_TRUE, offset, bytes, source, 0, NULL, NULL));
    return FATHOM_OK;
}

/* Without pinned memory (then staging is NULL) uploads are plain: not an error. */
static void open_staging(ocl_device *dev) {
    cl_int code = CL_SUCCESS;
    if (dev->staging_tried)
        return;
    dev->staging_tried = true;
    dev->staging_buf =
        clCreateBuffer(dev->context, CL_MEM_READ_ONLY | CL_MEM_ALLOC_HOST_PTR, 2 * PIECE_BYTES, NULL, &code);
    if (code != CL_SUCCESS) {
        dev->staging_buf = NULL;
        return;
    }
    dev->staging = clEnqueueMapBuffer(dev->queue, dev->staging_buf, CL_TRUE, CL_MAP_WRITE, 0, 2 * PIECE_BYTES, 0, NULL,
                                      NULL, &code);
    if (code != CL_SUCCESS)
        dev->staging = NULL;
    if (!dev->staging)
        ocl_release_staging(dev);
}

void ocl_release_staging(ocl_device *dev) {
    if (dev->staging)
        clEnqueueUnmapMemObject(dev->queue, dev->staging_buf, dev->staging, 0, NULL, NULL);
    if (dev->staging_buf)
        clReleaseMemObject(dev->staging_buf);
    dev->staging = NULL;
    dev->staging_buf = NULL;
}

/* A piece is filled again only after the copy before the last one has ended. */
static fathom_status upload_staged(ocl_device *dev, cl_mem buffer, size_t offset, const char *source, size_t bytes) {
    cl_event copied[2] = {NULL, NULL};
    fathom_status status = FATHOM_OK;
    int piece = 0;
    for (size_t done = 0, part; done < bytes; done += part, piece = !piece) {
        char *at = (char *)dev->staging + (size_t)piece * PIECE_BYTES;
        part = bytes - done < PIECE_BYTES ? bytes - done : PIECE_BYTES;
        if (copied[piece]) {
            CL_TRY_OUT(dev, "clWaitForEvents", "upload", clWaitForEvents(1, &copied[piece]));
            clReleaseEvent(copied[piece]);
            copied[piece] = NULL;
        }
        memcpy(at, source + done, part);
        CL_TRY_OUT(
            dev, "clEnqueueWriteBuffer", "upload",
            clEnqueueWriteBuffer(dev->queue, buffer, CL_FALSE, offset + done, part, at, 0, NULL, &copied[piece]));
    }
out:
    for (int i = 0; i < 2; i++)
        if (copied[i])
            clReleaseEvent(copied[i]);
    /* the next upload fills both pieces, and a failed one must not leave a copy under way */
    cl_int code = clFinish(dev->queue);
    if (status == FATHOM_OK)
        CL_TRY(dev, "clFinish", "upload", code);
    return status;
}

fathom_status ocl_upload(void *state, void *handle, size_t offset, const void *source, size_t bytes) {
    ocl_device *dev = state;
    cl_mem buffer = (cl_mem)handle;
    TRY(ocl_add_held(dev));
    if (!dev->unified_memory && bytes >= STAGED_MIN_BYTES)
        open_staging(dev);
    if (dev->unified_memory)
        TRY(upload_mapped(dev, buffer, offset, source, bytes));
    else if (dev->staging && bytes >= STAGED_MIN_BYTES)
        TRY(upload_staged(dev, buffer, offset, source, bytes));
    else
        TRY(upload_plain(dev, buffer, offset, source, bytes));
    dev->counters.bytes_written += (int64_t)bytes;
    return FATHOM_OK;
}

/* Reads every byte twice and compares: a bit flipped in transfer must reach neither a result nor a checkpoint. The
 * first read does not block; the second, after it in the queue, waits for both. */
static fathom_status read_twice(ocl_device *dev, char *target, cl_mem buffer, size_t offset, size_t bytes) {
    for (size_t done = 0, part; done < bytes; done += part) {
        part = bytes - done < sizeof dev->reread ? bytes - done : sizeof dev->reread;
        CL_TRY(dev, "clEnqueueReadBuffer", "download",
               clEnqueueReadBuffer(dev->queue, buffer, CL_FALSE, offset + done, part, dev->reread, 0, NULL, NULL));
        CL_TRY(dev, "clEnqueueReadBuffer", "download",
               clEnqueueReadBuffer(dev->queue, buffer, CL_TRUE, offset + done, part, target + done, 0, NULL, NULL));
        if (memcmp(dev->reread, target + done, part) != 0)
            return ocl_host->fail(
                FATHOM_DEVICE,
                "clEnqueueReadBuffer(download): two reads of the same %zu bytes of %s differ: a wrong "
                "result; check its memory, cables and driver, and run `fathom selftest`",
                part, dev->name);
    }
    return FATHOM_OK;
}

/* Some drivers report a failed launch only at clFinish, which costs little after a blocking read. */
fathom_status ocl_download(void *state, void *target, void *handle, size_t offset, size_t bytes) {
    ocl_device *dev = state;
    TRY(ocl_report_deferred(dev));
    TRY(ocl_add_held(dev));
    TRY(read_twice(dev, target, (cl_mem)handle, offset, bytes));
    CL_TRY(dev, "clFinish", "download", clFinish(dev->queue));
    dev->pending = false;
    dev->counters.blocking_reads++;
    dev->counters.bytes_read += (int64_t)bytes;
    return FATHOM_OK;
}
