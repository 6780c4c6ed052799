package io.caravan.bench.patterns;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/** Writes at increasing positions of an open file, with one call for each write. */
final class ChannelWriter implements Writer {
    private final FileChannel channel;
    private final ByteBuffer bytes;
    private final int strideBytes;
    private final boolean forces;
    private long position;

    private ChannelWriter(FileChannel channel, ByteBuffer bytes, int strideBytes, boolean forces) {
        this.channel = channel;
        this.bytes = bytes;
        this.strideBytes = strideBytes;
        this.forces = forces;
    }

    /** Forces with a separate call. */
    static ChannelWriter forcing(Path path, int writeBytes) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        return new ChannelWriter(channel, SomeBytes.buffer(writeBytes), writeBytes, true);
    }

    /** Starts each write at a new block. */
    static ChannelWriter inBlocks(Path path, int writeBytes) throws IOException {
        FileChannel channel = FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        int blocks = (writeBytes + SomeBytes.BLOCK_BYTES - 1) / SomeBytes.BLOCK_BYTES;
        int blockBytes = blocks * SomeBytes.BLOCK_BYTES;
        return new ChannelWriter(channel, SomeBytes.buffer(blockBytes), blockBytes, true);
    }

    /** Opens a file with options that make forces unnecessary, or for writes that are never forced. */
    static ChannelWriter with(Path path, int writeBytes, OpenOption... options) throws IOException {
        Set<OpenOption> all = Set.of(options);
        FileChannel channel = FileChannel.open(path, all);
        return new ChannelWriter(channel, SomeBytes.buffer(writeBytes), writeBytes, false);
    }

    @Override
    public void write() throws IOException {
        bytes.rewind();
        write(bytes);
    }

    /** Writes the given bytes instead of the default ones. */
    void write(ByteBuffer other) throws IOException {
        long at = position;
        while (other.hasRemaining()) {
            at += channel.write(other, at);
        }
        position += strideBytes;
    }

    @Override
    public void force() throws IOException {
        if (forces) {
            channel.force(false);
        }
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
