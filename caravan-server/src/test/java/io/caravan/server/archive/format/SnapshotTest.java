package io.caravan.server.archive.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.ClosedByInterruptException;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class SnapshotTest {
    private static final int BLOCK = SnapshotLayout.MAX_BLOCK_BYTES;

    private final Random random = new Random(1);

    private static byte[] roundTrip(long first, List<byte[]> values) throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Generation written = Snapshots.write(out, Snapshots.header(first, first + values.size()), values);
        Snapshots.Content read = Snapshots.read(out.toByteArray());
        assertThat(read.header()).isEqualTo(Snapshots.header(first, first + values.size()));
        assertThat(read.values()).containsExactlyElementsOf(values);
        assertThat(written.valueBytes())
                .isEqualTo(values.stream().mapToLong(v -> v.length).sum());
        assertThat(written.objectBytes()).isEqualTo(out.size());
        assertThat(written.sha256())
                .isEqualTo(HexFormat.of()
                        .formatHex(MessageDigest.getInstance("SHA-256").digest(out.toByteArray())));
        return out.toByteArray();
    }

    @Test
    void roundTripsDocumentWithoutValues() throws Exception {
        roundTrip(0, List.of());
        roundTrip(Long.MAX_VALUE, List.of());
    }

    @Test
    void roundTripsEmptyValues() throws Exception {
        roundTrip(0, List.of(new byte[0]));
        roundTrip(3, List.of(new byte[0], new byte[0], new byte[] {1}, new byte[0]));
    }

    @Test
    void keepsSequencesOfTrimmedDocument() throws Exception {
        roundTrip(500, List.of(new byte[] {1}, new byte[] {2}));
    }

    @Test
    void compressesManySmallValues() throws Exception {
        List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < 20_000; i++) {
            values.add(Snapshots.edit(random, random.nextInt(300)));
        }
        assertThat(roundTrip(17, values)).hasSizeLessThan(1_000_000);
    }

    @Test
    void incompressibleValuesAddLittleOverhead() throws Exception {
        List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            values.add(Snapshots.noise(random, 50_000));
        }
        assertThat(roundTrip(0, values)).hasSizeLessThan(5_000_000 + 100 * 8 + 20 * 16 + 500);
    }

    @Test
    void roundTripsValuesNearBlockLength() throws Exception {
        List<byte[]> values = new ArrayList<>();
        for (int length = BLOCK - 9; length <= BLOCK + 9; length++) {
            values.add(length % 2 == 0 ? Snapshots.noise(random, length) : Snapshots.edit(random, length));
        }
        roundTrip(0, values);
    }

    /** Entries whose length, checksum, or value crosses a block boundary must survive writing and reading. */
    @Test
    void roundTripsEntriesAcrossBlockBoundary() throws Exception {
        for (int shift = 0; shift <= 2 * SnapshotLayout.ENTRY_HEADER_BYTES; shift++) {
            byte[] filling = Snapshots.noise(random, BLOCK - 2 * SnapshotLayout.ENTRY_HEADER_BYTES - shift + 8);
            roundTrip(0, List.of(filling, new byte[] {1, 2, 3}, new byte[0], new byte[] {4}));
        }
    }

    @Test
    @Tag("slow")
    void roundTripsLongestValues() throws Exception {
        roundTrip(9, List.of(Snapshots.noise(random, SnapshotLayout.MAX_VALUE_BYTES), new byte[] {1}));
        roundTrip(9, List.of(new byte[SnapshotLayout.MAX_VALUE_BYTES], new byte[] {1}));
    }

    @Test
    void acceptsDirectAndReadOnlyBuffersUnchanged() throws Exception {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        SnapshotWriter writer = new SnapshotWriter(out, Snapshots.header(0, 2));
        ByteBuffer direct =
                ByteBuffer.allocateDirect(10).put(3, (byte) 7).position(3).limit(5);
        ByteBuffer readOnly =
                ByteBuffer.wrap(new byte[] {1, 2, 3, 4}).position(1).asReadOnlyBuffer();
        writer.add(0, direct);
        writer.add(1, readOnly);
        writer.finish(Snapshots.OBJECT);
        assertThat(direct.remaining()).isEqualTo(2);
        assertThat(readOnly.remaining()).isEqualTo(3);
        assertThat(Snapshots.read(out.toByteArray()).values()).containsExactly(new byte[] {7, 0}, new byte[] {2, 3, 4});
    }

    @Test
    void writerAcceptsOnlySequencesOfHeader() throws Exception {
        SnapshotWriter writer = new SnapshotWriter(new ByteArrayOutputStream(), Snapshots.header(5, 7));
        ByteBuffer value = ByteBuffer.allocate(1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> writer.add(4, value))
                .withMessageContaining("given 4 instead of 5");
        writer.add(5, value);
        assertThatIllegalArgumentException().isThrownBy(() -> writer.add(5, value));
        assertThatIllegalStateException()
                .isThrownBy(() -> writer.finish(Snapshots.OBJECT))
                .withMessageContaining("ended before 6");
        writer.add(6, value);
        assertThatIllegalArgumentException().isThrownBy(() -> writer.add(7, value));
        assertThat(writer.finish(Snapshots.OBJECT).valueBytes()).isEqualTo(2);
    }

    @Test
    void writerRejectsOversizedValueAndInvalidRange() throws Exception {
        SnapshotWriter writer = new SnapshotWriter(new ByteArrayOutputStream(), Snapshots.header(0, 1));
        ByteBuffer tooLong = ByteBuffer.allocate(SnapshotLayout.MAX_VALUE_BYTES + 1);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> writer.add(0, tooLong))
                .withMessageContaining("67108864 bytes at 0");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new SnapshotWriter(new ByteArrayOutputStream(), Snapshots.header(2, 1)))
                .withMessageContaining("sequences from 2 to before 1");
    }

    /** A stream that fails after some bytes, as the stream of an object store can. */
    private static final class FailingStream extends InputStream {
        private final byte[] bytes;
        private final Exception failure;
        private int at;
        private boolean closed;

        FailingStream(byte[] bytes, Exception failure) {
            this.bytes = bytes;
            this.failure = failure;
        }

        @Override
        public int read() throws IOException {
            if (at == bytes.length && failure instanceof RuntimeException unchecked) {
                throw unchecked;
            }
            if (at == bytes.length) {
                throw (IOException) failure;
            }
            return bytes[at++];
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @Test
    void propagatesObjectStoreExceptionUnchanged() {
        ObjectStoreException denied = new ObjectStoreException(Kind.DENIED, "no", null);
        FailingStream stream = new FailingStream(new byte[5], denied);
        assertThatExceptionOfType(ObjectStoreException.class)
                .isThrownBy(() -> SnapshotReader.open(stream, Snapshots.OBJECT))
                .isSameAs(denied);
        assertThat(stream.closed).isTrue();
    }

    @Test
    void otherStreamFailureNamesObject() {
        FailingStream stream = new FailingStream(new byte[5], new IOException("broken pipe"));
        assertThatExceptionOfType(ObjectStoreException.class)
                .isThrownBy(() -> SnapshotReader.open(stream, Snapshots.OBJECT))
                .withMessageContaining(Snapshots.OBJECT)
                .withMessageEndingWith(" cannot be read after byte 0: broken pipe")
                .satisfies(problem -> assertThat(problem.kind()).isEqualTo(Kind.UNAVAILABLE));
    }

    @Test
    void reportsInterruptedRead() {
        for (IOException interrupt : List.of(new ClosedByInterruptException(), new InterruptedIOException("read"))) {
            assertThatExceptionOfType(ObjectStoreException.class)
                    .isThrownBy(() -> SnapshotReader.open(new FailingStream(new byte[5], interrupt), Snapshots.OBJECT))
                    .withMessageEndingWith(": interrupted")
                    .withCause(interrupt);
        }
    }

    @Test
    void namesFailureWithoutMessage() {
        FailingStream stream = new FailingStream(new byte[5], new AsynchronousCloseException());
        assertThatExceptionOfType(ObjectStoreException.class)
                .isThrownBy(() -> SnapshotReader.open(stream, Snapshots.OBJECT))
                .withMessageEndingWith(": java.nio.channels.AsynchronousCloseException");
    }
}
