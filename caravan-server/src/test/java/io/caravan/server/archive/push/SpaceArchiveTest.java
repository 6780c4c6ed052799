package io.caravan.server.archive.push;

import static io.caravan.server.archive.push.ArchivedDocuments.NEVER;
import static io.caravan.server.archive.push.ArchivedDocuments.SOON;
import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.server.archive.PrunePolicy;
import io.caravan.server.archive.Pruning.Policies;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.testing.Eventually;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** Tests the effects of space settings on the archiving and pruning of documents. */
class SpaceArchiveTest {
    private static final long TEN_HOURS = NEVER.toSeconds();
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    @AutoClose
    private final ArchivedDocuments server = new ArchivedDocuments();

    private void archiveNow(Archiver archiver, String name) throws Exception {
        archiver.archiveNow(ArchivedDocuments.name(name)).get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
    }

    /** Starts the archiver, and waits until its first round has archived all documents. */
    private Archiver archiveAll(Duration after) {
        Archiver archiver = server.archive(after);
        assertThat(archiver.finish(TIMEOUT)).as("everything is archived").isTrue();
        return archiver;
    }

    /** Waits for three archiving rounds over all documents. Each round archives a document that is in no space. */
    private void awaitRounds() {
        for (int round = 1; round <= 3; round++) {
            server.push("other", String.valueOf(round));
            server.awaitArchived("other");
        }
    }

    @Test
    void archivesSpaceSoonerOnceArchiveAfterIsSet() throws Exception {
        server.push("soon/a", "1");
        server.push("later", "1");
        Archiver archiver = archiveAll(NEVER);
        server.push("soon/a", "2");
        server.push("later", "2");
        server.archiveAfter("soon/", 1);
        server.awaitArchived("soon/a");
        server.push("soon/a", "3");
        server.awaitArchived("soon/a");
        assertThat(server.values("soon/a")).containsExactly("1", "2", "3");
        assertThat(server.archived("later"))
                .as("has been archived within its ten hours, and waits")
                .isFalse();
        assertThat(archiver.status().overdueSeconds()).isZero();
    }

    @Test
    void delayedSpaceCausesNoLagAndIsArchivedOnRequest() throws Exception {
        server.archiveAfter("later/", TEN_HOURS);
        server.push("later/a", "1");
        Archiver archiver = archiveAll(SOON);
        server.push("later/a", "2");
        awaitRounds();
        assertThat(server.archived("later/a")).isFalse();
        Eventually.await(
                "what waits counts for nothing", () -> archiver.status().backlog() == 0);
        assertThat(archiver.status().lagSeconds()).isZero();
        archiveNow(archiver, "later/a");
        assertThat(server.values("later/a")).containsExactly("1", "2");
        server.push("later/a", "3");
        assertThat(archiver.finish(TIMEOUT)).isTrue();
        assertThat(server.values("later/a")).containsExactly("1", "2", "3");
    }

    @Test
    void delaysSpaceUntilNearItsDeadline() {
        server.archiveAfter("later/", 2);
        server.push("later/a", "1");
        archiveAll(SOON);
        long first = server.latest("later/a").takenAtMillis();
        server.push("later/a", "2");
        server.awaitArchived("later/a");
        assertThat(server.latest("later/a").takenAtMillis() - first)
                .as("four fifths of two seconds, less a round and what is rounded")
                .isGreaterThan(1_400);
    }

    @Test
    void archivesDelayedSpaceWhenIntervalIsShortened() {
        server.archiveAfter("later/", TEN_HOURS);
        server.push("later/a", "1");
        server.archive(SOON);
        server.awaitArchived("later/a");
        server.push("later/a", "2");
        awaitRounds();
        server.archiveAfter("later/", 1);
        server.awaitArchived("later/a");
    }

