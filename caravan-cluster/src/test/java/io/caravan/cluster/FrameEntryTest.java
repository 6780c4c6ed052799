package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.caravan.format.FrameLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Tests of the encoding of frames as entries of the Raft log. */
final class FrameEntryTest {
    private static final String PLACE = "(t:1, i:7)";
    private static final int HEAD_BYTES = 24;

    private static ByteBuffer frame() {
        ByteBuffer frame = ByteBuffer.allocate(100).order(ByteOrder.LITTLE_ENDIAN);
        return frame.putInt(FrameLayout.MAGIC, FrameLayout.MAGIC_BEHIND_UNFORCED)
                .putLong(FrameLayout.LSN, 8192);
    }

    @Test
    void decodesEncodedEntry() {
        FrameEntry entry = new FrameEntry(frame(), 32 << 20);
        assertThat(FrameEntry.decode(PLACE, ByteBuffer.wrap(entry.encode()))).isEqualTo(entry);
        assertThat(FrameEntry.lsn(frame())).isEqualTo(8192);
        assertThat(FrameEntry.endLsn(frame())).isEqualTo(8292);
    }

    @Test
    void rejectsDamagedEntry() {
        byte[] whole = new FrameEntry(frame(), 32 << 20).encode();
        for (int at = 0; at < HEAD_BYTES; at++) {
            byte[] damaged = whole.clone();
            damaged[at] ^= 1;
            assertRejected(ByteBuffer.wrap(damaged), "is damaged, or was written by a later version");
        }
        assertRejected(ByteBuffer.wrap(whole, 0, HEAD_BYTES + 10), "is damaged");
        assertRejected(ByteBuffer.wrap(whole, 0, 2), "is damaged");
    }

    @Test
    void rejectsNewerFormatLevel() {
        ByteBuffer later =
                ByteBuffer.wrap(new FrameEntry(frame(), 32 << 20).encode()).order(ByteOrder.LITTLE_ENDIAN);
        later.putInt(4, FrameEntry.FORMAT_LEVEL + 1);
        CRC32C crc = new CRC32C();
        crc.update(later.slice(0, HEAD_BYTES - 4));
        later.putInt(HEAD_BYTES - 4, (int) crc.getValue());
        assertRejected(
                later,
                "has format level " + (FrameEntry.FORMAT_LEVEL + 1) + ", but this node reads only levels up to "
                        + FrameEntry.FORMAT_LEVEL);
    }

    private static void assertRejected(ByteBuffer entry, String why) {
        assertThatIllegalStateException()
                .isThrownBy(() -> FrameEntry.decode(PLACE, entry))
                .withMessageContaining("entry " + PLACE + " of the Raft group " + why);
    }
}
