package io.caravan.server.archive.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.github.luben.zstd.Zstd;
import io.caravan.catalog.DocumentName;
import io.caravan.fuzz.MemoryUse;
import io.caravan.server.archive.format.ArchiveException.Reason;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that readers detect damaged objects, and allocate no memory for a length greater than the object's. */
class DamageTest {
    /**
     * The position of the first block, after the header that {@link Snapshots} writes: a name of 3 bytes and an
     * attribute of 1+12+2+10 bytes.
     */
    private static final int BLOCK_AT = SnapshotLayout.HEADER_BYTES + 3 + 25;

    private static final int ENTRY_AT = BLOCK_AT + SnapshotLayout.BLOCK_HEADER_BYTES;

    /** Values that fill one block with noise, which is stored uncompressed, and the next one with zeros. */
    private static final List<byte[]> VALUES =
            List.of(Snapshots.noise(new Random(1), SnapshotLayout.MAX_BLOCK_BYTES - 8), new byte[0], new byte[300]);

    private static final byte[] SMALL = Snapshots.of(500, List.of(new byte[] {1, 2}, new byte[0], new byte[] {3}));

    /** An archive object and the function that reads it. */
    private record Kind(String name, byte[] object, Consumer<byte[]> reader) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Kind> kinds() {
        DocumentName name = DocumentName.of("doc");
        return Stream.of(
                new Kind("stored snapshot", SMALL, Snapshots::read),
                new Kind("compressed snapshot", Snapshots.of(0, List.of(new byte[400])), Snapshots::read),
                new Kind("empty snapshot", Snapshots.of(0, List.of()), Snapshots::read),
                new Kind(
                        "manifest",
                        ManifestTest.manifest(name).encode(),
                        bytes -> Manifest.decode(bytes, Snapshots.OBJECT)),
                new Kind(
                        "root",
                        new ArchiveRoot(Snapshots.STORE, 1, "me", 5).encode(),
                        bytes -> ArchiveRoot.decode(bytes, Snapshots.OBJECT)));
    }

