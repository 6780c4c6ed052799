package io.caravan.bench.patterns;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;

/** Writes to a buffered stream, and flushes it after each write or only at the end. */
final class StreamWriter implements Writer {
    private final OutputStream stream;
    private final byte[] bytes;
    private final boolean flushesEach;

    StreamWriter(Path path, int writeBytes, boolean flushesEach) throws IOException {
        this.stream = new BufferedOutputStream(Files.newOutputStream(path), Forcing.BATCH_BYTES);
        this.bytes = SomeBytes.array(writeBytes);
        this.flushesEach = flushesEach;
    }

    @Override
    public void write() throws IOException {
        stream.write(bytes);
        if (flushesEach) {
            stream.flush();
        }
    }

    @Override
    public void flush() throws IOException {
        stream.flush();
    }

    @Override
    public void close() throws IOException {
        stream.close();
    }
}
