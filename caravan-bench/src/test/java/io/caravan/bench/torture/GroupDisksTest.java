package io.caravan.bench.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.caravan.bench.torture.GroupDisks.Ailment;
import io.caravan.testing.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The results of file operations on a disk with injected faults. */
class GroupDisksTest {
    private static final String NODE = "a";

    @TempDir
    private Path directory;

    @Test
    void aDiskThatIsWellIsAsEver() throws IOException {
        assertThat(probe(Ailment.NONE, 0))
                .contains("create: fine", "write over: fine", "append: fine", "fsync: fine", "rename: fine")
                .contains("space: fine", "read: fine", "elsewhere: fine");
    }

    @Test
    void aSlowDiskTakesItsTimeForFsyncs() throws IOException {
        assertThat(probe(Ailment.NONE, 400)).contains("write over: fine", "fsync: fine, slowly", "elsewhere: fine");
    }

    @Test
    void aFailingDiskFailsWhatChangesIt() throws IOException {
        String error = ": Input/output error";
        assertThat(probe(Ailment.FAILS, 0))
                .contains("create" + error, "write over" + error, "append" + error, "fsync" + error, "rename" + error)
                .contains("read: fine", "elsewhere: fine");
    }

    @Test
    void aDiskMayFailForcesAlone() throws IOException {
        assertThat(probe(Ailment.FAILS_FSYNCS, 0))
                .contains(
                        "create: fine", "append: fine", "fsync: Input/output error", "rename: fine", "elsewhere: fine");
    }

    @Test
    void aFullDiskTakesNothingNew() throws IOException {
        String error = ": No space left on device";
        assertThat(probe(Ailment.FULL, 0))
                .contains("create" + error, "write over: fine", "write behind" + error, "append" + error, "fsync: fine")
                .contains("rename: fine", "space: none", "read: fine", "elsewhere: fine");
    }

    private List<String> probe(Ailment ailment, int forceMillis) throws IOException {
        GroupPlan plan = GroupPlan.make(directory.resolve("group"));
        GroupDisks disks = new GroupDisks(plan);
        assumeThat(disks.whyNone()).isEmpty();
        Files.write(plan.folder(NODE).resolve("old"), new byte[DiskProbe.OLD_BYTES]);
        Files.write(plan.folder(NODE).resolve("kept"), new byte[DiskProbe.OLD_BYTES]);
        disks.ail(NODE, ailment, forceMillis);
        try (ChildJvm child = ChildJvm.start(
                DiskProbe.class.getName(),
                List.of(plan.folder(NODE).toString()),
                disks.environment(NODE),
                directory.resolve("probe.log"))) {
            assertThat(child.awaitExit()).isZero();
            return child.output().lines().toList();
        }
    }
}
