package io.caravan.cluster;

import static io.caravan.testing.StoreCalls.await;
import static io.caravan.testing.StoreCalls.bytes;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;

import io.caravan.BackupReport;
import io.caravan.Durability;
import io.caravan.Replica;
import io.caravan.ReplicaCopy;
import io.caravan.StoreConfig;
import io.caravan.cluster.AppliedMark.Applied;
import io.caravan.testing.SmallStore;
import io.caravan.testing.StoreContents;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.ratis.server.protocol.TermIndex;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files that were received become this host's store, or are refused and the store stays. */
final class GroupReplicaTest {
    private static final long LIST = 7;

    @TempDir
    Path directory;

    private GroupConfig config;
    private AppliedMark mark;
    private Replica leader;
    private GroupReplica follower;

    @BeforeEach
    void aLeaderAndAHostThatIsBehind() throws IOException {
        try (Group group = new Group(directory)) {
            config = group.config("a", GroupConfig.Start.CREATE);
        }
        Files.createDirectories(config.raftDirectory());
        mark = new AppliedMark(config.raftDirectory());
        follower = new GroupReplica(config, mark, () -> false);
        leader = Replica.open(store("leader"), config.storeId());
        leader.lead(frame -> {});
        for (int i = 0; i < 20; i++) {
            append(i);
        }
    }

    @AfterEach
    void close() {
        leader.close();
        follower.close();
    }

    private StoreConfig store(String name) {
        return SmallStore.config(directory.resolve(name))
                .durability(Durability.PROCESS)
                .build();
    }

    private void append(int i) {
        await(leader.store().append(LIST, bytes(SmallStore.MAX_VALUE_BYTES / 2, i)));
    }

    private Path received(Replica from) throws IOException {
        Path folder = follower.beginIncoming();
        try (ReplicaCopy copy = ReplicaCopy.begin(folder)) {
            from.send(copy::take, BackupReport.Progress.NONE);
            copy.finish();
        }
        return folder;
    }

    private static Applied entry(long endLsn) {
        return new Applied(TermIndex.valueOf(3, 300), endLsn);
    }

    private void assertStillEmpty() {
        assertThat(StoreContents.of(follower.now().store()).lists()).isEmpty();
        assertThat(mark.durable()).isNull();
    }

    @Test
    void theFilesAreTheStoreAndTheMarkSaysSo() throws IOException {
        long end = leader.force();
        follower.install(received(leader), entry(end));
        assertThat(StoreContents.of(follower.now().store())).isEqualTo(StoreContents.of(leader.store()));
        assertThat(new AppliedMark(config.raftDirectory()).durable()).isEqualTo(entry(end));
        mark.applied(TermIndex.valueOf(3, 200), 100);
        mark.forced(end);
        assertThat(mark.durable()).isEqualTo(entry(end));
    }

    /** The sabotage "forget a frame after installing files". */
    @Test
    void filesThatLackAFrameTheyWereSaidToHaveAreRefused() throws IOException {
        Path received = received(leader);
        append(20);
        long end = leader.force();
        assertThatIOException()
                .isThrownBy(() -> follower.install(received, entry(end)))
                .withMessageContaining("would forget");
        assertStillEmpty();
    }

    @Test
    void filesThatLackAFrameOfThisHostAreRefused() throws IOException {
        long end = leader.force();
        follower.install(received(leader), entry(end));
        try (Replica behind = Replica.open(store("behind"), config.storeId())) {
            assertThatIOException()
                    .isThrownBy(() -> follower.install(received(behind), entry(1)))
                    .withMessageContaining("would forget");
        }
        assertThat(mark.durable()).isEqualTo(entry(end));
        assertThat(StoreContents.of(follower.now().store())).isEqualTo(StoreContents.of(leader.store()));
    }

    @Test
    void damagedFilesAreRefused() throws IOException {
        leader.store().checkpoint();
        long end = leader.force();
        Path received = received(leader);
        try (Stream<Path> files = Files.list(received)) {
            for (Path file :
                    files.filter(any -> any.toString().endsWith(".dat")).toList()) {
                byte[] bytes = Files.readAllBytes(file);
                bytes[6000] ^= 1;
                Files.write(file, bytes);
            }
        }
        assertThatIOException()
                .isThrownBy(() -> follower.install(received, entry(end)))
                .withMessageContaining("are damaged");
        assertStillEmpty();
    }

    @Test
    void filesOfAnotherGroupAreRefused() throws IOException {
        long other = UUID.randomUUID().getMostSignificantBits();
        try (Replica foreign = Replica.open(store("foreign"), other)) {
            assertThatIOException()
                    .isThrownBy(() -> follower.install(received(foreign), entry(1)))
                    .withMessageContaining("no store of this group");
        }
        assertStillEmpty();
    }
}
