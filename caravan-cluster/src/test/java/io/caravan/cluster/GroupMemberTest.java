package io.caravan.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.testing.Patient;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** A group of three hosts, whose leaders and followers are lost and come back. */
@Patient
@Execution(ExecutionMode.CONCURRENT)
final class GroupMemberTest {
    private static final long LIST = 7;

    @TempDir
    Path directory;

    @Test
    void whatWasAcknowledgedSurvivesTheLossOfLeaders() throws Exception {
        try (Group group = new Group(directory).create()) {
            List<String> acknowledged = new ArrayList<>();
            for (int round = 0; round < 2; round++) {
                String leader = group.awaitLeader();
                for (int i = 0; i < 25; i++) {
                    acknowledged.add(group.append(LIST, "round " + round + " value " + i));
                }
                group.stop(leader);
                acknowledged.add(group.append(LIST, "round " + round + " without " + leader));
                group.restart(leader);
            }
            assertThat(group.values(LIST)).containsAll(acknowledged).doesNotHaveDuplicates();
        }
    }

    @Test
    void aFollowerThatWasAwayCatchesUpAndAllStoresAreTheSame() throws Exception {
        List<String> acknowledged = new ArrayList<>();
        try (Group group = new Group(directory).create()) {
            String away = group.follower();
            acknowledged.add(group.append(LIST, "before"));
            group.stop(away);
            for (int i = 0; i < 100; i++) {
                acknowledged.add(group.append(LIST, "while away " + i));
            }
            group.restart(away);
            acknowledged.add(group.append(LIST, "after"));
            // Where another host leads meanwhile, attempts that were not acknowledged may be there, too.
            assertThat(group.values(LIST)).containsSubsequence(acknowledged).doesNotHaveDuplicates();
            group.assertAllAlike();
        }
    }
}
