package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.FENCE;

import io.caravan.catalog.DocumentName;
import io.caravan.server.document.DocumentAttributes.Fence;
import io.caravan.server.document.DocumentException.Reason;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * A step that the source server performs when a document is moved to another server, requested by a client over any
 * protocol. First, the document is fenced, so that it cannot change. Once the target server has the complete document,
 * a redirect replaces the document on the source server.
 *
 * @param holder the number of the run that performs the move, if the step requires one
 * @param to the target of the fence; null for other steps
 */
public record MoveStep(
        Kind kind, OptionalLong holder, @Nullable RedirectTarget to) {
    public enum Kind {
        /** Rejects all other writes from now on, even after a restart. Another run of the move takes over the fence. */
        FENCE,
        /** Deletes a document that this run has fenced, and leaves a redirect in its place. */
        REDIRECT,
        /** Removes the fence of this run or, without a holder, of any run: the document accepts writes again. */
        ABANDON,
        /** Removes a redirect, and thereby frees the name. */
        FORGET
    }

    /** The state of a document that has been fenced. */
    public record Fenced(long id, long first, long next) {}

    /**
     * Performs the step as part of a write.
     *
     * @return for {@code FENCE}, a {@link Fenced}; for {@code REDIRECT}, the target as text; otherwise, whether a fence
     *     or a redirect was removed
     * @throws DocumentException {@code NOT_FOUND}, {@code GONE}, {@code RESTORING}, {@code MOVED}, {@code HAS_FORKS};
     *     {@code MOVING} when it is being moved to another target; {@code CHANGED} when this run holds no fence
     */
    public Object applyTo(EditedDocument document) {
        return switch (kind) {
            case FENCE -> fence(document, holder.orElseThrow(), Objects.requireNonNull(to));
            case REDIRECT -> redirect(document, holder.orElseThrow()).text();
            case ABANDON -> abandon(document);
            case FORGET -> forget(document);
        };
    }

    private static Fenced fence(EditedDocument document, long holder, RedirectTarget to) {
        DocumentInfo info = DocumentReads.required(document.name(), document.info());
        DocumentAttributes attributes = info.attributes();
        Fence held = attributes.get(FENCE);
        if (held != null && !held.to().equals(to)) {
            throw moving(document.name(), held);
        }
        document.requireNoForks(attributes, "moved", "move or delete");
        document.beginMoveStep();
        document.set(attributes.with(FENCE, new Fence(holder, to)));
        return new Fenced(info.id(), info.firstSequence(), info.nextSequence());
    }

    private boolean abandon(EditedDocument document) {
        DocumentInfo info = document.evenDeleted();
        Fence held = info == null ? null : info.attributes().get(FENCE);
        if (info == null || held == null || holder.isPresent() && holder.getAsLong() != held.holder()) {
            return false;
        }
        document.beginMoveStep();
        document.set(info.attributes().with(FENCE, null));
        return true;
    }

    private static RedirectTarget redirect(EditedDocument document, long holder) {
        DocumentInfo info = document.info();
        Fence held = info == null ? null : info.attributes().get(FENCE);
        if (info == null || held == null || held.holder() != holder) {
            throw new DocumentException(
                    Reason.CHANGED,
                    document.name(),
                    "is not fenced by this run of its move: the move was abandoned, or another run has fenced it");
        }
        document.beginMoveStep();
        document.delete();
        document.set(DocumentAttributes.NONE.withMovedTo(held.to()));
        return held.to();
    }

    private static boolean forget(EditedDocument document) {
        DocumentInfo info = document.evenDeleted();
        boolean moved = info != null && info.attributes().movedTo() != null;
        if (moved) {
            document.drop();
        }
        return moved;
    }

    static DocumentException moving(DocumentName name, Fence fence) {
        return new DocumentException(
                Reason.MOVING,
                name,
                "is being moved to " + fence.to()
                        + ", and rejects writes until the move has ended: try again in a moment");
    }
}
