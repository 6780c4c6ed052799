package io.caravan.server.cli.migration;

import com.github.luben.zstd.ZstdInputStream;
import com.github.luben.zstd.ZstdOutputStream;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.Arrays;
import java.util.Locale;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;

/** The compression of an export file. */
enum Compression {
    NONE("", new byte[0]),
    GZIP(".gz", new byte[] {0x1F, (byte) 0x8B}),
    ZSTD(".zst", new byte[] {0x28, (byte) 0xB5, 0x2F, (byte) 0xFD});

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int MAGIC_BYTES = 4;

    private final String ending;
    private final byte[] magic;

    Compression(String ending, byte[] magic) {
        this.ending = ending;
        this.magic = magic;
    }

    /** Returns the compression that the extension of a file name indicates. */
    static Compression of(String fileName) {
        String name = fileName.toLowerCase(Locale.ROOT);
        return name.endsWith(GZIP.ending) ? GZIP : name.endsWith(ZSTD.ending) ? ZSTD : NONE;
    }

    OutputStream compress(OutputStream out) throws IOException {
        return switch (this) {
            case NONE -> out;
            case GZIP -> new GZIPOutputStream(out, BUFFER_BYTES, true);
            case ZSTD -> new ZstdOutputStream(out).setChecksum(true);
        };
    }

    /** Returns the decompressed content of a stream, whose first bytes determine its compression. */
    static InputStream decompressed(InputStream in) throws IOException {
        BufferedInputStream buffered = new BufferedInputStream(in, BUFFER_BYTES);
        buffered.mark(MAGIC_BYTES);
        byte[] begin = buffered.readNBytes(MAGIC_BYTES);
        buffered.reset();
        if (GZIP.begins(begin)) {
            return new GZIPInputStream(buffered, BUFFER_BYTES);
        }
        return ZSTD.begins(begin) ? new ZstdInputStream(buffered) : buffered;
    }

    private boolean begins(byte[] begin) {
        return begin.length >= magic.length && Arrays.equals(begin, 0, magic.length, magic, 0, magic.length);
    }

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
