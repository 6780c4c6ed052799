package io.caravan.server.archive.object;

/**
 * How large objects are put in parts. S3 takes ten thousand, so what is very large gets larger ones: of 8 MiB and 32 MiB
 * that is a quarter of a tebibyte.
 *
 * @param smallBytes size of the first parts
 * @param smallParts how many these are
 * @param largeBytes size of the others, a multiple of {@code smallBytes}
 * @param maxParts how many there may be
 */
record S3Parts(int smallBytes, int smallParts, int largeBytes, int maxParts) {
    static final S3Parts DEFAULT = new S3Parts(8 << 20, 2_000, 32 << 20, 10_000);

    /** Size of the part of this number, from 1 on. */
    int bytesOf(int number) {
        return number <= smallParts ? smallBytes : largeBytes;
    }

    /** What the part of this number counts, in small ones. */
    int permitsOf(int number) {
        return bytesOf(number) / smallBytes;
    }
}
