package io.caravan.server.protocol.resp;

import io.caravan.server.document.DocumentException;
import io.caravan.server.document.DocumentInfo;
import io.caravan.server.document.EditedDocument;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Determines which documents exist for Redis commands. In Redis, a list without values does not exist. In Caravan, a
 * document without values can exist, with its sequences and attributes: either its last value was trimmed, or it never
 * had a value.
 *
 * <p>For Redis commands, such a document does not exist: {@code EXISTS} returns 0, {@code TYPE} returns none, {@code
 * EXPIRE} does nothing, and {@code DEL} deletes the document but does not count it. A deleted document that is kept for
 * its forks does not exist either.
 *
 * <p>{@code SCAN} without {@code TYPE}, {@code KEYS}, {@code DBSIZE}, and Caravan's own commands include documents
 * without values, so that no document is hidden.
 */
final class KeyExistence {

    private KeyExistence() {}

    /** Returns the state that a lookup of a document finds, or null if it does not exist for Redis commands. */
    static @Nullable DocumentInfo of(Supplier<@Nullable DocumentInfo> lookup) {
        DocumentInfo info = existing(lookup);
        return info == null || info.count() == 0 ? null : info;
    }

    /** Returns the state that a lookup finds, or null if the document does not exist or is kept only for its forks. */
    static @Nullable DocumentInfo existing(Supplier<@Nullable DocumentInfo> lookup) {
        try {
            return lookup.get();
        } catch (DocumentException rejected) {
            if (rejected.reason() == DocumentException.Reason.GONE) {
                return null;
            }
            throw rejected;
        }
    }

    /**
     * Trims values for a Redis command. If no value is left, the document no longer exists for Redis commands, so its
     * expiry is also removed. Otherwise, a list that begins with the next appended value would inherit the old expiry.
     */
    static void trim(EditedDocument document, long firstKept) {
        document.trimTo(firstKept);
        // The trim has changed the attributes of a fork: they contain the sequence of its first shared value.
        DocumentInfo after = document.info();
        if (after != null
                && after.count() == 0
                && after.attributes().expiresAtMillis().isPresent()) {
            document.attributes(after.attributes().withoutExpiry());
        }
    }
}
