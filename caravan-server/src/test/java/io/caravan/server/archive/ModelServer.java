package io.caravan.server.archive;

import static org.assertj.core.api.Assertions.assertThat;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.Archive.KeptManifest;
import io.caravan.server.archive.Archiving.State;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.format.Generation;
import io.caravan.server.archive.object.MemoryObjectStore;
import io.caravan.server.archive.object.ObjectStoreException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A model of a server that archives documents step by step. It restarts when it is fenced, and at random. */
final class ModelServer {
    private static final UUID STORE = new UUID(7, 7);
    /** The maximum duration of an attempt to archive a document. A real server aborts an attempt earlier. */
    private static final long MOST_MILLIS = Duration.ofHours(20).toMillis();

    private final MemoryObjectStore client;
    private final Random random;
    private final InstantSource clock;
    private final Map<String, Local> documents = new HashMap<>();
    private final Map<String, Attempt> attempts = new HashMap<>();
    private @Nullable Archive archive;
    private long commits;
    private long fenced;

    /** The state of a document in the server's store. */
    private record Local(long incarnation, long next) {}

    /** An attempt to archive a document: the manifest has been read, and the snapshot may have been put. */
    private record Attempt(
            long sinceMillis,
            State state,
            @Nullable KeptManifest before,
            @Nullable Generation put) {}

    ModelServer(MemoryObjectStore client, Random random, InstantSource clock) {
        this.client = client;
        this.random = random;
        this.clock = clock;
    }

    /** Returns the epoch of the archive, or 0 if the server does not own it. */
    long epoch() {
        return archive == null ? 0 : archive.root().epoch();
    }

    long commits() {
        return commits;
    }

    long fenced() {
        return fenced;
    }

    void step(String name) {
        try {
            if (archive == null || random.nextInt(60) == 0) {
                attempts.clear();
                archive = null;
                archive = Claims.claim(client, STORE, "host", clock);
            } else {
                step(archive, name);
            }
        } catch (ObjectStoreException problem) {
            attempts.remove(name);
        } catch (ArchiveException rejected) {
            attempts.remove(name);
            if (rejected.reason() == Reason.FENCED) {
                fenced++;
                archive = null;
                attempts.clear();
            } else {
                assertThat(rejected.reason()).isEqualTo(Reason.DIVERGED);
                documents.remove(name);
            }
        }
    }

    private void step(Archive owned, String name) {
        Attempt attempt = attempts.get(name);
        if (attempt != null && clock.millis() - attempt.sinceMillis > MOST_MILLIS) {
            attempts.remove(name);
        } else if (attempt == null) {
            begin(owned, name);
        } else if (attempt.put == null) {
            Generation put = Archiving.put(owned, attempt.before, attempt.state);
            attempts.put(name, new Attempt(attempt.sinceMillis, attempt.state, attempt.before, put));
        } else {
            KeptManifest now = owned.commit(attempt.before, attempt.state.name(), attempt.put);
            assertThat(now.manifest().generations()).contains(attempt.put);
            attempts.remove(name);
            commits++;
        }
    }

    private void begin(Archive owned, String name) {
        Local local = documents.computeIfAbsent(name, absent -> new Local(random.nextLong(), 0));
        State state =
                new State(name, local.incarnation, local.next / 2, local.next + random.nextInt(3), takenAtMillis());
        if (random.nextInt(6) == 0) {
            Archiving.delete(owned, state);
            documents.remove(name);
            return;
        }
        documents.put(name, new Local(local.incarnation, state.nextSequence()));
        // Sometimes assumes that the archive lacks the document, as a server may before it has archived the document.
        KeptManifest before = random.nextInt(5) == 0 ? null : owned.manifest(DocumentName.of(name));
        attempts.put(name, new Attempt(clock.millis(), state, before, null));
    }

    /** Returns the current time or, in one out of every ten cases, a time three days later. */
    private long takenAtMillis() {
        return clock.millis() + (random.nextInt(10) == 0 ? Duration.ofDays(3).toMillis() : 0);
    }
}
