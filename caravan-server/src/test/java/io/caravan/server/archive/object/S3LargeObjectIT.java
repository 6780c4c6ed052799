package io.caravan.server.archive.object;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.S3Server;
import io.caravan.testing.ChildJvm;
import io.caravan.testing.Patient;
import io.caravan.testing.Rounds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A put and a read of an object that is larger than the memory of the process. */
@Tag("slow")
@Patient
class S3LargeObjectIT {
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final int HEAP_MEBIBYTES = 160;
    private static final int OBJECT_MEBIBYTES = Rounds.of(200, 600);

    @Test
    @Tag("rounds")
    void memoryDoesNotGrowWithTheObject(@TempDir Path directory) throws Exception {
        try (S3Server server = S3Server.startOn(Files.createDirectory(directory.resolve("objects")))) {
            ChildJvm process = ChildJvm.start(
                    List.of(
                            "-Xmx" + HEAP_MEBIBYTES + "m",
                            "-XX:MaxDirectMemorySize=" + HEAP_MEBIBYTES + "m",
                            "-Daws.accessKeyId=" + S3Server.ACCESS_KEY,
                            "-Daws.secretAccessKey=" + S3Server.SECRET_KEY),
                    LargeObjectProcess.class.getName(),
                    List.of(S3Server.url("large"), "" + server.port(), "" + OBJECT_MEBIBYTES),
                    Map.of(),
                    directory.resolve("log"));
            assertThat(process.awaitExit(PATIENCE)).as(process.output()).isEqualTo(0);
        }
    }
}
