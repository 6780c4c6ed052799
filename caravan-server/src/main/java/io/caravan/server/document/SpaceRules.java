package io.caravan.server.document;

import io.caravan.ListStore;
import io.caravan.catalog.DocumentState;
import io.caravan.server.document.DocumentException.Reason;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Applies the settings of spaces to a write of any protocol, between its edits and its commit. Values that are no
 * longer retained are trimmed first, in the same batch. Then the remaining sizes are checked, then quotas, and finally
 * rates. A write that appends nothing and creates nothing is never rejected.
 *
 * <p>A document that has forks cannot be trimmed: it grows, and its first append without forks trims it.
 */
final class SpaceRules {
    private final ListStore store;
    private final LongSupplier nanoTime;
    private final LongSupplier nowMillis;

    SpaceRules(ListStore store, LongSupplier nanoTime, LongSupplier nowMillis) {
        this.store = store;
        this.nanoTime = nanoTime;
        this.nowMillis = nowMillis;
    }

    /** Whether {@link #age} would change a document of the space. */
    boolean ages(Space space, DocumentInfo info) {
        long ageMillis = ageMillis(space);
        if (ageMillis == 0 || info.count() == 0 || info.attributes().forks() > 0) {
            return false;
        }
        long now = nowMillis.getAsLong();
        Ages ages = info.attributes().ages();
        return ages.lacks(info.nextSequence(), now, ageMillis) || ages.thereAt(now - ageMillis) > info.firstSequence();
    }

    private static long ageMillis(Space space) {
        return TimeUnit.SECONDS.toMillis(space.settings().get(SpaceSetting.RETAINED_SECONDS));
    }

    /** Records the arrival of the document's values, and trims those that are too old. Returns the number trimmed. */
    long age(EditedDocument document) {
        DocumentInfo info = document.evenDeleted();
        Space space = document.size() == null ? null : size(document).space();
        if (info == null || space == null || !ages(space, info)) {
            return 0;
        }
        long now = nowMillis.getAsLong();
        long ageMillis = ageMillis(space);
        Ages ages = info.attributes().ages();
        long keep = Math.min(ages.thereAt(now - ageMillis), info.nextSequence());
        if (ages.lacks(info.nextSequence(), now, ageMillis)) {
            document.ages(info, ages.with(info.nextSequence(), now, ageMillis));
        }
        if (keep <= info.firstSequence()) {
            return 0;
        }
        document.dropBefore(keep, Objects.requireNonNull(document.evenDeleted()).attributes());
        return keep - info.firstSequence();
    }

    /**
     * Applies the settings to a write.
     *
     * @param limited whether a client makes the write; any other write is only counted
     * @return the reservations of the write, until it is accepted or rejected
     * @throws DocumentException {@code TOO_LARGE}, {@code OVER_QUOTA}, {@code RATE_LIMITED}; nothing is then reserved
     */
    QuotaReservation charge(DocumentEdits edits, boolean limited) {
        List<EditedDocument> documents = edits.inSpaces();
        if (documents.isEmpty()) {
            return QuotaReservation.NONE;
        }
        QuotaReservation charges = new QuotaReservation(documents.size());
        boolean charged = false;
        try {
            for (EditedDocument document : documents) {
                charge(document, size(document), limited, charges);
            }
            if (limited) {
                charges.checkQuotas();
                takeRates(documents, charges);
            }
            charged = true;
            return charges;
        } finally {
            if (!charged) {
                charges.close();
            }
        }
    }

    private void charge(EditedDocument document, SizeDelta size, boolean limited, QuotaReservation charges) {
        Space space = size.space();
        long retired = 0;
        if (limited && size.appends()) {
            retired = age(document) + retire(document, size);
            checkSizes(document, size);
        }
        DocumentState after = document.list();
        long documents = size.moreDocuments(after);
        long bytes = size.moreBytes(store, after);
        charges.count(document.name(), space, documents, bytes);
        if (grows(document)) {
            charges.wrote(space, size.appendedBytes(), retired);
        }
    }

