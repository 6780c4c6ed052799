package io.caravan.server.document;

import io.caravan.catalog.Catalog;
import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.util.ArrayList;
import java.util.List;

/**
 * What a change takes of its spaces. What it adds is counted at once, so that two changes never share the last room; what
 * it frees, only when it is accepted. Closed without that, all is as it was. For one thread.
 */
final class SpaceCharges implements AutoCloseable {
    /** Those of a change without documents in spaces. */
    static final SpaceCharges NONE = new SpaceCharges(0);

    private final List<Counted> counted;
    private final List<Runnable> whenAccepted;
    private final List<Runnable> whenRefused;
    private boolean accepted;

    SpaceCharges(int documents) {
        counted = new ArrayList<>(documents);
        whenAccepted = new ArrayList<>(2 * documents);
        whenRefused = new ArrayList<>(2 * documents);
    }

    /** What the change makes of a document, in numbers. */
    private record Counted(DocumentName name, Space space, long documents, long bytes) {
        long of(SpaceSetting quota) {
            return quota == SpaceSetting.QUOTA_DOCUMENTS ? documents : bytes;
        }
    }

    /** Counts more documents and bytes, or fewer. */
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
     * Checks that no space is over its quotas; what the change frees in one document has room in another.
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

    /** Notes what was taken from the space's rates. */
    void took(Space space, long writes, long appendedBytes) {
        whenRefused.add(() -> space.giveBack(writes, appendedBytes));
    }

    /** Notes a write that the space's figures tell once it is accepted. */
    void wrote(Space space, long appendedBytes, long retiredValues) {
        whenAccepted.add(() -> space.wrote(appendedBytes, retiredValues));
    }

    /** The store has accepted the change. */
    void accepted() {
        // All threads share NONE: writing to it would cost them more than all the rest.
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
