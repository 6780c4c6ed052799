package io.caravan.server.document;

import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.catalog.NamedDocument;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes expired documents and abandoned imports, which are already invisible, to free their space. Also trims values
 * that exceed the maximum age in their document's space, as appends do. The sweeper repeatedly visits all documents, in
 * short steps of one stripe each.
 */
final class ExpirySweeper implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ExpirySweeper.class);
    private final DocumentService documents;
    private final long stepNanos;
    private final ScheduledExecutorService thread;
    private int stripe;

    /** Creates a sweeper that has not started; {@code cycle} is the duration of one pass over all documents. */
    ExpirySweeper(DocumentService documents, Duration cycle) {
        this.documents = documents;
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
            deleteExpired();
            if (documents.spaces.all().stream()
                    .anyMatch(space -> space.settings().has(SpaceSetting.RETAINED_SECONDS))) {
                trimOld();
            }
        } catch (RuntimeException | Error problem) {
            // An exception would silently end the schedule.
            LOG.error("expired documents wait for the next sweep", problem);
        }
        stripe = (stripe + 1) % Catalog.STRIPES;
    }

    /** Whether the document can expire or be abandoned, and is not merely kept for its forks. */
    private static boolean expiring(DocumentAttributes attributes) {
        return attributes.expires() && !attributes.deleted() || attributes.importing();
    }

    /** Deletes documents by means of empty writes, because any write to an expired document deletes it. */
    private void deleteExpired() {
        for (NamedDocument found : documents.catalog.list(stripe, raw -> expiring(DocumentAttributes.of(raw)))) {
            DocumentInfo info = DocumentInfo.of(found.state());
            if (documents.expiry.expired(info) || documents.expiry.abandoned(info)) {
                DocumentName name = found.name();
                documents.write(
                        name,
                        EditedDocument::name,
                        Outcome.of(
                                deleted -> LOG.debug("document '{}' has expired", deleted),
                                problem -> LOG.warn(
                                        "document '{}' has expired and could not be deleted: {}",
                                        name,
                                        problem.getMessage())));
            }
        }
    }

    private void trimOld() {
        for (ScanPage.Found found : documents.stripe(stripe)) {
            DocumentName name = found.name();
            Space space = documents.spaces.find(name);
            if (space != null
                    && !found.info().attributes().has(DocumentAttributes.FENCE)
                    && SpaceRules.ages(space, found.info(), documents.expiry)) {
                documents.writeLocal(
                        name,
                        ExpirySweeper::age,
                        Outcome.of(
                                trimmed ->
                                        LOG.debug("document '{}' has lost {} values that were too old", name, trimmed),
                                problem -> LOG.warn(
                                        "document '{}' has values that are too old and could not be trimmed: {}",
                                        name,
                                        problem.getMessage())));
            }
        }
    }

    private static long age(EditedDocument document) {
        SpaceRules rules = document.rules();
        return rules == null ? 0 : rules.age();
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
