package io.caravan.server.document;

import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.util.ArrayList;
import java.util.List;

/**
 * The quota reservations of one write. Growth is counted immediately, so that two writes cannot both take the last free
 * space; shrinkage is counted only when the write is accepted. Closing without acceptance undoes the reservations. Used
 * by one thread.
 */
final class QuotaReservation implements AutoCloseable {
    /** The reservations of a write without documents in spaces. */
    static final QuotaReservation NONE = new QuotaReservation(0);

    private final List<Counted> counted;
    private final List<Runnable> whenAccepted;
    private final List<Runnable> whenRefused;
    private boolean accepted;

    QuotaReservation(int documents) {
        counted = new ArrayList<>(documents);
        whenAccepted = new ArrayList<>(2 * documents);
        whenRefused = new ArrayList<>(2 * documents);
    }

    /** The effect of the write on one document. */
    private record Counted(DocumentName name, Space space, long documents, long bytes) {
        long of(SpaceSetting quota) {
            return quota == SpaceSetting.QUOTA_DOCUMENTS ? documents : bytes;
        }
    }

    /** Counts an increase or a decrease in documents and bytes. */
    void count(DocumentName name, Space space, long documents, long bytes) {
        counted.add(new Counted(name, space, documents, bytes));
        int stripe = Catalog.stripeOf(name);
        long moreDocuments = Math.max(0, documents);
        long moreBytes = Math.max(0, bytes);
        if (moreDocuments > 0 || moreBytes > 0) {
            space.count(stripe, moreDocuments, moreBytes);
            whenRefused.add(() -> space.count(stripe, -moreDocuments, -moreBytes));
        }
        if (documents < 0 || bytes < 0) {
            whenAccepted.add(() -> space.count(stripe, Math.min(0, documents), Math.min(0, bytes)));
        }
    }

    /**
     * Checks that no space exceeds its quotas. Space that the write frees in one document is available to another.
     *
     * @throws DocumentException {@code OVER_QUOTA}
     */
    void checkQuotas() {
        for (Counted each : counted) {
            checkQuota(each, SpaceSetting.QUOTA_DOCUMENTS);
            checkQuota(each, SpaceSetting.QUOTA_BYTES);
        }
    }

    private void checkQuota(Counted growing, SpaceSetting quota) {
        Space space = growing.space();
        if (growing.of(quota) > 0 && space.exceeds(quota, 0) && space.exceeds(quota, freed(space, quota))) {
            space.refusedQuota();
            throw new DocumentException(
                    Reason.OVER_QUOTA,
                    growing.name(),
                    "cannot take this: its space '" + space.prefix() + "' would be over its " + quota.key() + " of "
                            + space.settings().get(quota) + "; trim or delete documents of the space");
        }
    }

    private long freed(Space space, SpaceSetting quota) {
        long freed = 0;
        for (Counted each : counted) {
            freed += each.space() == space ? Math.max(0, -each.of(quota)) : 0;
        }
        return freed;
    }

    /** Records an amount taken from the space's rates. */
    void took(Space space, long writes, long appendedBytes) {
        whenRefused.add(() -> space.giveBack(writes, appendedBytes));
    }

    /** Records a write that the space's statistics include once it is accepted. */
    void wrote(Space space, long appendedBytes, long retentionTrimmedValues) {
        whenAccepted.add(() -> space.wrote(appendedBytes, retentionTrimmedValues));
    }

    /** Completes the reservations, once the store has accepted the write. */
    void accepted() {
        // All threads share NONE: a write to it would cost more than the rest of this class.
        if (this != NONE) {
            accepted = true;
            whenAccepted.forEach(Runnable::run);
        }
    }

    @Override
    public void close() {
        if (!accepted) {
            whenRefused.forEach(Runnable::run);
        }
    }
}
