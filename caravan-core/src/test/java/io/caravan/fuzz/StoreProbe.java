package io.caravan.fuzz;

import io.caravan.CaravanException;
import io.caravan.StoreConfig;
import io.caravan.VerifyReport;
import io.caravan.engine.Engine;
import io.caravan.engine.Recovered;
import io.caravan.engine.Recovery;
import io.caravan.format.Blocks;
import io.caravan.inspect.Verifier;
import io.caravan.testing.DirectoryImage;
import io.caravan.testing.MemoryStorage;
import io.caravan.testing.StoreAnatomy;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.CompletionException;

/** Does with a directory of doubtful files what people do with a store. */
final class StoreProbe {
    /**
     * What verification and recovery may each take: tables for an empty index and two checkpoints, and so many times
     * the files. A checkpoint's regions go into the index and once more into an array, each list of it into a record.
     */
    private static final long FIXED_BYTES = 8 << 20;

    private static final long TIMES_THE_FILES = 24;

    private StoreProbe() {}

    /** Verifies and recovers, without writing anything. Returns whether it recovered. */
    static boolean read(DirectoryImage image) throws Exception {
        long fileBytes =
                image.files().values().stream().mapToLong(bytes -> bytes.length).sum();
        long limit = FIXED_BYTES + TIMES_THE_FILES * fileBytes;
        MemoryUse.within(
                limit, () -> refusable(() -> Verifier.verify(new MemoryStorage(image), VerifyReport.Progress.NONE)));
        boolean[] recovered = {false};
        MemoryUse.within(limit, () -> recovered[0] = refusable(() -> recover(image)));
        return recovered[0];
    }

    private static void recover(DirectoryImage image) throws IOException {
        Recovery recovery = new Recovery(new MemoryStorage(image));
        if (recovery.nothingToOpen()) {
            return;
        }
        try (Recovered recovered = recovery.recover()) {
            refusable(() -> StoreAnatomy.contentsOf(recovered));
        }
    }

    /** Opens it for good and writes. What opens once opens again. */
    static void open(DirectoryImage image) throws Exception {
        MemoryStorage storage = new MemoryStorage(image);
        if (refusable(() -> use(storage))) {
            use(storage);
        }
    }

    private static void use(MemoryStorage storage) throws IOException {
        StoreConfig config = StoreConfig.builder(Path.of("forged"))
                .maxValueBytes(1024)
                .logBufferBytes(2 * Blocks.BLOCK_BYTES)
                .logSegmentBytes(ForgedStore.LOG.segmentBytes())
                .heapSegmentBytes(ForgedStore.HEAP.segmentBytes())
                .build();
        try (Engine engine = Engine.open(config, storage, System::nanoTime)) {
            refusable(() -> StoreContents.of(engine));
            refusable(() -> engine.append(4711, new byte[9]).join());
            refusable(() -> engine.verify(VerifyReport.Progress.NONE));
        }
    }

    /** Returns whether the action was not refused by one of the documented exceptions. */
    private static boolean refusable(MemoryUse.Action action) throws IOException {
        try {
            action.run();
            return true;
        } catch (CaravanException refusal) {
            return false;
        } catch (CompletionException failed) {
            if (failed.getCause() instanceof CaravanException) {
                return false;
            }
            throw failed;
        } catch (IOException | RuntimeException bug) {
            throw bug;
        } catch (Exception other) {
            throw new AssertionError(other);
        }
    }
}
