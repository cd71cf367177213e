/* SPDX-License-Identifier: Apache-2.0
 *
 * Verification of a release on a host: read the anchor, a release with its length, then images, from standard input; print one
 * status a line.
 *
 *   image: is_appli, floor, revoked keys, with_weights, code bytes, weights bytes, trailer bytes, all bytes (words of the host), then the subject and these bytes
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "n6_boot_header.h"
#include "n6_model_trailer.h"
#include "n6_trust.h"

typedef struct {
    uint32_t is_appli, floor, revoked, with_weights, code_bytes, weights_bytes, trailer_bytes, bytes;
    uint8_t subject[N6_RELEASE_SUBJECT_BYTES];
} request_t;

static uint32_t up(uint32_t bytes)
{
    return (bytes + N6_MODEL_TRAILER_ALIGNMENT - 1u) & ~(N6_MODEL_TRAILER_ALIGNMENT - 1u);
}

/* Verify an Appli as the FSBL does: its length is the header's, within the given bytes. */
static n6_trust_status_t appli(const n6_trust_anchor_t *anchor, const request_t *request, const uint8_t *image)
{
    n6_boot_header_t header;
    if (request->bytes < sizeof header) {
        return N6_TRUST_UNSIGNED;
    }
    memcpy(&header, image, sizeof header);
    if (header.image_bytes > request->bytes - sizeof header || header.image_bytes + N6_BOOT_HEADER_BYTES > request->bytes) {
        return N6_TRUST_UNSIGNED;
    }
    const uint32_t bytes = header.image_bytes + N6_BOOT_HEADER_BYTES;
    n6_trust_status_t status = n6_trust_check_appli(anchor, image, bytes, request->floor, request->revoked);
    /* The second check refuses the same images. */
    uint32_t counted = request->floor >= 32u ? UINT32_MAX : (1u << request->floor) - 1u;
    bool is_sure = n6_trust_check_again(anchor, image, counted, request->revoked) == N6_TRUST_SURE;
    if (is_sure != (status == N6_TRUST_OK)) {
        fputs("the two checks differ\n", stderr);
        exit(1);
    }
    return status;
}

/* Look a slot up in a release as the Appli does: the file's parts are known, the trailer gives the length of a self-test. */
static n6_trust_status_t slot(const uint8_t *release, const request_t *request, const uint8_t *image)
{
    uint8_t trailer[sizeof(n6_model_trailer_t)] = {0};
    uint32_t at = up(request->code_bytes + request->weights_bytes), test_bytes = 0;
    if (request->bytes < at + request->trailer_bytes) {
        return N6_TRUST_ALTERED;
    }
    memcpy(trailer, image + at, request->trailer_bytes);
    at += request->trailer_bytes;
    if (request->trailer_bytes == sizeof trailer) {
        n6_model_trailer_t words;
        memcpy(&words, trailer, sizeof words);
        test_bytes = words.test_input_bytes;
        words.revision = 0u;
        words.trailer_crc32 = 0u;
        memcpy(trailer, &words, sizeof words);
    }
    if (test_bytes > request->bytes - at) {
        return N6_TRUST_ALTERED;
    }
    const n6_trust_image_t parts = {
        .subject = request->subject,
        .fixed = {{image, request->code_bytes}, {trailer, request->trailer_bytes}, {image + at, test_bytes}},
        .weights = {image + request->code_bytes, request->weights_bytes},
    };
    return n6_trust_lists(release, &parts, request->with_weights != 0u) ? N6_TRUST_OK : N6_TRUST_ALTERED;
}

int main(void)
{
    struct {
        uint8_t points[N6_TRUST_MOST_KEYS][N6_TRUST_POINT_BYTES];
        uint8_t board[N6_TRUST_BOARD_BYTES];
        uint32_t keys;
    } given;
    request_t request;
    if (fread(&given, sizeof given, 1, stdin) != 1) {
        return 1;
    }
    n6_trust_anchor_t anchor = {.points = (const uint8_t (*)[N6_TRUST_POINT_BYTES])given.points, .keys = given.keys};
    memcpy(anchor.board, given.board, sizeof anchor.board);
    uint32_t release_bytes;
    if (fread(&release_bytes, sizeof release_bytes, 1, stdin) != 1) {
        return 1;
    }
    /* The buffer has exactly the release's length, so that the sanitizer sees every access beyond. */
    uint8_t *release = malloc(release_bytes);
    if (release == NULL || fread(release, 1, release_bytes, stdin) != release_bytes) {
        return 1;
    }
    while (fread(&request, sizeof request, 1, stdin) == 1) {
        /* The buffer has exactly the image's length, so that the sanitizer sees every access beyond. */
        uint8_t *image = malloc(request.bytes ? request.bytes : 1u);
        if (image == NULL || fread(image, 1, request.bytes, stdin) != request.bytes) {
            return 1;
        }
        n6_trust_status_t status = request.is_appli ? appli(&anchor, &request, image) : slot(release, &request, image);
        printf("%d\n", (int)status);
        free(image);
    }
    free(release);
    return 0;
}
