package io.caravan.server.protocol.resp.commands;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.EditedDocument;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which documents exist for Redis's commands. In Redis a list without elements does not exist. A document stays when
 * its last value is trimmed away, and there are documents that never had one; they keep counting their sequences, and
 * their attributes, for those who use them. To Redis's commands they do not exist: {@code EXISTS} tells 0, {@code TYPE}
 * none, {@code EXPIRE} does nothing, and {@code DEL}, which removes them all the same, does not count them. Neither
 * does a document that is deleted and kept for its forks.
 *
 * <p>What lists documents ({@code SCAN}, {@code KEYS}, {@code DBSIZE}) and the commands of Caravan's own see them:
 * nothing in a store is hidden.
 */
final class Presence {

    private Presence() {}

    /** The document after the change so far, or null when it does not exist for Redis. */
    static @Nullable DocumentInfo of(EditedDocument document) {
        DocumentInfo info = existing(document);
        return info == null || info.count() == 0 ? null : info;
    }

    /** The document after the change so far, or null when there is none, or only for its forks. */
    static @Nullable DocumentInfo existing(EditedDocument document) {
        try {
            return document.info();
        } catch (DocumentException refused) {
            return goneOrThrow(refused);
        }
    }

    private static @Nullable DocumentInfo goneOrThrow(DocumentException refused) {
        if (refused.reason() == DocumentException.Reason.GONE) {
            return null;
        }
        throw refused;
    }

    /** The document, or null when it does not exist for Redis. */
    static @Nullable DocumentInfo of(Function<DocumentName, @Nullable DocumentInfo> documents, DocumentName name) {
        try {
            DocumentInfo info = documents.apply(name);
            return info == null || info.count() == 0 ? null : info;
        } catch (DocumentException refused) {
            return goneOrThrow(refused);
        }
    }

    /**
     * Drops values from the head for a command of Redis's. When none is left the key is gone for Redis, and with it
     * goes the time at which it would have expired: otherwise the next value would begin a list with an expiry that
     * nobody set.
     */
    static void trim(EditedDocument document, DocumentInfo before, long firstKept) {
        document.trimTo(firstKept);
        if (firstKept >= before.nextSequence()
                && before.attributes().expiresAtMillis().isPresent()) {
            document.attributes(before.attributes().withoutExpiry());
        }
    }
}
