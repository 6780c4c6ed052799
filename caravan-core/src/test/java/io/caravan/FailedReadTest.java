package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.format.FileNames;
import io.caravan.testing.LongTimeout;
import io.caravan.testing.StoreCalls;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

/**
 * Checks that a failed read of a mapped log segment is reported by the read that fails, even if the JVM has compiled the
 * code that reads. The test cuts off the end of a segment, whose mapped pages then cannot be read.
 */
@LongTimeout
@EnabledOnOs(OS.LINUX)
class FailedReadTest {
    private static final int LISTS = 500;
    private static final int APPENDS = 20_000;
    /** Number of reads after which the JVM has compiled the code that reads. */
    private static final int READS = 5_000;

    private static final int READABLE_BYTES = 1 << 20;

    @TempDir
    private Path directory;

    @Test
    void readsAndCheckpointReportUnreadablePages() throws IOException {
        StoreConfig config = StoreConfig.builder(directory)
                .durability(Durability.PROCESS)
                .logSegmentBytes(4 << 20)
                .logBufferBytes(2 << 20)
                .build();
        try (ListStore store = DurableListStore.open(config)) {
            for (int i = 0; i < APPENDS; i++) {
                store.append(1 + i % LISTS, value(i), StoreCalls.NO_CALLBACK);
            }
            store.flush();
            for (int i = 0; i < READS; i++) {
                assertThat(store.read(1 + i % LISTS)).hasSize(APPENDS / LISTS);
            }
            Path segment = directory.resolve(FileNames.LOG.of(0));
            byte[] bytes = Files.readAllBytes(segment);
            try (FileChannel file = FileChannel.open(segment, StandardOpenOption.WRITE)) {
                file.truncate(READABLE_BYTES);
            }
            for (long id = 1; id <= LISTS; id++) {
                long list = id;
                assertThatExceptionOfType(CorruptStoreException.class)
                        .isThrownBy(() -> store.read(list))
                        .withMessageContaining("cannot be read");
            }
            assertThatExceptionOfType(StoreIoException.class)
                    .isThrownBy(store::checkpoint)
                    .withMessageContaining("cannot be read");
            Files.write(segment, bytes, StandardOpenOption.WRITE);
            store.checkpoint();
            for (int i = 0; i < APPENDS; i++) {
                Entry entry = store.readOne(1 + i % LISTS, i / LISTS);
                assertThat(entry.value()).isEqualTo(value(i));
            }
        }
    }

    private static byte[] value(int number) {
        return StoreCalls.bytes(200 + number % 50, number);
    }
}