    /** Trims values that are no longer retained. Returns the number trimmed. */
    private long retire(EditedDocument document, SizeDelta size) {
        long most = size.space().settings().get(SpaceSetting.RETAINED_VALUES);
        long mostBytes = size.space().settings().get(SpaceSetting.RETAINED_BYTES);
        DocumentInfo info = document.evenDeleted();
        if (info == null || most == 0 && mostBytes == 0 || info.attributes().forks() > 0) {
            return 0;
        }
        long first = info.firstSequence();
        long keep = first;
        if (most != 0) {
            keep = Math.max(keep, info.nextSequence() - most);
        }
        if (mostBytes != 0) {
            keep = Math.max(keep, firstWithin(document, size, info, mostBytes));
        }
        if (keep > first) {
            document.retire(keep, info.attributes());
        }
        return keep - first;
    }

    private long firstWithin(EditedDocument document, SizeDelta size, DocumentInfo info, long mostBytes) {
        DocumentState list = document.list();
        if (list == null) {
            return info.firstSequence();
        }
        long bytes = size.bytes(store, list);
        return bytes <= mostBytes
                ? info.firstSequence()
                : info.attributes().base() + size.fits(store, list, bytes, mostBytes);
    }

    private void checkSizes(EditedDocument document, SizeDelta size) {
        DocumentInfo info = document.evenDeleted();
        if (info != null) {
            checkSize(document, size, SpaceSetting.VALUE_BYTES, size.longestBytes(), "take a value of ", " bytes");
            long count = info.nextSequence() - info.firstSequence();
            checkSize(document, size, SpaceSetting.DOCUMENT_VALUES, count, "have ", " values");
            if (size.space().settings().has(SpaceSetting.DOCUMENT_BYTES)) {
                long bytes = size.bytes(store, document.list());
                checkSize(document, size, SpaceSetting.DOCUMENT_BYTES, bytes, "have ", " bytes");
            }
        }
    }

    private static void checkSize(
            EditedDocument document, SizeDelta size, SpaceSetting limit, long number, String what, String unit) {
        Space space = size.space();
        if (space.settings().exceeds(limit, number)) {
            space.refusedSize();
            throw new DocumentException(
                    Reason.TOO_LARGE,
                    document.name(),
                    "cannot " + what + number + unit + ": its space '" + space.prefix() + "' has " + limit.key() + " "
                            + space.settings().get(limit));
        }
    }

    private static SizeDelta size(EditedDocument document) {
        return Objects.requireNonNull(document.size());
    }

    private static boolean grows(EditedDocument document) {
        return size(document).everAppended() || size(document).moreDocuments(document.list()) > 0;
    }

    /**
     * Takes the amounts of the write from the rates of each space in one step. A write of more than one second's worth
     * therefore passes, as a single value does.
     */
    private void takeRates(List<EditedDocument> documents, QuotaReservation charges) {
        Map<Space, List<EditedDocument>> growing = new LinkedHashMap<>();
        for (EditedDocument document : documents) {
            if (grows(document)) {
                growing.computeIfAbsent(size(document).space(), any -> new ArrayList<>(1))
                        .add(document);
            }
        }
        growing.forEach((space, ofSpace) -> take(space, ofSpace, charges));
    }

    private void take(Space space, List<EditedDocument> documents, QuotaReservation charges) {
        long writes = documents.size();
        long appendedBytes = documents.stream()
                .mapToLong(document -> size(document).appendedBytes())
                .sum();
        long waitNanos = space.take(nanoTime.getAsLong(), writes, appendedBytes);
        if (waitNanos > 0) {
            space.refusedRate();
            long waitMillis = TimeUnit.NANOSECONDS.toMillis(waitNanos) + 1;
            throw new DocumentException(
                    Reason.RATE_LIMITED,
                    documents.get(0).name(),
                    "cannot take this now: its space '" + space.prefix() + "' is written to faster than it allows; try"
                            + " again in " + waitMillis + " ms",
                    waitMillis,
                    0);
        }
        charges.took(space, writes, appendedBytes);
    }
}
