package io.caravan.io;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/** A {@link StoreFile} over a {@link FileChannel}. */
final class ChannelFile implements StoreFile {
    private final Path path;
    private final FileChannel channel;

    ChannelFile(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    @Override
    public String path() {
        return path.toString();
    }

    @Override
    public long size() throws IOException {
        return channel.size();
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        int start = target.position();
        while (target.hasRemaining()) {
            if (channel.read(target, position + target.position() - start) < 0) {
                break;
            }
        }
        return target.position() - start;
    }

    @Override
    public void write(ByteBuffer source, long position) throws IOException {
        int start = source.position();
        while (source.hasRemaining()) {
            channel.write(source, position + source.position() - start);
        }
    }

    @Override
    public void force() throws IOException {
        // fdatasync also makes a grown size durable, as reading the data back depends on it.
        channel.force(false);
    }

    @Override
    public MappedFile map() throws IOException {
        return map(FileChannel.MapMode.READ_WRITE);
    }

    @Override
    public MappedFile mapPrivately() throws IOException {
        return map(FileChannel.MapMode.PRIVATE);
    }

    private MappedFile map(FileChannel.MapMode mode) throws IOException {
        MappedByteBuffer memory = channel.map(mode, 0, channel.size());
        memory.order(ByteOrder.LITTLE_ENDIAN);
        return new ChannelMapping(memory);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }

    private record ChannelMapping(MappedByteBuffer memory) implements MappedFile {
        @Override
        public ByteBuffer buffer() {
            return memory;
        }

        @Override
        public void force(int from, int bytes) throws IOException {
            try {
                memory.force(from, bytes);
            } catch (UncheckedIOException failed) {
                throw failed.getCause();
            }
        }

        @Override
        public void unmap() {
            Unmapper.unmap(memory);
        }
    }
}
