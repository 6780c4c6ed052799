package io.caravan.heap;

import static io.caravan.testing.StoreCalls.bytes;
import static io.caravan.testing.StoreCalls.copyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.caravan.CorruptStoreException;
import io.caravan.format.Checksums;
import io.caravan.format.EntryLayout;
import io.caravan.format.FileNames;
import io.caravan.format.Region;
import io.caravan.io.FileStorage;
import io.caravan.io.Storage;
import io.caravan.testing.FaultStorage;
import io.caravan.testing.MemoryStorage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the mapped heap file on a real file system. */
class HeapFileTest {
    private static final long STORE = 5;
    private static final long CREATION_LSN = 4144;
    private static final long GIB = 1L << 30;
    private static final HeapGeometry GEOMETRY = new HeapGeometry(32 * 1024);

    @TempDir
    Path directory;

    /** Returns an entry as it appears in a log record. */
    private static ByteBuffer entry(byte[] value, long id, long sequence) {
        ByteBuffer buffer =
                ByteBuffer.allocate(EntryLayout.entryBytes(value.length)).order(ByteOrder.LITTLE_ENDIAN);
        int checksum = EntryLayout.checksum(Checksums.crc32c(value), value.length, id, CREATION_LSN, sequence);
        buffer.putInt(EntryLayout.CHECKSUM, checksum).putInt(EntryLayout.LENGTH, value.length);
        return buffer.put(EntryLayout.VALUE, value);
    }

    private static void write(HeapFile heap, long address, byte[] value, long id) throws IOException {
        heap.write(address, entry(value, id, 0));
    }

    private static byte[] read(HeapFile heap, long address, int length, long id) {
        return copyOf(heap.read(Region.pack(address, length), id, CREATION_LSN, 0));
    }

    /** Creates a heap of this many segments. */
    private static HeapFile create(Storage storage, int segments) throws IOException {
        HeapFile heap = new HeapFile(storage, GEOMETRY, STORE);
        for (int i = 0; i < segments; i++) {
            heap.createNext();
        }
        return heap;
    }

    @Test
    void valuesAreReadableAfterReopening() throws Exception {
        try (Storage storage = FileStorage.open(directory, FileStorage.Access.WRITE, any -> {})) {
            HeapFile heap = create(storage, 2);
            write(heap, GEOMETRY.firstAddress(0), bytes("first"), 1);
            write(heap, 2 * 32 * 1024 - 24, bytes(16, 3), 2);
            heap.force();
        }
        try (Storage storage = FileStorage.open(directory, FileStorage.Access.WRITE, any -> {})) {
            HeapFile heap = new HeapFile(storage, GEOMETRY, STORE);
            heap.openNext();
            heap.openNext();
            assertThat(read(heap, GEOMETRY.firstAddress(0), 5, 1)).isEqualTo(bytes("first"));
            assertThat(read(heap, 2 * 32 * 1024 - 24, 16, 2)).isEqualTo(bytes(16, 3));
            assertThatThrownBy(() -> read(heap, GEOMETRY.firstAddress(0), 5, 9))
                    .isInstanceOfSatisfying(CorruptStoreException.class, problem -> {
                        assertThat(problem.file()).endsWith(FileNames.HEAP.of(0));
                        assertThat(problem.offset()).isEqualTo(4096);
                        assertThat(problem.id()).isEqualTo(9);
                        assertThat(problem.sequence()).isZero();
                    });
        }
    }

    /** Checks that a segment without entries survives a power cut. */
    @Test
    void newSegmentSurvivesPowerCut() throws Exception {
        MemoryStorage disk = new MemoryStorage();
        new HeapFile(disk, GEOMETRY, STORE).createNext();
        HeapFile left = new HeapFile(disk.powerCut(), GEOMETRY, STORE);
        left.openNext();
        assertThat(left.segmentCount()).isEqualTo(1);
    }

    @Test
    void fsyncsEachWrittenSegmentOnce() throws Exception {
        MemoryStorage disk = new MemoryStorage();
        FaultStorage storage = new FaultStorage(disk);
        HeapFile heap = create(storage, 3);
        write(heap, GEOMETRY.firstAddress(0), bytes("first"), 1);
        write(heap, GEOMETRY.firstAddress(2), bytes("third"), 3);
        storage.clearCalls();
        heap.force();
        heap.force();
        assertThat(storage.calls(FaultStorage.on(FaultStorage.Kind.FORCE, ".*")))
                .extracting(FaultStorage.Call::file)
                .containsExactly(FileNames.HEAP.of(0), FileNames.HEAP.of(2));
        HeapFile left = new HeapFile(disk.powerCut(), GEOMETRY, STORE);
        for (int i = 0; i < 3; i++) {
            left.openNext();
        }
        assertThat(read(left, GEOMETRY.firstAddress(0), 5, 1)).isEqualTo(bytes("first"));
        assertThat(read(left, GEOMETRY.firstAddress(2), 5, 3)).isEqualTo(bytes("third"));
    }

    /** Whether the process maps a heap segment's file, deleted or not. Does not depend on the garbage collector. */
    private boolean mapped(int segment) throws Exception {
        Path maps = Path.of("/proc/self/maps");
        assumeTrue(Files.exists(maps), "only Linux shows the mappings");
        String file = directory.toRealPath().resolve(FileNames.HEAP.of(segment)).toString();
        return Files.readString(maps).contains(file);
    }

