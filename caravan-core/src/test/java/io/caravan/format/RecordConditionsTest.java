package io.caravan.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Violates each numbered condition of a valid record separately, in a frame whose checksum is not checked again. */
class RecordConditionsTest {
    private static final long LSN = 36_864;
    private static final int FIRST_RECORD = FrameLayout.HEADER_BYTES;
    private static final int SECOND_RECORD = FIRST_RECORD + RecordLayout.DELETE_BYTES;

    private static final RecordLayout.Visitor NO_ACTION = (lsn, id, sequence, entryLsn, buffer, entryAt, length) -> {};

    /** Edits a frame with a deletion and an append of a value of 5 bytes, and then walks its records. */
    private static void walkEdited(Consumer<ByteBuffer> edit) {
        ByteBuffer frame = ByteBuffer.allocate(256).order(ByteOrder.LITTLE_ENDIAN);
        int at = FrameLayout.HEADER_BYTES;
        RecordLayout.putDelete(frame, at, 1);
        RecordLayout.putAppend(frame, at + RecordLayout.DELETE_BYTES, 1, 0, 7, 5);
        int payload = RecordLayout.DELETE_BYTES + RecordLayout.appendBytes(5);
        FrameLayout.seal(frame, FrameLayout.MAGIC_VALUE, -5, LSN, 1, FrameLayout.Link.NONE, payload, 2);
        edit.accept(frame);
        RecordLayout.forEachInFrame(frame, 0, LSN, NO_ACTION);
    }

    private static void assertInvalid(int recordAt, String problem, Consumer<ByteBuffer> edit) {
        assertThatExceptionOfType(InvalidRecordException.class)
                .isThrownBy(() -> walkEdited(edit))
                .withMessageContaining(problem)
                .satisfies(invalid -> assertThat(invalid.lsn()).isEqualTo(LSN + recordAt));
    }

    @Test
    void condition1HeadFitsFrame() {
        for (int bytes = 1; bytes < RecordLayout.DELETE_BYTES; bytes++) {
            int payload = RecordLayout.DELETE_BYTES + bytes;
            assertInvalid(SECOND_RECORD, "cut off", frame -> frame.putInt(FrameLayout.PAYLOAD_BYTES, payload));
        }
    }

    @Test
    void condition2TypeIsKnown() {
        for (int type : new int[] {0, 5, -1, Integer.MAX_VALUE}) {
            assertInvalid(
                    FIRST_RECORD,
                    "unknown record type " + type,
                    frame -> frame.putInt(FIRST_RECORD + RecordLayout.TYPE, type));
        }
    }

    /**
     * Checks that a record with a wrong length is rejected: a length of zero would repeat the record forever, a
     * negative length would move backward, and a large length would leave the buffer.
     */
    @Test
    void condition3LengthMatchesType() {
        for (int bytes : new int[] {0, -8, 8, 24, 4096, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            for (int record : new int[] {FIRST_RECORD, SECOND_RECORD}) {
                assertInvalid(
                        record,
                        "bytes long, should be",
                        frame -> frame.putInt(record + RecordLayout.RECORD_BYTES, bytes));
            }
        }
    }

    @Test
    void condition3ValueLengthFitsFrame() {
        int lengthAt = SECOND_RECORD + RecordLayout.ENTRY + EntryLayout.LENGTH;
        for (int length : new int[] {-1, 9, Region.MAX_LENGTH, Region.MAX_LENGTH + 1, Integer.MAX_VALUE}) {
            assertInvalid(SECOND_RECORD, "does not fit its frame", frame -> frame.putInt(lengthAt, length));
        }
        int payload = RecordLayout.DELETE_BYTES + RecordLayout.TRIM_BYTES;
        assertInvalid(
                SECOND_RECORD, "does not fit its frame", frame -> frame.putInt(FrameLayout.PAYLOAD_BYTES, payload));
    }

    @Test
    void rejectsFrameWithWrongRecordCount() {
        for (int records : new int[] {0, 1, 3, -1}) {
            assertInvalid(0, "has 2 records", frame -> frame.putInt(FrameLayout.RECORD_COUNT, records));
        }
    }
}
