package io.caravan.fuzz;

import com.code_intelligence.jazzer.junit.FuzzTest;
import io.caravan.catalog.CatalogEntryTarget;
import java.util.List;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Fuzz targets for the data that the engine reads, run by {@code scripts/fuzz}. A build runs only the samples and the
 * saved inputs, which include those that once revealed a bug. {@link MutationTest} also runs random inputs.
 */
class CoreFuzz {
    private static final FuzzTarget FRAMES = FuzzTarget.made(FrameTarget::new);
    private static final FuzzTarget CHECKPOINT = FuzzTarget.made(CheckpointTarget::new);
    private static final FuzzTarget HEAP_ENTRY = FuzzTarget.made(HeapEntryTarget::new);
    private static final FuzzTarget FILE_HEADER = FuzzTarget.made(FileHeaderTarget::new);
    private static final FuzzTarget CATALOG_ENTRY = FuzzTarget.made(CatalogEntryTarget::new);
    private static final FuzzTarget STORE = FuzzTarget.made(StoreTarget::new);

    static List<byte[]> frames() throws Exception {
        return FRAMES.samples();
    }

    @MethodSource
    @FuzzTest
    void frames(byte[] input) throws Exception {
        FRAMES.run(input);
    }

    static List<byte[]> checkpoint() throws Exception {
        return CHECKPOINT.samples();
    }

    @MethodSource
    @FuzzTest
    void checkpoint(byte[] input) throws Exception {
        CHECKPOINT.run(input);
    }

    static List<byte[]> heapEntry() throws Exception {
        return HEAP_ENTRY.samples();
    }

    @MethodSource
    @FuzzTest
    void heapEntry(byte[] input) throws Exception {
        HEAP_ENTRY.run(input);
    }

    static List<byte[]> fileHeader() throws Exception {
        return FILE_HEADER.samples();
    }

    @MethodSource
    @FuzzTest
    void fileHeader(byte[] input) throws Exception {
        FILE_HEADER.run(input);
    }

    static List<byte[]> catalogEntry() throws Exception {
        return CATALOG_ENTRY.samples();
    }

    @MethodSource
    @FuzzTest
    void catalogEntry(byte[] input) throws Exception {
        CATALOG_ENTRY.run(input);
    }

    static List<byte[]> store() throws Exception {
        return STORE.samples();
    }

    @MethodSource
    @FuzzTest
    void store(byte[] input) throws Exception {
        STORE.run(input);
    }
}
