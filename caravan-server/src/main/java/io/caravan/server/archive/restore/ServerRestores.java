package io.caravan.server.archive.restore;

import io.caravan.server.archive.Archive;
import io.caravan.server.document.DocumentService;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** All that a server restores from its archive: when it is told to, when documents are asked for, and for drills. */
public final class ServerRestores implements AutoCloseable {
    private final RestoreService service;
    private final @Nullable Hydration hydration;
    private final @Nullable Drills drills;

    private ServerRestores(RestoreService service, @Nullable Hydration hydration, @Nullable Drills drills) {
        this.service = service;
        this.hydration = hydration;
        this.drills = drills;
    }

    /**
     * Starts what the config has.
     *
     * @param archive gives the archive; throws, when it is not at hand, why
     * @param documents the server's, which get to know of hydration
     * @param readers number of threads that read documents, of which half may wait for the archive
     */
    public static ServerRestores start(
            Supplier<Archive> archive, DocumentService documents, RestoreConfig config, int readers) {
        RestoreService service = new RestoreService(archive, documents);
        Hydration hydration = null;
        Drills drills = null;
        if (config.hydrate()) {
            hydration = new Hydration(archive, documents, service, Math.max(1, readers / 2));
            documents.coldDocuments(hydration);
        }
        if (!config.drillEvery().isZero()) {
            drills = new Drills(archive, documents, config, InstantSource.system());
            drills.start(config.drillEvery());
        }
        return new ServerRestores(service, hydration, drills);
    }

    /** Restores documents when it is told to. */
    public RestoreService service() {
        return service;
    }

    /** Fetches documents when they are asked for, or null. */
    public @Nullable Hydration hydration() {
        return hydration;
    }

    /** Tries restoring on a schedule, or null. */
    public @Nullable Drills drills() {
        return drills;
    }

    /** Ends drills and fetches; who waits for a document is told so. */
    @Override
    public void close() {
        if (drills != null) {
            drills.close();
        }
        if (hydration != null) {
            hydration.close();
        }
        service.close();
    }

    /**
     * What a server with an archive restores by itself.
     *
     * @param hydrate whether documents that the store lacks are fetched when they are first asked for
     * @param drillEvery time between two drills, zero for none
     * @param drillSample documents that a drill restores
     * @param data the store's directory
     * @param maxValueBytes greatest length of a value in the store
     */
    public record RestoreConfig(boolean hydrate, Duration drillEvery, int drillSample, Path data, int maxValueBytes) {
        /** Nothing. */
        public static final RestoreConfig NOTHING = new RestoreConfig(false, Duration.ZERO, 0, Path.of("."), 1);
    }
}
