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

/** Performs the usual operations on a store whose files may be damaged. */
final class StoreProbe {
    /**
     * The memory limit of verification and of recovery for an empty index and two checkpoints; a multiple of the file
     * sizes is added. The regions of a checkpoint go into the index and an array, and each of its lists into a record.
     */
    private static final long FIXED_BYTES = 8 << 20;

    private static final long TIMES_THE_FILES = 24;

    private StoreProbe() {}

    /** Verifies and recovers the store without writing. Returns whether recovery succeeded. */
    static boolean read(DirectoryImage image) throws Exception {
        long fileBytes =
                image.files().values().stream().mapToLong(bytes -> bytes.length).sum();
        long limit = FIXED_BYTES + TIMES_THE_FILES * fileBytes;
        MemoryUse.within(
                limit, () -> rejectable(() -> Verifier.verify(new MemoryStorage(image), VerifyReport.Progress.NONE)));
        boolean[] recovered = {false};
        MemoryUse.within(limit, () -> recovered[0] = rejectable(() -> recover(image)));
        return recovered[0];
    }

    private static void recover(DirectoryImage image) throws IOException {
        Recovery recovery = new Recovery(new MemoryStorage(image));
        if (recovery.nothingToOpen()) {
            return;
        }
        try (Recovered recovered = recovery.recover()) {
            rejectable(() -> StoreAnatomy.contentsOf(recovered));
        }
    }

    /** Opens the store and writes to it. If it opens once, it must open again. */
    static void open(DirectoryImage image) throws Exception {
        MemoryStorage storage = new MemoryStorage(image);
        if (rejectable(() -> use(storage))) {
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
            rejectable(() -> StoreContents.of(engine));
            rejectable(() -> engine.append(4711, new byte[9]).join());
            rejectable(() -> engine.verify(VerifyReport.Progress.NONE));
        }
    }

    /** Runs the action, and returns false if it throws one of the documented exceptions. */
    private static boolean rejectable(MemoryUse.Action action) throws IOException {
        try {
            action.run();
            return true;
        } catch (CaravanException rejection) {
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
