package io.caravan.engine;

import static io.caravan.engine.FaultyStore.HEAP;
import static io.caravan.engine.FaultyStore.LOG;
import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.entry;

import io.caravan.CorruptStoreException;
import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.heap.HeapFile;
import io.caravan.heap.HeapGeometry;
import io.caravan.testing.MemoryStorage;
import io.caravan.wal.LogGeometry;
import io.caravan.wal.LogSegments;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a damaged value in the log: the checkpoint that moves it reports the place of the damage and continues. */
class RotInTheLogTest {
    private static final LogGeometry LOG_GEOMETRY = new LogGeometry(1 << 20);
    private static final HeapGeometry HEAP_GEOMETRY = new HeapGeometry(1 << 20);
    private static final long LSN = LOG_GEOMETRY.firstFrame(1) + 64;
    /** The length of a value that takes more than one copy step. */
    private static final int LENGTH = 500_001;

    @Test
    void checkpointMovesOtherValuesAndReportsDamageOnce() throws Exception {
        try (FaultyStore store = FaultyStore.open()) {
            append(store.engine, 1, "before");
            append(store.engine, 1, "it rots");
            append(store.engine, 1, "behind");
            FaultyStore.Place location = store.find(LOG, bytes("it rots"));
            store.disk.bytes(location.file()).put(location.offset(), (byte) '!');

            store.engine.checkpoint();
            assertThat(store.engine.stats().failures()).isOne();
            assertThat(texts(store.engine, 1, 2)).containsExactly("2:behind");
            assertThatExceptionOfType(CorruptStoreException.class)
                    .isThrownBy(() -> texts(store.engine, 1))
                    .matches(found -> found.file().matches("memory/" + HEAP) && found.sequence() == 1);

            store.engine.checkpoint();
            assertThat(store.engine.stats().failures()).as("reported once").isOne();
        }
    }

    /** Moves an entry with one changed byte to the heap, and returns the damage that the move reports. */
    private static CorruptStoreException moved(int changed) throws IOException {
        MemoryStorage disk = new MemoryStorage();
        try (LogSegments log = new LogSegments(disk, LOG_GEOMETRY, 7);
                HeapFile heap = new HeapFile(disk, HEAP_GEOMETRY, 7)) {
            log.prepareNext();
            log.prepareNext();
            heap.createNext();
            ByteBuffer entry =
                    ByteBuffer.allocate(EntryLayout.entryBytes(LENGTH)).order(ByteOrder.LITTLE_ENDIAN);
            entry.putInt(EntryLayout.LENGTH, LENGTH);
            byte[] value = bytes(LENGTH, 3);
            entry.put(EntryLayout.VALUE, value);
            entry.putInt(EntryLayout.CHECKSUM, EntryLayout.checksum(Checksums.crc32c(value), LENGTH, 1, 2, 3));
            entry.put(changed, (byte) (entry.get(changed) ^ 4));
            log.file(1).write(entry, LOG_GEOMETRY.offsetOf(LSN));

            LogEvacuation.EntryMove move = new LogEvacuation.EntryMove(heap, log);
            move.start();
            move.copy(LSN, LENGTH, HEAP_GEOMETRY.firstAddress(0), 1, 2, 3);
            var damaged = move.finish();
            ByteBuffer copied = ByteBuffer.allocate(entry.capacity());
            disk.open(heap.path(HEAP_GEOMETRY.firstAddress(0)).replaceAll(".*/", ""))
                    .read(copied, HEAP_GEOMETRY.offsetOf(HEAP_GEOMETRY.firstAddress(0)));
            assertThat(copied.array()).as("as it is").isEqualTo(entry.array());
            return damaged.isEmpty() ? null : damaged.get(0);
        }
    }

    @ParameterizedTest
    @CsvSource({"0", "3", "4", "7", "8", "300000", "500008"})
    void moveReportsLogPositionOfDamagedEntry(int changed) throws Exception {
        assertThat(moved(changed)).isInstanceOfSatisfying(CorruptStoreException.class, found -> {
            assertThat(found.file()).contains("log-0000000000000001.wal");
            assertThat(found.offset()).isEqualTo(LOG_GEOMETRY.offsetOf(LSN));
            assertThat(entry(found.id(), found.sequence())).isEqualTo(entry(1L, 3L));
        });
    }

    /** Checks that damage in the padding after a value is not reported, because the padding has no meaning. */
    @Test
    void moveIgnoresDamageInPadding() throws Exception {
        assertThat(moved(EntryLayout.entryBytes(LENGTH) - 1)).isNull();
    }
}
