package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.DurableListStore;
import io.caravan.VerifyReport;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.inspect.Verifier;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Finds the faults that verification reports for the files of a closed store. */
public final class Faults {

    private Faults() {}

    /** Returns the faults that verification finds in a directory. */
    public static List<CaravanException> of(Path directory) {
        return DurableListStore.verify(directory, VerifyReport.Progress.NONE).faults();
    }

    /** Returns the faults in all files of the image. An exception when verification starts is also a fault. */
    public static List<CaravanException> of(DirectoryImage image) throws IOException {
        try {
            return Verifier.verify(new MemoryStorage(image), VerifyReport.Progress.NONE)
                    .faults();
        } catch (CaravanException problem) {
            return List.of(problem);
        }
    }

    /**
     * Returns the faults in one checkpoint, found by the reader that verification uses. A full verification is slow.
     */
    public static List<CaravanException> ofCheckpoint(DirectoryImage image, String file) throws IOException {
        long number = FileNames.CHECKPOINT.number(file).getAsLong();
        try (CheckpointReader reader = new CheckpointReader(new MemoryStorage(image), number)) {
            reader.read(CheckpointReader.Visitor.NONE);
            return List.of();
        } catch (CaravanException problem) {
            return List.of(problem);
        }
    }
}
