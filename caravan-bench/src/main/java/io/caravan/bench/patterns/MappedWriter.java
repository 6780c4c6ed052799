package io.caravan.bench.patterns;

import java.io.IOException;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Copies into a mapped file that is in memory, and forces the written part. */
final class MappedWriter implements Writer {
    private final MappedByteBuffer mapped;
    private final byte[] bytes;
    private int forcedTo;

    MappedWriter(Path path, int writeBytes) throws IOException {
        try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            mapped = channel.map(FileChannel.MapMode.READ_WRITE, 0, channel.size());
        }
        mapped.load();
        bytes = SomeBytes.array(writeBytes);
    }

    @Override
    public void write() {
        mapped.put(bytes);
    }

    @Override
    public void force() {
        mapped.force(forcedTo, mapped.position() - forcedTo);
        forcedTo = mapped.position();
    }
}
