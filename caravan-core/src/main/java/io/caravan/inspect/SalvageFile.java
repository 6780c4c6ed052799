package io.caravan.inspect;

import io.caravan.SalvageReport.Loss;
import io.caravan.format.Blocks;
import io.caravan.io.MappedFile;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Consumer;

/** A file of a damaged store. A block that the disk cannot read is reported once, and read as zeros. */
record SalvageFile(StoreFile file, Consumer<Loss> losses, Set<Long> reported) implements StoreFile {
    SalvageFile(StoreFile file, Consumer<Loss> losses) {
        this(file, losses, new HashSet<>());
    }

    @Override
    public int read(ByteBuffer target, long position) throws IOException {
        int start = target.position();
        try {
            return file.read(target, position);
        } catch (IOException unreadable) {
            target.position(start);
        }
        int count = (int) Math.max(0, Math.min(target.remaining(), file.size() - position));
        int done = 0;
        while (done < count) {
            long at = position + done;
            int bytes = (int) Math.min(Blocks.BLOCK_BYTES - at % Blocks.BLOCK_BYTES, count - done);
            readBlock(target.slice(start + done, bytes), at);
            done += bytes;
        }
        target.position(start + count);
        return count;
    }

    private void readBlock(ByteBuffer target, long position) {
        try {
            file.read(target, position);
        } catch (IOException unreadable) {
            target.clear().put(new byte[target.capacity()]);
            if (reported.add(position / Blocks.BLOCK_BYTES)) {
                losses.accept(
                        Loss.of(path() + " at offset " + position + ": cannot be read: " + unreadable.getMessage()));
            }
        }
    }

    @Override
    public String path() {
        return file.path();
    }

    @Override
    public long size() throws IOException {
        return file.size();
    }

    @Override
    public void write(ByteBuffer source, long position) {
        throw onlyRead();
    }

    @Override
    public void force() {
        throw onlyRead();
    }

    @Override
    public MappedFile map() {
        throw onlyRead();
    }

    private UnsupportedOperationException onlyRead() {
        return new UnsupportedOperationException(path() + " is only read");
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
