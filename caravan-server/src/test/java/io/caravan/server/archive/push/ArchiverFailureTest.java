package io.caravan.server.archive.push;

import static io.caravan.server.archive.push.ArchivedDocuments.NEVER;
import static io.caravan.server.archive.push.ArchivedDocuments.SOON;
import static io.caravan.server.archive.push.ArchivedDocuments.name;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.caravan.ListStore;
import io.caravan.OutOfSpaceException;
import io.caravan.WriteBatch;
import io.caravan.WriteCallback;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.object.ClientCrash;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import io.caravan.server.archive.push.ArchiveStatus.ArchiveState;
import io.caravan.server.archive.push.Archiver.Archived;
import io.caravan.testing.Eventually;
import io.caravan.testing.ForwardingListStore;
import io.caravan.testing.Seeds;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests that failures of the archive have no effect other than lag. */
@Execution(ExecutionMode.CONCURRENT)
class ArchiverFailureTest {
    private static final ObjectFaults DOWN = (number, call, key) -> ObjectFault.REJECTED;

    @AutoClose
    private final ArchivedDocuments server = new ArchivedDocuments();

    private static Archived get(CompletableFuture<Archived> request) throws Exception {
        return request.get(30, TimeUnit.SECONDS);
    }

    @Test
    void claimsArchiveOnceReachable() {
        server.client.faults(DOWN);
        server.push("a", "1");
        Archiver archiver = server.archive(SOON);
        Eventually.await("two attempts", () -> archiver.status().failures().get("unavailable") >= 2);
        assertThat(archiver.status().state()).isEqualTo(ArchiveState.CLAIMING);
        assertThatThrownBy(() -> get(archiver.archiveNow(name("a"))))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("the archive cannot be reached yet");
        Eventually.await("the backlog is reported", () -> archiver.status().backlog() == 1);
        server.client.faults(ObjectFaults.NONE);
        server.awaitArchived("a");
        assertThat(archiver.status().state()).isEqualTo(ArchiveState.OWNER);
    }

    @Test
    void catchesUpAfterArchiveOutage() {
        Archiver archiver = server.archive(SOON);
        server.push("first", "1");
        server.awaitArchived("first");
        server.client.faults(DOWN);
        for (int i = 0; i < 20; i++) {
            server.push("document-" + i, "value");
        }
        Eventually.await(
                "lag is reported",
                () -> archiver.status().backlog() == 20 && archiver.status().lagSeconds() > 0.5);
        assertThat(archiver.status().lastError()).isNotNull();
        assertThat(archiver.status().lastError().kind()).isEqualTo("unavailable");
        assertThatThrownBy(() -> get(archiver.archiveNow(name("document-1"))))
                .cause()
                .isInstanceOf(ObjectStoreException.class);
        server.client.faults(ObjectFaults.NONE);
        for (int i = 0; i < 20; i++) {
            server.awaitArchived("document-" + i);
        }
        Eventually.await("no lag", () -> archiver.status().backlog() == 0);
        assertThat(archiver.status().lagSeconds()).isZero();
        assertThat(archiver.status().state()).isEqualTo(ArchiveState.OWNER);
    }

    @Test
    void statusShowsErrorWhenRequestFails() throws Exception {
        Archiver archiver = server.archive(NEVER);
        assertThat(archiver.finish(Duration.ofSeconds(20))).isTrue();
        CompletableFuture<Void> listens = new CompletableFuture<>();
        server.client.faults((number, call, key) -> {
            listens.join();
            return ObjectFault.REJECTED;
        });
        server.push("a", "1");
        CompletableFuture<ArchiveStatus.@Nullable LastError> found = new CompletableFuture<>();
        archiver.archiveNow(name("a"))
                .whenComplete(
                        (archived, problem) -> found.complete(archiver.status().lastError()));
        listens.complete(null);
        assertThat(found.get(30, TimeUnit.SECONDS)).isNotNull();
    }

