package io.caravan.server.document;

import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A step in the migration of a document to another server, requested by a client over any protocol.
 *
 * @param holder the number of the run that performs the move, if the step requires one
 * @param to the target of the fence; null for other steps
 */
public record MoveStep(
        Kind kind, OptionalLong holder, @Nullable RedirectTarget to) {
    /** The kinds of migration steps. */
    public enum Kind {
        FENCE,
        REDIRECT,
        ABANDON,
        FORGET
    }

    /** The state of a document that has been fenced. */
    public record Fenced(long id, long first, long next) {}

    /**
     * Performs the step as part of a write.
     *
     * @return for {@code FENCE}, a {@link Fenced}; for {@code REDIRECT}, the target as text; otherwise, whether a fence
     * or a redirect was removed
     */
    public Object applyTo(EditedDocument document) {
        return switch (kind) {
            case FENCE -> {
                DocumentInfo info = DocumentMove.fence(document, holder.orElseThrow(), Objects.requireNonNull(to));
                yield new Fenced(info.id(), info.firstSequence(), info.nextSequence());
            }
            case REDIRECT ->
                DocumentMove.redirect(document, holder.orElseThrow()).text();
            case ABANDON -> DocumentMove.abandon(document, holder);
            case FORGET -> DocumentMove.forget(document);
        };
    }
}
