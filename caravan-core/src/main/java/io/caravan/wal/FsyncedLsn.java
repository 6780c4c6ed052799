package io.caravan.wal;

import io.caravan.format.FileNames;
import io.caravan.format.FsyncedLsnLayout;
import io.caravan.io.Storage;
import io.caravan.io.StoreFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.UUID;

/**
 * The position up to which the log was fsynced when the process ended. It is written to a file after each fsync and
 * before any write is acknowledged, but the file is never fsynced: the page cache outlives the process. If the page
 * cache is lost as well, the readable log comes from the disk anyway. {@link FsyncedLsnLayout} distinguishes the two
 * cases.
 */
final class FsyncedLsn implements AutoCloseable {
    private final StoreFile file;
    private final long storeId;
    private final UUID boot;
    private final ByteBuffer bytes =
            ByteBuffer.allocateDirect(FsyncedLsnLayout.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    private final long lsn;

    private FsyncedLsn(StoreFile file, long storeId, UUID boot) throws IOException {
        this.file = file;
        this.storeId = storeId;
        this.boot = boot;
        file.read(bytes, 0);
        this.lsn = FsyncedLsnLayout.lsn(bytes.clear(), storeId, boot);
    }

    static FsyncedLsn open(Storage storage, long storeId) throws IOException {
        boolean there = storage.list().contains(FileNames.FORCED_LSN);
        StoreFile file = there
                ? storage.open(FileNames.FORCED_LSN)
                : storage.create(FileNames.FORCED_LSN, FsyncedLsnLayout.BYTES);
        try {
            return new FsyncedLsn(file, storeId, storage.bootId());
        } catch (IOException | RuntimeException failed) {
            file.close();
            throw failed;
        }
    }

    /** Returns the position up to which the readable log was on disk when the file was opened. */
    long lsn() {
        return lsn;
    }

    /** Records that the log is fsynced up to this position. */
    void put(long forcedLsn) throws IOException {
        FsyncedLsnLayout.put(bytes.clear(), storeId, boot, forcedLsn);
        file.write(bytes, 0);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