    @Test
    void failingDocumentDoesNotBlockOthers() {
        String key = ArchiveKeys.manifest(name("bad"));
        Archiver archiver = server.archive(SOON);
        server.push("bad", "1");
        server.awaitArchived("bad");
        server.objects.put(key, "no manifest".getBytes(UTF_8));
        server.push("bad", "2");
        Eventually.await("it fails", () -> archiver.status().failures().get("corrupt") >= 2);
        server.push("good", "1");
        server.awaitArchived("good");
        assertThat(server.archived("bad")).isFalse();
        Eventually.await("it alone waits", () -> archiver.status().backlog() == 1);
        server.objects.delete(key);
        server.awaitArchived("bad");
        assertThat(server.latest("bad").number()).isEqualTo(2);
    }

    /**
     * A document whose uploads always fail must wait for the next round. Only the uploads of other documents show that
     * the archive is available.
     */
    @Test
    void leavesRepeatedlyFailingDocumentForNextRound() {
        server.longestDelay = Duration.ofNanos(1);
        String directory = ArchiveKeys.snapshots(name("bad"));
        server.client.faults(
                (number, call, key) -> key.startsWith(directory) ? ObjectFault.REJECTED : ObjectFault.NONE);
        server.push("bad", "1");
        Archiver archiver = server.archive(NEVER);
        // Waits for the failure, so that other uploads succeed after it. Otherwise, {@code finish} would use all its
        // time.
        Eventually.await("it fails", () -> archiver.status().failures().get("unavailable") >= 1);
        for (int i = 0; i < 50; i++) {
            server.push("document-" + i, "value");
        }
        CompletableFuture.runAsync(() -> archiver.finish(Duration.ofSeconds(30)))
                .join();
        assertThat(archiver.status().documents()).isEqualTo(50);
        assertThat(archiver.status().backlog()).isOne();
    }

    @ParameterizedTest
    @EnumSource(
            value = ObjectFault.class,
            names = {"REJECTED", "RESPONSE_LOST", "TRIED_TWICE"})
    void recoversFromFaultAtAnyCall(ObjectFault fault) {
        for (int call = 1; call <= 8; call++) {
            try (ArchivedDocuments server = new ArchivedDocuments()) {
                Archiver archiver = server.archive(SOON);
                server.push("a", "1");
                server.awaitArchived("a");
                server.client.faults(ObjectFaults.at(server.client.calls() + call, fault));
                server.push("a", "2");
                server.awaitArchived("a");
                assertThat(server.values("a")).containsExactly("1", "2");
                assertThat(archiver.status().state()).isEqualTo(ArchiveState.OWNER);
            }
        }
    }

    /** The next process must repair the archive after a crash at any call to the object store. */
    @ParameterizedTest
    @EnumSource(
            value = ObjectFault.class,
            names = {"CRASH_BEFORE", "CRASH_AFTER"})
    void recoversFromCrashAtAnyCall(ObjectFault crash) {
        for (int at = 1; at <= 7; at++) {
            long call = at;
            try (ArchivedDocuments server = new ArchivedDocuments()) {
                server.push("a", "1");
                server.push("deleted", "1");
                server.archive(NEVER);
                server.awaitArchived("a", "deleted");
                server.push("a", "2");
                server.delete("deleted");
                server.restart();
                server.client.faults(ObjectFaults.at(call, crash));
                try {
                    server.archive(NEVER);
                } catch (ClientCrash expected) {
                    assertThat(call).isLessThan(4);
                }
                Eventually.await("the crash", () -> server.client.calls() >= call);
                server.restart();
                server.archive(NEVER);
                server.awaitArchived("a");
                Eventually.await(
                        "a tombstone", () -> server.documents.pendingDeletions().isEmpty());
                assertThat(server.values("a")).containsExactly("1", "2");
                assertThat(server.manifest("deleted").tombstone()).isNotNull();
            }
        }
    }

    @Test
    void recoversFromRandomFaults() throws Exception {
        Seeds.forEach(2, seed -> recoversFromRandomFaults(new Random(seed)));
    }

