package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.FENCE;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentException.Reason;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A step that the source server performs when a document is moved to another server, requested by a client over any
 * protocol. First, the document is fenced, so that it cannot change. Once the target server has the complete document, a
 * redirect replaces the document on the source server.
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

    /**
     * Blocks writes to a document that is being moved.
     *
     * @param holder identifies a run of a move: only the run that fenced the document last may continue the move
     * @param to the server to which the document moves
     */
    record Fence(long holder, RedirectTarget to) {}

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
                DocumentInfo info = fence(document, holder.orElseThrow(), Objects.requireNonNull(to));
                yield new Fenced(info.id(), info.firstSequence(), info.nextSequence());
            }
            case REDIRECT -> redirect(document, holder.orElseThrow()).text();
            case ABANDON -> abandon(document, holder);
            case FORGET -> forget(document);
        };
    }

    /**
     * Fences a document: from now on, all other writes to it are rejected, even after a restart of the server. Another
     * run of the same move takes over the fence.
     *
     * @param holder identifies the run
     * @return the document's final state
     * @throws DocumentException {@code NOT_FOUND}, {@code GONE}, {@code RESTORING}, {@code MOVED}, {@code HAS_FORKS};
     *     {@code MOVING} when it is being moved to another target
     */
    static DocumentInfo fence(EditedDocument document, long holder, RedirectTarget to) {
        DocumentName name = document.name();
        DocumentInfo info = DocumentReads.required(name, document.info());
        DocumentAttributes attributes = info.attributes();
        Fence held = attributes.get(FENCE);
        if (held != null && !held.to().equals(to)) {
            throw moving(name, held);
        }
        document.requireNoForks(attributes, "moved", "move or delete");
        document.moveTo(attributes.with(FENCE, new Fence(holder, to)));
        return info;
    }

    /**
     * Removes a document's fence, so that the document accepts writes again.
     *
     * @param holder the run that has fenced the document; empty for any run
     * @return whether a fence was removed
     */
    static boolean abandon(EditedDocument document, OptionalLong holder) {
        DocumentInfo info = document.evenDeleted();
        Fence held = info == null ? null : info.attributes().get(FENCE);
        if (info == null || held == null || holder.isPresent() && holder.getAsLong() != held.holder()) {
            return false;
        }
        document.moveTo(info.attributes().with(FENCE, null));
        return true;
    }

    /**
     * Deletes a fenced document, and leaves a redirect in its place.
     *
     * @return the target of the redirect
     * @throws DocumentException {@code CHANGED} when this run did not fence the document, or another run has fenced it
     *     since
     */
    static RedirectTarget redirect(EditedDocument document, long holder) {
        DocumentInfo info = document.info();
        Fence held = info == null ? null : info.attributes().get(FENCE);
        if (info == null || held == null || held.holder() != holder) {
            throw new DocumentException(
                    Reason.CHANGED,
                    document.name(),
                    "is not fenced by this run of its move: the move was abandoned, or another run has fenced it");
        }
        document.redirect(info, held.to());
        return held.to();
    }

    /**
     * Removes a redirect, and thereby frees the name.
     *
     * @return whether a redirect existed
     */
    static boolean forget(EditedDocument document) {
        DocumentInfo info = document.evenDeleted();
        @Nullable RedirectTarget to = info == null ? null : info.attributes().movedTo();
        if (to != null) {
            document.drop();
        }
        return to != null;
    }

    static DocumentException moving(DocumentName name, Fence fence) {
        return new DocumentException(
                Reason.MOVING,
                name,
                "is being moved to " + fence.to()
                        + ", and rejects writes until the move has ended: try again in a moment");
    }
}
