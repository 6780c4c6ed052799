package io.caravan.bench.patterns;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** For each write, opens the file, appends, forces if required, and closes it. */
final class ReopeningWriter implements Writer {
    private final Path path;
    private final ByteBuffer bytes;
    private final boolean forces;

    ReopeningWriter(Path path, int writeBytes, boolean forces) {
        this.path = path;
        this.bytes = SomeBytes.buffer(writeBytes);
        this.forces = forces;
    }

    @Override
    public void write() throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            bytes.rewind();
            while (bytes.hasRemaining()) {
                channel.write(bytes);
            }
            if (forces) {
                channel.force(false);
            }
        }
    }
}
