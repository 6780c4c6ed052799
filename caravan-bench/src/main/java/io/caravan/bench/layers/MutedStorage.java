package io.caravan.bench.layers;

import io.caravan.bench.ForwardingStorage;
import io.caravan.format.Blocks;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A storage that takes frames of the log and forces of its files, and does nothing. What is left of a store on it is of
 * no use. Headers are written, as they are read back; mappings, into which values are copied, work as ever.
 */
final class MutedStorage extends ForwardingStorage {
    private static final String LOG_PREFIX = "log-";

    MutedStorage(Storage storage) {
        super(storage);
    }

    @Override
    protected StoreFile standIn(String name, StoreFile file) {
        return name.startsWith(LOG_PREFIX) ? new MutedLogFile(file) : file;
    }

    private static final class MutedLogFile extends ForwardingFile {
        MutedLogFile(StoreFile file) {
            super(file);
        }

        @Override
        public void write(ByteBuffer source, long position) throws IOException {
            if (position < Blocks.BLOCK_BYTES) {
                super.write(source, position);
            } else {
                source.position(source.limit());
            }
        }

        @Override
        public void force() {
            // As if the disk were done at once.
        }
    }
}