    private static void recoversFromRandomFaults(Random random) {
        try (ArchivedDocuments server = new ArchivedDocuments()) {
            Archiver archiver = server.archive(SOON);
            server.client.faults(ObjectFaults.sometimes(new Random(random.nextLong()), 5));
            String[] names =
                    IntStream.range(0, 20).mapToObj(i -> "document-" + i).toArray(String[]::new);
            for (int i = 0; i < 300; i++) {
                server.push(names[i < names.length ? i : random.nextInt(names.length)], "value " + i);
            }
            server.awaitArchived(names);
            server.client.faults(ObjectFaults.NONE);
            for (String name : names) {
                assertThat(server.values(name)).hasSize((int) server.info(name).count());
            }
            assertThat(archiver.status().state()).isEqualTo(ArchiveState.OWNER);
        }
    }

    /** A store that rejects writes, such as archive marks, while {@code full} is set. */
    private static final class FullStore extends ForwardingListStore {
        private final AtomicInteger rejected = new AtomicInteger();
        private volatile boolean full;
        private volatile boolean onlyOnce;

        FullStore() {
            super(ListStore.inMemory());
        }

        @Override
        public void write(WriteBatch batch, WriteCallback callback) {
            if (full) {
                full = !onlyOnce;
                rejected.incrementAndGet();
                throw new OutOfSpaceException("no space");
            }
            super.write(batch, callback);
        }
    }

    @Test
    void adoptsGenerationWithLostMark() {
        FullStore store = new FullStore();
        try (ArchivedDocuments server = new ArchivedDocuments(store)) {
            Archiver archiver = server.archive(SOON);
            server.push("a", "1");
            server.awaitArchived("a");
            AtomicBoolean first = new AtomicBoolean(true);
            server.client.faults((number, call, key) -> {
                store.full |= call == ObjectCall.PUT_IF && first.getAndSet(false);
                return ObjectFault.NONE;
            });
            server.push("a", "2");
            Eventually.await("marks are rejected", () -> store.rejected.get() >= 3);
            assertThat(archiver.status().failures().get("store_full")).isPositive();
            store.full = false;
            server.awaitArchived("a");
            assertThat(server.manifest("a").generations()).hasSize(2);
            assertThat(server.values("a")).containsExactly("1", "2");
        }
    }

    @Test
    void retriesDocumentInSameRoundAfterOneFailure() {
        FullStore store = new FullStore();
        try (ArchivedDocuments server = new ArchivedDocuments(store)) {
            server.longestDelay = Duration.ofNanos(1);
            store.onlyOnce = true;
            server.push("a", "1");
            AtomicBoolean first = new AtomicBoolean(true);
            server.client.faults((number, call, key) -> {
                store.full |= key.startsWith("manifests/") && call == ObjectCall.PUT_IF && first.getAndSet(false);
                return ObjectFault.NONE;
            });
            server.archive(NEVER);
            server.awaitArchived("a");
            assertThat(store.rejected).hasValue(1);
        }
    }

    @Test
    void retriesWhenObjectStoreIsFull() {
        AtomicBoolean full = new AtomicBoolean(true);
        MemoryObjectStore client = server.client;
        Archiver archiver = server.archive(new FullObjectStore(client, full), SOON);
        server.push("a", "1");
        Eventually.await("full is reported", () -> archiver.status().failures().get("full") >= 2);
        full.set(false);
        server.awaitArchived("a");
        assertThat(archiver.status().failures().get("full")).isGreaterThanOrEqualTo(2);
    }

    /** An object store that rejects snapshots while {@code full} is set. */
    private static final class FullObjectStore extends ForwardingObjectStore {
        private final AtomicBoolean full;

        FullObjectStore(MemoryObjectStore client, AtomicBoolean full) {
            super(client);
            this.full = full;
        }

        @Override
        public void put(String key, Content content) {
            if (full.get()) {
                throw new ObjectStoreException(Kind.FULL, "memory: has no space for " + key, (Throwable) null);
            }
            super.put(key, content);
        }
    }

    /** A shutdown must not wait for pending archiving that cannot succeed. */
    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void closeAbandonsPendingArchiving() {
        server.client.faults(DOWN);
        server.push("a", "1");
        Archiver archiver = server.archive(SOON);
        archiver.close();
        assertThat(archiver.status().state()).isEqualTo(ArchiveState.STOPPED);
        CompletableFuture<Archived> late = archiver.archiveNow(name("a"));
        assertThat(late).isCompletedExceptionally();
    }
}
