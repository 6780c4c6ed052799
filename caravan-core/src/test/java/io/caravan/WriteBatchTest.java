package io.caravan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class WriteBatchTest {

    @Test
    void newBatchIsEmpty() {
        assertThat(WriteBatch.create().operations()).isEmpty();
        assertThat(WriteBatch.create().expectations()).isEmpty();
    }

    @Test
    void keepsOrderOfOperationsAndExpectations() {
        byte[] value = {1, 2, 3};
        WriteBatch batch = WriteBatch.create()
                .expect(4, 0)
                .append(1, value)
                .delete(2)
                .expect(-1, Long.MAX_VALUE)
                .trimTo(3, 0)
                .trimTo(3, Long.MAX_VALUE);
        assertThat(batch.operations())
                .containsExactly(
                        new WriteBatch.Append(1, value),
                        new WriteBatch.Delete(2),
                        new WriteBatch.Trim(3, 0),
                        new WriteBatch.Trim(3, Long.MAX_VALUE));
        assertThat(batch.expectations())
                .containsExactly(new WriteBatch.Expectation(4, 0), new WriteBatch.Expectation(-1, Long.MAX_VALUE));
    }

    @Test
    void rejectedArgumentsLeaveBatchUnchanged() {
        WriteBatch batch = WriteBatch.create();
        assertThatNullPointerException().isThrownBy(() -> batch.append(1, null));
        assertThatIllegalArgumentException().isThrownBy(() -> batch.trimTo(1, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> batch.expect(1, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> batch.flushDelay(Duration.ofMillis(-1)));
        assertThatIllegalArgumentException().isThrownBy(() -> batch.flushDelay(Duration.ofSeconds(61)));
        assertThat(batch.operations()).isEmpty();
        assertThat(batch.expectations()).isEmpty();
        assertThat(batch.flushDelayNanos()).isEqualTo(WriteBatch.BY_POLICY);
    }

    @Test
    void keepsFlushDelayToNanosecond() {
        assertThat(WriteBatch.create().flushDelay(Duration.ofNanos(1)).flushDelayNanos())
                .isEqualTo(1);
        assertThat(WriteBatch.create().flushDelay(Duration.ofMinutes(1)).flushDelayNanos())
                .isEqualTo(60_000_000_000L);
    }

    @Test
    void operationsAndExpectationsAreUnmodifiable() {
        WriteBatch batch = WriteBatch.create().delete(1).expect(1, 0);
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> batch.operations().clear());
        assertThatExceptionOfType(UnsupportedOperationException.class)
                .isThrownBy(() -> batch.expectations().clear());
    }
}
