/* main.c: a network on a chip without an operating system. It reads handwritten digits that lie in flash, and says what it
 * sees. All memory is static; nothing here but board_write is about the board. */
#include "board.h"
#include "digits.h"

#define IMAGES 20

/* images.s: IMAGES images, and what they show. */
extern const unsigned char images[][DIGITS_INPUT_0_BYTES];
extern const unsigned char labels[][8];

static RIPC_ALIGNED unsigned char input[DIGITS_INPUT_0_BYTES];
static RIPC_ALIGNED unsigned char output[DIGITS_OUTPUT_0_BYTES];
static RIPC_ALIGNED unsigned char workspace[DIGITS_WORKSPACE_BYTES(1)];

static void write_number(uint32_t x)
{
    char text[11], *p = text + sizeof text;
    *--p = 0;
    do
        *--p = (char)('0' + x % 10);
    while (x /= 10);
    board_write(p);
}

static void write_hex(uint32_t x)
{
    char text[9];
    int i;
    for (i = 0; i < 8; i++)
        text[i] = "0123456789abcdef"[x >> (28 - 4 * i) & 15];
    text[8] = 0;
    board_write(text);
}

int main(void)
{
    const void *const in[DIGITS_INPUTS] = {input};
    void *const out[DIGITS_OUTPUTS] = {output};
    uint32_t i, k, right = 0;
    for (i = 0; i < IMAGES; i++) {
        DIGITS_OUTPUT_0_TYPE logits[DIGITS_OUTPUT_0_ELEMS];
        uint32_t bits[DIGITS_OUTPUT_0_ELEMS], best = 0;
        memcpy(input, images[i], sizeof input);
        if (digits_run(in, out, workspace, 0, 1, NULL) != RIPC_OK)
            return 1;
        memcpy(logits, output, sizeof logits);
        memcpy(bits, output, sizeof bits);
        for (k = 1; k < DIGITS_OUTPUT_0_ELEMS; k++)
            if (logits[k] > logits[best])
                best = k;
        right += best == labels[i][0];
        board_write("image ");
        write_number(i);
        board_write(" shows ");
        write_number(labels[i][0]);
        board_write(", seen as ");
        write_number(best);
        board_write(":");
        for (k = 0; k < DIGITS_OUTPUT_0_ELEMS; k++) {
            board_write(" ");
            write_hex(bits[k]);
        }
        board_write("\n");
    }
    write_number(right);
    board_write(" of ");
    write_number(IMAGES);
    board_write(" are right; stack: ");
    write_number((uint32_t)board_stack_used());
    board_write(" bytes\n");
    return 0;
}
