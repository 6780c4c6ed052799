package io.caravan.bench.archive;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import io.caravan.bench.Main;
import io.caravan.bench.SuiteRun;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Runs the parts of the archive suite that need no installation, with tiny counts. */
class ArchiveBenchCommandTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(value = ArchiveBenchCommand.Part.class, names = "DOCUMENTS", mode = EnumSource.Mode.EXCLUDE)
    @Tag("thorough")
    void measuresAndReports(ArchiveBenchCommand.Part part) throws IOException {
        JsonNode rows =
                SuiteRun.report("archive", directory, "--only", part.toString()).path("rows");
        assertThat(rows).anyMatch(row -> row.path("system").asText().equals("Caravan"));
        for (JsonNode row : rows) {
            assertThat(row.path("figures").isEmpty()).as("%s", row).isFalse();
        }
    }

    @Test
    void rejectsUnknownPart() {
        assertThat(Main.run("archive", "--only", "everything")).isEqualTo(2);
    }
}
