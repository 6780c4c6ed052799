package io.caravan.server.archive.format;

import com.github.luben.zstd.Zstd;

/**
 * Compresses blocks where it pays: a result is used when it saves a tenth, and where it did not, the next blocks are
 * stored as they are, the more the longer that goes on, as what does not compress seldom begins to. Not for several
 * threads.
 */
final class Compressor {
    /** The fastest of the usual ones; the higher ones take several times as long for a tenth less. */
    private static final int LEVEL = 1;
    /** In fewer bytes there is nothing to be saved. */
    private static final int MIN_BYTES = 64;

    private static final int MAX_SKIPPED = 15;

    private int skipped;
    private int toSkip;

    /** Bytes that a result may take, for the caller's array. */
    static int maxBytes(int rawBytes) {
        return (int) Zstd.compressBound(rawBytes);
    }

    /** Whether to try with the next block, of so many bytes. */
    boolean worthTrying(int rawBytes) {
        if (rawBytes < MIN_BYTES) {
            return false;
        }
        if (toSkip > 0) {
            toSkip--;
            return false;
        }
        return true;
    }

    /**
     * Compresses a block.
     *
     * @return length of the result, or -1 when it is not worth it
     */
    int compress(byte[] raw, int rawAt, int rawBytes, byte[] target, int targetAt) {
        int length =
                (int) Zstd.compressByteArray(target, targetAt, target.length - targetAt, raw, rawAt, rawBytes, LEVEL);
        if (length > rawBytes - rawBytes / 10) {
            skipped = Math.min(MAX_SKIPPED, 2 * skipped + 1);
            toSkip = skipped;
            return -1;
        }
        skipped = 0;
        return length;
    }
}