    private static ThrowableAssertAlternative<ArchiveException> assertCorrupt(Kind kind, byte[] damaged, String what) {
        return assertThatExceptionOfType(ArchiveException.class)
                .as(what)
                .isThrownBy(() -> kind.reader.accept(damaged))
                .withMessageStartingWith(Snapshots.OBJECT)
                .satisfies(rejection -> assertThat(rejection.reason()).isEqualTo(Reason.CORRUPT));
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void detectsEveryFlippedBit(Kind kind) {
        for (int at = 0; at < kind.object.length; at++) {
            for (int bit = 0; bit < Byte.SIZE; bit++) {
                byte[] damaged = kind.object.clone();
                damaged[at] ^= (byte) (1 << bit);
                assertCorrupt(kind, damaged, "bit " + bit + " of byte " + at);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void detectsEveryLostByte(Kind kind) {
        for (int at = 0; at < kind.object.length; at++) {
            for (byte lost : new byte[] {0, -1}) {
                byte[] damaged = kind.object.clone();
                damaged[at] = lost;
                if (!Arrays.equals(damaged, kind.object)) {
                    assertCorrupt(kind, damaged, "byte " + at + " as " + lost);
                }
            }
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void reportsEveryTruncation(Kind kind) {
        for (int length = 0; length < kind.object.length; length++) {
            assertCorrupt(kind, Arrays.copyOf(kind.object, length), "cut at " + length)
                    .withMessageContaining("cut off");
        }
    }

    @ParameterizedTest
    @MethodSource("kinds")
    void detectsTrailingBytes(Kind kind) {
        assertCorrupt(kind, Arrays.copyOf(kind.object, kind.object.length + 1), "a zero behind");
        byte[] twice = Arrays.copyOf(kind.object, 2 * kind.object.length);
        System.arraycopy(kind.object, 0, twice, kind.object.length, kind.object.length);
        assertCorrupt(kind, twice, "all of it again");
    }

    @Test
    void reportsNewerSnapshotVersion() {
        assertThatExceptionOfType(ArchiveException.class)
                .isThrownBy(() -> Snapshots.read(Forgery.with(SMALL, SnapshotLayout.VERSION, 2)))
                .withMessageStartingWith(Snapshots.OBJECT + " has format version 2, and this release reads version 1")
                .satisfies(rejection -> assertThat(rejection.reason()).isEqualTo(Reason.VERSION));
    }

    @Test
    void reportsPositionOfDamage() {
        byte[] damaged = SMALL.clone();
        damaged[ENTRY_AT + SnapshotLayout.ENTRY_HEADER_BYTES] ^= 1;
        assertThatExceptionOfType(ArchiveException.class)
                .isThrownBy(() -> Snapshots.read(damaged))
                .withMessageContaining("at byte " + (SMALL.length - SnapshotLayout.FOOTER_BYTES))
                .withMessageContaining("document 'doc'")
                .withMessageContaining("sequence 500")
                .withMessageContaining("checksum is wrong");
    }

    @Test
    void detectsSwappedValues() {
        byte[] object = Snapshots.of(0, List.of(new byte[] {1}, new byte[] {2}));
        int entryBytes = SnapshotLayout.ENTRY_HEADER_BYTES + 1;
        byte[] swapped = object.clone();
        System.arraycopy(object, ENTRY_AT, swapped, ENTRY_AT + entryBytes, entryBytes);
        System.arraycopy(object, ENTRY_AT + entryBytes, swapped, ENTRY_AT, entryBytes);
        assertCorrupt(new Kind("", swapped, Snapshots::read), Forgery.withBlocksSealed(swapped), "swapped")
                .withMessageContaining("sequence 0: the value's checksum is wrong");
    }

    /** A number to write into a snapshot with correct checksums, and the problem that a reader must report. */
    private record Lie(int at, int number, String problem) {
        @Override
        public String toString() {
            return number + " at " + at;
        }
    }

    static Stream<Lie> lies() {
        int footerAt = SMALL.length - SnapshotLayout.FOOTER_BYTES;
        return Stream.of(
                new Lie(SnapshotLayout.NAME_BYTES, 0xFFFF, "a name of 65535 bytes"),
                new Lie(SnapshotLayout.NAME_BYTES, 0, "a name of 0 bytes"),
                new Lie(SnapshotLayout.NAME_BYTES, 1025, "a name of 1025 bytes"),
                new Lie(SnapshotLayout.NAME_BYTES, 0xFFFF_0001, "attributes of 65535 bytes"),
                new Lie(SnapshotLayout.NAME_BYTES, 0x0001_0003, "attribute"),
                new Lie(SnapshotLayout.GENERATION, 0, "generation 0"),
                new Lie(SnapshotLayout.GENERATION + 4, -1, "generation -"),
                new Lie(SnapshotLayout.EPOCH + 4, -1, "epoch -"),
                new Lie(SnapshotLayout.TAKEN_AT + 4, -1, "taken at -"),
                new Lie(SnapshotLayout.FIRST_SEQUENCE, 504, "sequences from 504 to before 503"),
                new Lie(SnapshotLayout.FIRST_SEQUENCE + 4, -1, "sequences from -"),
                new Lie(SnapshotLayout.FIRST_SEQUENCE, 501, "more values than those before 503"),
                new Lie(SnapshotLayout.FIRST_SEQUENCE, 499, "must have those before 503"),
                new Lie(SnapshotLayout.NEXT_SEQUENCE + 4, Integer.MAX_VALUE, "its values end here"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_RAW_BYTES, 0, "its length is 0"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_RAW_BYTES, -1, "its length is -1"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_RAW_BYTES, Integer.MAX_VALUE, "its length is 2147483647"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_RAW_BYTES, 262_145, "its length is 262145"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_RAW_BYTES, 262_144, "27 bytes are stored of 262144"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_STORED_BYTES, Integer.MAX_VALUE, "bytes are stored of 27"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_STORED_BYTES, -1, "-1 bytes are stored"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_CODEC, 2, "its codec is 2"),
                new Lie(BLOCK_AT + SnapshotLayout.BLOCK_CODEC, SnapshotLayout.ZSTD, "does not decompress"),
                new Lie(ENTRY_AT, -1, "a value of -1 bytes"),
                new Lie(ENTRY_AT, Integer.MAX_VALUE, "a value of 2147483647 bytes"),
                new Lie(ENTRY_AT, SnapshotLayout.MAX_VALUE_BYTES + 1, "a value of 67108864 bytes"),
                new Lie(ENTRY_AT, SnapshotLayout.MAX_VALUE_BYTES, "its blocks end within a value"),
                new Lie(ENTRY_AT, 20, "its blocks end within a value"),
                new Lie(footerAt + SnapshotLayout.FOOTER_COUNT, 4, "its footer says 4 of 3"),
                new Lie(footerAt + SnapshotLayout.FOOTER_VALUE_BYTES, 4, "its footer says 3 of 4"));
    }

    @ParameterizedTest
    @MethodSource("lies")
    void rejectsForgedFieldsWithoutLargeAllocation(Lie lie) throws Exception {
        byte[] forged = Forgery.with(SMALL, lie.at, lie.number);
        MemoryUse.within(
                3 << 20,
                () -> assertThatExceptionOfType(ArchiveException.class)
                        .isThrownBy(() -> Snapshots.read(forged))
                        .withMessageContaining(lie.problem)
                        .satisfies(rejection -> assertThat(rejection.reason()).isEqualTo(Reason.CORRUPT)));
    }

    /** A reader must not decompress a block beyond its recorded length. The block decompresses to 64 MiB. */
    @Test
    void doesNotDecompressBlockBeyondItsLength() throws Exception {
        byte[] bomb = Zstd.compress(new byte[64 << 20]);
        byte[] object = Snapshots.of(0, List.of(Snapshots.noise(new Random(1), bomb.length)));
        ByteBuffer buffer = ByteBuffer.wrap(object).order(ByteOrder.LITTLE_ENDIAN);
        buffer.putInt(BLOCK_AT + SnapshotLayout.BLOCK_CODEC, SnapshotLayout.ZSTD);
        buffer.putInt(BLOCK_AT + SnapshotLayout.BLOCK_STORED_BYTES, bomb.length);
        buffer.put(ENTRY_AT, bomb);
        byte[] forged = Forgery.sealed(object);
        MemoryUse.within(
                3 << 20,
                () -> assertThatExceptionOfType(ArchiveException.class)
                        .isThrownBy(() -> Snapshots.read(forged))
                        .withMessageContaining("does not decompress"));
    }

    @Test
    void detectsDamageAnywhereInLargerSnapshot() {
        byte[] object = Snapshots.of(0, VALUES);
        Random random = new Random(2);
        Kind kind = new Kind("larger", object, Snapshots::read);
        for (int i = 0; i < 500; i++) {
            byte[] damaged = object.clone();
            int at = random.nextInt(object.length);
            damaged[at] ^= (byte) (1 << random.nextInt(Byte.SIZE));
            assertCorrupt(kind, damaged, "byte " + at);
        }
    }
}