    /** Changes that were left for a later, short round must not wait for a long round if rounds become longer. */
    @Test
    void archivesDelayedChangesWhenRoundsGetLonger() {
        server.archiveAfter("soon/", 1);
        server.push("a", "1");
        Archiver archiver = archiveAll(NEVER);
        server.push("a", "2");
        server.push("soon/b", "1");
        server.awaitArchived("soon/b");
        assertThat(server.archived("a")).isFalse();
        server.documents.spaces().remove(Prefix.of("soon/".getBytes(StandardCharsets.UTF_8)));
        server.awaitArchived("a");
        assertThat(archiver.status().overdueSeconds()).isZero();
    }

    @Test
    void archivesDeletionsWithoutDelay() {
        server.archiveAfter("later/", TEN_HOURS);
        server.push("later/a", "1");
        server.archive(SOON);
        server.awaitArchived("later/a");
        server.delete("later/a");
        Eventually.await(
                "a tombstone", () -> server.documents.pendingDeletions().isEmpty());
    }

    private int generations(String name) {
        return server.manifest(name).generations().size();
    }

    @Test
    void prunesBySpaceSettings() throws Exception {
        server.set("more/", SpaceSetting.ARCHIVE_KEEP, 4);
        server.set("days/", SpaceSetting.ARCHIVE_KEEP_DAYS, 1);
        server.set("few/", SpaceSetting.ARCHIVE_KEEP, 1);
        server.set("other/", SpaceSetting.DOCUMENT_VALUES, 100);
        Archiver archiver = server.archivePruning(2);
        assertThat(archiver.finish(TIMEOUT)).as("the first round is over").isTrue();
        List<String> names = List.of("more/a", "days/a", "few/a", "other/a", "a");
        for (int value = 1; value <= 6; value++) {
            for (String name : names) {
                server.push(name, String.valueOf(value));
                archiveNow(archiver, name);
            }
        }
        Eventually.await(
                "as each space says",
                () -> names.stream().map(this::generations).toList().equals(List.of(4, 6, 1, 2, 2)));
        server.set("more/", SpaceSetting.ARCHIVE_KEEP, 3);
        Eventually.await("a change holds for the next round", () -> generations("more/a") == 3);
        assertThat(generations("days/a")).isEqualTo(6);
        server.restart();
        server.archivePruning(1);
        Eventually.await("the server's own number", () -> generations("a") == 1);
        assertThat(generations("more/a")).isEqualTo(3);
        assertThat(generations("days/a")).isEqualTo(6);
    }

    @Test
    void spaceInheritsUnsetPruneSettings() {
        PrunePolicy general = new PrunePolicy(4, Duration.ofDays(3), 14, Duration.ofDays(30));
        Policies policies = Pruner.policies(server.documents.spaces(), general);
        assertThat(policies.of(ArchivedDocuments.name("s/a"))).isEqualTo(general);
        server.set("s/", SpaceSetting.ARCHIVE_KEEP_DAILY, 1);
        assertThat(policies.of(ArchivedDocuments.name("s/a")))
                .isEqualTo(new PrunePolicy(4, Duration.ofDays(3), 1, Duration.ofDays(30)));
        server.set("s/", SpaceSetting.ARCHIVE_KEEP, 1_000_000);
        server.set("s/", SpaceSetting.ARCHIVE_KEEP_DAYS, 1_000_000);
        assertThat(policies.of(ArchivedDocuments.name("s/a")))
                .isEqualTo(new PrunePolicy(1_000_000, Duration.ofDays(1_000_000), 1, Duration.ofDays(30)));
        assertThat(policies.of(ArchivedDocuments.name("a"))).isEqualTo(general);
    }

    @Test
    void keepsDelayingSpaceAfterRestart() {
        server.archiveAfter("later/", TEN_HOURS);
        server.push("later/a", "1");
        server.archive(SOON);
        server.awaitArchived("later/a");
        // After these rounds, the archiver has verified the marks for this archive, so the next server trusts them.
        awaitRounds();
        server.restart();
        server.push("later/a", "2");
        server.archive(SOON);
        awaitRounds();
        assertThat(server.archived("later/a")).isFalse();
    }
}
