package io.caravan.server.archive.push;

import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.DocumentException;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The classification of a failed attempt.
 *
 * @param kind one word, for metrics
 * @param reach the scope
 * @param message what happened, where, and what to do
 */
record Failure(String kind, Reach reach, String message) {

    private static final String INTERNAL = "internal";

    static final Set<String> KINDS = Stream.of(
                    Stream.of("store_failed", "store_full", "store_corrupt", "changed", INTERNAL),
                    Stream.of(ArchiveException.Reason.values()).map(Failure::word),
                    Stream.of(ObjectStoreException.Kind.values()).map(Failure::word))
            .flatMap(kinds -> kinds)
            .collect(Collectors.toUnmodifiableSet());

    /** The scope of a failure. */
    enum Reach {
        /** The entire server, because it no longer owns the archive. */
        OWNER,
        /** All documents, because the archive cannot be reached or the store has failed. */
        ALL,
        /** Only this document in its current state. */
        DOCUMENT
    }

    static Failure of(Throwable problem) {
        String message = String.valueOf(problem.getMessage());
        if (problem instanceof ArchiveException archive) {
            // An object of another store does not end the ownership; a root of another store would.
            boolean fenced = archive.reason() == ArchiveException.Reason.FENCED;
            return new Failure(word(archive.reason()), fenced ? Reach.OWNER : Reach.DOCUMENT, message);
        }
        if (problem instanceof ObjectStoreException place) {
            // For these two, another process keeps writing this manifest, or the object is too large.
            boolean one = place.kind() == ObjectStoreException.Kind.CONFLICT
                    || place.kind() == ObjectStoreException.Kind.CORRUPT;
            return new Failure(word(place.kind()), one ? Reach.DOCUMENT : Reach.ALL, message);
        }
        if (problem instanceof StoreFailedException || problem instanceof StoreClosedException) {
            return new Failure("store_failed", Reach.ALL, message);
        }
        if (problem instanceof OutOfSpaceException) {
            return new Failure("store_full", Reach.DOCUMENT, message);
        }
        if (problem instanceof CorruptStoreException) {
            return new Failure("store_corrupt", Reach.DOCUMENT, message);
        }
        if (problem instanceof DocumentException) {
            return new Failure("changed", Reach.DOCUMENT, message);
        }
        return new Failure(INTERNAL, Reach.DOCUMENT, problem.toString());
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    /** Whether the failure is a bug in the server. */
    boolean internal() {
        return kind.equals(INTERNAL);
    }
}