    @Test
    void deletedSegmentIsUnmappedImmediately() throws Exception {
        try (Storage storage = FileStorage.open(directory, FileStorage.Access.WRITE, any -> {})) {
            HeapFile heap = create(storage, 2);
            assertThat(mapped(1)).isTrue();
            heap.dropFrom(1);
            assertThat(mapped(0)).isTrue();
            assertThat(mapped(1)).isFalse();
        }
    }

    @Test
    void deletesOtherSegmentsIfOneDeletionFails() throws Exception {
        try (FaultStorage storage =
                new FaultStorage(FileStorage.open(directory, FileStorage.Access.WRITE, any -> {}))) {
            HeapFile heap = create(storage, 4);
            storage.fail(FaultStorage.nth(1, FaultStorage.on(FaultStorage.Kind.DELETE, ".*")));
            assertThatThrownBy(() -> heap.dropFrom(1)).isInstanceOf(IOException.class);
            assertThat(storage.list())
                    .filteredOn(name -> name.startsWith("heap-"))
                    .containsExactlyInAnyOrder(FileNames.HEAP.of(0), FileNames.HEAP.of(3));
            heap.createNext();
            heap.createNext();
            heap.createNext();
            write(heap, GEOMETRY.firstAddress(3), bytes("again"), 1);
            heap.close();
        }
    }

    /** Checks that a file is closed without an fsync, because a dropped segment would otherwise keep its disk space. */
    @Test
    void closesFileOfFailedWriteWhenSegmentIsDroppedOrHeapCloses() throws Exception {
        FaultStorage storage = new FaultStorage(new MemoryStorage());
        HeapFile heap = create(storage, 2);
        storage.clearCalls();
        storage.fail(FaultStorage.on(FaultStorage.Kind.WRITE, ".*"));
        for (int segment = 0; segment < 2; segment++) {
            long address = GEOMETRY.firstAddress(segment);
            assertThatThrownBy(() -> heap.fill(address, 4096)).isInstanceOf(IOException.class);
        }
        heap.dropFrom(1);
        assertThat(closedFiles(storage)).containsExactly(FileNames.HEAP.of(1));
        heap.close();
        assertThat(closedFiles(storage)).containsExactly(FileNames.HEAP.of(1), FileNames.HEAP.of(0));
    }

    private static List<String> closedFiles(FaultStorage storage) {
        return storage.calls(FaultStorage.on(FaultStorage.Kind.CLOSE, ".*")).stream()
                .map(FaultStorage.Call::file)
                .toList();
    }

    @Test
    void closedHeapIsUnmappedAfterLastRelease() throws Exception {
        try (Storage storage = FileStorage.open(directory, FileStorage.Access.WRITE, any -> {})) {
            HeapFile heap = create(storage, 1);
            write(heap, 4096, bytes("read"), 1);
            heap.retain();
            ByteBuffer value = heap.read(Region.pack(4096, 4), 1, CREATION_LSN, 0);
            heap.close();
            assertThat(mapped(0)).isTrue();
            assertThat(copyOf(value)).isEqualTo(bytes("read"));
            heap.release();
            assertThat(mapped(0)).isFalse();
        }
    }

    /**
     * Checks reads from a heap of just over 4 GiB, in which address arithmetic with ints would overflow. Skipped if the
     * disk has too little free space.
     */
    @Test
    @Tag("thorough")
    void readsAllAddressesOfHeapBeyondFourGibibytes() throws Exception {
        int segmentBytes = (int) (GIB / 2 + 4096);
        int segments = 8;
        long needed = (long) segmentBytes * segments;
        long usable = Files.getFileStore(directory).getUsableSpace();
        assumeTrue(
                usable > needed + 2 * GIB,
                "skipped: " + directory + " has " + usable + " bytes left, too few to allocate " + needed + " in");
        HeapGeometry geometry = new HeapGeometry(segmentBytes);
        try (Storage storage = FileStorage.open(directory, FileStorage.Access.WRITE, any -> {})) {
            HeapFile heap = new HeapFile(storage, geometry, STORE);
            for (int segment = 0; segment < segments; segment++) {
                heap.createNext();
                write(heap, geometry.firstAddress(segment), bytes(100, segment), segment);
                write(heap, lastAddress(geometry, segment), bytes(120, segment), -segment);
            }
            assertThat(heap.fileBytes()).isEqualTo(needed).isGreaterThan(4 * GIB);
            heap.force();
            for (int segment = 0; segment < segments; segment++) {
                assertThat(read(heap, geometry.firstAddress(segment), 100, segment))
                        .isEqualTo(bytes(100, segment));
                assertThat(read(heap, lastAddress(geometry, segment), 120, -segment))
                        .isEqualTo(bytes(120, segment));
            }
            heap.dropFrom(0);
        }
        try (var left = Files.list(directory)) {
            assertThat(left.map(path -> path.getFileName().toString())).noneMatch(name -> name.startsWith("heap-"));
        }
    }

    private static long lastAddress(HeapGeometry geometry, int segment) {
        return geometry.firstAddress(segment) + geometry.usableBytes() - 128;
    }
}
