package io.caravan.server.document;

import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.NamedDocument;
import io.caravan.server.document.DocumentWrites.Write;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.Spaces;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes expired documents, which are already invisible, to free their space. Also trims values that are older than
 * their document's space retains, as appends do. It repeatedly sweeps all documents, in short steps of one stripe each.
 */
final class ExpirySweeper implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExpirySweeper.class);
    private final Catalog catalog;
    private final DocumentService documents;
    private final DocumentWrites writes;
    private final Expiry expiry;
    private final Spaces spaces;
    private final SpaceRules rules;
    private final long stepNanos;
    private final ScheduledExecutorService thread;
    private int stripe;

    /**
     * Creates a sweeper that has not started.
     *
     * @param cycle duration of one pass over all documents
     */
    ExpirySweeper(
            Catalog catalog,
            DocumentService documents,
            DocumentWrites writes,
            Expiry expiry,
            Spaces spaces,
            SpaceRules rules,
            Duration cycle) {
        this.catalog = catalog;
        this.documents = documents;
        this.writes = writes;
        this.expiry = expiry;
        this.spaces = spaces;
        this.rules = rules;
        this.stepNanos = cycle.toNanos() / Catalog.STRIPES;
        this.thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread sweeper = new Thread(task, "caravan-expiry");
            sweeper.setDaemon(true);
            return sweeper;
        });
    }

    void start() {
        thread.scheduleWithFixedDelay(this::step, stepNanos, stepNanos, TimeUnit.NANOSECONDS);
    }

    private void step() {
        try {
            sweep();
            if (spaces.all().stream().anyMatch(space -> space.settings().has(SpaceSetting.RETAINED_SECONDS))) {
                age();
            }
        } catch (RuntimeException | Error problem) {
            // An exception would silently end the schedule.
            LOG.error("expired documents wait for the next sweep", problem);
        }
        stripe = (stripe + 1) % Catalog.STRIPES;
    }

    /** Whether the document can expire. A document that is kept for its forks is deleted with the last of them. */
    private static boolean expiring(DocumentAttributes attributes) {
        return attributes.expires() && !attributes.deleted();
    }

    private void sweep() {
        for (NamedDocument found : catalog.list(stripe, raw -> expiring(DocumentAttributes.of(raw)))) {
            if (expiry.expired(
                    found.state().id(), DocumentAttributes.of(found.state().attributes()))) {
                delete(found.name());
            }
        }
    }

    private void age() {
        for (ScanPage.Found found : documents.stripe(stripe)) {
            Space space = spaces.find(found.name());
            if (space != null && !found.info().attributes().fenced() && rules.ages(space, found.info())) {
                age(found.name());
            }
        }
    }

    private void age(DocumentName name) {
        writes.writeLocal(Write.of(name, rules::age, new Outcome<Long>() {
            @Override
            public void success(Long dropped) {
                LOG.debug("document '{}' has lost {} values that were too old", name, dropped);
            }

            @Override
            public void failure(RuntimeException problem) {
                LOG.warn(
                        "document '{}' has values that are too old and could not be dropped: {}",
                        name,
                        problem.getMessage());
            }
        }));
    }

    /** Deletes an expired document by a write without changes, because any write to an expired document deletes it. */
    private void delete(DocumentName name) {
        documents.write(name, EditedDocument::name, new Outcome<DocumentName>() {
            @Override
            public void success(DocumentName expired) {
                LOG.debug("document '{}' has expired", expired);
            }

            @Override
            public void failure(RuntimeException problem) {
                LOG.warn("document '{}' has expired and could not be deleted: {}", name, problem.getMessage());
            }
        });
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
