package io.caravan.server.archive.object;

import io.caravan.server.archive.object.ObjectStoreException.Kind;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Says of a file system's errors what they mean for objects. */
final class FileProblems {
    private final String location;

    FileProblems(String location) {
        this.location = location;
    }

    /**
     * What to throw.
     *
     * @param call what was being done, such as {@code read}
     * @param key the object or the folder of objects; empty for the whole place
     */
    ObjectStoreException problem(String call, String key, IOException cause) {
        if (cause instanceof ClosedByInterruptException || cause instanceof InterruptedIOException) {
            return of(Kind.UNAVAILABLE, call, key, "interrupted", cause);
        }
        if (cause instanceof Staging.CaseIgnoredException) {
            return of(Kind.CORRUPT, call, key, reason(cause), cause);
        }
        if (cause instanceof NoSuchFileException) {
            return of(Kind.NOT_FOUND, call, key, "there is none", cause);
        }
        String reason = reason(cause);
        String lower = reason.toLowerCase(Locale.ROOT);
        if (lower.contains("no space left") || lower.contains("quota exceeded")) {
            return of(Kind.FULL, call, key, "its file system is full: make space (" + reason + ")", cause);
        }
        if (cause instanceof AccessDeniedException || lower.contains("read-only file system")) {
            String advice = "this process may not: give its user read and write permission (" + reason + ")";
            return of(Kind.DENIED, call, key, advice, cause);
        }
        return of(Kind.UNAVAILABLE, call, key, reason, cause);
    }

    ObjectStoreException of(Kind kind, String call, String key, String why, @Nullable Throwable cause) {
        String what = key.isEmpty() ? location : "'" + key + "' in " + location;
        return new ObjectStoreException(kind, "cannot " + call + " " + what + ": " + why, cause);
    }

    private static String reason(IOException cause) {
        if (cause instanceof FileSystemException named) {
            String reason = named.getReason();
            return (reason == null ? named.getClass().getSimpleName() : reason) + ", " + named.getFile();
        }
        String message = cause.getMessage();
        return message == null ? cause.toString() : message;
    }
}
