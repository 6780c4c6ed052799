package io.caravan.server.archive.push;

import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.server.archive.format.ArchiveException;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.DocumentException;
import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The classification of a failed attempt.
 *
 * @param kind one word, for metrics
 * @param reach the scope
 * @param message what happened, where, and what to do
 */
record Failure(String kind, Reach reach, String message) {

    private static final String STORE_FAILED = "store_failed";
    private static final String STORE_FULL = "store_full";
    private static final String STORE_CORRUPT = "store_corrupt";
    private static final String CHANGED = "changed";
    private static final String INTERNAL = "internal";

    static final Set<String> KINDS = kinds();

    /** The scope of a failure. */
    enum Reach {
        /** The entire server, because it no longer owns the archive. */
        OWNER,
        /** All documents, because the archive cannot be reached or the store has failed. */
        ALL,
        /** Only this document in its current state. */
        DOCUMENT
    }

    private static Set<String> kinds() {
        Set<String> kinds = new HashSet<>(Set.of(STORE_FAILED, STORE_FULL, STORE_CORRUPT, CHANGED, INTERNAL));
        Stream.of(ArchiveException.Reason.values()).forEach(reason -> kinds.add(word(reason)));
        Stream.of(ObjectStoreException.Kind.values()).forEach(kind -> kinds.add(word(kind)));
        return Set.copyOf(kinds);
    }

    static Failure of(Throwable problem) {
        String message = String.valueOf(problem.getMessage());
        if (problem instanceof ArchiveException archive) {
            return new Failure(word(archive.reason()), reach(archive.reason()), message);
        }
        if (problem instanceof ObjectStoreException place) {
            return new Failure(word(place.kind()), reach(place.kind()), message);
        }
        if (problem instanceof StoreFailedException || problem instanceof StoreClosedException) {
            return new Failure(STORE_FAILED, Reach.ALL, message);
        }
        if (problem instanceof OutOfSpaceException) {
            return new Failure(STORE_FULL, Reach.DOCUMENT, message);
        }
        if (problem instanceof CorruptStoreException) {
            return new Failure(STORE_CORRUPT, Reach.DOCUMENT, message);
        }
        if (problem instanceof DocumentException) {
            return new Failure(CHANGED, Reach.DOCUMENT, message);
        }
        return new Failure(INTERNAL, Reach.DOCUMENT, problem.toString());
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static Reach reach(ArchiveException.Reason reason) {
        // An object of another store does not end the ownership; a root of another store would.
        return reason == ArchiveException.Reason.FENCED ? Reach.OWNER : Reach.DOCUMENT;
    }

    private static Reach reach(ObjectStoreException.Kind kind) {
        // For these two, another process keeps writing this manifest, or the object is too large.
        return kind == ObjectStoreException.Kind.CONFLICT || kind == ObjectStoreException.Kind.CORRUPT
                ? Reach.DOCUMENT
                : Reach.ALL;
    }

    /** Whether the failure is a bug in the server. */
    boolean internal() {
        return kind.equals(INTERNAL);
    }
}
