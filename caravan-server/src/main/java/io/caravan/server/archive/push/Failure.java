package io.caravan.server.archive.push;

import io.caravan.CorruptStoreException;
import io.caravan.OutOfSpaceException;
import io.caravan.StoreClosedException;
import io.caravan.StoreFailedException;
import io.caravan.server.archive.ArchiveException;
import io.caravan.server.archive.object.ObjectStoreException;
import io.caravan.server.document.DocumentException;
import java.util.Locale;

/**
 * What a failed attempt means.
 *
 * @param kind in one word, for figures
 * @param reach whom it concerns
 * @param message what happened, where, and what to do
 */
record Failure(String kind, Reach reach, String message) {

    /** Whom a failure concerns. */
    enum Reach {
        /** The archive is not this server's any more. */
        OWNER,
        /** All documents: the archive cannot be reached, or the store has failed. */
        ALL,
        /** This document alone, as long as it is what it is. */
        DOCUMENT
    }

    static Failure of(Throwable problem) {
        String message = String.valueOf(problem.getMessage());
        if (problem instanceof ArchiveException archive) {
            return new Failure(word(archive.reason()), reach(archive.reason()), message);
        }
        if (problem instanceof ObjectStoreException place) {
            return new Failure(word(place.kind()), reach(place.kind()), message);
        }
        if (problem instanceof DocumentException document) {
            return new Failure(word(document.reason()), Reach.DOCUMENT, message);
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
        return new Failure("internal", Reach.DOCUMENT, problem.toString());
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }

    private static Reach reach(ArchiveException.Reason reason) {
        return switch (reason) {
            case FENCED, FOREIGN -> Reach.OWNER;
            case CORRUPT, VERSION, NOT_FOUND, BACK_IN_TIME, DELETED -> Reach.DOCUMENT;
        };
    }

    private static Reach reach(ObjectStoreException.Kind kind) {
        return switch (kind) {
            case NOT_FOUND, DENIED, FULL, UNAVAILABLE -> Reach.ALL;
            // Somebody else writes this manifest all the time, or the object is too large.
            case CONFLICT, CORRUPT -> Reach.DOCUMENT;
        };
    }

    /** Whether nobody has thought of it. */
    boolean internal() {
        return kind.equals("internal");
    }
}
