package io.caravan.server.archive.push;

import io.caravan.CaravanException;
import io.caravan.ListStore;
import io.caravan.server.archive.Archive;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.format.ArchiveException.Reason;
import io.caravan.server.archive.object.ObjectStore;
import io.caravan.server.document.StoreIdentity;
import java.lang.management.ManagementFactory;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * Where the archive lies: opened when it is first needed, and written to no faster than it may be. Threads share it.
 */
final class ClaimedPlace implements AutoCloseable {
    private final ArchiveConfig config;
    private final ListStore store;
    private final MarkedArchive marked;
    private final ArchiveCounts figures;
    private final InstantSource clock;
    private final SecureRandom random = new SecureRandom();
    private @Nullable ObjectStore objects;
    private boolean closed;

    ClaimedPlace(ArchiveConfig config, ListStore store, ArchiveCounts figures, InstantSource clock) {
        this.config = config;
        this.store = store;
        this.marked = new MarkedArchive(store, config.location());
        this.figures = figures;
        this.clock = clock;
    }

    /**
     * Takes the archive over; throws what the place, the archive or the store says against it.
     *
     * @param another is run when the documents' marks are, or may be, about another archive
     */
    Archive claim(Runnable another) {
        // Process and host.
        String owner = ManagementFactory.getRuntimeMXBean().getName();
        try {
            Archive archive = Archive.claim(
                    objects(), identity(), owner, clock, marked.claims(config.takeover()), config.leaseClock());
            if (!marked.claimed(archive.root())) {
                another.run();
            }
            return archive;
        } catch (CompletionException refused) {
            // The store does not take its identity, or what it is to remember.
            throw refused.getCause() instanceof CaravanException problem ? problem : refused;
        }
    }

    private UUID identity() {
        if (config.adopts() && StoreIdentity.mayAdopt(store)) {
            try {
                StoreIdentity.adopt(store, Archive.open(objects()).root().store());
            } catch (ArchiveException none) {
                if (none.reason() != Reason.NOT_FOUND) {
                    throw none;
                }
            }
        }
        return StoreIdentity.of(store);
    }

    private synchronized ObjectStore objects() {
        if (closed) {
            throw new IllegalStateException("the archiver is closed");
        }
        if (objects == null) {
            Bandwidth bandwidth = new Bandwidth(config.bytesPerSecond(), System::nanoTime);
            objects = new PacedObjectStore(config.place().get(), bandwidth, figures::written);
        }
        return objects;
    }

    /** The archive has all that the documents' marks say. */
    void complete(Archive archive) {
        marked.complete(archive.root());
    }

    String location() {
        return config.location();
    }

    /** A number that no document has had. */
    long newIncarnation() {
        return random.nextLong();
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (objects != null) {
            objects.close();
        }
    }
}
