package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.ArchiveKeys;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.format.Manifest;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.MemoryObjects;
import io.caravan.server.archive.object.ObjectCall;
import io.caravan.server.archive.object.ObjectFault;
import io.caravan.server.archive.object.ObjectFaults;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

/** Tests ownership changes of an archive, commits to it, and reads from it. */
class ArchiveTest {
    private static final UUID STORE = new UUID(1, 2);
    private static final DocumentName NAME = DocumentName.of("letters/1");

    private final MemoryObjects objects = new MemoryObjects(() -> Instant.ofEpochMilli(1_000));
    private final MemoryObjectStore client = objects.client();

    private Archive claim() {
        return claim(client);
    }

    private static Archive claim(MemoryObjectStore client) {
        return Claims.claim(client, STORE, "host/1", InstantSource.system());
    }

    private static State state(long incarnation, long next) {
        return new State("letters/1", incarnation, 0, next, 5_000 + next);
    }

    private static void assertRejected(Reason reason, ThrowingCallable call, String... parts) {
        assertThatThrownBy(call).isInstanceOfSatisfying(ArchiveException.class, problem -> {
            assertThat(problem.reason()).isEqualTo(reason);
            assertThat(problem).hasMessageContainingAll(parts);
        });
    }

    private static void assertResponded(Kind kind, ThrowingCallable call) {
        assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        ObjectStoreException.class,
                        problem -> assertThat(problem.kind()).isEqualTo(kind));
    }

    @Test
    void opensOnlyAfterClaim() {
        assertRejected(Reason.NOT_FOUND, () -> Archive.open(client), "memory:", "archive.json");
        Archive claimed = claim();
        assertThat(claimed.root().epoch()).isOne();
        assertThat(claimed.root().owner()).startsWith("host/1");
        assertThat(Archive.open(client).root()).isEqualTo(claimed.root());
        assertThat(claimed.manifest(NAME)).isNull();
    }

    @Test
    void newOwnerFencesPreviousOwner() {
        Archive first = claim();
        first.checkOwner();
        Archive second = claim();
        assertThat(second.root().epoch()).isEqualTo(2);
        second.checkOwner();
        assertRejected(Reason.FENCED, first::checkOwner, "host/1", "number 2");
    }

    private static Archive claim(MemoryObjectStore client, Lease.Clock time) {
        return Claims.claim(client, STORE, "host/1", InstantSource.system(), time);
    }

    /**
     * An owner that was stopped (SIGSTOP) between upload and commit must not commit after another owner has taken over.
     */
    @Test
    void resumedOwnerCommitsNothingAfterTakeover() {
        Claims.SkippedTime time = new Claims.SkippedTime();
        Archive paused = claim(client, time);
        Archiving.archive(paused, state(1, 5));
        KeptManifest before = paused.manifest(NAME);
        Generation put = Archiving.put(paused, before, state(1, 6));
        claim();
        time.skip(Lease.LENGTH.toNanos() + 1);
        assertRejected(Reason.FENCED, () -> paused.commit(before, NAME, put), "number 2");
        assertThat(paused.manifest(NAME)).isEqualTo(before);
        long puts = client.calls(ObjectCall.PUT);
        assertRejected(Reason.FENCED, () -> Archiving.put(paused, before, state(1, 7)), "number 2");
        assertThat(client.calls(ObjectCall.PUT)).isEqualTo(puts);
    }

    @Test
    void ownershipCheckIsValidForLeaseLength() {
        Claims.SkippedTime time = new Claims.SkippedTime();
        Archive owner = claim(client, time);
        long gets = client.calls(ObjectCall.GET);
        time.skip(Lease.LENGTH.toNanos());
        owner.ensureOwner();
        assertThat(client.calls(ObjectCall.GET)).isEqualTo(gets);
        time.skip(1);
        owner.ensureOwner();
        owner.ensureOwner();
        assertThat(client.calls(ObjectCall.GET)).isEqualTo(gets + 1);
    }

    /** A new owner must not write until the previous owner's lease has expired. */
    @Test
    void newOwnerWaitsForPreviousLeaseBeforeWriting() {
        Claims.SkippedTime time = new Claims.SkippedTime();
        Archiving.archive(claim(client, time), state(1, 5));
        assertThat(time.nanoTime()).isZero();
        Archive second = claim(client, time);
        second.manifest(NAME);
        assertThat(time.nanoTime()).isZero();
        Archiving.archive(second, state(1, 6));
        assertThat(time.nanoTime()).isEqualTo(Lease.TAKEOVER_DELAY.toNanos()).isGreaterThan(Lease.LENGTH.toNanos());
    }

    /** A new owner must be fenced if yet another owner takes over the archive while the new owner waits. */
    @Test
    void ownerSupersededWhileWaitingIsFenced() {
        claim();
        Archive second = claim(client, new Claims.SkippedTime());
        claim();
        assertRejected(Reason.FENCED, second::ensureOwner, "number 3");
    }

    @Test
    void rejectsArchiveOfOtherStoreWithoutChange() {
        claim();
        byte[] root = objects.content(ArchiveKeys.ROOT);
        UUID other = new UUID(3, 4);
        assertRejected(
                Reason.FOREIGN,
                () -> Claims.claim(client, other, "host/2", InstantSource.system()),
                STORE.toString(),
                other.toString(),
                "another prefix");
        assertThat(objects.content(ArchiveKeys.ROOT)).isEqualTo(root);
    }

    @Test
    void doesNotRecreateLostRoot() {
        Archiving.archive(claim(), state(1, 3));
        objects.delete(ArchiveKeys.ROOT);
        assertRejected(Reason.CORRUPT, this::claim, "archive.json", "restore this object");
        assertRejected(Reason.CORRUPT, () -> Archive.open(client), "archive.json", "restore this object");
        assertThat(objects.content(ArchiveKeys.ROOT)).isNull();
    }

    @Test
    void claimSucceedsAfterLostResponse() {
        for (ObjectFault fault : List.of(ObjectFault.RESPONSE_LOST, ObjectFault.TRIED_TWICE)) {
            MemoryObjectStore faulty = objects.client().faults(ObjectFaults.at(ObjectCall.PUT_IF, 1, fault));
            Archive archive = claim(faulty);
            archive.checkOwner();
            assertThat(faulty.calls(ObjectCall.PUT_IF))
                    .as("it is put again, to be durable")
                    .isEqualTo(2);
        }
    }

    @Test
    void retriesOvertakenClaim() {
        claim();
        MemoryObjectStore overtaken = objects.client();
        overtaken.faults((number, call, key) -> {
            if (call == ObjectCall.PUT_IF && overtaken.calls(ObjectCall.PUT_IF) == 1) {
                claim();
            }
            return ObjectFault.NONE;
        });
        Archive archive = claim(overtaken);
        assertThat(archive.root().epoch()).isEqualTo(3);
        archive.checkOwner();
    }

    @Test
    void failsClaimIfRootPutIsRejected() {
        MemoryObjectStore faulty = objects.client().faults(ObjectFaults.at(ObjectCall.PUT_IF, 1, ObjectFault.REJECTED));
        assertResponded(Kind.UNAVAILABLE, () -> claim(faulty));
        assertThat(objects.keys("")).isEmpty();
    }

    @Test
    void snapshotIsArchivedOnlyAfterCommit() {
        Archive archive = claim();
        Generation generation = Archiving.put(archive, null, state(7, 4));
        assertThat(archive.manifest(NAME)).isNull();
        KeptManifest kept = archive.commit(null, NAME, generation);
        assertThat(archive.manifest(NAME)).isEqualTo(kept);
        assertThat(archive.manifestAt(ArchiveKeys.manifest(NAME))).isEqualTo(kept);
        assertThat(Archiving.read(Archive.open(client), NAME, generation))
                .containsExactly("letters/1/7/0", "letters/1/7/1", "letters/1/7/2", "letters/1/7/3");
        assertThat(generation.count()).isEqualTo(4);
        assertThat(objects.content(generation.key())).hasSize((int) generation.objectBytes());
    }

    @Test
    void documentMayChangeUntilSnapshotStarts() {
        Archive archive = claim();
        State later = new State("letters/1", 7, 2, 6, 9_000);
        Generation generation = state(7, 4).put(archive, 1, later, later::read);
        assertThat(generation.firstSequence()).isEqualTo(2);
        assertThat(generation.nextSequence()).isEqualTo(6);
        assertThat(generation.takenAtMillis()).isEqualTo(9_000);
        archive.commit(null, NAME, generation);
        assertThat(Archiving.read(archive, NAME, generation)).hasSize(4).last().isEqualTo("letters/1/7/5");
    }

    @Test
    void rejectsSnapshotOfEarlierState() {
        Archive archive = claim();
        State earlier = state(7, 3);
        assertThatThrownBy(() -> state(7, 4).put(archive, 1, earlier, earlier::read))
                .isInstanceOf(IllegalArgumentException.class);
        assertThat(objects.keys(ArchiveKeys.SNAPSHOTS)).isEmpty();
    }

    @Test
    void propagatesSourceExceptionAndPutsNothing() {
        Archive archive = claim();
        State state = state(7, 4);
        assertThatThrownBy(() -> state.put(archive, 1, state, reader -> {
                    throw new IllegalStateException("gone");
                }))
                .hasMessage("gone");
        assertThat(objects.keys(ArchiveKeys.SNAPSHOTS)).isEmpty();
    }

    @ParameterizedTest
    @EnumSource(
            value = ObjectFault.class,
            names = {"RESPONSE_LOST", "TRIED_TWICE"})
    void commitSucceedsAfterLostResponse(ObjectFault fault) {
        Archive archive = claim();
        Archiving.archive(archive, state(1, 3));
        client.faults(ObjectFaults.at(ObjectCall.PUT_IF, 1, fault));
        KeptManifest kept = Archiving.archive(archive, state(1, 5));
        assertThat(kept).isEqualTo(archive.manifest(NAME));
        assertThat(kept.manifest().lastGeneration()).isEqualTo(2);
        client.faults(ObjectFaults.at(ObjectCall.PUT_IF, 1, fault));
        KeptManifest deleted = Archiving.delete(archive, state(1, 5));
        assertThat(deleted).isEqualTo(archive.manifest(NAME));
        assertThat(deleted.manifest().tombstone()).isNotNull();
    }

    /** A commit must fail if the response to its first put of the manifest is lost and the second put is rejected. */
    @Test
    void failsCommitIfManifestCannotBePutAgain() {
        Archive archive = claim();
        KeptManifest before = Archiving.archive(archive, state(1, 3));
        AtomicLong puts = new AtomicLong();
        client.faults((number, call, key) -> call != ObjectCall.PUT_IF
                ? ObjectFault.NONE
                : puts.incrementAndGet() == 1 ? ObjectFault.RESPONSE_LOST : ObjectFault.REJECTED);
        assertResponded(Kind.UNAVAILABLE, () -> Archiving.archive(archive, state(1, 5)));
        assertThat(puts).hasValue(2);
        assertThat(archive.manifest(NAME)).isNotEqualTo(before);
    }

    /** Callers retry conflicts, so they must see one that follows a lost response. */
    @Test
    void commitConflictsIfManifestChangesBeforeItIsPutAgain() {
        Archive archive = claim();
        KeptManifest before = Archiving.archive(archive, state(1, 3));
        Generation late = Archiving.put(archive, before, state(1, 5));
        AtomicLong puts = new AtomicLong();
        client.faults((number, call, key) -> {
            long put = call == ObjectCall.PUT_IF ? puts.incrementAndGet() : 0;
            if (put == 2) {
                objects.put(key, new byte[1]);
            }
            return put == 1 ? ObjectFault.RESPONSE_LOST : ObjectFault.NONE;
        });
        assertThatThrownBy(() -> archive.commit(before, NAME, late))
                .isInstanceOfSatisfying(ObjectStoreException.class, conflict -> {
                    assertThat(conflict.kind()).isEqualTo(Kind.CONFLICT);
                    assertThat(conflict.getSuppressed())
                            .singleElement()
                            .isInstanceOfSatisfying(
                                    ObjectStoreException.class,
                                    lost -> assertThat(lost.kind()).isEqualTo(Kind.UNAVAILABLE));
                });
    }

    @Test
    void retriesClaimThatIsOvertakenBeforeItIsPutAgain() {
        MemoryObjectStore overtaken = objects.client();
        AtomicLong puts = new AtomicLong();
        overtaken.faults((number, call, key) -> {
            long put = call == ObjectCall.PUT_IF ? puts.incrementAndGet() : 0;
            if (put == 2) {
                claim();
            }
            return put == 1 ? ObjectFault.RESPONSE_LOST : ObjectFault.NONE;
        });
        Archive archive = claim(overtaken);
        assertThat(archive.root().epoch()).isEqualTo(3);
        archive.checkOwner();
    }

    @Test
    void warnsWhenManifestFirstExceedsLargeSize() {
        Archive archive = claim();
        Manifest small = Archiving.archive(archive, state(1, 3)).manifest();
        List<Generation> generations = new ArrayList<>(small.generations());
        while (generations.size() < 8192) {
            generations.add(generation(generations.get(generations.size() - 1)));
        }
        int count = 1;
        for (int more = 4096; more > 0; more /= 2) {
            byte[] content =
                    manifest(small, generations.subList(0, count + more)).encode();
            count += content.length <= 1 << 20 ? more : 0;
        }
        objects.put(
                ArchiveKeys.manifest(NAME),
                manifest(small, generations.subList(0, count)).encode());
        Logger logger = (Logger) LoggerFactory.getLogger(Archive.class);
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.addAppender(log);
        try {
            Archiving.archive(archive, state(1, 5));
            assertThat(log.list)
                    .singleElement()
                    .satisfies(line -> assertThat(line.getFormattedMessage())
                            .contains(
                                    "'letters/1'", "can no longer be archived", "at 16777216 bytes", "archive prune"));
            Archiving.archive(archive, state(1, 7));
            assertThat(log.list).hasSize(1);
        } finally {
            logger.detachAppender(log);
        }
    }

    private static Manifest manifest(Manifest small, List<Generation> generations) {
        long last = generations.get(generations.size() - 1).number();
        return new Manifest(small.store(), NAME, small.epoch(), last, generations, null);
    }

    /** Returns another generation with the same values as the last one. */
    private static Generation generation(Generation last) {
        return new Generation(
                last.number() + 1,
                ArchiveKeys.snapshot(NAME, last.number() + 1, last.nextSequence(), last.epoch(), 1),
                last.incarnation(),
                last.epoch(),
                last.firstSequence(),
                last.nextSequence(),
                last.takenAtMillis(),
                last.valueBytes(),
                last.objectBytes(),
                last.sha256());
    }

    @Test
    void failsClaimIfRootCannotBePutAgain() {
        AtomicLong puts = new AtomicLong();
        MemoryObjectStore failing = objects.client()
                .faults((number, call, key) -> call != ObjectCall.PUT_IF
                        ? ObjectFault.NONE
                        : puts.incrementAndGet() == 1 ? ObjectFault.RESPONSE_LOST : ObjectFault.REJECTED);
        assertResponded(Kind.UNAVAILABLE, () -> claim(failing));
        assertThat(puts).hasValue(2);
    }

    @Test
    void failsCommitIfManifestPutIsRejected() {
        Archive archive = claim();
        KeptManifest before = Archiving.archive(archive, state(1, 3));
        client.faults(ObjectFaults.at(ObjectCall.PUT_IF, 1, ObjectFault.REJECTED));
        assertResponded(Kind.UNAVAILABLE, () -> Archiving.archive(archive, state(1, 5)));
        assertThat(archive.manifest(NAME)).isEqualTo(before);
    }

    @Test
    void commitOnStaleManifestConflicts() {
        Archive archive = claim();
        KeptManifest first = Archiving.archive(archive, state(1, 3));
        KeptManifest second = Archiving.archive(archive, state(1, 5));
        Generation late = Archiving.put(archive, first, state(1, 7));
        assertResponded(Kind.CONFLICT, () -> archive.commit(first, NAME, late));
        assertResponded(Kind.CONFLICT, () -> {
            Generation fresh = Archiving.put(archive, null, state(1, 7));
            archive.commit(null, NAME, fresh);
        });
        assertThat(archive.manifest(NAME)).isEqualTo(second);
    }

    @Test
    void commitOverManifestOfLaterOwnerIsFenced() {
        Archive old = claim();
        KeptManifest first = Archiving.archive(old, state(1, 3));
        Archive young = claim();
        KeptManifest second = Archiving.archive(young, state(1, 5));
        assertRejected(Reason.FENCED, () -> Archiving.archive(old, state(1, 7)), "letters/1", "number 2");
        Generation late = Archiving.put(old, first, state(1, 7));
        assertRejected(Reason.FENCED, () -> old.commit(first, NAME, late), "letters/1");
        assertThat(young.manifest(NAME)).isEqualTo(second);
    }

    @Test
    void rejectsOlderStateOfSameIncarnation() {
        Archive archive = claim();
        Archiving.archive(archive, state(1, 9));
        Archiving.archive(archive, state(2, 4));
        assertRejected(Reason.DIVERGED, () -> Archiving.archive(archive, state(1, 8)), "letters/1", "sequence 8", "9");
        assertThat(Archiving.archive(archive, state(2, 4)).manifest().lastGeneration())
                .isEqualTo(3);
    }

    @Test
    void rejectsGenerationThatIsNotNewOrOfOtherDocument() {
        Archive archive = claim();
        KeptManifest before = Archiving.archive(archive, state(1, 3));
        Generation next = Archiving.put(archive, before, state(1, 4));
        Generation same = before.manifest().latest();
        assertThatThrownBy(() -> archive.commit(before, NAME, same)).isInstanceOf(IllegalArgumentException.class);
        DocumentName other = DocumentName.of("other");
        assertThatThrownBy(() -> archive.commit(before, other, next)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> archive.commit(null, other, next)).isInstanceOf(IllegalArgumentException.class);
        assertThat(archive.manifest(NAME)).isEqualTo(before);
        assertThat(archive.manifest(other)).isNull();
    }

    @Test
    void newIncarnationReplacesTombstone() {
        Archive archive = claim();
        Archiving.archive(archive, state(1, 3));
        KeptManifest deleted = Archiving.delete(archive, state(1, 3));
        assertThat(deleted.manifest().generations()).hasSize(1);
        KeptManifest again = Archiving.archive(archive, state(2, 1));
        assertThat(again.manifest().tombstone()).isNull();
        assertThat(again.manifest().lastGeneration()).isEqualTo(2);
        assertThat(Archiving.delete(archive, new State("never archived", 5, 0, 2, 0))
                        .manifest()
                        .lastGeneration())
                .isZero();
    }

    @Test
    void openedArchiveRejectsWrites() {
        Archive archive = claim();
        KeptManifest kept = Archiving.archive(archive, state(1, 3));
        Archive opened = Archive.open(client);
        assertThatThrownBy(() -> opened.commit(null, NAME, kept.manifest().latest()))
                .isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> Archiving.put(opened, kept, state(1, 4))).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(opened::checkOwner).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void reportsMissingOrReplacedSnapshot() {
        Archive archive = claim();
        Generation one = Archiving.archive(archive, state(1, 3)).manifest().latest();
        Generation two = Archiving.archive(archive, state(1, 4)).manifest().latest();
        byte[] content = objects.content(one.key());
        objects.put(two.key(), content);
        assertRejected(
                Reason.CORRUPT, () -> Archiving.read(archive, NAME, two), "letters/1", two.key(), "generation 1");
        objects.delete(one.key());
        assertRejected(Reason.NOT_FOUND, () -> Archiving.read(archive, NAME, one), "letters/1", one.key());
    }

    /** A read must detect that a snapshot was replaced by a valid one with the same header but other values. */
    @Test
    void detectsSnapshotWithWrongHash() {
        Archive archive = claim();
        State state = state(1, 3);
        Generation kept = Archiving.archive(archive, state).manifest().latest();
        Generation other = state.put(archive, 1, state, reader -> {
            reader.begin(state.info());
            for (long sequence = 0; sequence < 3; sequence++) {
                reader.next(sequence, ByteBuffer.wrap(new byte[] {1}));
            }
            return true;
        });
        objects.put(kept.key(), objects.content(other.key()));
        assertRejected(Reason.CORRUPT, () -> Archiving.read(archive, NAME, kept), "letters/1", kept.key());
    }

    @Test
    void rejectsManifestOfOtherDocumentOrStore() {
        Archive archive = claim();
        Archiving.archive(archive, state(1, 3));
        byte[] manifest = objects.content(ArchiveKeys.manifest(NAME));
        objects.put(ArchiveKeys.manifest(DocumentName.of("x")), manifest);
        assertRejected(Reason.CORRUPT, () -> archive.manifest(DocumentName.of("x")), "manifests/x", "letters/1");
        objects.delete(ArchiveKeys.ROOT);
        objects.delete(ArchiveKeys.manifest(NAME));
        objects.delete(ArchiveKeys.manifest(DocumentName.of("x")));
        Archive other = Claims.claim(client, new UUID(3, 4), "host/2", InstantSource.system());
        objects.put(ArchiveKeys.manifest(NAME), manifest);
        assertRejected(Reason.FOREIGN, () -> other.manifest(NAME), "manifests/letters!2f1", STORE.toString());
    }

    @Test
    void listsManifestKeysInOrder() {
        Archive archive = claim();
        for (int i = 0; i < 10; i++) {
            Archiving.archive(archive, new State("d" + i, 1, 0, 1, 0));
        }
        assertThat(archive.manifests().limit(5))
                .containsExactly("manifests/d0", "manifests/d1", "manifests/d2", "manifests/d3", "manifests/d4");
    }
}
