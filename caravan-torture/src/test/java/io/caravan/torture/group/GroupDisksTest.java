package io.caravan.torture.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.caravan.testing.ChildJvm;
import io.caravan.torture.group.GroupDisks.Ailment;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Checks the results of file operations on a simulated disk with faults. */
class GroupDisksTest {
    private static final String NODE = "a";

    @TempDir
    private Path directory;

    @Test
    void healthyDiskAllowsAllOperations() throws IOException {
        assertThat(probe(Ailment.NONE, 0))
                .contains("create: fine", "write over: fine", "append: fine", "fsync: fine", "rename: fine")
                .contains("space: fine", "read: fine", "elsewhere: fine");
    }

    @Test
    void slowDiskDelaysFsyncs() throws IOException {
        assertThat(probe(Ailment.NONE, 400))
                .contains("write over: fine", "fsync: fine", "fsync took the delay: true", "elsewhere: fine");
    }

    @Test
    void failingDiskFailsModifications() throws IOException {
        String error = ": Input/output error";
        assertThat(probe(Ailment.FAILS, 0))
                .contains("create" + error, "write over" + error, "append" + error, "fsync" + error, "rename" + error)
                .contains("read: fine", "elsewhere: fine");
    }

    @Test
    void diskCanFailFsyncsOnly() throws IOException {
        assertThat(probe(Ailment.FAILS_FSYNCS, 0))
                .contains(
                        "create: fine", "append: fine", "fsync: Input/output error", "rename: fine", "elsewhere: fine");
    }

    @Test
    void fullDiskRejectsNewData() throws IOException {
        String error = ": No space left on device";
        assertThat(probe(Ailment.FULL, 0))
                .contains("create" + error, "write over: fine", "write behind" + error, "append" + error, "fsync: fine")
                .contains("rename: fine", "space: none", "read: fine", "elsewhere: fine");
    }

    private List<String> probe(Ailment ailment, int fsyncMillis) throws IOException {
        GroupPlan plan = GroupPlan.make(directory.resolve("group"));
        GroupDisks disks = new GroupDisks(plan);
        assumeThat(disks.reasonForNone()).isEmpty();
        Files.write(plan.nodeDirectory(NODE).resolve("old"), new byte[DiskProbe.OLD_BYTES]);
        Files.write(plan.nodeDirectory(NODE).resolve("kept"), new byte[DiskProbe.OLD_BYTES]);
        disks.ail(NODE, ailment, fsyncMillis);
        try (ChildJvm child = ChildJvm.start(
                DiskProbe.class.getName(),
                List.of(plan.nodeDirectory(NODE).toString(), Integer.toString(fsyncMillis)),
                disks.environment(NODE),
                directory.resolve("probe.log"))) {
            assertThat(child.awaitExit()).isZero();
            return child.output().lines().toList();
        }
    }
}
