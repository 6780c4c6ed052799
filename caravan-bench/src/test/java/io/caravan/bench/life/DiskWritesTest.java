package io.caravan.bench.life;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What was forced has been counted. */
class DiskWritesTest {
    private static final int BYTES = 1 << 20;

    @TempDir
    private Path directory;

    @Test
    void countsWhatWasForced() throws IOException {
        OptionalLong before = DiskWrites.bytes(directory);
        assumeThat(before).as("counted by this system, for this disk").isPresent();
        try (FileChannel file =
                FileChannel.open(directory.resolve("file"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            file.write(ByteBuffer.allocate(BYTES));
            file.force(true);
        }
        assertThat(DiskWrites.bytes(directory).orElseThrow() - before.getAsLong())
                .isGreaterThanOrEqualTo(BYTES);
    }
}
