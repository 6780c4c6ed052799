package io.caravan;

import static io.caravan.testing.StoreCalls.append;
import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.caravan.testing.ListStoreContract;
import io.caravan.testing.Tellings;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract on a disk, with buffers and segments so small that every test goes through many of them. */
class DurableListStoreTest extends ListStoreContract {
    private static final int KIB = 1024;
    private static final int MAX_VALUE_BYTES = 8 * KIB;
    private static final int LOG_BUFFER_BYTES = 16 * KIB;

    @TempDir
    private Path directory;

    @Override
    protected ListStore open() {
        return DurableListStore.open(StoreConfig.builder(directory)
                .maxValueBytes(MAX_VALUE_BYTES)
                .logBufferBytes(LOG_BUFFER_BYTES)
                .logSegmentBytes(64 * KIB)
                .heapSegmentBytes(64 * KIB)
                .checkpointFloorBytes(128 * KIB)
                .build());
    }

    @Override
    public boolean durable() {
        return true;
    }

    @Override
    protected ListStore reopen(ListStore closed) {
        return open();
    }

    @Override
    protected void verify(ListStore closed) {
        VerifyReport report = DurableListStore.verify(directory, VerifyReport.Progress.NONE);
        assertThat(report.faults()).isEmpty();
    }

    @Override
    public int maxValueBytes() {
        return MAX_VALUE_BYTES;
    }

    @Test
    void aBatchOverTheLogBufferIsRefusedAndChangesNothing() {
        append(store(), 1, "a");
        WriteBatch batch = WriteBatch.create().delete(1);
        for (int i = 0; i < 3; i++) {
            batch.append(2, bytes(MAX_VALUE_BYTES, i));
        }
        Tellings tellings = new Tellings();
        assertThatExceptionOfType(ValueTooLargeException.class)
                .isThrownBy(() -> store().write(batch, tellings.callback(1)));
        assertThat(append(store(), 1, "b")).isEqualTo(1);
        assertThat(texts(store(), 1)).containsExactly("0:a", "1:b");
        assertThat(store().info(2)).isNull();
        assertThat(tellings.all()).isEmpty();
    }
}
