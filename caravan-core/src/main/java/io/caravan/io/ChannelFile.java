package io.caravan.io;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.OpenOption;
import java.nio.file.Path;

/** A {@link StoreFile} over a {@link FileChannel}. */
final class ChannelFile implements StoreFile {
    private final Path path;
    private final FileChannel channel;

    ChannelFile(Path path, FileChannel channel) {
        this.path = path;
        this.channel = channel;
    }

    static ChannelFile open(Path path, OpenOption... options) throws IOException {
        return new ChannelFile(path, FileChannel.open(path, options));
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
        // fdatasync also makes an increased size durable, because reading the data depends on it.
        channel.force(false);
    }

    @Override
    public MappedFile map() throws IOException {
        return FileMapping.of(channel);
    }

    @Override
    public void close() throws IOException {
        channel.close();
    }
}
