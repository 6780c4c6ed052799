package io.caravan.server.archive.restore;

import io.caravan.server.archive.Archive;
import io.caravan.server.document.DocumentService;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The components that restore a server's documents from its archive.
 *
 * @param service restores documents on demand
 * @param hydration fetches documents when they are first needed, or null
 * @param drills tests restores on a schedule, or null
 */
public record ServerRestores(
        RestoreService service,
        @Nullable Hydration hydration,
        @Nullable Drills drills) implements AutoCloseable {

    /**
     * The configuration of the automatic restores of a server that has an archive.
     *
     * @param hydrate whether documents that the store lacks are fetched when they are first needed
     * @param drillEvery time between two drills; zero for no drills
     * @param drillSample number of documents that a drill restores
     * @param data the store's directory
     * @param maxValueBytes maximum length of a value in the store
     */
    public record RestoreConfig(boolean hydrate, Duration drillEvery, int drillSample, Path data, int maxValueBytes) {
        public static final RestoreConfig NOTHING = new RestoreConfig(false, Duration.ZERO, 0, Path.of("."), 1);
    }

    /**
     * Starts the automatic restores that a configuration enables.
     *
     * @param archive returns the archive; throws an exception with the reason when it is not available
     * @param documents the server's documents; hydration, if configured, is registered with them
     * @param readers number of threads that read documents; half of them may wait for the archive
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

    /** Ends drills and fetches. Pending fetches fail for their callers. */
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
}
