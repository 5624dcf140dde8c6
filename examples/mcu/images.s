@ images.s: the first 20 images of examples/digits/data, 16x16 floats each, and what they show, 64-bit numbers. The first
@ 128 bytes of both files are their headers.
    .section .rodata.images, "a"
    .balign 64
    .global images
images:
    .incbin "x_test.npy", 128, 20 * 1024
    .global labels
labels:
    .incbin "y_test.npy", 128, 20 * 8
