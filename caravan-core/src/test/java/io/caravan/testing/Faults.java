package io.caravan.testing;

import io.caravan.CaravanException;
import io.caravan.VerifyReport;
import io.caravan.checkpoint.CheckpointReader;
import io.caravan.format.FileNames;
import io.caravan.inspect.Verifier;
import java.io.IOException;
import java.util.List;

/** What verification finds in the files of a closed store. */
public final class Faults {

    private Faults() {}

    /** In all of them; what it cannot even start on is a fault too. */
    public static List<CaravanException> of(DirectoryImage image) throws IOException {
        try {
            return Verifier.verify(new MemoryStorage(image), VerifyReport.Progress.NONE)
                    .faults();
        } catch (CaravanException problem) {
            return List.of(problem);
        }
    }

    /** In one checkpoint, by the reader that verification reads it with; all of it takes its time. */
    public static List<CaravanException> ofCheckpoint(DirectoryImage image, String file) throws IOException {
        long number = FileNames.CHECKPOINT.number(file).getAsLong();
        try (CheckpointReader reader = new CheckpointReader(new MemoryStorage(image), number)) {
            reader.read(CheckpointReader.Visitor.NOBODY);
            return List.of();
        } catch (CaravanException problem) {
            return List.of(problem);
        }
    }
}
