package io.caravan.wal;

import io.caravan.format.FileNames;
import io.caravan.format.ForcedLsnLayout;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * Up to where the log was forced when the process ended, however it ended. It is written after each force and before
 * anybody is told, and is itself never forced: the operating system's memory outlives a process, and when that is lost
 * too, what can be read of the log comes from the disk. {@link ForcedLsnLayout} tells the two apart.
 */
final class ForcedLsn implements AutoCloseable {
    private final StoreFile file;
    private final long storeId;
    private final UUID boot;
    private final ByteBuffer bytes =
            ByteBuffer.allocateDirect(ForcedLsnLayout.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final long lsn;

    private ForcedLsn(StoreFile file, long storeId, UUID boot) throws IOException {
        this.file = file;
        this.storeId = storeId;
        this.boot = boot;
        file.read(bytes, 0);
        this.lsn = ForcedLsnLayout.lsn(bytes.clear(), storeId, boot);
    }

    static ForcedLsn open(Storage storage, long storeId) throws IOException {
        boolean there = storage.list().contains(FileNames.FORCED_LSN);
        StoreFile file = there
                ? storage.open(FileNames.FORCED_LSN)
                : storage.create(FileNames.FORCED_LSN, ForcedLsnLayout.BYTES);
        try {
            return new ForcedLsn(file, storeId, storage.bootId());
        } catch (IOException | RuntimeException failed) {
            file.close();
            throw failed;
        }
    }

    /** Up to where what could be read of the log was on the disk when this was opened. */
    long lsn() {
        return lsn;
    }

    /** The log is forced up to here. */
    void put(long forcedLsn) throws IOException {
        ForcedLsnLayout.put(bytes.clear(), storeId, boot, forcedLsn);
        file.write(bytes, 0);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
