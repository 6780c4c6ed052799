package io.caravan.bench.layers;

import io.caravan.bench.ForwardingStorage;
import io.caravan.format.Blocks;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A storage that ignores writes of log frames and forces of the log's files. A store on it cannot be reopened. Headers
 * are written, because they are read back.
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
            // As if the disk had finished immediately.
        }
    }
}
