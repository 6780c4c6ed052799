package io.caravan.server.document;

import static io.caravan.server.document.DocumentAttributes.FENCE;

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
        DocumentAttributes attributes = document.attributes();
        Fence held = attributes.get(FENCE);
        return switch (kind) {
            case FENCE -> fence(document, held, new Fence(holder.orElseThrow(), Objects.requireNonNull(to)));
            case REDIRECT -> {
                if (document.info() == null || held == null || held.holder() != holder.orElseThrow()) {
                    throw document.rejected(
                            Reason.CHANGED,
                            "is not fenced by this run of its move: the move was abandoned, or another run has fenced"
                                    + " it");
                }
                document.beginMoveStep();
                document.delete();
                document.set(DocumentAttributes.NONE.withMovedTo(held.to()));
                yield held.to().text();
            }
            case ABANDON -> {
                boolean abandons = held != null && (holder.isEmpty() || holder.getAsLong() == held.holder());
                if (abandons) {
                    document.beginMoveStep();
                    document.set(attributes.with(FENCE, null));
                }
                yield abandons;
            }
            case FORGET -> {
                boolean moved = attributes.movedTo() != null;
                if (moved) {
                    document.drop();
                }
                yield moved;
            }
        };
    }

    private static Fenced fence(EditedDocument document, @Nullable Fence held, Fence fence) {
        DocumentInfo info = document.existing();
        if (held != null && !held.to().equals(fence.to())) {
            document.requireNoFence();
        }
        document.requireNoForks(info.attributes(), "moved", "move or delete");
        document.beginMoveStep();
        document.set(info.attributes().with(FENCE, fence));
        return new Fenced(info.id(), info.firstSequence(), info.nextSequence());
    }
}
